"""Designs as whole accelerators: what they take in emulation and on a board, and what limits them."""
