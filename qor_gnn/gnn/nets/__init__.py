"""The networks: of regions, of kernels, flat, and the heads."""
