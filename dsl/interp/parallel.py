"""Which loops may run all their iterations at once, and which are sums in order.

A loop is parallel if no iteration touches an array element that another one writes. Then its
iterations may advance together, statement by statement, each still in its own order, with the
same result to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Binary, BinaryOp, Expr, Load, loads
from dsl.expressions.numeric import frac_of, width_of
from dsl.expressions.types import FixedType, FloatType, Overflow
from dsl.interp.ranges import Range, largest, loop_range, never_zero, smallest
from dsl.programs.program import If, Loop, Node, Program, Stmt

_PRIME = "'"


@dataclass(frozen=True, slots=True)
class _Site:
    """An access in the body of a loop, with the loops between them."""

    access: Access
    writes: bool
    inner: tuple[Loop, ...]


def _sites(nodes: tuple[Node, ...], inner: tuple[Loop, ...]) -> Iterator[_Site]:
    for node in nodes:
        match node:
            case Stmt():
                for access in loads(node.value):
                    yield _Site(access, False, inner)
                yield _Site(node.target, True, inner)
            case If():
                yield from _sites(node.then, inner)
                yield from _sites(node.orelse, inner)
            case Loop():
                yield from _sites(node.body, (*inner, node))


def is_parallel(program: Program, loop: Loop, around: tuple[Loop, ...]) -> bool:
    """Whether the iterations of ``loop`` are proven to touch disjoint elements.

    Args:
        program: where the arrays are declared.
        loop: locals declared inside of it are private to an iteration.
        around: the loops around it, outermost first.
    """
    by_array: dict[str, list[_Site]] = {}
    for site in _sites(loop.body, ()):
        if program.array(site.access.array).scope_depth <= len(around):
            by_array.setdefault(site.access.array, []).append(site)
    return all(
        _disjoint(loop, written, other, around)
        for sites in by_array.values()
        for written in sites
        if written.writes
        for other in sites
    )


def _primed(loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The same loops with other variables, for a second, independent iteration."""
    names = {loop.var: loop.var + _PRIME for loop in loops}
    return tuple(
        Loop(
            names[loop.var],
            tuple(bound.rename(names) for bound in loop.lowers),
            tuple(bound.rename(names) for bound in loop.uppers),
            loop.step,
            (),
        )
        for loop in loops
    )


def _all_ranges(loops: tuple[Loop, ...]) -> dict[str, Range]:
    ranges: dict[str, Range] = {}
    for loop in loops:
        ranges[loop.var] = loop_range(loop, ranges)
    return ranges


def _disjoint(loop: Loop, a: _Site, b: _Site, around: tuple[Loop, ...]) -> bool:
    """Whether ``a`` in one iteration never touches the element of ``b`` in another."""
    second = _primed((loop, *b.inner))
    loops = (*around, loop, *a.inner, *second)
    ranges = _all_ranges(loops)
    names = {old.var: new.var for old, new in zip((loop, *b.inner), second, strict=True)}
    for mine, theirs in zip(a.access.indices, b.access.indices, strict=True):
        if mine.is_data or theirs.is_data:
            continue  # it may be any
        difference = mine - theirs.rename(names)
        if never_zero(difference, loops, ranges):
            return True
        if _apart(loop, difference, loops, ranges):
            return True
    return False


def _apart(
    loop: Loop, difference: Affine, loops: tuple[Loop, ...], ranges: Mapping[str, Range]
) -> bool:
    """``c * (v - v') + rest`` with ``rest`` smaller than ``c`` times the step of ``v``."""
    factor = difference.coefficient(loop.var)
    if factor == 0 or difference.coefficient(loop.var + _PRIME) != -factor:
        return False
    v, other = Affine.of(loop.var), Affine.of(loop.var + _PRIME)
    rest = difference - v * factor + other * factor
    reach = abs(factor * loop.step)
    return smallest(rest, loops, ranges) > -reach and largest(rest, loops, ranges) < reach


def summand(program: Program, loop: Loop, around: tuple[Loop, ...]) -> Binary | None:
    """The ``x + e`` or ``x - e`` of a loop that does nothing but ``x = x + e``, x the same place.

    Only where adding the values up in order, in the type of ``x``, is what the statements do:
    floats of that type (not bf16, which NumPy does not add), integers and fixed point that wrap.
    The sum is returned with ``x`` as its left operand.
    """
    if len(loop.body) != 1 or not isinstance(loop.body[0], Stmt):
        return None
    stmt = loop.body[0]
    value = stmt.value
    if not isinstance(value, Binary) or value.op not in (BinaryOp.ADD, BinaryOp.SUB):
        return None
    if any(loop.var in index.variables() for index in stmt.target.indices):
        return None
    if not _is(value.lhs, stmt.target):
        if value.op is BinaryOp.SUB or not _is(value.rhs, stmt.target):
            return None
        value = Binary(value.op, value.rhs, value.lhs, value.dtype, value.span)
    return (
        value
        if _plain_sum(program, stmt, value) and _untouched((*around, loop), stmt, value)
        else None
    )


def _is(expr: Expr, access: Access) -> bool:
    return isinstance(expr, Load) and expr.access == access


def _plain_sum(program: Program, stmt: Stmt, value: Binary) -> bool:
    dtype = program.array(stmt.target.array).dtype
    match dtype:
        case FloatType(name):
            return name != "bf16" and value.dtype == dtype
        case FixedType(overflow=overflow) if overflow is not Overflow.WRAP:
            return False
        case _:
            summand_type = value.rhs.dtype
            if isinstance(summand_type, FloatType) or width_of(dtype) > 64:
                return False
            return frac_of(summand_type) <= frac_of(dtype)


def _untouched(loops: tuple[Loop, ...], stmt: Stmt, value: Binary) -> bool:
    """Whether the summands never read the element that the sum goes to."""
    ranges = _all_ranges(loops)
    return all(
        any(
            not theirs.is_data and never_zero(mine - theirs, loops, ranges)
            for mine, theirs in zip(stmt.target.indices, access.indices, strict=True)
        )
        for access in loads(value.rhs)
        if access.array == stmt.target.array
    )
