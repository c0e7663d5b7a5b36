"""Kernels: a program, its sizes and its schedules, and the files that they are loaded from."""
