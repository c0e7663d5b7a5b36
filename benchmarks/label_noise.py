"""How much of a routed label is chance: the same design in another order, and with other seeds.

Designs of the open dataset are synthesised as they are and twice with registers, wires, memories and
instances in a random order, which changes nothing but the order in which Yosys and ABC look at them; the
first is also placed with other seeds. What the runs of a design differ by nobody can predict: of the
best predictor there can be, the mean of ``|x / middle - 1|`` is 0.8 of the standard deviation (if
normal), which the rows give.

    python -m benchmarks.label_noise --designs 40
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np

from backends.rtl.ir import to_verilog
from backends.rtl.ir.check import finish, refs
from backends.rtl.ir.module import Module
from backends.rtl.tools import find_nextpnr, find_yosys
from backends.rtl.tools.find import Tool
from backends.rtl.tools.nextpnr import route
from backends.rtl.tools.result import Outcome, Routing
from backends.rtl.tools.yosys import synthesise
from benchmarks._row import Options, Row, main, say
from dse.labels.area_costs import DATASET, module_of
from dse.labels.dataset import Dataset
from dse.labels.open_examples import unusable

NAME = "label_noise"
Part = TypeVar("Part")
DEVICE, MHZ = "ecp5-85k", 100.0
ABOUT_MIDDLE = math.sqrt(2 / math.pi)  # mean distance from the middle, in standard deviations
SAMPLE = 0.886  # mean of the standard deviation of three, in those of all (normal)


@dataclass(frozen=True, slots=True)
class Design:
    """A design of the dataset with the memories of its arguments."""

    id: str
    module: Module


def add_options(parser: argparse.ArgumentParser) -> None:
    """The benchmark's own options."""
    parser.add_argument("--designs", type=int, default=40, help="of the open dataset")
    parser.add_argument("--most", type=int, default=4000, help="LUTs of a design")
    parser.add_argument("--jobs", type=int, default=2, help="tools that run at once")


def measure(options: Options) -> Iterator[Row]:
    """The rows."""
    extra = options.extra
    count = 2 if options.quick else extra.designs
    designs = chosen(count, extra.most)
    with ThreadPoolExecutor(extra.jobs) as pool:
        found = list(pool.map(runs, designs))
    kept = [one for one in found if one is not None]
    orders = [one[0] for one in kept]
    seeds = [one[1] for one in kept]
    luts = [[float(r.resources.lut) for r in rs if r.resources] for rs in orders]
    ffs = [[float(r.resources.ff) for r in rs if r.resources] for rs in orders]
    yield _row("order", "lut", luts)
    yield _row("order", "ff", ffs)
    yield _row("order", "period", [_periods(rs) for rs in orders])
    yield _row("seeds", "period", [_periods(rs) for rs in seeds])


def chosen(count: int, most: int) -> list[Design]:
    """Designs of the dataset, the same ones each time, of all kernels."""
    rows = [r for r in Dataset(DATASET).rows() if not unusable(r) and int(r["lut"]) <= most]
    places = np.linspace(0, len(rows) - 1, min(count, len(rows))).round().astype(int)
    return [Design(rows[n]["id"], module_of(rows[n])) for n in places]


def runs(design: Design) -> tuple[list[Routing], list[Routing]] | None:
    """Three orders with one seed, and three seeds with one order."""
    yosys, nextpnr = find_yosys(), find_nextpnr()
    orders: list[Routing] = []
    with tempfile.TemporaryDirectory(prefix="weft-noise-") as name:
        for seed in (0, 1, 2):
            folder = Path(name) / str(seed)
            if not _synthesised(yosys, design, folder, seed):
                return None
            orders.append(route(nextpnr, folder, DEVICE, seed=1, mhz=MHZ))
        others = [route(nextpnr, Path(name) / "0", DEVICE, seed=s, mhz=MHZ) for s in (2, 3)]
    seeds = [orders[0], *others]
    luts = [r.resources.lut for r in orders if r.resources]
    say(f"{design.id}: LUT {luts}, ns {_periods(orders)} by order, {_periods(seeds)} by seed")
    return (orders, seeds) if all(r.outcome is Outcome.OK for r in (*orders, *seeds)) else None


def _synthesised(tool: Tool, design: Design, folder: Path, seed: int) -> bool:
    module = shuffled(design.module, Random(seed)) if seed else design.module
    return synthesise(tool, to_verilog(module), module.name, "ecp5", folder).resources is not None


def shuffled(module: Module, rng: Random, known: dict[int, Module] | None = None) -> Module:
    """The same module, and all that it instantiates, with its parts in another order."""
    done = {} if known is None else known
    if id(module) not in done:
        inner = [replace(i, module=shuffled(i.module, rng, done)) for i in module.instances]
        mixed = replace(
            module,
            wires=_mixed(module.wires, rng),
            regs=_mixed(module.regs, rng),
            memories=_mixed(module.memories, rng),
            reads=_mixed(module.reads, rng),
            instances=_mixed(inner, rng),
        )
        signals = {r.name: r for root in mixed.roots() for r in refs([root])}
        done[id(module)] = finish(mixed, signals)
    return done[id(module)]


def _mixed(parts: Sequence[Part], rng: Random) -> tuple[Part, ...]:
    return tuple(rng.sample(parts, len(parts)))


def _periods(found: list[Routing]) -> list[float]:
    return [round(1000 / r.fmax, 3) for r in found if r.fmax is not None]


def floor(samples: list[list[float]]) -> float:
    """The mean relative error, in percent, that no predictor of their middle can be below."""
    off = [float(np.std(np.log(s), ddof=1)) / SAMPLE for s in samples]
    return 100 * ABOUT_MIDDLE * float(np.mean(off))


def _row(case: str, metric: str, samples: list[list[float]]) -> Row:
    where = "Yosys and nextpnr, ECP5, 10 ns: after routing"
    return Row(NAME, case, f"{metric}_floor_pct", floor(samples), "%", None, where, len(samples))


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure, add_options))
