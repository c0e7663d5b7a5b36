"""The methods of `dsl.schedules.schedule.ScheduleBuilder` that add steps of `dsl.schedules.recurrence_steps`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from dsl.schedules import recurrence_steps as steps
from dsl.schedules.range_methods import RangeMethods
from dsl.schedules.step_calls import step_method
from dsl.schedules.steps import Tail


class RecurrenceMethods(RangeMethods):
    """Collects steps; the builder of schedules is one."""

    @step_method
    def locate(self, stmt: str, loop: str) -> Self:
        """See `dsl.schedules.recurrence_steps.Locate`."""
        return self._add(steps.Locate, stmt, loop)

    @step_method
    def tree(self, stmt: str, loop: str) -> Self:
        """See `dsl.schedules.recurrence_steps.Tree`."""
        return self._add(steps.Tree, stmt, loop)

    @step_method
    def scan(self, stmt: str, loop: str, factor: int, tail: Tail = "remainder") -> Self:
        """See `dsl.schedules.recurrence_steps.Scan`."""
        return self._add(steps.Scan, stmt, loop, factor, tail)

    @step_method
    def carry(self, array: str, at: str) -> Self:
        """See `dsl.schedules.recurrence_steps.Carry`."""
        return self._add(steps.Carry, array, at)

    @step_method
    def versions(self, array: str, loop: str, count: int = 0) -> Self:
        """See `dsl.schedules.recurrence_steps.Versions`."""
        return self._add(steps.Versions, array, loop, count)

    @step_method
    def pivot(self, loop: str) -> Self:
        """See `dsl.schedules.recurrence_steps.Pivot`."""
        return self._add(steps.Pivot, loop)

    @step_method
    def critical_last(self, stmt: str) -> Self:
        """See `dsl.schedules.recurrence_steps.CriticalLast`."""
        return self._add(steps.CriticalLast, stmt)

    @step_method
    def two_pass(self, stmts: Sequence[str], loop: str) -> Self:
        """See `dsl.schedules.recurrence_steps.TwoPass`."""
        return self._add(steps.TwoPass, stmts, loop)

    @step_method
    def reciprocal(self, stmt: str, loop: str) -> Self:
        """See `dsl.schedules.recurrence_steps.Reciprocal`."""
        return self._add(steps.Reciprocal, stmt, loop)

    @step_method
    def strength_reduce(self, stmt: str) -> Self:
        """See `dsl.schedules.recurrence_steps.StrengthReduce`."""
        return self._add(steps.StrengthReduce, stmt)
