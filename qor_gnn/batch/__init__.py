"""Thousands of designs of one family at once: the answers of `estimate`, on arrays."""
