"""The predictor as a process beside a search."""
