"""The smallest designs of a search, so that it ends with one wherever any fits.

Strategies spend the budget from the first trial on. Where few trials are left and estimates err, all of them may be over
a limit, though the kernel as it is written fits many times over.
"""

from __future__ import annotations

from collections.abc import Mapping

from dse.evaluators.base import Result, Status
from dse.space.space import Point, Space
from dse.strategies.fabric import FabricBudget
from dse.strategies.search import Search

_TRIES = 3


def smallest(
    space: Space, budget: int, fabric: FabricBudget, known: Mapping[Point, Result]
) -> Search:
    """Structures without copies of anything, those that take the least first, until a design is known to fit.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        fabric: LUTs and block RAM that it may use; learns of designs.
        known: what was evaluated before.
    """
    if any(result.status is Status.OK for result in known.values()):
        return
    plain = [space.plain(number) for number in range(len(space.variants))]
    tried = 0
    for point in sorted(plain, key=lambda p: (fabric.share(p, budget), p.variant)):
        if tried == _TRIES:
            return
        if point in known or space.schedule(point) is None:
            continue
        tried += 1
        (result,) = yield (point,)
        fabric.learn(point, result)
        if result.status is Status.OK:
            return
