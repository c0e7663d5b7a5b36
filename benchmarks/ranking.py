"""How near the ranking of a search is to the model that it ranks for, and how fast it is.

A search ranks points by what `dse.strategies.estimates` says of them, thousands a second, and evaluates
the best. Rows `KERNEL@TOOL`: points of the kernel's own space, structures, orders and factors at random
(factors that divide and others), and for each the ratio of the ranking's figure over the model's
(`dse.estimates.estimation.ranked`): cycles, and DSP slices, of which a design that has none counts one.
``within`` is the share of points whose ratio is within the tolerance of 1. Rows `speed/KERNEL`: distinct
points a second of processor time, nothing known before, and those of the second half alone. Rows `pool/KERNEL`: the same
of a small space, of which a search ranks all points, the first of them in its order. Rows ``tuned`` and ``held-out``: all points of these
kernels; kernels are put there by name, and none that is held out was looked at when a rule was found.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import weft
from benchmarks._row import Goal, Options, Row, main, say
from dse.estimates.collection import rare_collection
from dse.estimates.estimation import Setting, ranked, setting
from dse.space.nests.nest import Nest
from dse.space.space import Choice, Point, Space, space_of
from dse.strategies.estimates import Estimates, Figures
from dse.strategies.sampled import all_points
from dsl.errors.errors import WeftError
from polyhedral.schedule import apply
from qor_gnn.tools.personality import available

NAME = "ranking"
ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, CORPUS = ROOT / "examples", ROOT / "benchmarks" / "corpus" / "kernels"
TUNED = {
    "gemm": (EXAMPLES / "polybench" / "gemm.py", "small"),
    "k2mm": (EXAMPLES / "polybench" / "k2mm.py", "small"),
    "atax": (EXAMPLES / "polybench" / "atax.py", "small"),
    "jacobi_2d": (EXAMPLES / "polybench" / "jacobi_2d.py", "small"),
    "trmm": (EXAMPLES / "polybench" / "trmm.py", "small"),
    "conv_perfect": (CORPUS / "convolutions.py", None),
    "distance_matrix": (CORPUS / "physics.py", None),
}
HELD_OUT = {
    "k3mm": (EXAMPLES / "polybench" / "k3mm.py", "small"),
    "heat_3d": (EXAMPLES / "polybench" / "heat_3d.py", "small"),
    "syrk": (EXAMPLES / "polybench" / "syrk.py", "small"),
    "lu": (EXAMPLES / "polybench" / "lu.py", "small"),
    "conv2d_i8": (EXAMPLES / "fixed_point" / "conv2d_i8.py", None),
    "gemm_i16_relu": (CORPUS / "matrix_products.py", None),
    "symmetric_gemv": (CORPUS / "matrix_vector.py", None),
}
QUICK = ("gemm", "atax")
COPIES = 64  # of a statement, at most
POINTS, QUICK_POINTS = 24, 6  # of a kernel and a tool
OPEN_POINTS = 6  # of the open backend, which makes a netlist of each
SPEED_POINTS = 4000
POOLS = ("jacobi_2d", "conv_perfect")
SPEED_TOOL = "2023"
_TRIES = 20  # draws for each point that is wanted
CYCLES, DSP = 0.005, 0.05  # tolerances
NEARLY = 0.95  # of the points
RATE = 5000
QUANTILES = {"p05": 0.05, "median": 0.5, "p95": 0.95}


@dataclass(frozen=True)
class Compared:
    """A point, and what both say of it."""

    point: Point
    ranked: Figures
    exact: Figures

    @property
    def cycles(self) -> float:
        """Ranked over exact."""
        return self.ranked.cycles / max(1.0, self.exact.cycles)

    @property
    def dsp(self) -> float:
        """Ranked over exact."""
        return max(1.0, self.ranked.dsp) / max(1.0, self.exact.dsp)


def measure(options: Options) -> Iterator[Row]:
    """All rows."""
    extra = options.extra
    kernels = {**TUNED, **HELD_OUT} if extra.held_out else TUNED
    names = extra.kernel or (QUICK if options.quick else list(kernels))
    tools = [t for t in available() if not extra.tool or extra.tool in t]
    count = extra.points or (QUICK_POINTS if options.quick else POINTS)
    if options.quick:
        say(f"--quick: {', '.join(QUICK)}, {count} points of each, no open backend")
        tools = [t for t in tools if not setting(t, None, None).tool.is_open]
    if not extra.held_out:
        say("kernels held out are left out: --held-out")
    found: dict[str, list[Compared]] = {}
    for name in names:
        for tool in tools:
            where = setting(tool, None, None)
            most = min(OPEN_POINTS, count) if where.tool.is_open else count
            points = compared(name, where, most, extra.seed)
            yield from ratio_rows(f"{name}@{tool}", points, goals=False)
            part = "held-out" if name in HELD_OUT else "tuned"
            found.setdefault(f"{part}@{tool}", []).extend(points)
    for case, points in sorted(found.items()):
        yield from ratio_rows(case, points, goals=True)
    count = SPEED_POINTS // (4 if options.quick else 1)
    space = space_for("gemm", setting(_speed_tool(), None, None))
    mixed = dict.fromkeys(drawn(space, random.Random(0), count, copies=512))
    yield from speed_rows("speed/gemm", space, list(mixed), RATE)
    for name in () if options.quick else POOLS:
        space = space_for(name, setting(_speed_tool(), None, None))
        pool = dict.fromkeys(islice(all_points(space, COPIES), count))
        yield from speed_rows(f"pool/{name}", space, list(pool), None)


# ---------------------------------------------------------------------------------------- accuracy


def ratio_rows(case: str, points: Sequence[Compared], *, goals: bool) -> Iterator[Row]:
    """Quantiles of the ratios, the worst ones, and how many are within the tolerance."""
    how = "ranking over model"
    for metric, tolerance in (("cycles", CYCLES), ("dsp", DSP)):
        ratios = sorted(getattr(p, metric) for p in points)
        for label, q in QUANTILES.items():
            value = ratios[round(q * (len(ratios) - 1))] if ratios else None
            yield Row(NAME, case, f"{metric}_{label}", value, "1", None, how, len(ratios))
        worst = max(ratios, key=lambda r: abs(math.log(r))) if ratios else None
        yield Row(NAME, case, f"{metric}_worst", worst, "1", None, how, len(ratios))
        near = sum(abs(r - 1) <= tolerance for r in ratios) / len(ratios) if ratios else None
        goal = Goal(">=", NEARLY) if goals else None
        yield Row(NAME, case, f"{metric}_within", near, "1", goal, how, len(ratios))


def compared(name: str, where: Setting, count: int, seed: int) -> list[Compared]:
    """Random points of a kernel, ranked and estimated."""
    space = space_for(name, where)
    estimates = Estimates(space)
    found: list[Compared] = []
    rng = random.Random(f"{seed} {name}")
    for point in drawn(space, rng, count * _TRIES):
        if len(found) == count:
            break
        schedule = space.schedule(point)
        if schedule is None:
            continue
        try:
            exact = ranked(apply(space.program, schedule), schedule, where).answer
        except WeftError as error:
            say(f"{name}: {error.code}")
            continue
        own = Figures(exact.latency.average, float(exact.dsp))
        found.append(Compared(point, estimates.figures(point), own))
    return found


def space_for(name: str, where: Setting) -> Space:
    """The space of a kernel, sums in any order."""
    path, size = {**TUNED, **HELD_OUT}[name]
    kernel = weft.load(f"{path}:{name}")
    kernel = kernel.at(size) if size is not None else kernel
    return space_of(kernel.program, where.tool, reassociate=True)


def drawn(space: Space, rng: random.Random, count: int, copies: int = COPIES) -> Iterator[Point]:
    """So many random points."""
    for _ in range(count):
        number = rng.randrange(len(space.variants))
        nests = space.variants[number].nests
        yield Point(number, tuple(_choice(nest, copies, rng) for nest in nests))


def _choice(nest: Nest, copies: int, rng: random.Random) -> Choice:
    """Log-uniform in the number of copies, at least one loop with blocks."""
    number = rng.randrange(len(nest.orders))
    order = nest.orders[number]
    left = round(copies ** rng.random())
    vector = list(order.plain)
    for n in rng.sample(range(len(order.band)), len(order.band)):
        vector[n] = rng.choice([u for u in order.loops[n].factors if u <= left] or [1])
        left //= vector[n]
    if all(u == loop.extent for u, loop in zip(vector, order.loops, strict=True)):
        return Choice(number, order.plain)
    return Choice(number, tuple(vector))


# ------------------------------------------------------------------------------------------- speed


def _speed_tool() -> str:
    return next(each for each in available() if SPEED_TOOL in each)


def speed_rows(
    case: str, space: Space, points: Sequence[Point], rate: float | None
) -> Iterator[Row]:
    """Points ranked a second, the space being known: all of them, and the second half."""
    half = len(points) // 2
    with rare_collection():  # as an exploration has it
        start = time.process_time()
        estimates = Estimates(space)
        for point in points[:half]:
            estimates.figures(point)
        middle = time.process_time()
        for point in points[half:]:
            estimates.figures(point)
        end = time.process_time()
    whole, later = len(points) / (end - start), (len(points) - half) / (end - middle)
    how, goal = "processor time", None if rate is None else Goal(">=", rate)
    yield Row(NAME, case, "points_per_s", whole, "1/s", goal, how, len(points))
    yield Row(NAME, case, "later_points_per_s", later, "1/s", None, how, len(points) - half)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The benchmark's own."""
    parser.add_argument("--held-out", action="store_true", help="score the kernels held out too")
    parser.add_argument("--kernel", action="append", help="of these kernels alone")
    parser.add_argument("--tool", help="of the tools with this in their names alone")
    parser.add_argument("--points", type=int, help="of each kernel and tool")
    parser.add_argument("--seed", type=int, default=0, help="of the points")


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure, add_options))
