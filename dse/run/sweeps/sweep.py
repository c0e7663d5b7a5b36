"""A search over clocks: a folder with ``clocks.json`` and an ordinary run for each period.

The runs are carried out one after the other, each with a share of the trials; a later one begins with the
fastest designs that earlier ones have found. Each is resumed as any run is, so that the whole is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from dse.inside import inside
from dse.run.folder.codec import point_from_json
from dse.run.folder.directory import RunDirectory, open_run, unbegun, write_whole
from dse.run.folder.json_text import json_in
from dse.run.results.front import Design, designs, routed_of
from dse.space.space import Point
from dsl.errors.errors import InputError
from qor_gnn.routed.predict import Routed

_FILE = "clocks.json"
_SCHEMA = 1
_TRIALS = 10  # for each period at least, where there are as many
_MOST = 4  # periods
_HANDED = 3  # designs that a later run begins with
_DAMAGED = (OSError, KeyError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A search over clocks.

    Attributes:
        path: its folder.
        low, high: the range in ns.
        periods: that are searched, in their order.
    """

    path: Path
    low: float
    high: float
    periods: tuple[float, ...]

    def run(self, clock: float) -> Path:
        """The folder of the run at a period."""
        return self.path / f"clock_{clock:g}ns"


@dataclass(frozen=True, slots=True)
class Reached:
    """The fastest design of a run within its limits, in time.

    Attributes:
        run: its folder.
        clock: the period that it was searched at, in ns.
        period: what it can be clocked at: that, or what the tool is expected to miss it by.
        design: the design; None where the run found none.
        routed: what is expected of it after placement and routing, where the search shows that.
    """

    run: Path
    clock: float
    period: float
    design: Design | None
    routed: Routed | None = None

    @property
    def seconds(self) -> float:
        """How long it takes; infinite where there is none."""
        if self.design is None or self.design.result.latency is None:
            return float("inf")
        return self.design.result.latency * self.period * 1e-9


def count_of(trials: int) -> int:
    """How many periods so many trials are enough for."""
    return max(1, min(_MOST, trials // _TRIALS))


def shares(trials: int, periods: int) -> tuple[int, ...]:
    """The trials of each period: the first, which the others begin from, has two parts, the others one."""
    each = max(1, trials // (periods + 1))
    return (max(1, trials - each * (periods - 1)), *([each] * (periods - 1)))


def begun(
    path: Path,
    low: float,
    high: float,
    periods: Callable[[], tuple[float, ...]],
    *,
    resume: bool,
) -> Sweep:
    """The folder of a search: a new one, or (``resume``) that which is there.

    Args:
        path: of the folder.
        low, high: the range in ns.
        periods: chooses those of a new one.

    Raises:
        InputError: W508 it cannot be written; W521 what is there cannot be read; W525 it has another range;
            W527 something else is there.
    """
    if path.exists() and not path.is_dir():
        raise InputError("W508", f"{path} is a file, not a folder", help="name another with --out")
    found = sweep_in(path)
    if found is None:
        if path.is_dir() and not unbegun(path):
            raise InputError(
                "W527", f"{path} is not empty, and holds no search over clocks",
                help="name another folder",
            )  # fmt: skip
        found = Sweep(path, low, high, periods())
        data = {"schema_version": _SCHEMA, "range_ns": [low, high], "periods_ns": found.periods}
        write_whole(path / _FILE, json.dumps(data, indent=2) + "\n")
    elif not resume:
        raise InputError(
            "W527", f"{path} is not empty",
            help="--resume goes on with the search in it; or name another folder",
        )  # fmt: skip
    elif (found.low, found.high) != (low, high):
        raise InputError(
            "W525",
            f"the search in {path} is over {found.low:g} to {found.high:g} ns, not {low:g} to {high:g}",
            help="resume it with the options that it was begun with, or take another --out",
        )
    return found


def sweep_in(path: Path) -> Sweep | None:
    """The search over clocks in a folder; None where there is none.

    Raises:
        InputError: W521 its file cannot be read; W548 it is a link that leads out of the folder.
    """
    file = path / _FILE
    if not file.is_file() and not file.is_symlink():
        return None
    inside(file, path)
    try:
        data = json_in(file)
        if data["schema_version"] != _SCHEMA:
            raise ValueError
        low, high = map(_period, data["range_ns"])
        periods = tuple(map(_period, data["periods_ns"]))
        if not periods:
            raise ValueError
    except _DAMAGED as error:
        raise InputError("W521", f"{file} does not say which clocks were searched") from error
    return Sweep(path, low, high, periods)


def _period(value: object) -> float:
    if not isinstance(value, int | float) or not 0 < value <= 1e6:
        raise ValueError
    return float(value)


def reached(sweep: Sweep) -> tuple[Reached, ...]:
    """What each run that was begun has found, the fastest in time first.

    Raises:
        InputError: as `dse.run.folder.directory.open_run`.
    """
    found = [
        _reached(sweep.run(clock), clock) for clock in sweep.periods if sweep.run(clock).is_dir()
    ]
    return tuple(sorted(found, key=lambda r: (r.seconds, r.clock)))


def _reached(path: Path, clock: float) -> Reached:
    run = open_run(path, write=False)

    def period(design: Design) -> float:
        return design.result.period_at(clock)

    best = min(
        designs(run), key=lambda d: ((d.result.latency or 0.0) * period(d), d.key), default=None
    )
    if best is None:
        return Reached(path, clock, clock, None)
    return Reached(path, clock, period(best), best, routed_of(run.manifest, best.result))


def run_in(path: Path) -> Path:
    """The run of a folder: of a search over clocks the one with the fastest design, else the folder itself.

    Raises:
        InputError: as `sweep_in` and `dse.run.folder.directory.open_run`.
    """
    sweep = sweep_in(path)
    best = None if sweep is None else next(iter(reached(sweep)), None)
    return path if best is None else best.run


def handed(sweep: Sweep, clock: float) -> tuple[Point, ...]:
    """The points that the run at a period begins with: of the fastest designs of the runs before it."""
    before = replace(sweep, periods=sweep.periods[: sweep.periods.index(clock)])
    found: list[Point] = []
    for one in reached(before):
        run = open_run(one.run, write=False)
        for design in designs(run)[:_HANDED]:
            point = _point(run, design.key)
            if point is not None and point not in found:
                found.append(point)
    return tuple(found[:_HANDED])


def _point(run: RunDirectory, key: str) -> Point | None:
    """What a design is a point of; None where that cannot be read: the search finds it again."""
    file = run.point(key) / "point.json"
    try:
        return point_from_json(json_in(file))
    except _DAMAGED:
        return None
