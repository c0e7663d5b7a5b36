"""Integers of known range, and the operations that statements become."""
