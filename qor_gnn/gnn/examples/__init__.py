"""Labelled designs as networks and baselines learn from them."""
