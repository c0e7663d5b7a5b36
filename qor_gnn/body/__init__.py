"""Straight-line bodies: the operation graph, registers, ports."""
