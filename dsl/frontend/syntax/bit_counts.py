"""Calls that count bits, which are numbers and no arrays."""

from __future__ import annotations

import ast


def is_of_bits(node: ast.expr) -> bool:
    """Whether it is ``x.bit_count()``, ``x.bit_length()`` or ``bin(x).count("1")``: a number, whatever ``x`` is."""
    match node:
        case ast.Call(func=ast.Attribute(attr="bit_count" | "bit_length"), args=[]):
            return True
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=ast.Name(id="bin")), attr="count"),
            args=[ast.Constant(value="1")],
        ):
            return True
    return False
