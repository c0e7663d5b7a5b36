"""Do statements of a rewritten program run in the loops that they had?"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from polyhedral.scop.scop import Statement, common_loops


def other_loops(
    before: Sequence[Statement], after: Sequence[Statement], fewer: Collection[str] = ()
) -> str | None:
    """What differs in the loops of the same statements of two programs; None where nothing does.

    Args:
        before, after: the statements.
        fewer: those of them that may have fewer iterations.
    """
    for mine, other in zip(before, after, strict=True):
        # The number of a statement, which is in the name of its tuple, may be another one.
        domains = mine.domain.reset_tuple_id(), other.domain.reset_tuple_id()
        is_less = mine.name in fewer and domains[1].is_subset(domains[0])
        same = is_less or domains[0].is_equal(domains[1])
        if mine.variables != other.variables or not same:
            return f"{mine.name} has other iterations"
        if [loop.step > 0 for loop in mine.loops] != [loop.step > 0 for loop in other.loops]:
            return f"{mine.name} runs the other way"
    for k in range(1, len(after)):
        if common_loops(*before[k - 1 : k + 1]) != common_loops(*after[k - 1 : k + 1]):
            return f"{after[k - 1].name} and {after[k].name} share other loops"
    return None
