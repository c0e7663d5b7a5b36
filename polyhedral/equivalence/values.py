"""Does a store assign to the element that its statement assigns to, and the same expression?

Expressions are compared operation by operation, elements as functions of the loops' variables on
all iterations that are executed.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from polyhedral.equivalence.raised import Expression, RaisedStore, Value
from polyhedral.equivalence.refutation import Refutation, source_note
from polyhedral.equivalence.relations import Run, instance_text
from polyhedral.isl.text import affine_text, coordinates, first_point, positional, set_of


def check_values(run: Run, expected: RaisedStore) -> Refutation | None:
    """Compare a store with what level 3 has for its statement by itself, over its own variables."""
    found = _same_access(run, expected.target, run.store.target, "assigns to")
    if found is not None:
        return found
    for want, have in _pairs(expected.value, run.store.value):
        if _operation(want) != _operation(have):
            return _other_operation(run, want, have)
        if want.access is not None and have.access is not None:
            verb = "reads" if want.access.array else "uses"
            found = _same_access(run, want.access, have.access, verb)
            if found is not None:
                return found
    return None


def _pairs(expected: Expression, found: Expression) -> Iterator[tuple[Value, Value]]:
    """The operations that stand at the same place in both, each pair once, from the root."""
    pending = [(len(expected) - 1, len(found) - 1)]
    seen = set(pending)
    while pending:
        a, b = pending.pop()
        yield expected[a], found[b]
        for pair in zip(expected[a].operands, found[b].operands, strict=True):
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)


def _operation(value: Value) -> tuple[str, str, tuple[tuple[str, str], ...], int, bool]:
    return (
        value.op,
        value.type,
        tuple(sorted(value.attributes)),
        len(value.operands),
        value.access is None,
    )


def _other_operation(run: Run, want: Value, have: Value) -> Refutation:
    statement = run.statement
    notes = (f"expected {_text(want)}, found {_text(have)}", *source_note(statement))
    text = f"{statement.name} computes another expression"
    return Refutation("W327", text, statement.stmt.span, notes)


def _text(value: Value) -> str:
    told = [f"{name} = {text}" for name, text in sorted(value.attributes)]
    return " ".join([value.op, *(f"({t})" for t in told), value.type])


def _same_access(run: Run, want: Access, have: Access, verb: str) -> Refutation | None:
    statement, iteration = run.statement, run.store.iteration
    assert iteration is not None
    if want.array != have.array:
        notes = (f"expected '{want.array}', found '{have.array}'", *source_note(statement))
        text = f"{statement.name} {verb} another array"
        return Refutation("W328", text, statement.stmt.span, notes)
    bindings = dict(zip(statement.variables, iteration, strict=True))
    for wanted, index in zip(want.indices, have.indices, strict=True):
        bound = wanted.substitute(bindings)
        if bound == index:
            continue
        if bound.is_data or index.is_data:
            text = f"{statement.name} {verb} '{want.array}' at another subscript"
            return Refutation("W328", text, statement.stmt.span, source_note(statement))
        bad = differ(run, bound, index)
        if not bad.is_empty():
            return _other_element(run, want, have, verb, bad)
    return None


def differ(run: Run, a: Affine, b: Affine) -> isl.Set:
    """Where in its loops two expressions of their variables differ."""
    names = positional([loop.iv for loop in run.store.loops], "t")
    space = ", ".join(names.values())
    where = f"{affine_text(a, names)} != {affine_text(b, names)}"
    return run.domain.intersect(set_of(f"{{ [{space}] : {where} }}"))


def _other_element(run: Run, want: Access, have: Access, verb: str, bad: isl.Set) -> Refutation:
    statement, loops = run.statement, run.store.loops
    assert run.store.iteration is not None
    point = coordinates(first_point(bad), len(loops))
    env = dict(zip((loop.iv for loop in loops), point, strict=True))
    at = tuple(e.evaluate(env) for e in run.store.iteration)
    own = dict(zip(statement.variables, at, strict=True))
    right = _element(want.array, tuple(e.evaluate(own) for e in want.indices))
    wrong = _element(have.array, tuple(e.evaluate(env) for e in have.indices))
    where = instance_text(statement.name, at)
    text = f"{where} {verb} {wrong}, not {right}"
    return Refutation("W328", text, statement.stmt.span, source_note(statement))


def _element(array: str, at: tuple[int, ...]) -> str:
    if not array:
        return f"the number {at[0]}"
    return instance_text(array, at) if at else array
