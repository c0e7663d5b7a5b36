"""What each iteration of a loop reads whatever the data are, and so what its counters may be at most.

An element that is read in each iteration is one of its array. So a loop that reads ``queue[front]`` each time, with another
``front`` each time, has no more iterations than ``queue`` has elements: Python would end it with an ``IndexError``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dsl.frontend.syntax.loop_parts import stored

_JUMPS = (ast.Break, ast.Continue, ast.Return)


@dataclass(frozen=True, slots=True)
class Within:
    """A name, plus a constant, is a subscript of an array: of ``base`` in the dimension ``dim``."""

    base: ast.expr
    dim: int
    offset: int


def certain(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that are evaluated in any case, those inside of others first."""
    match node:
        case ast.IfExp():
            parts = [node.test]
        case ast.BoolOp():
            parts = node.values[:1]
        case ast.Compare():
            parts = [node.left, *node.comparators[:1]]
        case ast.GeneratorExp() | ast.ListComp() | ast.Lambda():
            parts = []
        case ast.NamedExpr():
            parts = [node.value]
        case _:
            parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    for part in parts:
        yield from certain(part)
    yield node


Runs = Callable[[ast.For], bool]
"""Whether a loop has an iteration, whatever the data are."""


def _never(_: ast.For) -> bool:
    return False


def subscripts_by(
    name: str, tests: Sequence[ast.expr], body: Sequence[ast.stmt], runs: Runs = _never
) -> Iterator[Within]:
    """The subscripts that a name is in each iteration, as the iteration begins with it.

    Args:
        name: a scalar, which the body may change.
        tests: conditions that hold in each iteration.
        body: its statements.
        runs: tells the loops in it that have an iteration.
    """
    for test in tests:
        yield from _in_value(name, test)
    yield from _in_body(name, body, runs)


def _in_value(name: str, value: ast.expr) -> Iterator[Within]:
    for node in certain(value):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield from _within(name, node)


def _in_body(name: str, body: Sequence[ast.stmt], runs: Runs) -> Iterator[Within]:
    """Those that the body reads in each iteration before it changes the name, or may leave; of branches what both read, of a
    loop inside what its first iteration reads.
    """
    for s in body:
        for value in _values(name, s):
            yield from _in_value(name, value)
        if isinstance(s, ast.If):
            others = {_key(w) for w in _in_body(name, s.orelse, runs)}
            yield from (w for w in _in_body(name, s.body, runs) if _key(w) in others)
        elif isinstance(s, ast.For) and not _names(s.target, name) and runs(s):
            yield from _in_body(name, s.body, runs)
        if name in stored([s]) or any(isinstance(n, _JUMPS) for n in ast.walk(s)):
            return


def _names(target: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(target))


def _key(within: Within) -> tuple[str, int, int]:
    return ast.unparse(within.base), within.dim, within.offset


def _values(name: str, s: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates first."""
    match s:
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            yield value
            yield from (t for t in _targets(s) if name not in stored([s]))
        case ast.AnnAssign(value=ast.expr() as value):
            yield value
        case ast.If(test=test):
            yield test
        case ast.For(iter=over):
            yield over


def _targets(s: ast.Assign | ast.AugAssign) -> Iterator[ast.expr]:
    """The elements that an assignment writes, as what is read: their subscripts are within the array as well."""
    for target in s.targets if isinstance(s, ast.Assign) else [s.target]:
        node = target
        if isinstance(node, ast.Subscript):
            yield ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)


def _within(name: str, node: ast.Subscript) -> Iterator[Within]:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for dim, part in enumerate(parts):
        offset = _offset(name, part)
        if offset is not None:
            yield Within(node.value, dim, offset)


def _offset(name: str, part: ast.expr) -> int | None:
    """The constant in ``name``, ``name + 1`` and ``name - 1``; None of all else."""
    match part:
        case ast.Name(id=found) if found == name:
            return 0
        case ast.BinOp(
            left=ast.Name(id=found),
            op=ast.Add() | ast.Sub() as op,
            right=ast.Constant(value=int() as by),
        ) if found == name:
            return by if isinstance(op, ast.Add) else -by
        case ast.BinOp(
            left=ast.Constant(value=int() as by), op=ast.Add(), right=ast.Name(id=found)
        ) if found == name:
            return by
    return None
