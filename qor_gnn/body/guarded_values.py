"""What elements hold inside of guards.

What is stored under a guard and read further down under the same one is the stored value itself: both are in
one block, and no selection is between them. Only what is read after the guard may be the older value.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from dsl.expressions.affine import Affine, Atom
from qor_gnn.design.region import Guard, Statement


@dataclass(frozen=True, slots=True)
class Held:
    """A value that was stored under a guard.

    Attributes:
        value: what the element holds in the rest of the guard's body.
        before: what it held ahead of the guard; None where nothing had read it.
        memory: its array's number.
        statement: the one that stored it last.
    """

    value: int
    before: int | None
    memory: int
    statement: Statement


@dataclass(slots=True)
class GuardedValues:
    """The values stored in the guards around what is appended, the innermost guard's last."""

    _guards: list[dict[int, Held]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self._guards)

    def enter(self) -> None:
        """A guard's body begins."""
        self._guards.append({})

    def leave(self) -> dict[int, Held]:
        """The innermost guard's body ends: what it stored, by address."""
        return self._guards.pop()

    def value(self, address: int) -> int | None:
        """What an element holds, if it was stored in one of the guards."""
        for guard in reversed(self._guards):
            if address in guard:
                return guard[address].value
        return None

    def store(self, address: int, held: Held) -> None:
        """An element is stored in the innermost guard; the first store there says what it held before."""
        known = self._guards[-1].get(address)
        before = held.before if known is None else known.before
        self._guards[-1][address] = Held(held.value, before, held.memory, held.statement)

    def forget(self, address: int) -> None:
        """What the element holds is no longer known."""
        for guard in self._guards:
            guard.pop(address, None)


def undecided(
    guard: Guard, env: Mapping[str, Affine], copies: Mapping[str, int], from_zero: Set[str]
) -> list[Affine] | None:
    """The conditions of a guard that hold or not, nobody knows; None where one never holds."""
    unknown: list[Affine] = []
    for c in guard.constraints:
        e = _placed(c.expr, env, copies)
        if not e.is_const:
            if is_negative(e, from_zero):
                return None
            if c.kind != ">=" or not is_negative(-1 - e, from_zero):
                unknown.append(e)
        elif not (e.const >= 0 if c.kind == ">=" else e.const == 0):
            return None
    return unknown


def _placed(expr: Affine, env: Mapping[str, Affine], copies: Mapping[str, int]) -> Affine:
    """An expression with variables replaced, and numbers of copies in what they are replaced by: at once, as thousands
    of copies are under guards.
    """
    terms: dict[Atom, int] = {}
    const = expr.const
    for atom, c in expr.terms:
        if not isinstance(atom, str):
            break
        value = env.get(atom)
        if value is not None:
            const += c * value.const
        for other, factor in ((atom, 1),) if value is None else value.terms:
            number = copies.get(other) if isinstance(other, str) else None
            if number is None:
                terms[other] = terms.get(other, 0) + c * factor
            else:
                const += c * factor * number
    if all(isinstance(atom, str) for atom in (*terms, *(atom for atom, _ in expr.terms))):
        return Affine.collected(terms, const)
    numbers = {v: Affine((), n) for v, n in copies.items()}  # inside of divisions, too
    return expr.substitute(env).substitute(numbers)


def is_negative(e: Affine, from_zero: Set[str]) -> bool:
    """Whether it is less than zero whatever the counters are, which count from zero."""
    falls = all(c < 0 and isinstance(v, str) and v in from_zero for v, c in e.terms)
    return e.const < 0 and falls
