"""Does a program in which the terms of a sum are in another order add up the same?

The programs are one but for the value of a statement, of which both have the same terms, each with the same sign and as often;
and, where it is an update of an element, but for its place among updates of that element that follow each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from dsl.expressions.expr import Const
from dsl.expressions.float_sums import terms_of
from dsl.programs.program import Program, Stmt, map_statements
from dsl.programs.updates_in_line import line_of, put_behind
from polyhedral.equivalence.refutation import Refutation


def check_term_order(before: Program, after: Program, name: str) -> Refutation | None:
    """Compare a program with what another order of the terms of a statement made of it."""
    old, new = (_statement(p, name) for p in (before, after))
    if old is None or new is None or replace(new, value=old.value) != old:
        text = "the statement is another one"
    elif Counter(terms_of(old.value)) != Counter(terms_of(new.value)):
        text = "the terms are other ones"
    elif not any(_without(one, name) == _without(after, name) for one in _placed(before, name)):
        text = "something else has changed"
    else:
        return None
    span = None if old is None else old.span
    return Refutation("W339", f"order of the terms of {name}: {text}", span, ())


def _placed(program: Program, name: str) -> Iterator[Program]:
    """The program, and with an update behind others that follow it."""
    yield program
    for count in range(1, len(line_of(program, name)) + 1):
        yield put_behind(program, name, count)


def _statement(program: Program, name: str) -> Stmt | None:
    return next((s for s in program.statements() if s.name == name), None)


def _without(program: Program, name: str) -> Program:
    """The program with nothing that the statement computes."""

    def new(stmt: Stmt) -> Stmt:
        return replace(stmt, value=Const(0, stmt.value.dtype)) if stmt.name == name else stmt

    return replace(program, body=tuple(map_statements(node, new) for node in program.body))
