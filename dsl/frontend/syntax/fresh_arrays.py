"""Arrays that are made anew before they are given another name, ``new = np.zeros(4)`` and at the end ``state = new``.

NumPy copies nothing there; but where nothing reads the array under its first name any more before it is made anew, a copy is
the same whoever writes to it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence


def is_made_anew(function: ast.FunctionDef, source: ast.Name) -> bool:
    """Whether a name's array is a new one in each run of the block in which another name is given to it, and is that name's alone
    behind that place.

    Args:
        function: with the assignment in it.
        source: the value of the assignment, at its place.
    """
    for block in _blocks(function):
        made = next((n for n, s in enumerate(block) if _makes(s, source.id)), None)
        if made is None:
            continue
        inside = [n for s in block[made:] for n in ast.walk(s) if _is(n, source.id)]
        everywhere = [n for n in ast.walk(function) if _is(n, source.id)]
        places = [_place(n) for n in inside]
        if len(inside) == len(everywhere) and _place(source) == max(places, default=None):
            return not any(_loops_around(s, source) for s in block[made:])
    return False


def _blocks(function: ast.FunctionDef) -> Iterator[Sequence[ast.stmt]]:
    for n in ast.walk(function):
        if isinstance(n, ast.FunctionDef | ast.For):
            yield n.body


def _makes(s: ast.stmt, name: str) -> bool:
    """Whether it gives the name a new array: one of a function of NumPy that makes one, a list, or a sum."""
    match s:
        case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
            pass
        case _:
            return False
    match value:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Name(), attr="zeros" | "ones" | "empty" | "full" | "zeros_like"
            )
        ):
            return True
        case ast.Call(func=ast.Attribute(attr="copy"), args=[], keywords=[]):
            return True
    return isinstance(value, ast.List | ast.ListComp | ast.BinOp)


def _loops_around(s: ast.stmt, source: ast.Name) -> bool:
    """Whether the other name is given in an inner loop, the next iteration of which would write to both."""
    return any(
        isinstance(loop, ast.For) and any(_place(n) == _place(source) for n in ast.walk(loop))
        for loop in ast.walk(s)
    )


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", -1), getattr(node, "col_offset", -1)
