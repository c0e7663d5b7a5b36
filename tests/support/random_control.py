"""Random programs in which any change of order shows: every statement is ``x = 3 * x + c``.

The numbers are integers that wrap, each statement has a ``c`` of its own, and most of them
accumulate in the same element. What is left to go wrong is the control flow.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from dsl.expressions import typing as t
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, BinaryOp, Expr, Load, loads
from dsl.expressions.types import IntType
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt
from tests.support.random_arrays import Place

SCALARS = 3
"""Elements of ``x``."""
TYPES = (IntType(32, True), IntType(32, True), IntType(32, False), IntType(40, True))


def control_program(
    rng: random.Random, name: str, skeleton: tuple[Node, ...], places: Sequence[Place]
) -> Program:
    """The skeleton's places filled with statements.

    Args:
        rng: where choices come from.
        name: of the program.
        skeleton: loops and conditions around placeholders.
        places: where these stand.
    """
    arrays = {n: Array(n, rng.choice(TYPES), (SCALARS,)) for n in "xy"}
    stmts: dict[str, Stmt] = {}
    for number, place in enumerate(places):
        target = _target(rng, place, arrays)
        old = Load(target, arrays[target.array].dtype)
        three = t.const(3, old.dtype)
        added: Expr = t.const(number + 1, old.dtype)
        if rng.random() < 0.15:
            other = Access("x", (Affine.of(rng.randrange(SCALARS)),))
            added = t.binary(BinaryOp.ADD, Load(other, arrays["x"].dtype), added)
        tripled = t.binary(BinaryOp.MUL, old, three)
        value = t.binary(BinaryOp.ADD, tripled, added)
        stmts[place.name] = Stmt(place.name, target, value)
    program = Program(name, tuple(arrays.values()), _filled(skeleton, stmts))
    used = {a.array for s in program.statements() for a in (s.target, *loads(s.value))}
    return replace(program, arrays=tuple(a for a in program.arrays if a.name in used))


def _target(rng: random.Random, place: Place, arrays: dict[str, Array]) -> Access:
    """One element of x, mostly the first; or an element of y for each value of a loop."""
    if place.loops and rng.random() < 0.15:
        index = Affine.of(rng.choice(place.loops).var)
        low, high = place.span(index) or (0, 0)
        if high - low < 64 and place.points:
            extent = max(arrays["y"].shape[0], high - low + 1)
            arrays["y"] = replace(arrays["y"], shape=(extent,))
            return Access("y", (index - low,))
    return Access("x", (Affine.of(rng.choice((0, 0, 0, 0, 1, 2))),))


def _filled(nodes: tuple[Node, ...], stmts: dict[str, Stmt]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        match node:
            case Stmt(name=name):
                found.append(stmts[name])
            case Loop(body=body):
                found.append(replace(node, body=_filled(body, stmts)))
            case If(then=then, orelse=orelse):
                yes, no = _filled(then, stmts), _filled(orelse, stmts)
                found.append(replace(node, then=yes, orelse=no))
    return tuple(found)
