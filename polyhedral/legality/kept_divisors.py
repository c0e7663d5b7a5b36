"""Values that all iterations of a loop divide by, and whether a program divides by them once.

The argument, of a statement R that assigns a reciprocal to a local, and of one that multiplies by it:

* the programs are one but for R, and for products in the place of quotients by its divisor;
* of every product, the last write of the local before it (by isl) is by an iteration of R;
* that iteration read, in all that its divisor is computed from, what the quotient would have read.

So a product is one with the reciprocal of what it was a quotient by. What is looked at is the two programs alone, not how the
second one came about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Cond
from dsl.expressions.expr import Access, Binary, Const, Gather, Index, Load, loads, walk
from dsl.programs.program import Array, Storage, map_statements
from dsl.programs.reciprocals import (
    Quotient,
    Reciprocal,
    at_first,
    in_front,
    is_quotient,
    quotients,
    with_factor,
)
from polyhedral.dependences.value_origins import ValueOrigins
from polyhedral.isl.conditions import condition_of
from polyhedral.isl.text import dims, map_of
from polyhedral.legality.program import check_program
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.scop import Scop, Statement, build_scop


class NotKeptError(Exception):
    """No divisor is kept; the text says why."""


def with_reciprocal(scop: Scop, name: str, level: int) -> Reciprocal:
    """The program that divides once by the first divisor of a statement that a loop keeps.

    Args:
        scop: the program.
        name: of the statement.
        level: loops around the loop.

    Raises:
        NotKeptError: there is none.
    """
    s = scop.statement(name)
    var = s.variables[level]
    found = [*quotients(scop.program, s.stmt)]
    if not found:
        raise NotKeptError(f"{name} divides no float by what is computed")
    text = ""
    for quotient in found:
        moved = var in quotient.moving or quotient.scope > level
        for made in () if moved else _candidates(scop, s, level, quotient):
            try:
                check_program(made.program)
            except LanguageError as error:
                text = error.message
                continue
            wrong = divides_otherwise(scop, build_scop(made.program), made.stmt)
            if wrong is None:
                return made
            text = wrong
    raise NotKeptError(text or f"each iteration of '{var}' has another divisor")


def _candidates(scop: Scop, s: Statement, level: int, quotient: Quotient) -> Iterator[Reciprocal]:
    """The program that divides in front of the loop, and in the first iteration that needs it."""
    front = in_front(scop.program, s.name, level, quotient)
    if front is not None:
        yield front
    yield at_first(scop.program, s.name, level, quotient, _first(s, level, quotient))


def _first(s: Statement, level: int, quotient: Quotient) -> Cond:
    """Holds in the first of the iterations that divide by the same."""
    every = dims(len(s.loops))
    same = [
        d
        for k, (d, loop) in enumerate(zip(every, s.loops, strict=True))
        if k < level or loop.var in quotient.moving
    ]
    # Of loops that count down the last iteration is the first.
    signed = ", ".join(
        d if loop.step > 0 else f"-{d}" for d, loop in zip(every, s.loops, strict=True)
    )
    turned = map_of(f"{{ {s.space} -> [{signed}] }}")
    keys = map_of(f"{{ {s.space} -> [{', '.join(same)}] }}").intersect_domain(s.domain)
    by_key = keys.reverse().apply_range(turned)
    found = by_key.lexmin().range().apply(turned.reverse()).intersect(s.domain)
    return condition_of(found.gist(s.domain), s.variables)


def divides_otherwise(old: Scop, new: Scop, name: str) -> str | None:
    """What a program with a reciprocal does otherwise than one with quotients; None where it is proven to be the same.

    Args:
        old: the program.
        new: the other one.
        name: of its statement that divides.
    """
    text = _other_program(old, new, name)
    if text is not None:
        return text
    own = new.statement(name)
    factor = own.stmt.target
    value = own.stmt.value
    assert isinstance(value, Binary)
    read = loads(value.rhs)
    every = {factor.array, *(access.array for access in read)}
    of_factor = ValueOrigins(new, every, frozenset())
    of_divisor = ValueOrigins(_with_quotients(old, new), every, frozenset())
    for s in new.statements:
        if s is not own and factor in s.reads:
            way = _from_reciprocal(of_factor, own, s, factor)
            if way is None:
                return f"{s.name} multiplies by what {name} has not assigned"
            for access in dict.fromkeys(read):
                if not _reads_the_same(of_divisor, own, s, access, way):
                    return f"{s.name} divides by another {access} than {name}"
    return None


def _with_quotients(old: Scop, new: Scop) -> Scop:
    """The program with the reciprocal, and with quotients all the same: of the same statements, with what these read."""
    known = {s.name: s.stmt for s in old.statements}
    body = tuple(
        map_statements(node, lambda stmt: known.get(stmt.name, stmt)) for node in new.program.body
    )
    return build_scop(replace(new.program, body=body))


def _other_program(old: Scop, new: Scop, name: str) -> str | None:
    """What differs besides products with the reciprocal."""
    own = next((s for s in new.statements if s.name == name), None)
    kept = [s for s in new.statements if s is not own]
    if own is None or [s.name for s in kept] != [s.name for s in old.statements]:
        return "the statements are other ones"
    value, target = own.stmt.value, own.stmt.target
    added = [a for a in new.program.arrays if a not in old.program.arrays]
    if [a.name for a in added] != [target.array] or {*old.program.arrays} - {*new.program.arrays}:
        return "the arrays are other ones"
    if added[0].storage is not Storage.LOCAL or old.program.arguments != new.program.arguments:
        return "the arrays are other ones"
    if not _is_reciprocal(value, added[0]):
        return f"{name} is no reciprocal"
    assert isinstance(value, Binary)
    factor = Load(target, added[0].dtype)
    for mine, now in zip(old.statements, kept, strict=True):
        product = replace(mine.stmt, value=with_factor(mine.stmt.value, value.rhs, factor))
        if now.stmt not in (mine.stmt, product):
            return f"{mine.name} is another statement"
    return other_loops(old.statements, kept)


def _is_reciprocal(value: object, array: Array) -> bool:
    return (
        isinstance(value, Binary)
        and is_quotient(value)
        and value.lhs == Const(1.0, array.dtype)
        and not any(isinstance(e, Gather | Index) for e in walk(value.rhs))
        and value.dtype == array.dtype
    )


def _from_reciprocal(
    origins: ValueOrigins, own: Statement, s: Statement, factor: Access
) -> isl.Map | None:
    """From iterations of the reciprocal to those that multiply by it; None where something else is read."""
    seen = origins.of(s, factor)
    if not seen or any(origin.source is not own for origin in seen):
        return None
    way = seen[0].pairs
    for more in seen[1:]:
        way = way.union(more.pairs)
    return way


def _reads_the_same(
    origins: ValueOrigins, own: Statement, s: Statement, access: Access, way: isl.Map
) -> bool:
    """Whether a statement would read in its divisor what the iteration of the reciprocal has read which it sees."""
    mine = _by_source(origins, origins.scop.statement(s.name), access)
    its = {
        source: pairs.apply_range(way)
        for source, pairs in _by_source(origins, origins.scop.statement(own.name), access).items()
    }
    its = {source: pairs for source, pairs in its.items() if not pairs.is_empty()}
    return mine.keys() == its.keys() and all(mine[key].is_equal(its[key]) for key in mine)


def _by_source(origins: ValueOrigins, s: Statement, access: Access) -> dict[str, isl.Map]:
    """From what was assigned, or was there before, to the iterations that read it, by statement."""
    found: dict[str, isl.Map] = {}
    for origin in origins.of(s, access):
        key = "" if origin.source is None else origin.source.name
        found[key] = found[key].union(origin.pairs) if key in found else origin.pairs
    return found
