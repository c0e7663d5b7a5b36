"""Ranking: what thousands of points take, from few schedules of the exact model."""
