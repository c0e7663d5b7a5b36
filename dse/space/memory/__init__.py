"""Banks, partitions and registers: what the accesses of nests need of arrays."""
