"""Exact checks of a program: every access in bounds, every local written before it is read."""

from __future__ import annotations

from collections import deque

import islpy as isl

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Scatter, Select, loads
from dsl.programs.program import Array, Program
from polyhedral.dependences.direct import unwritten_reads
from polyhedral.isl.text import affine_text, positional
from polyhedral.legality.data_subscripts import check_data_subscripts
from polyhedral.legality.index import check_index
from polyhedral.scop.scop import Scop, Statement, build_scop, common_loops

Interval = tuple[int, int]


def check_program(program: Program) -> Scop:
    """The scop of a program that is free of both faults.

    Raises:
        LanguageError: W160 an access out of bounds, W161 a local read before it is written, W162
            and W163 (see `polyhedral.legality.index`), W164 (`polyhedral.legality.data_subscripts`); each with an example iteration.
    """
    for known, scop in _CHECKED:
        if known is program:
            return scop
    scop = _checked(program)
    _CHECKED.append((program, scop))
    return scop


_CHECKED: deque[tuple[Program, Scop]] = deque(maxlen=8)
"""The last programs: many schedules of one are applied one after the other. A program is known by
its identity, since to compare two is as long as they are."""


def _checked(program: Program) -> Scop:
    scop = build_scop(program)
    loops: dict[str, dict[str, Interval]] = {}
    for statement in scop.statements:
        ranges = _ranges(statement)
        if ranges is None:
            continue
        loops[statement.name] = ranges
        for access in (*statement.reads, statement.stmt.target):
            _check_bounds(statement, access, program.array(access.array), ranges)
        for access in (*loads(statement.stmt.value), statement.stmt.target):
            _check_limits(statement, access, ranges)
        check_index(statement, ranges)
    check_data_subscripts(scop, loops)
    for array in program.locals:
        _check_written(scop, array)
    return scop


def _ranges(s: Statement) -> dict[str, Interval] | None:
    """Intervals that contain the loop variables, conditions left out; None if a loop is empty."""
    env: dict[str, Interval] = {}
    for loop in s.loops:
        low = max(e.interval(env)[0] for e in loop.lowers)
        high = min(e.interval(env)[1] for e in loop.uppers) - 1
        if low > high:
            return None
        env[loop.var] = (low, high)
    return env


def _check_bounds(s: Statement, access: Access, array: Array, ranges: dict[str, Interval]) -> None:
    for dim, (expr, extent) in enumerate(zip(access.indices, array.shape, strict=True)):
        if expr.is_data:
            continue  # see `check_data_subscripts`
        bad = _outside(s, expr, extent, ranges)
        if bad is not None:
            raise _out_of_bounds(s, access, array, dim, bad)


def _outside(
    s: Statement, expr: Affine, extent: int, ranges: dict[str, Interval]
) -> isl.Set | None:
    """The iterations in which an expression is not 0 to less than a number; None where there are none."""
    low, high = expr.interval(ranges)
    if low >= 0 and high < extent:
        return None  # interval arithmetic suffices; isl decides the rest exactly
    text = affine_text(expr, positional(s.variables))
    bad = s.domain.intersect(isl.Set(f"{{ {s.space} : {text} < 0 or {text} >= {extent} }}"))
    return None if bad.is_empty() else bad


def _check_limits(s: Statement, access: Access, ranges: dict[str, Interval]) -> None:
    """Subscripts of parts of arrays; those that are data are with all others of that kind."""
    for expr, extent in access.limits:
        bad = None if expr.is_data else _outside(s, expr, extent, ranges)
        if bad is None:
            continue
        example = _example(s, bad)
        at = ", ".join(f"{v} = {x}" for v, x in example)
        raise LanguageError(
            "W160",
            f"{access} is out of the part that was passed: its subscript is {expr.evaluate(dict(example))}"
            + (f" for {at}" if at else ""),
            span=access.span or s.stmt.span,
            notes=[f"it must be 0 to {extent - 1}"],
            help="pass a larger part, or change the loop bounds",
        )


def _out_of_bounds(
    s: Statement, access: Access, array: Array, dim: int, bad: isl.Set
) -> LanguageError:
    example = _example(s, bad)
    value = access.indices[dim].evaluate(dict(example))
    where = ", ".join(f"{v} = {x}" for v, x in example)
    at = f" for {where}" if where else ""
    return LanguageError(
        "W160",
        f"{access} is out of bounds: subscript {dim} is {value}{at}",
        span=access.span or s.stmt.span,
        notes=[
            f"{array.name} is {array.type}: subscript {dim} must be 0 to {array.shape[dim] - 1}"
        ],
        help="change the loop bounds, or guard the statement with an affine if",
    )


def _example(s: Statement, points: isl.Set) -> list[tuple[str, int]]:
    point = points.lexmin().sample_point()
    return [
        (v, point.get_coordinate_val(isl.dim_type.set, k).to_python())
        for k, v in enumerate(s.variables)
    ]


def _check_written(scop: Scop, array: Array) -> None:
    """The reads of a local that no write reaches."""
    readers = [s for s in scop.statements if any(a.array == array.name for a in s.reads)]
    writers = [s for s in scop.statements if s.stmt.target.array == array.name]
    reads = [(s, a) for s in readers for a in s.reads if a.array == array.name]
    if all(_is_written(writers, s, a) or _is_filled(scop, writers, s, a) for s, a in reads):
        return
    unwritten = unwritten_reads(scop, array.name)
    if unwritten.is_empty():
        return
    for s in readers:
        for access in s.reads:
            if access.array != array.name:
                continue
            bad = unwritten.intersect(isl.UnionMap.from_map(scop.access_map(s, access)))
            if not bad.is_empty():
                raise _uninitialised(s, access, array, isl.Set.from_union_set(bad.domain()))


def _is_written(writers: list[Statement], reader: Statement, access: Access) -> bool:
    """Whether a statement before it in the text, under no other loops or conditions than it is,
    writes the very element: so it is with a value that is computed once and used below.
    """
    used = {v for index in access.indices for v in index.variables()}
    for s in writers:
        depth = len(s.loops)
        if (
            s.stmt.target == access
            and s.loop_ids == reader.loop_ids[:depth]
            and s.place[:depth] == reader.place[:depth]
            and s.place[depth] < reader.place[depth]
            and used <= {*s.variables}
            and len({*reader.variables}) == len(reader.variables)
            and all(cond in reader.conds for cond in s.conds)
        ):
            return True
    return False


def _is_filled(scop: Scop, writers: list[Statement], reader: Statement, access: Access) -> bool:
    """Whether a statement before it in the text, each time that the loops around both begin an iteration, has
    written all that it reads in that iteration: so it is with an array that is filled first.
    """
    read = scop.access_map(reader, access)
    for s in writers:
        shared = common_loops(s, reader)
        if s.place[shared] < reader.place[shared]:
            written = _of_iteration(scop.access_map(s, s.stmt.target), shared)
            if _of_iteration(read, shared).is_subset(written):
                return True
    return False


def _of_iteration(accesses: isl.Map, shared: int) -> isl.Map:
    """The elements of all iterations of the loops inside of some."""
    kind = isl.dim_type.in_
    inner = accesses.dim(kind) - shared
    return accesses.project_out(kind, shared, inner).reset_tuple_id(kind)


def _uninitialised(s: Statement, access: Access, array: Array, bad: isl.Set) -> LanguageError:
    example = _example(s, bad)
    env = dict(example)
    element = ", ".join("…" if e.is_data else str(e.evaluate(env)) for e in access.indices)
    where = ", ".join(f"{v} = {x}" for v, x in example)
    name = f"{array.name}[{element}]" if element else array.name
    at = f" for {where}" if where else ""
    notes = [f"'{array.name}' is a local, undefined until written"]
    value = s.stmt.value
    if isinstance(value, Scatter):
        notes.append("a write at a subscript that is data leaves all other elements as they were")
    if isinstance(value, Select) and access == s.stmt.target:
        notes.append(
            "where a condition on data does not hold, the element keeps the value that it had"
        )
    return LanguageError(
        "W161",
        f"{name} is read before it is written{at}",
        span=access.span or s.stmt.span,
        notes=notes,
        help=f"give it a value where it is declared: {array.name}: {array.type} = 0",
    )
