"""Make a failing program and schedule smaller while they still fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import TypeVar

from dsl.expressions import typing as t
from dsl.expressions.affine import Affine, And, Cond, Constraint, Or
from dsl.expressions.expr import (
    Access,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    children,
    loads,
    map_leaves,
    walk,
)
from dsl.programs.program import If, Loop, Node, Program, Stmt, Storage
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Step
from tests.support.enumeration import TooManyError
from tests.support.validity import faults

_T = TypeVar("_T")
Fails = Callable[[Program, Schedule], bool]


def shrink(
    program: Program, schedule: Schedule, fails: Fails, attempts: int = 2000
) -> tuple[Program, Schedule]:
    """The smallest pair found, in at most ``attempts`` calls of ``fails``, that still fails.

    ``fails`` gets valid programs only; for a schedule that no longer applies it says False.
    """
    tried = 0
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(program, schedule):
            if not _valid(smaller[0]):
                continue
            tried += 1
            if tried > attempts:
                return program, schedule
            if fails(*smaller):
                program, schedule = smaller
                progress = True
                break
    return program, schedule


def _valid(program: Program) -> bool:
    try:
        return not faults(program)
    except (TooManyError, KeyError):
        return False


def _smaller(program: Program, schedule: Schedule) -> Iterator[tuple[Program, Schedule]]:
    for n in reversed(range(len(schedule))):
        yield program, Schedule((*schedule.steps[:n], *schedule.steps[n + 1 :]))
    for body in _smaller_bodies(program.body):
        yield _tidied(replace(program, body=body)), schedule
    for n, step in enumerate(schedule):
        for simple in _simpler_steps(step):
            yield program, Schedule((*schedule.steps[:n], simple, *schedule.steps[n + 1 :]))
    for n, array in enumerate(program.arrays):
        if array.storage is Storage.LOCAL and array.shape:
            changed = replace(array, storage=Storage.ARGUMENT, scope_depth=0)
            yield _tidied(replace(program, arrays=_put(program.arrays, n, changed))), schedule
        if array.const:
            changed = replace(array, const=False)
            yield replace(program, arrays=_put(program.arrays, n, changed)), schedule


def _put(items: tuple[_T, ...], n: int, item: _T) -> tuple[_T, ...]:
    return (*items[:n], item, *items[n + 1 :])


def _simpler_steps(step: Step) -> Iterator[Step]:
    for f in fields(step):
        value = getattr(step, f.name)
        if f.name == "tail" and value != "remainder":
            yield replace(step, tail="remainder")  # type: ignore[call-arg]
        if f.name == "factor" and isinstance(value, int) and value > 2:
            yield replace(step, factor=2)  # type: ignore[call-arg]
        if f.name == "factors":
            for n, factor in enumerate(value):
                if factor > 2:
                    yield replace(step, factors=_put(value, n, 2))  # type: ignore[call-arg]
        if f.name in ("loops", "stmts") and len(value) > 2:
            for n in range(len(value)):
                changed = {f.name: (*value[:n], *value[n + 1 :])}
                if hasattr(step, "factors"):
                    changed["factors"] = (*step.factors[:n], *step.factors[n + 1 :])
                yield replace(step, **changed)


# -------------------------------------------------------------------------------- loop nests


def _smaller_bodies(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """Each way to make one node simpler, the most drastic ones first."""
    for n in range(len(nodes)):
        yield (*nodes[:n], *nodes[n + 1 :])
    for n, node in enumerate(nodes):
        match node:
            case Loop():
                for smaller in _smaller_loops(node):
                    yield (*nodes[:n], *smaller, *nodes[n + 1 :])
            case If(cond, then, orelse):
                yield (*nodes[:n], *then, *nodes[n + 1 :])
                yield (*nodes[:n], *orelse, *nodes[n + 1 :])
                for simple in _simpler_conds(cond):
                    yield _put(nodes, n, replace(node, cond=simple))
                for body in _smaller_bodies(then):
                    yield _put(nodes, n, replace(node, then=body))
                for body in _smaller_bodies(orelse):
                    yield _put(nodes, n, replace(node, orelse=body))
            case Stmt():
                for stmt in _smaller_stmts(node):
                    yield _put(nodes, n, stmt)


def _smaller_loops(loop: Loop) -> Iterator[tuple[Node, ...]]:
    zero = {loop.var: Affine.of(0)}
    for low in (*loop.lowers[:1], Affine.of(0)):
        yield substituted(loop.body, {**zero, loop.var: low})
    for body in _smaller_bodies(loop.body):
        yield (replace(loop, body=body),)
    if loop.step != 1:
        yield (replace(loop, step=1),)
    for bounds in (loop.lowers, loop.uppers):
        name = "lowers" if bounds is loop.lowers else "uppers"
        for n, bound in enumerate(bounds):
            if len(bounds) > 1:
                yield (replace(loop, **{name: (*bounds[:n], *bounds[n + 1 :])}),)
            for simple in _simpler_affines(bound):
                yield (replace(loop, **{name: _put(bounds, n, simple)}),)


def _simpler_affines(affine: Affine) -> Iterator[Affine]:
    if affine.is_const:
        values = (0, 1, affine.const // 2, affine.const - 1 if affine.const > 0 else affine.const)
        for value in dict.fromkeys(values):
            if abs(value) < abs(affine.const):
                yield Affine.of(value)
        return
    for n in range(len(affine.terms)):
        yield Affine((*affine.terms[:n], *affine.terms[n + 1 :]), affine.const)
    if affine.const:
        yield Affine(affine.terms, 0)
    for n, (atom, c) in enumerate(affine.terms):
        if c != 1:
            yield Affine.collected({**dict(affine.terms), atom: 1}, affine.const)
        if not isinstance(atom, str):
            rest = Affine((*affine.terms[:n], *affine.terms[n + 1 :]), affine.const)
            yield rest + atom.numerator


def _simpler_conds(cond: Cond) -> Iterator[Cond]:
    match cond:
        case Constraint(expr, kind):
            for affine in _simpler_affines(expr):
                if not affine.is_const:
                    yield Constraint(affine, kind)
        case And(parts) | Or(parts):
            yield from parts
            for n, part in enumerate(parts):
                for simple in _simpler_conds(part):
                    yield type(cond)(_put(parts, n, simple))


def substituted(nodes: tuple[Node, ...], values: dict[str, Affine]) -> tuple[Node, ...]:
    """Nodes with loop variables replaced by expressions."""
    return tuple(_substituted(node, values) for node in nodes)


def _substituted(node: Node, values: dict[str, Affine]) -> Node:
    def affines(items: tuple[Affine, ...]) -> tuple[Affine, ...]:
        return tuple(a.substitute(values) for a in items)

    def access(a: Access) -> Access:
        return Access(a.array, affines(a.indices))

    def leaf(e: Const | Load | Index) -> Expr:
        match e:
            case Const():
                return e
            case Load(a, dtype):
                return Load(access(a), dtype)
            case Index(affine, dtype):
                return Index(affine.substitute(values), dtype)

    match node:
        case Stmt(target=target, value=value):
            return replace(node, target=access(target), value=map_leaves(value, leaf))
        case If(cond, then, orelse):
            parts = substituted(then, values), substituted(orelse, values)
            return If(_substituted_cond(cond, values), *parts)
        case Loop(lowers=lowers, uppers=uppers, body=body):
            return replace(
                node,
                lowers=affines(lowers),
                uppers=affines(uppers),
                body=substituted(body, values),
            )


def _substituted_cond(cond: Cond, values: dict[str, Affine]) -> Cond:
    match cond:
        case Constraint(expr, kind):
            return Constraint(expr.substitute(values), kind)
        case And(parts) | Or(parts):
            return type(cond)(tuple(_substituted_cond(p, values) for p in parts))


# -------------------------------------------------------------------------------- statements


def _smaller_stmts(stmt: Stmt) -> Iterator[Stmt]:
    for value in _smaller_values(stmt.value):
        if t.assignable(value.dtype, stmt.value.dtype) or value.dtype == stmt.value.dtype:
            yield replace(stmt, value=value)
    for n, index in enumerate(stmt.target.indices):
        for simple in () if index.is_data else _simpler_affines(index):
            target = Access(stmt.target.array, _put(stmt.target.indices, n, simple))
            yield replace(stmt, target=target)
    for e in dict.fromkeys(loads(stmt.value)):
        for n, index in enumerate(e.indices):
            for simple in () if index.is_data else _simpler_affines(index):
                yield _with_access(stmt, e, Access(e.array, _put(e.indices, n, simple)))


def _with_access(stmt: Stmt, old: Access, new: Access) -> Stmt:
    def leaf(e: Const | Load | Index) -> Expr:
        return Load(new, e.dtype) if isinstance(e, Load) and e.access == old else e

    return replace(stmt, value=map_leaves(stmt.value, leaf))


def _smaller_values(value: Expr) -> Iterator[Expr]:
    """Sub-expressions of the root, then the same with one inner node replaced by a simpler one.

    What is written at data stays at data.
    """
    if isinstance(value, Scatter):
        for n in range(len(children(value))):
            yield from _replaced_child(value, n)
        return
    if not children(value):
        if not isinstance(value, Const) or value.value not in (0, 1):
            yield t.const(1, value.dtype)
        return
    yield t.const(1, value.dtype)
    yield from (e for e in walk(value) if e is not value)
    for n in range(len(children(value))):
        yield from _replaced_child(value, n)


def _replaced_child(value: Expr, n: int) -> Iterator[Expr]:
    """A child replaced by something simpler of the same type."""
    child = children(value)[n]
    for simple in _smaller_values(child):
        if simple.dtype == child.dtype:
            yield _with_child(value, n, simple)


def _with_child(value: Expr, n: int, new: Expr) -> Expr:
    match value:
        case Gather(access, data, dtype):
            return Gather(access, _put(data, n, new), dtype)
        case Scatter(access, data, inside) if n < len(data):
            return Scatter(access, _put(data, n, new), inside)
        case Scatter(access, data, _):
            return Scatter(access, data, new)
    names = [f.name for f in fields(value) if f.name in _OPERANDS]
    return replace(value, **{names[n]: new})


_OPERANDS = ("operand", "cond", "lhs", "then", "rhs", "orelse")


# -------------------------------------------------------------------------------- arrays


def _tidied(program: Program) -> Program:
    """Empty nodes and unused arrays removed, scopes and shapes made to fit."""
    body = _without_empty(program.body)
    program = replace(program, body=body)
    stmts = program.statements()
    used = {a.array for s in stmts for a in (s.target, *loads(s.value))}
    shared: dict[str, tuple[int, ...]] = {}
    for node, around in program.walk():
        if isinstance(node, Stmt):
            path = tuple(id(n) for n in around if isinstance(n, Loop))
            for access in (node.target, *loads(node.value)):
                known = shared.get(access.array, path)
                common = 0
                while common < min(len(known), len(path)) and known[common] == path[common]:
                    common += 1
                shared[access.array] = path[:common]
    arrays = [
        replace(a, scope_depth=min(a.scope_depth, len(shared[a.name])))
        for a in program.arrays
        if a.name in used
    ]
    arrays.sort(key=lambda a: a.storage is Storage.LOCAL)
    return replace(program, arrays=tuple(arrays))


def _without_empty(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        match node:
            case Stmt():
                found.append(node)
            case Loop(body=body):
                if kept := _without_empty(body):
                    found.append(replace(node, body=kept))
            case If(then=then, orelse=orelse):
                yes, no = _without_empty(then), _without_empty(orelse)
                if yes or no:
                    found.append(replace(node, then=yes, orelse=no))
    return tuple(found)
