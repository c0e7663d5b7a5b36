"""A run's folder, and what is in it."""
