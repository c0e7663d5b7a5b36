"""Whether the order of sums of floats is what keeps a kernel slow."""

from __future__ import annotations

from collections.abc import Mapping

from dse.bounds.bounds import bounds, work_of
from dsl.expressions.types import FloatType
from dsl.programs.program import Program
from qor_gnn.tools.personality import Personality

_NEAR = 1.5  # times the bound, below which the best design is held by nothing else
_WORTH = 2  # times the cycles of the other bound


def reordered(
    program: Program,
    tool: Personality,
    best: float,
    bound: int,
    budget: tuple[int, int],
    outside: Mapping[str, int] = {},
) -> str | None:
    """What sums in any order would allow; None where that is no way to much less.

    Args:
        program: the kernel.
        tool: whose operators are counted.
        best: cycles of the fastest design.
        bound: cycles of the recurrences of the kernel as it is written.
        budget: DSP slices and LUTs.
        outside: as of `dse.bounds.bounds.bounds`.
    """
    floats = any(isinstance(array.dtype, FloatType) for array in program.arrays)
    if not floats or best > _NEAR * bound:
        return None
    free = bounds(work_of(program, tool, reassociate=True), tool, *budget, outside).cycles
    if _WORTH * free > bound:
        return None
    return (
        f"sums of floats keep their order, which takes at least {bound:,} cycles; in any order {free:,} are the bound: "
        "--reassociate, where other rounding will do"
    )
