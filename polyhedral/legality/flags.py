"""Flags: conditions that were kept in a scalar, put back where they are still true of what they were computed from.

The front end keeps a condition where a branch changes what it reads::

    cond = sp > 0 and full[i]
    full[i] = 0 if cond else full[i]
    sp = sp - 1 if cond else sp  # cond says sp > 0 here, but nothing of full[i] any more
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Const,
    Expr,
    Index,
    Load,
    Select,
    loads,
    map_leaves,
)
from dsl.expressions.types import boolean
from dsl.programs.program import If, Loop, Node, Program, Stmt, Storage, statements_in


@dataclass(frozen=True, slots=True)
class Resolved:
    """What statements assign, with what is known of flags.

    Attributes:
        values: of each statement, in which a flag says what it was set to as far as that still holds.
        choices: the same, in which flags stand of which all still holds.
        meanings: what these are then, of each statement.
    """

    values: Mapping[str, Expr]
    choices: Mapping[str, Expr]
    meanings: Mapping[str, Mapping[str, Expr]]


def resolved_values(program: Program) -> Resolved:
    """The values of a program, with what is known of its flags."""
    flags = {
        a.name
        for a in program.locals
        if a.storage is Storage.LOCAL and not a.shape and a.dtype == boolean
    }
    written = [s.target.array for s in program.statements() if s.target.array in flags]
    once = {name for name in written if written.count(name) == 1}
    found = {s.name: s.value for s in program.statements()}
    choices, meanings = dict(found), dict[str, Mapping[str, Expr]]()
    _Resolver(once, found, choices, meanings).block(program.body, {})
    return Resolved(found, choices, meanings)


def meant(value: Expr, meanings: Mapping[str, Expr]) -> Expr:
    """A value with what flags mean in their places."""

    def leaf(e: Const | Load | Index) -> Expr:
        return meanings.get(e.access.array, e) if isinstance(e, Load) else e

    return map_leaves(value, leaf) if meanings else value


@dataclass(frozen=True, slots=True)
class _Held:
    """A flag: all that it was set to, and those parts of the conjunction that still hold."""

    value: Expr
    parts: tuple[Expr, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all of it still holds."""
        return bool(self.parts) and len(self.parts) == len([*_conjuncts(self.value)])

    def without(self, changed: set[str]) -> _Held:
        """What is left of it when some arrays have changed."""
        parts = tuple(p for p in self.parts if not changed & {a.array for a in loads(p)})
        return self if len(parts) == len(self.parts) else _Held(self.value, parts)


class _Resolver:
    def __init__(
        self,
        flags: set[str],
        found: dict[str, Expr],
        choices: dict[str, Expr],
        meanings: dict[str, Mapping[str, Expr]],
    ) -> None:
        self._flags = flags
        self._found = found
        self._choices = choices
        self._meanings = meanings

    def block(self, nodes: tuple[Node, ...], known: dict[str, _Held]) -> dict[str, _Held]:
        """What is known of flags behind a block."""
        for node in nodes:
            match node:
                case Stmt():
                    self._found[node.name] = self._resolved(node.value, known)
                    whole = {n: h.value for n, h in known.items() if h.is_whole}
                    partly = {n: h for n, h in known.items() if not h.is_whole}
                    self._choices[node.name] = self._resolved(node.value, partly)
                    self._meanings[node.name] = whole
                    known = _after(known, {node.target.array})
                    if node.target.array in self._flags:
                        value = node.value
                        parts = tuple(_conjuncts(value))
                        own = not any(a.array == node.target.array for a in loads(value))
                        known = {**known, node.target.array: _Held(value, parts if own else ())}
                case Loop(body=body):
                    known = _after(known, _changed(body))  # by the iterations before, or by none
                    self.block(body, known)
                case If(then=then, orelse=orelse):
                    self.block(then, known)
                    self.block(orelse, known)
                    known = _after(known, _changed((*then, *orelse)))
        return known

    def _resolved(self, value: Expr, known: Mapping[str, _Held]) -> Expr:
        def leaf(e: Const | Load | Index) -> Expr:
            held = known.get(e.access.array) if isinstance(e, Load) else None
            if held is None or not held.parts:
                return e
            if held.is_whole:
                return held.value
            found: Expr = e
            for part in held.parts:
                found = Binary(BinaryOp.AND, found, part, boolean)
            return found

        return _spread(map_leaves(value, leaf) if known else value)


def _spread(value: Expr) -> Expr:
    """``x + (1 if c else 0)`` as ``x + 1 if c else x + 0``: the condition may be about ``x``."""
    match value:
        case Binary(BinaryOp.ADD | BinaryOp.SUB as op, lhs, Select(cond, then, orelse), dtype):
            return Select(cond, Binary(op, lhs, then, dtype), Binary(op, lhs, orelse, dtype), dtype)
        case _:
            return value


def _after(known: Mapping[str, _Held], changed: set[str]) -> dict[str, _Held]:
    return {n: h.without(changed) for n, h in known.items() if n not in changed}


def _changed(nodes: tuple[Node, ...]) -> set[str]:
    return {s.target.array for node in nodes for s in statements_in(node)}


def _conjuncts(value: Expr) -> Iterator[Expr]:
    match value:
        case Binary(BinaryOp.AND, lhs, rhs) if value.dtype == boolean:
            yield from _conjuncts(lhs)
            yield from _conjuncts(rhs)
        case _:
            yield value
