"""What a run searches, for people: ``problem.json`` in its folder, written when it begins.

The program, its space, the lower bounds and the cost of the program as it stands. The report and the
comparison of runs read it: neither needs the kernel's file, which may have changed or be elsewhere.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil, prod
from typing import TYPE_CHECKING, Any

from backends.devices import Device
from dse.bounds.roofline import Operations, in_logic
from dse.evaluators.base import Result
from dse.evaluators.fidelities import RESOURCES
from dse.kernels.reduced import extents_of
from dse.run.folder.codec import result_from_json, result_to_json
from dse.run.folder.directory import RunDirectory, write_whole
from dse.run.folder.json_text import json_in

if TYPE_CHECKING:
    from dse.bounds.bounds import Work
    from dse.space.space import Space
    from qor_gnn.tools.personality import Personality

ONE_POINT = (
    "the space has one point, the program as it stands: no loop has another legal order, or a factor that is worth "
    "trying, so that there is nothing to search (weft space)"
)
_FILE = "problem.json"
_EXACT, _RATIO = 256, 1.02  # the bound is kept at each budget up to there, then at these ratios


@dataclass(frozen=True, slots=True)
class KnownBound:
    """A lower bound on the cycles of any schedule, as `dse.bounds.bounds.Bound`."""

    kind: str
    cycles: int
    reason: str


@dataclass(frozen=True, slots=True)
class Structure:
    """One structure of the space: its nests by their statements, and how many points it has."""

    name: str
    nests: tuple[str, ...]
    orders: int
    points: int


@dataclass(frozen=True, slots=True)
class Problem:
    """What a run searches.

    Attributes:
        program: the kernel as it was understood, in the language.
        extents: trip counts of the loops around a statement, by ``S1.i`` and by the bare name,
            where they are always the same.
        points: of the space.
        structures: of the space.
        bounds: on the latency of any design within the budget.
        curve: DSP and the fewest cycles that any design of so many can take, ascending.
        operations: what units do, by core: what any number of DSP slices and LUTs takes for them follows.
        shapes: of the arrays.
        device: its name and what it has of each resource.
        notes: where the tool was not measured.
        plain: what the program costs as it stands; None where that was too dear to ask.
    """

    program: str
    extents: Mapping[str, int]
    points: int
    structures: tuple[Structure, ...]
    bounds: tuple[KnownBound, ...]
    curve: tuple[tuple[int, int], ...]
    shapes: Mapping[str, tuple[int, ...]]
    device: Mapping[str, str | int]
    notes: tuple[str, ...]
    plain: Result | None
    operations: Mapping[str, Operations] = field(default_factory=dict)

    def fewest(self, dsp: int, lut: int | None = None) -> int | None:
        """Cycles that no design of so many DSP slices (and LUTs) can do with less; None where that is not known."""
        at = bisect_left(self.curve, (dsp, 0))
        if at == len(self.curve):
            return None
        cycles = self.curve[at][1]
        return cycles if lut is None else max(cycles, in_logic(self.operations, dsp, lut)[0])

    @property
    def bound(self) -> KnownBound | None:
        """The one that asks for the most cycles; None where none asks for any."""
        best = max(self.bounds, key=lambda b: b.cycles, default=None)
        return best if best is not None and best.cycles > 0 else None


def describe(
    space: Space,
    work: Work,
    tool: Personality,
    device: Device,
    dsp: int,
    lut: int,
    notes: Sequence[str],
    plain: Result | None,
) -> Problem:
    """The problem of a run.

    Args:
        space: what is searched.
        work: of the kernel, from `dse.bounds.bounds.work_of`.
        tool: whose operators are counted.
        device: what designs are made for.
        dsp, lut: slices and LUTs that a design may use.
        notes: where the tool was not measured.
        plain: what the program costs as it stands.
    """
    from dse.bounds.bounds import bounds
    from dsl.programs.pretty import pretty

    far = space.start.words(space.program)
    structures = tuple(
        Structure(
            variant.name,
            tuple(" ".join(nest.statements) for nest in variant.nests),
            prod(len(nest.orders) for nest in variant.nests),
            variant.size,
        )
        for variant in space.variants
    )
    return Problem(
        pretty(space.program),
        extents_of(space.program),
        space.size,
        structures,
        tuple(
            KnownBound(b.kind, b.cycles, b.reason) for b in bounds(work, tool, dsp, lut, far).all
        ),
        tuple((n, bounds(work, tool, n, outside=far).cycles) for n in _budgets(dsp)),
        {array.name: array.shape for array in space.program.arrays},
        {"name": device.name, "part": device.part, **{n: getattr(device, n) for n in RESOURCES}},
        tuple(notes),
        plain,
        work.operations,
    )


def _budgets(dsp: int) -> tuple[int, ...]:
    """Budgets up to the given one, ascending; 0 by itself, for designs without a DSP slice."""
    found = list(range(min(1, dsp), min(dsp, _EXACT) + 1))
    while found[-1] < dsp:
        found.append(min(dsp, ceil(found[-1] * _RATIO)))
    return tuple(found)


def keep(run: RunDirectory, problem: Problem) -> None:
    """Write it into the run's folder."""
    plain = None if problem.plain is None else result_to_json(problem.plain)
    data = {**asdict(problem), "plain": plain}
    write_whole(run.path / _FILE, json.dumps(data, indent=1) + "\n")


def _operations(data: Mapping[str, Any]) -> Operations:
    ways = tuple((int(dsp), int(lut)) for dsp, lut in data["ways"])
    if not ways:
        raise ValueError("no way to build a unit")
    return Operations(int(data["times"]), ways, bool(data["logic"]))


def problem_of(run: RunDirectory) -> Problem | None:
    """What `keep` wrote; None where there is nothing that can be read."""
    try:
        data = json_in(run.path / _FILE)
        structures = (Structure(**{**s, "nests": tuple(s["nests"])}) for s in data["structures"])
        return Problem(
            str(data["program"]),
            {str(k): int(v) for k, v in data["extents"].items()},
            int(data["points"]),
            tuple(structures),
            tuple(KnownBound(**b) for b in data["bounds"]),
            tuple((int(dsp), int(cycles)) for dsp, cycles in data["curve"]),
            {str(k): tuple(map(int, v)) for k, v in data["shapes"].items()},
            dict(data["device"]),
            tuple(map(str, data["notes"])),
            None if data["plain"] is None else result_from_json(data["plain"]),
            {str(core): _operations(of) for core, of in data.get("operations", {}).items()},
        )
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        return None
