"""What is the same in all iterations of a statement, read once before they are gone through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dsl.expressions.absorption import is_element
from dsl.expressions.affine import Affine
from dsl.expressions.expr import loads
from dsl.programs.program import Program
from qor_gnn.design.region import Access, Op, Statement

EXACT = "exact"
"""The value of a conversion that no sum loses anything by."""


@dataclass(frozen=True, slots=True)
class Place:
    """An access: its array, and the position of the element among those of the array.

    Subscripts that are values of the program have no part in it.
    """

    array: str
    const: int
    terms: tuple[tuple[str, int], ...]
    general: tuple[tuple[Affine, int], ...]

    def at(self, env: Mapping[str, int]) -> int:
        """The position where loop variables have these values."""
        place = self.const
        for name, c in self.terms:
            place += c * env[name]
        for index, stride in self.general:
            place += stride * index.evaluate(env)
        return place


@dataclass(frozen=True, slots=True)
class Step:
    """An operation of a statement.

    Attributes:
        op: the operation.
        operands: positions in its statement.
        place: of a load.
        head: tells operators apart that make other values of the same; None where nothing is computed.
        direct: positions of the loads among its operands.
        tested, chosen: of a selection, positions of the loads that its condition and what it chooses among depend on.
    """

    op: Op
    operands: tuple[int, ...]
    place: Place | None
    head: tuple[object, ...] | None
    direct: tuple[int, ...]
    tested: tuple[int, ...]
    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement: its operations, where it stores, and whether its last selection is no more than a guard of the store.

    ``kept`` are elements that it reads: where one of them is the one that it stores to, it stores what is there already.
    """

    steps: tuple[Step, ...]
    target: Place
    guard: bool
    kept: tuple[Place, ...] = ()


def plan_of(program: Program, statement: Statement, exact: bool) -> Plan:
    """The plan of a statement.

    Args:
        program: with the arrays.
        statement: with its operations.
        exact: the order of its sum is free in the type that it stores, so that no conversion in it loses anything.
    """
    reach: list[tuple[int, ...]] = []
    steps = []
    for n, op in enumerate(statement.ops):
        own = (n,) if op.kind == "load" else ()
        reach.append(_merged([own, *(reach[k] for k in op.operands)]))
        tested = chosen = tuple[int, ...]()
        if op.kind == "select":
            tested = reach[op.operands[0]]
            chosen = _merged([reach[k] for k in op.operands[1:]])
        if op.kind == "cast" and op.type == "int" and (exact or _widens(statement, op)):
            op = replace(op, value=EXACT)
        direct = tuple(r for k in op.operands if (r := _loaded(statement, k)) is not None)
        place = _place(program, op.access) if op.kind == "load" and op.access is not None else None
        head = (op.kind, op.type, op.width, op.factors, op.impl, op.value) if op.computes else None
        steps.append(Step(op, op.operands, place, head, direct, tested, chosen))
    last = statement.ops[-1]
    guard = last.kind == "select" and any(
        statement.ops[k].access == statement.target for k in last.operands[1:]
    )
    kept = tuple(_place(program, access) for access in _kept(program, statement))
    return Plan(tuple(steps), _place(program, statement.target), guard, kept)


def _kept(program: Program, statement: Statement) -> Iterator[Access]:
    """Elements in the place of its target for which a statement is known to store what is there."""
    stmt = next(s for s in program.statements() if s.name == statement.name)
    for read in dict.fromkeys(loads(stmt.value)):
        own = {read, stmt.target}
        if read.array != stmt.target.array or read == stmt.target:
            continue
        is_told = not any(e.is_data for a in own for e in a.indices)
        if is_told and is_element(stmt.value, own.__contains__):
            yield Access(read.array, read.indices)


def _merged(parts: list[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(n for part in parts for n in part))


def _loaded(statement: Statement, number: int) -> int | None:
    """The load that an operand is, as it is or in other bits of it."""
    op = statement.ops[number]
    if op.kind == "load":
        return number
    wired = op.operands and op.factors[1:] == (0,) and op.factors[0]
    return _loaded(statement, op.operands[0]) if wired else None


def _widens(statement: Statement, op: Op) -> bool:
    return statement.ops[op.operands[0]].width <= op.width


def _place(program: Program, access: Access) -> Place:
    stride, const = 1, 0
    terms: dict[str, int] = {}
    general: list[tuple[Affine, int]] = []
    shape = program.array(access.memory).shape
    for index, extent in zip(reversed(access.indices), reversed(shape), strict=True):
        if index.is_linear:
            const += stride * index.const
            for name, c in index.terms:
                terms[str(name)] = terms.get(str(name), 0) + stride * c
        elif not index.is_data:
            general.append((index, stride))
        stride *= extent
    return Place(access.memory, const, tuple(terms.items()), tuple(general))
