"""Training, checkpoints, weights, protocols, baselines and metrics."""
