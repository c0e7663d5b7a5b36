"""Arrays that are passed to a kernel: one that is written must not be in another one.

To a kernel its arguments are memories of their own, as they are to hardware.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations

import numpy as np

_MOST_WORK = 10_000
"""Of `numpy.shares_memory`; strided views that are harder to tell apart count as overlapping."""


def overlapping(arrays: Mapping[str, object], written: Collection[str]) -> tuple[str, str] | None:
    """Two arguments of which one is written, and that have elements in common; None where there are none.

    Args:
        arrays: what is passed, by the names of the arguments.
        written: the arguments that the kernel writes.
    """
    passed = {name: found for name, found in arrays.items() if isinstance(found, np.ndarray)}
    for one, other in combinations(passed, 2):
        if (one in written or other in written) and _share(passed[one], passed[other]):
            return (one, other) if one in written else (other, one)
    return None


def _share(a: np.ndarray, b: np.ndarray) -> bool:
    try:
        return bool(np.shares_memory(a, b, max_work=_MOST_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
