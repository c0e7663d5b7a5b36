"""Outlines of nests: how longer chains are extrapolated from shorter ones."""

from __future__ import annotations

from dse.ranking.outline import Outline, Outlined, extrapolated


def test_a_longer_chain_takes_no_fewer_states() -> None:
    """One interval less from four copies to six, by chance, is no trend: none was left of it for 40."""

    def nest(interval: int, depth: int) -> Outlined:
        of = Outline("pipeline", (("i", 8),), 8, interval, depth, 0, 0, 0, False, (), frozenset())
        return Outlined((of,), 0, 0)

    (shorter,) = extrapolated(nest(2, 12), nest(1, 10), 17).regions
    assert (shorter.interval, shorter.depth) == (1, 10)
    (longer,) = extrapolated(nest(2, 12), nest(3, 16), 17).regions
    assert (longer.interval, longer.depth) == (20, 84)
