"""Whether an operation sums up what other iterations have begun: then its terms may be taken in another order.

An operation of a class (sums, products, extremes, bits) goes on with what another iteration has left where that came of an operation
of its class, and nothing but such operations is in between. What a product makes of it, as the factor of a stencil in steps
of time does, or the sums of which a minimum is taken, are other values in each iteration.
"""

from __future__ import annotations

from dse.bounds.critical import CLASS_OF
from dse.bounds.distinct import Facts
from qor_gnn.design.region import Statement


def accumulates(facts: Facts, name: str, op: int) -> bool:
    """Whether an operation of a statement may be one of a sum over iterations; true of those that are in no class."""
    stmt = facts.statements[name]
    extremes = extremes_in(stmt)
    own = _class_of(stmt, op, extremes)
    if not own or stmt.ops[op].type in facts.composed:
        return True
    pending, seen = [op], {op}
    while pending:
        for k in stmt.ops[pending.pop()].operands:
            operand = stmt.ops[k]
            if operand.kind == "load" and operand.access is not None:
                sources = facts.values.sources(name, operand.access.memory)
                if any(own in _last_of(facts.statements.get(source)) for source in sources):
                    return True
            elif k not in seen and _class_of(stmt, k, extremes) in (own, _PASSED):
                seen.add(k)
                pending.append(k)
    return False


_PASSED = "passed"  # what changes no value, and may be what is left of a guard


def extremes_in(stmt: Statement) -> set[int]:
    """The comparisons and selections of minima and maxima, which round nothing."""
    found: set[int] = set()
    for n, op in enumerate(stmt.ops):
        if op.kind == "select":
            test, *values = op.operands
            if stmt.ops[test].kind == "cmp" and {*stmt.ops[test].operands} == {*values}:
                found |= {n, test}
    return found


def _class_of(stmt: Statement, n: int, extremes: set[int]) -> str:
    """The class of an operation; empty of others."""
    if n in extremes:
        return "extreme"
    kind = stmt.ops[n].kind
    return _PASSED if kind in ("cast", "load", "select") else CLASS_OF.get(kind, "")


def _last_of(stmt: Statement | None) -> set[str]:
    """The classes of the operations that a statement's value may come of."""
    if stmt is None:
        return set()  # of one that is folded to a constant
    found, extremes = set[str](), extremes_in(stmt)
    pending, seen = [len(stmt.ops) - 1], set[int]()
    while pending:
        n = pending.pop()
        if n not in seen:
            seen.add(n)
            found.add(own := _class_of(stmt, n, extremes))
            pending += stmt.ops[n].operands if own == _PASSED else ()
    return found
