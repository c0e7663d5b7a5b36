"""A program put in the place of a call: arrays, loops and statements renamed, nothing else changed.

Before, with ``scale(X: f32[8], a: f32)`` called as ``scale(A, 2.0)`` in a loop over ``i``::

    for i in range(8): X[i] = X[i] * a

After, its loop renamed since ``i`` is taken::

    for scale_i in range(8): A[scale_i] = A[scale_i] * 2.0
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from dsl.expressions.affine import Affine, map_cond
from dsl.expressions.expr import Access, Const, Expr, Index, Load, map_leaves
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt


@dataclass(frozen=True, slots=True)
class Slice:
    """``start``, ``start + step``, …: ``extent`` elements of a dimension; over loop variables around."""

    start: Affine
    extent: int
    step: int = 1


@dataclass(frozen=True, slots=True)
class View:
    """A part of an array: of each dimension one element, or a slice, which is a dimension of the part."""

    array: str
    dims: tuple[Affine | Slice, ...]

    def placed(self, indices: tuple[Affine, ...]) -> tuple[Affine, ...]:
        """The element of the array that is this one of the part."""
        own = iter(indices)
        return tuple(d.start + next(own) * d.step if isinstance(d, Slice) else d for d in self.dims)

    def limits(self, indices: tuple[Affine, ...]) -> tuple[tuple[Affine, int], ...]:
        """What keeps subscripts inside of the part; nothing has to of a scalar, the one element of an array."""
        if not self.dims:
            return ()
        extents = (d.extent for d in self.dims if isinstance(d, Slice))
        return tuple(zip(indices, extents, strict=True))


@dataclass(frozen=True, slots=True)
class Names:
    """New names: ``arrays`` for the callee's arrays and locals, ``scalars`` what is read instead
    of its scalar arguments, ``views`` what is accessed instead of others. ``loop`` gives the name of a loop from its own and the (new) names of
    those around; ``stmt`` that of a statement from its own and its position in the callee.
    """

    arrays: Mapping[str, str]
    scalars: Mapping[str, Expr]
    loop: Callable[[str, Collection[str]], str]
    stmt: Callable[[Stmt, int], str]
    views: Mapping[str, View] = field(default_factory=dict)


def inlined(program: Program, names: Names, around: tuple[str, ...]) -> tuple[Node, ...]:
    """The body of ``program`` under new names, for a place inside of the loops ``around``."""
    return _Inliner(names).nodes(program.body, {}, around)


def inlined_locals(program: Program, arrays: Mapping[str, str], depth: int) -> tuple[Array, ...]:
    """The locals of ``program`` under their new names, for a place inside of ``depth`` loops."""
    return tuple(
        replace(a, name=arrays[a.name], scope_depth=a.scope_depth + depth) for a in program.locals
    )


class _Inliner:
    def __init__(self, names: Names) -> None:
        self._names = names
        self._position = 0

    def nodes(
        self, nodes: tuple[Node, ...], loops: Mapping[str, str], around: tuple[str, ...]
    ) -> tuple[Node, ...]:
        """``loops`` are the new names of the callee's loop variables in scope."""
        return tuple(self._node(n, loops, around) for n in nodes)

    def _node(self, node: Node, loops: Mapping[str, str], around: tuple[str, ...]) -> Node:
        match node:
            case Loop(var, lowers, uppers, step, body, span):
                name = self._names.loop(var, around)
                inside = self.nodes(body, {**loops, var: name}, (*around, name))
                low = tuple(b.rename(loops) for b in lowers)
                high = tuple(b.rename(loops) for b in uppers)
                return Loop(name, low, high, step, inside, span)
            case If(cond, then, orelse, span):
                new = map_cond(cond, lambda e: e.rename(loops))
                then = self.nodes(then, loops, around)
                return If(new, then, self.nodes(orelse, loops, around), span)
            case Stmt():
                return self._stmt(node, loops)

    def _stmt(self, stmt: Stmt, loops: Mapping[str, str]) -> Stmt:
        name = self._names.stmt(stmt, self._position)
        self._position += 1

        def leaf(expr: Const | Load | Index) -> Expr:
            match expr:
                case Const():
                    return expr
                case Index(affine, dtype):
                    return Index(affine.rename(loops), dtype)
                case Load(access, dtype):
                    scalar = self._names.scalars.get(access.array)
                    return Load(self._access(access, loops), dtype) if scalar is None else scalar

        target = self._access(stmt.target, loops)
        return Stmt(name, target, map_leaves(stmt.value, leaf), stmt.span, stmt.source)

    def _access(self, access: Access, loops: Mapping[str, str]) -> Access:
        indices = tuple(i.rename(loops) for i in access.indices)
        limits = tuple((e.rename(loops), n) for e, n in access.limits)
        view = self._names.views.get(access.array)
        if view is None:
            return Access(self._names.arrays[access.array], indices, access.span, limits)
        limits += view.limits(indices)
        return Access(view.array, view.placed(indices), access.span, limits)
