"""Families of designs: one program, one schedule, and the factors in it that vary.

A point is a vector of integers, one for each name of the family; `Family.at` makes its schedule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Split, Step, Tile, Unroll


@dataclass(frozen=True, slots=True)
class Slot:
    """A factor in a schedule: the step's position, and which of a tile's factors."""

    step: int
    position: int = 0


@dataclass(frozen=True, slots=True)
class Family:
    """A schedule whose factors are parameters.

    Attributes:
        program: the kernel.
        schedule: the steps; the factors in it are a point of the family too.
        names: of the parameters, e.g. ``tile i``, ``unroll k_1``, ``partition A 0``.
        slots: for each parameter the factors that it gives; several where they are tied.
    """

    program: Program
    schedule: Schedule
    names: tuple[str, ...]
    slots: tuple[tuple[Slot, ...], ...]

    def at(self, point: Sequence[int]) -> Schedule:
        """The schedule at a point."""
        return with_factors(self.schedule, self.slots, point)

    @property
    def point(self) -> tuple[int, ...]:
        """The parameters as they are in the schedule itself."""
        steps = self.schedule.steps
        return tuple(factor_in(steps[own[0].step], own[0].position) for own in self.slots)


def family(program: Program, schedule: Schedule, tied: Iterable[Iterable[str]] = ()) -> Family:
    """The family of a schedule: every factor in it is a parameter.

    Those are the factors of splits, tiles and unrolls, the banks of partitions, and the intervals
    of pipelines; what is asked for completely is not.

    Args:
        program: the kernel.
        schedule: legal, with factors that divide their loops and are neither 1 nor the whole.
        tied: groups of names that have one value, named by their first.

    Raises:
        KeyError: a tied name is not there.
    """
    named: dict[str, tuple[Slot, ...]] = {}
    for slot, name in _slots(schedule):
        named[name] = (*named.get(name, ()), slot)
    for group in tied:
        first, *others = group
        for other in others:
            named[first] = (*named[first], *named.pop(other))
    return Family(program, schedule, tuple(named), tuple(named.values()))


def _slots(schedule: Schedule) -> Iterator[tuple[Slot, str]]:
    for n, step in enumerate(schedule):
        match step:
            case Tile(loops=loops):
                for k, loop in enumerate(loops):
                    yield Slot(n, k), f"tile {loop}"
            case Split(loop=loop):
                yield Slot(n), f"split {loop}"
            case Unroll(loop=loop, factor=factor) if factor:
                yield Slot(n), f"unroll {loop}"
            case Partition(array=array, dim=dim, scheme="cyclic" | "block"):
                yield Slot(n), f"partition {array} {dim}"
            case Pipeline(loop=loop):
                yield Slot(n), f"pipeline {loop}"
            case _:
                pass


def written_unrolls(schedule: Schedule) -> frozenset[str]:
    """Names of the loops whose unroll factor somebody wrote (``kept`` of `estimate`)."""
    return frozenset(s.loop.rpartition(".")[2] for s in schedule if isinstance(s, Unroll))


def factor_in(step: Step, position: int) -> int:
    """The factor at a slot of a step.

    Raises:
        TypeError: the step has no factor.
    """
    match step:
        case Tile(factors=factors):
            return factors[position]
        case Split(factor=factor) | Unroll(factor=factor) | Partition(factor=factor):
            return factor
        case Pipeline(ii=ii):
            return ii
        case _:
            raise TypeError(f"{step.kind} has no factor")


def with_factor(step: Step, position: int, value: int) -> Step:
    """The step with another factor at a slot."""
    match step:
        case Tile(factors=factors):
            return replace(step, factors=(*factors[:position], value, *factors[position + 1 :]))
        case Split() | Unroll() | Partition():
            return replace(step, factor=value)
        case Pipeline():
            return replace(step, ii=value)
        case _:
            raise TypeError(f"{step.kind} has no factor")


def with_factors(
    schedule: Schedule, slots: Sequence[Sequence[Slot]], point: Sequence[int]
) -> Schedule:
    """The schedule with each group of slots at one value."""
    steps = list(schedule.steps)
    for own, value in zip(slots, point, strict=True):
        for slot in own:
            steps[slot.step] = with_factor(steps[slot.step], slot.position, int(value))
    return Schedule(tuple(steps))
