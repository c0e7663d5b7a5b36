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
