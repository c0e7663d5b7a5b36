"""Kernels that a command line, a run or a folder names."""
