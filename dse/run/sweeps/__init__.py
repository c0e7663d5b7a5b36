"""Searches over a range of clock periods."""
