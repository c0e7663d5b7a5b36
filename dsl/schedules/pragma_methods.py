"""The methods of `dsl.schedules.schedule.ScheduleBuilder` that add steps of `dsl.schedules.pragma_steps`."""

from __future__ import annotations

from typing import Self

from dsl.schedules import pragma_steps as steps
from dsl.schedules.step_calls import made_step, step_method
from dsl.schedules.steps import PartitionKind, Step


class PragmaMethods:
    """Collects steps; the builder of schedules is one."""

    _steps: list[Step]

    def _add(self, step: type[Step], *values: object) -> Self:
        self._steps.append(made_step(step, values))
        return self

    @step_method
    def reshape(
        self, array: str, dim: int, scheme: PartitionKind = "cyclic", factor: int = 0
    ) -> Self:
        """See `dsl.schedules.pragma_steps.Reshape`."""
        return self._add(steps.Reshape, array, dim, scheme, factor)

    @step_method
    def sequential(self, loop: str) -> Self:
        """See `dsl.schedules.pragma_steps.Sequential`."""
        return self._add(steps.Sequential, loop)

    @step_method
    def latency(self, loop: str, min: int = 0, max: int = 0) -> Self:
        """See `dsl.schedules.pragma_steps.Latency`."""
        return self._add(steps.Latency, loop, min, max)

    @step_method
    def performance(self, loop: str, target_ti: int) -> Self:
        """See `dsl.schedules.pragma_steps.Performance`."""
        return self._add(steps.Performance, loop, target_ti)

    @step_method
    def unbalanced(self, loop: str) -> Self:
        """See `dsl.schedules.pragma_steps.Unbalanced`."""
        return self._add(steps.Unbalanced, loop)

    @step_method
    def allocation(self, loop: str, op: str, limit: int) -> Self:
        """See `dsl.schedules.pragma_steps.Allocation`."""
        return self._add(steps.Allocation, loop, op, limit)

    @step_method
    def leave(self, loop: str, trips: int = 0) -> Self:
        """See `dsl.schedules.pragma_steps.Leave`."""
        return self._add(steps.Leave, loop, trips)

    @step_method
    def stable(self, argument: str) -> Self:
        """See `dsl.schedules.pragma_steps.Stable`."""
        return self._add(steps.Stable, argument)

    @step_method
    def cache(self, argument: str, lines: int = 1, depth: int = 0) -> Self:
        """See `dsl.schedules.pragma_steps.Cache`."""
        return self._add(steps.Cache, argument, lines, depth)
