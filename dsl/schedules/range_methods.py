"""The methods of `dsl.schedules.schedule.ScheduleBuilder` that add steps of `dsl.schedules.range_steps`."""

from __future__ import annotations

from typing import Self

from dsl.schedules import range_steps as steps
from dsl.schedules.pragma_methods import PragmaMethods
from dsl.schedules.range_steps import End
from dsl.schedules.step_calls import step_method


class RangeMethods(PragmaMethods):
    """Collects steps; the builder of schedules is one."""

    @step_method
    def join(self, outer: str, inner: str, name: str = "") -> Self:
        """See `dsl.schedules.range_steps.Join`."""
        return self._add(steps.Join, outer, inner, name)

    @step_method
    def unflatten(self, loop: str, size: int, outer: str = "", inner: str = "") -> Self:
        """See `dsl.schedules.range_steps.Unflatten`."""
        return self._add(steps.Unflatten, loop, size, outer, inner)

    @step_method
    def peel(self, loop: str, n: int = 1, at: End = "start", before: str = "") -> Self:
        """See `dsl.schedules.range_steps.Peel`."""
        return self._add(steps.Peel, loop, n, at, before)

    @step_method
    def separate(self) -> Self:
        """See `dsl.schedules.range_steps.Separate`."""
        return self._add(steps.Separate)

    @step_method
    def if_convert(self, stmt: str) -> Self:
        """See `dsl.schedules.range_steps.IfConvert`."""
        return self._add(steps.IfConvert, stmt)

    @step_method
    def trim(self, stmt: str) -> Self:
        """See `dsl.schedules.range_steps.Trim`."""
        return self._add(steps.Trim, stmt)

    @step_method
    def unite(self, stmt: str, other: str) -> Self:
        """See `dsl.schedules.range_steps.Unite`."""
        return self._add(steps.Unite, stmt, other)
