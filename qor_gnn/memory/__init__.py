"""Memories: addresses, banks, partitioning that a tool chooses, and what storage costs."""
