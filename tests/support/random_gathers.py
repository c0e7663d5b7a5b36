"""Random programs that access arrays at subscripts that are data, each proven to be inside."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from dsl.expressions import typing as t
from dsl.expressions.affine import Affine
from dsl.expressions.elements import assignment, element
from dsl.expressions.expr import (
    BinaryOp,
    CompareOp,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    loads,
    map_leaves,
    walk,
)
from dsl.expressions.types import IntType
from dsl.expressions.values import Value
from dsl.programs.program import If, Loop, Node, Program, Stmt
from tests.support.random_exprs import integer, narrowed

OFTEN = 0.5


def with_gathers(rng: random.Random, program: Program) -> Program:
    """The program with some of its reads, of arrays that it computes exactly, at data instead."""
    inexact = {s.target.array for s in program.statements() if not _is_exact(s)}
    return replace(program, body=tuple(_nodes(rng, program, inexact, program.body, ())))


def with_scatters(rng: random.Random, program: Program) -> Program:
    """The program with some of its writes, of values that it computes exactly, at data instead; sums at
    the same element, mostly.
    """

    def scattered(stmt: Stmt, loops: tuple[str, ...]) -> Stmt:
        sources = _sources(stmt, loops)
        array = program.array(stmt.target.array)
        if not array.shape or not sources or not _is_exact(stmt) or rng.random() > OFTEN:
            return stmt
        places: list[Value] = [
            _inside(rng, rng.choice(sources), extent) if rng.random() < 0.6 else index
            for index, extent in zip(stmt.target.indices, array.shape, strict=True)
        ]
        goal = element(array.name, array.dtype, places, None)
        again = rng.random() < 0.8

        def leaf(e: Const | Load | Index) -> Expr:
            return goal if again and isinstance(e, Load) and e.access == stmt.target else e

        value = (
            stmt.value
            if any(isinstance(e, Gather) for e in walk(stmt.value))
            else map_leaves(stmt.value, leaf)
        )
        target, stored = assignment(goal, value)
        return replace(stmt, target=target, value=stored)

    inexact = {s.target.array for s in program.statements() if not _is_exact(s)}

    def nodes(found: tuple[Node, ...], loops: tuple[str, ...]) -> Iterator[Node]:
        for node in found:
            match node:
                case Stmt():
                    touched = {node.target.array, *(a.array for a in loads(node.value))}
                    yield node if touched & inexact else scattered(node, loops)
                case If(cond, then, orelse, span):
                    yield If(cond, tuple(nodes(then, loops)), tuple(nodes(orelse, loops)), span)
                case Loop(var=var, body=body):
                    yield replace(node, body=tuple(nodes(body, (*loops, var))))

    return replace(program, body=tuple(nodes(program.body, ())))


def _sources(stmt: Stmt, loops: tuple[str, ...]) -> list[Expr]:
    """Integers that a statement has at hand."""
    found: list[Expr] = [
        e for e in walk(stmt.value) if isinstance(e, Load) and isinstance(e.dtype, IntType)
    ]
    return found + [t.cast(IntType(32), Index(Affine.of(v))) for v in loops]


def _is_exact(stmt: Stmt) -> bool:
    names = {getattr(getattr(e, "op", None), "value", "") for e in walk(stmt.value)}
    return names.isdisjoint({"exp", "log", "tanh"})


def _nodes(
    rng: random.Random,
    program: Program,
    inexact: set[str],
    nodes: tuple[Node, ...],
    loops: tuple[str, ...],
) -> Iterator[Node]:
    for node in nodes:
        match node:
            case Stmt():
                yield _statement(rng, program, inexact, node, loops)
            case If(cond, then, orelse, span):
                sides = (tuple(_nodes(rng, program, inexact, x, loops)) for x in (then, orelse))
                yield If(cond, *sides, span)
            case Loop(var=var, body=body):
                inside = tuple(_nodes(rng, program, inexact, body, (*loops, var)))
                yield replace(node, body=inside)


def _statement(
    rng: random.Random, program: Program, inexact: set[str], stmt: Stmt, loops: tuple[str, ...]
) -> Stmt:
    sources = _sources(stmt, loops)
    sums = {a for a in loads(stmt.value) if a == stmt.target}

    def leaf(e: Expr) -> Expr:
        if not isinstance(e, Load) or not e.access.indices or e.access in sums or not sources:
            return e
        if e.access.array in inexact or rng.random() > OFTEN:
            return e
        array = program.array(e.access.array)
        places = [
            _inside(rng, rng.choice(sources), extent) if rng.random() < 0.6 else index
            for index, extent in zip(e.access.indices, array.shape, strict=True)
        ]
        return element(array.name, array.dtype, places, None)

    return replace(stmt, value=map_leaves(stmt.value, leaf))


def _inside(rng: random.Random, source: Expr, extent: int) -> Expr:
    """An integer of ``0..extent - 1``."""
    source = narrowed(source)
    match rng.choice(("remainder", "clamp", "mask", "select")):
        case "clamp":
            low = t.binary(BinaryOp.MAX, source, integer(0))
            return t.binary(BinaryOp.MIN, low, integer(extent - 1))
        case "mask" if extent > 1:
            return t.binary(BinaryOp.AND, source, integer((1 << (extent.bit_length() - 1)) - 1))
        case "select":
            inside = t.binary(BinaryOp.MOD, source, integer(extent))
            return t.select(
                t.compare(CompareOp.GE, source, integer(0)), inside, integer(extent // 2)
            )
        case _:
            return t.binary(BinaryOp.MOD, source, integer(extent))
