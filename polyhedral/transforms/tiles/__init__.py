"""Local copies of what an iteration touches: the step `buffer`, and what it is made of."""
