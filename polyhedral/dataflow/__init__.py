"""Nests as processes that run at the same time, and FIFOs between them and to the outside."""
