"""`weft.Space`: the schedules that an exploration chooses from, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dse.api.settings import setting_of
from dse.bounds.bounds import Bound, bounds
from dse.bounds.work import work_of
from dse.libraries import need
from dse.space.space import Space, space_of
from dse.space.start import start_of
from dse.views.space import rows
from dsl.kernels.call_arguments import check_call
from dsl.kernels.kernel import Kernel, schedule_of
from dsl.schedules.schedule import Schedule


@dataclass(frozen=True)
class KernelSpace:
    """The design space of a kernel for a tool.

    Attributes:
        space: structures, legal loop orders, factors.
        bounds: lower bounds on the latency of any of its designs, in cycles.
    """

    space: Space
    bounds: tuple[Bound, ...]

    @property
    def points(self) -> int:
        """How many designs there are."""
        return self.space.size

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A line for each legal order of each nest."""
        return rows(self.space)

    def frame(self) -> Any:
        """The rows as a pandas ``DataFrame``.

        Raises:
            InputError: W528 pandas is not installed.
        """
        return need("pandas", "a table of a space", "pandas", "frames").DataFrame(self.rows)

    def __repr__(self) -> str:
        limits = "".join(
            f"\n  {b.kind}: at least {b.cycles:,} cycles ({b.reason})" for b in self.bounds
        )
        return f"<space of {self.space.program.name}: {self.points:,} points>{limits}"


def space(
    kernel: Kernel,
    size: str | None = None,
    *,
    schedule: Schedule | str | None = None,
    fix: Sequence[str] = (),
    device: str = "xczu9eg",
    clock: float = 10.0,
    dsp: int | None = None,
    reassociate: bool = False,
    tool: str | None = None,
    uncertainty: float | None = None,
    calibration: str | Path | None = None,
) -> KernelSpace:
    """The designs that an exploration chooses from, and lower bounds on their latency in cycles.

    Args:
        kernel: A kernel.
        size: As for `compile`.
        schedule, fix: As for `explore`.
        device: Whose operators are counted.
        clock: The target period in ns.
        dsp: Slices that a design may use; None for all of the device.
        reassociate: Allow reductions to be done in any order.
        tool: The version whose rules count; None for the one that was measured on the device.
        uncertainty, calibration: As for `estimate`.

    Raises:
        WeftError: as `estimate`.
    """
    check_call(
        "space", kernel=kernel, size=size, device=device, clock=clock, tool=tool,
        uncertainty=uncertainty, calibration=calibration,
        optional=("size", "tool", "uncertainty", "calibration"),
    )  # fmt: skip
    where = setting_of(tool, device, clock, uncertainty, calibration)
    sized = kernel.at(size)
    program = sized.program
    start = start_of(program, schedule_of(sized, schedule), fix)
    work = work_of(program, where.tool, reassociate)
    found = bounds(
        work, where.tool, dsp or where.device.dsp, where.device.lut, start.words(program)
    )
    return KernelSpace(space_of(program, where.tool, reassociate, start=start), tuple(found.all))
