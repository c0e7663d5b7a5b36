"""Errors: values first, text second; and the user's lines that they point at."""
