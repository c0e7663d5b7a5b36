"""A search at work, from what is asked of it to its final figures."""
