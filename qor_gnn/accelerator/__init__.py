"""Whole accelerators: what passes to memory outside, and what time they take in emulation and on a board."""
