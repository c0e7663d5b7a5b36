"""Measurements of speed and quality, side by side with peers: `python -m benchmarks.NAME`."""
