"""Shift registers: the step `carry`, and what it is made of."""
