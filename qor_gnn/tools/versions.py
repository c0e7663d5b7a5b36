"""Releases of Vitis HLS that were not measured: which of those that were stands for one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dsl.errors.errors import did_you_mean

FIRST, LAST = "2020.1", "2025.2"
"""Releases that have a stand-in: before them other passes did the scheduling, behind them nobody knows."""

_UNASKED = "2022.2"
"""From here on reports show loops that are pipelined, and short ones that are unrolled, without a pragma. What was
measured of 2022.1 are designs each of whose loops says whether it is, so that it stands for no later release; 2021.1
has its rules with the tool's own settings, and stands for those before."""

_RELEASE = re.compile(r"vitis-(\d{4})\.([12])")


def help_for(name: str, known: Iterable[str]) -> str | None:
    """What to say of a name that nothing stands for.

    Args:
        name: that was given.
        known: names that there are.
    """
    if _release(name) is not None:
        return f"the rules of a release of Vitis HLS are known, or taken to be near, from {FIRST} to {LAST}"
    return did_you_mean(name, known)


def nearest(name: str, measured: Iterable[str]) -> str | None:
    """The measured version that is the fewest releases from one, of those that do as much without a pragma.

    Args:
        name: of a version, as ``vitis-2024.1``; two releases a year.
        measured: names of versions, others than of Vitis among them.

    Returns:
        One of ``measured``, the name itself if it is there; None where nothing stands for the name. Of two as near it is the
        earlier one, from 2022.2 on the later: 2023.1 reports comparisons as 2023.2 does.
    """
    found, known = _release(name), {m: n for m in measured if (n := _release(m)) is not None}
    if found is None or not known or not FIRST <= name.removeprefix("vitis-") <= LAST:
        return None
    first = _release(f"vitis-{_UNASKED}")
    assert first is not None, "it is a release"
    alike = {m: n for m, n in known.items() if found < first or m == name or n >= first} or known
    later = 1 if found < first else -1
    return min(alike, key=lambda m: (abs(alike[m] - found), later * alike[m]))


def _release(name: str) -> int | None:
    match = _RELEASE.fullmatch(name)
    return None if match is None else 2 * int(match[1]) + int(match[2]) - 1
