"""The scheduled program as plain loops, the hand-over to MLIR, and what is read off them."""
