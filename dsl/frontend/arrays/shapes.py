"""Arrays as expressions of their elements: shapes, and what reads expressions of arrays."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from dsl.expressions.affine import Affine
from dsl.frontend.context import Context
from dsl.programs.inline import View
from dsl.programs.program import Array

Placed = TypeVar("Placed", bound=ast.AST)
Shape = tuple[int, ...]
At = Callable[[Sequence[Affine]], ast.expr]


@dataclass(frozen=True, slots=True)
class ArrayExpr:
    """An expression of arrays: its shape, and its element at subscripts, as many as it has dimensions.

    ``own`` are the parts of arrays of which each element reads the element in its own place.
    """

    shape: Shape
    at: At
    own: tuple[View, ...] = ()


class Exprs(Protocol):
    """What reads expressions of arrays (see `dsl.frontend.arrays.expressions`)."""

    ctx: Context

    def of(self, node: ast.expr) -> ArrayExpr | None:
        """The expression as one of arrays; None where it is a scalar or something else."""

    def total(self, name: str, shape: Shape, term: At) -> ast.expr:
        """``sum(term(k) for k in range(extent))``, or another reduction."""

    def given(self, value: object, node: ast.expr | None = None) -> ast.expr:
        """An expression that stands for that."""

    def whole(self, array: Array) -> ArrayExpr:
        """All of an array of the kernel."""

    def at(self, node: Placed) -> Placed:
        """The node in the place of the statement."""


def numpy_name(function: object) -> str:
    """The name of a function of NumPy, else an empty one."""
    name = getattr(function, "__name__", "")
    numpy = sys.modules.get("numpy")
    return name if numpy is not None and function is getattr(numpy, name, None) else ""


def spread(found: ArrayExpr, at: Sequence[Affine]) -> ast.expr:
    """The element of an array that is repeated where it has one element, or no such dimension."""
    mine = at[len(at) - len(found.shape) :]
    pairs = zip(mine, found.shape, strict=True)
    return found.at([Affine() if extent == 1 else place for place, extent in pairs])


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape that both are repeated to, as in NumPy; None where they do not go together."""
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    found = []
    for m, n in pairs:
        if m != n and 1 not in (m, n):
            return None
        found.append(max(m, n))
    return tuple(found)


def replaced(node: ast.expr, new: Mapping[ast.expr, ast.expr]) -> ast.expr:
    """The node with other operands."""

    def of(part: object) -> object:
        return new.get(part, part) if isinstance(part, ast.expr) else part

    made = copy.copy(node)
    for name, held in ast.iter_fields(node):
        setattr(made, name, [of(p) for p in held] if isinstance(held, list) else of(held))
    return made


def operands_of(node: ast.expr) -> list[ast.expr]:
    """The operands of an operator, or the arguments of a call."""
    if isinstance(node, ast.Call):
        return node.args
    return [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
