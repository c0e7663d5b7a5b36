"""List and modulo scheduling of bodies, intervals, nests, and their composition to a latency."""
