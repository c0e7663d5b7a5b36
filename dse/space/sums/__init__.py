"""Structures of sums and other reductions: in parts, in blocks, in trees, as searches."""
