"""Schedules: immutable tuples of steps, the only description of a design point."""
