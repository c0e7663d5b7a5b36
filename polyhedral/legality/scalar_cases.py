"""What integer scalars hold at a place of a program, case by case.

A branch on data is statements that choose, so that what one of them changes is told apart by its condition::

    cond = j == 16 or (i < 16 and x[i] <= y[j])
    i = i + 1 if cond else i
    j = j if cond else j + 1   # i may have been 16 where j is 16, and j is not where cond does not hold

So what is known is a few cases, of which one is true: ``cond`` and ``j`` is 16, ``cond`` and it is not, and so on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dsl.expressions.expr import Access, Cast, Expr, Load, Select, loads, walk
from dsl.expressions.facts import Fact, cases
from dsl.expressions.types import DType, boolean
from dsl.expressions.value_range import Range, ranges_where, value_range

MOST_CASES = 12

Case = Mapping[str, Range]
"""The range of each scalar; a scalar that nothing has written before is not there."""

Cases = tuple[Case, ...]
Stored = Callable[[Access, DType], Range]


def joined(of: Sequence[Case]) -> Case:
    """What holds in all cases."""
    found: dict[str, Range] = {}
    for case in of:
        for name, held in case.items():
            found[name] = hull(found[name], held) if name in found else held
    return found


def limited(of: Sequence[Case]) -> Cases:
    """The cases, without those that others hold; one where these are too many."""
    different: list[Case] = []
    for case in of:
        if not any(_holds(other, case) for other in different):
            different = [other for other in different if not _holds(case, other)] + [case]
    return tuple(different) if len(different) <= MOST_CASES else (joined(different),)


@dataclass(frozen=True, slots=True)
class Choice:
    """A value as it chooses, by flags of which it is known what they are.

    Attributes:
        value: see above.
        meanings: what each flag was set to, all of which still holds.
    """

    value: Expr
    meanings: Mapping[str, Expr]


def _both(a: Range, b: Range) -> Range:
    """What two ranges of the same value have in common."""
    return max(a[0], b[0]), min(a[1], b[1])


def _holds(wide: Case, narrow: Case) -> bool:
    """Whether a case is one of what another one says, of the same scalars."""
    return wide.keys() == narrow.keys() and all(
        wide[name][0] <= low and high <= wide[name][1] for name, (low, high) in narrow.items()
    )


def split(
    value: Expr, choice: Choice, case: Case, loops: Mapping[str, Range], stored: Stored
) -> list[tuple[Case, Range]]:
    """The cases that an integer value decides between, and its range in each of them.

    Of a condition they are where it holds and where it does not; of a choice, those of its condition. The flags in it are
    told apart by what they are and by what that means.
    """
    cond = _condition(choice.value)
    found: list[tuple[Case, Range]] = []
    if cond is not None and any(a.array in case for a in loads(cond)):
        for holds in (True, False):
            for part in _possible(cond, holds, choice.meanings, case, loops, stored):
                known = (int(holds), int(holds)) if cond is choice.value else None
                by_flags = known or range_in(choice.value, part, loops, stored)
                found.append((part, _both(by_flags, range_in(value, part, loops, stored))))
    return found if 0 < len(found) <= MOST_CASES else [(case, range_in(value, case, loops, stored))]


def _condition(value: Expr) -> Expr | None:
    match value:
        case Cast(operand=operand):
            return _condition(operand)
        case Select(cond=cond):
            return cond
        case _:
            return value if value.dtype == boolean else None


def _possible(
    cond: Expr,
    holds: bool,
    meanings: Mapping[str, Expr],
    case: Case,
    loops: Mapping[str, Range],
    stored: Stored,
) -> Iterator[Case]:
    for facts in cases(cond, holds):
        for told in _explained(facts, meanings):
            narrowed = _narrowed(told, case, loops, stored)
            if narrowed is not None:
                yield narrowed


def _explained(facts: Sequence[Fact], meanings: Mapping[str, Expr]) -> Iterator[tuple[Fact, ...]]:
    """The facts, with those that flags among them mean."""
    told = [
        cases(meanings[flag.access.array], holds)
        for flag, holds in facts
        if isinstance(flag, Load) and flag.access.array in meanings
    ]
    for parts in itertools.product(*told):
        yield (*facts, *(fact for part in parts for fact in part))


def _narrowed(
    facts: Sequence[Fact], case: Case, loops: Mapping[str, Range], stored: Stored
) -> Case | None:
    """The case with what the facts leave of its ranges; None where they cannot hold."""
    scalars = {
        e.access.array: e
        for cond, _ in facts
        for e in _scalar_loads(cond)
        if e.access.array in case
    }
    found = ranges_where(facts, [*scalars.values()], loops, _in(case, stored))
    return None if found is None else {**case, **dict(zip(scalars, found, strict=True))}


def _scalar_loads(value: Expr) -> Iterator[Load]:
    return (e for e in walk(value) if isinstance(e, Load) and not e.access.indices)


def range_in(value: Expr, case: Case, loops: Mapping[str, Range], stored: Stored) -> Range:
    """Of an integer value in a case."""
    return value_range(value, loops, _in(case, stored))


def _in(case: Case, stored: Stored) -> Stored:
    def of(access: Access, dtype: DType) -> Range:
        return case.get(access.array) or stored(access, dtype)

    return of


def hull(a: Range, b: Range) -> Range:
    """The least range with both."""
    return min(a[0], b[0]), max(a[1], b[1])
