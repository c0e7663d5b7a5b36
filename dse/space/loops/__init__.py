"""Structures by their loops: fused, distributed, tiled, skewed, run at the same time."""
