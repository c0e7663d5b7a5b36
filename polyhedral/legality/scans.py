"""Whether a statement ``t = before op e`` of a loop may run in blocks, and what it is made of.

``before`` is what the iteration before has assigned: ``run = run + x[i]``, ``y[i] = y[i - 1] + x[i]``. The sums of a
block are those of its terms alone, and ``t`` is what came before the block ``op`` one of them. That is the same where

- op is associative in the type of ``t``, every partial result cut to it: `is_associative`,
- nothing else in the loop assigns to the array, so that ``before`` is what the statement itself assigned,
- no iteration before, or statement in front, changes what ``e`` reads: it can be read as the block begins.

All other statements stay in their order, and find in ``t`` what they found.
"""

from __future__ import annotations

import islpy as isl

from dsl.expressions.expr import Binary, BinaryOp, Load, loads
from dsl.expressions.types import FixedType
from dsl.programs.located import trips
from dsl.programs.program import Loop, Stmt
from dsl.programs.scanned import Running, previous
from polyhedral.dependences.memory_order import program_order
from polyhedral.isl.text import dims, map_of
from polyhedral.legality.associative import is_associative
from polyhedral.scop.scop import ASSOCIATIVE, Scop, Statement, common_loops


class NoScanError(Exception):
    """The statement is no running sum; the text says why."""


def running(scop: Scop, name: str, level: int, factor: int) -> Running:
    """What a running sum is made of.

    Args:
        scop: the kernel.
        name: the statement.
        level: of its loops, the one that is cut into blocks, counted from the outermost.
        factor: iterations of a block.

    Raises:
        NoScanError: it is none that can run in blocks.
    """
    statement = scop.statement(name)
    loop = _loop_of(scop, name, level)
    count = trips(loop)
    if count is None:
        raise NoScanError(f"'{loop.var}' has no constant number of iterations")
    if count < factor:
        raise NoScanError(f"'{loop.var}' has {count} iterations, fewer than a block of {factor}")
    found = _form(statement.stmt, loop)
    dtype = scop.program.array(statement.stmt.target.array).dtype
    if not is_associative(statement.stmt.value, dtype):
        raise NoScanError(f"each step cuts a {statement.stmt.value.dtype} to {dtype}")
    if found.op is BinaryOp.MUL and isinstance(dtype, FixedType) and dtype.frac != 0:
        raise NoScanError(f"products of {dtype} are cut at other places")
    _check_alone(scop, statement, level)
    _check_term(scop, statement, found, level)
    return found


def _loop_of(scop: Scop, name: str, level: int) -> Loop:
    around = next(a for n, a in scop.program.walk() if isinstance(n, Stmt) and n.name == name)
    loops = [a for a in around if isinstance(a, Loop)]
    if level != len(loops) - 1:
        raise NoScanError(f"{name} runs in the loop '{loops[-1].var}' inside")
    if around[-1] is not loops[-1]:
        raise NoScanError(f"{name} runs under a condition in '{loops[-1].var}'")
    return loops[-1]


def _form(stmt: Stmt, loop: Loop) -> Running:
    """The parts of ``t = before op e``."""
    value, before = stmt.value, previous(stmt.target, loop)
    if isinstance(value, Binary) and value.op in (*ASSOCIATIVE, BinaryOp.SUB):
        sides = [(value.lhs, value.rhs)]
        if value.op is not BinaryOp.SUB:
            sides.append((value.rhs, value.lhs))
        for old, term in sides:
            if isinstance(old, Load) and old.access == before:
                return Running(value.op, before, term)
    raise NoScanError(f"it is not {stmt.target} = {before} op e, op one of + - * min max & | ^")


def _check_alone(scop: Scop, mine: Statement, level: int) -> None:
    """The statement alone assigns to its array in the loop."""
    for other in scop.statements:
        inside = other is not mine and common_loops(mine, other) > level
        if inside and other.stmt.target.array == mine.stmt.target.array:
            raise NoScanError(f"{other.name} assigns to '{mine.stmt.target.array}', too")


def _check_term(scop: Scop, mine: Statement, found: Running, level: int) -> None:
    """Nothing in a run of the loop changes what a term reads before it is read."""
    for access in dict.fromkeys(loads(found.term)):
        for other in scop.statements:
            if common_loops(mine, other) <= level or other.stmt.target.array != access.array:
                continue
            written = scop.access_map(other, other.stmt.target)
            same = written.apply_range(scop.access_map(mine, access).reverse())
            order = program_order(other, mine)
            if order is None:
                continue
            if not same.intersect(order).intersect(_same_run(other, mine, level)).is_empty():
                raise NoScanError(f"{other.name} changes what it adds: {access}")


def _same_run(s: Statement, t: Statement, level: int) -> isl.Map:
    """Iterations of both in one execution of the loop."""
    a, b = dims(len(s.loops), "x"), dims(len(t.loops), "y")
    equal = " and ".join(f"x{k} = y{k}" for k in range(level)) or "true"
    return map_of(f"{{ s{s.index}[{', '.join(a)}] -> s{t.index}[{', '.join(b)}] : {equal} }}")
