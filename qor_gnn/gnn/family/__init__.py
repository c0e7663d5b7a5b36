"""Predictions of thousands of designs of a family, each distinct part scheduled once."""
