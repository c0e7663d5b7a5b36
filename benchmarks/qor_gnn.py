"""Learned QoR predictors on designs that they have not seen: errors by protocol, next to baselines.

Rows ``P0``, ``P1/KERNEL``, ``P2/FAMILY``, ``k16/KERNEL``, ``k64/KERNEL``, ``adrs/KERNEL`` are of
`vitis2022-zu9eg` (Vitis HLS 2022.1), ``u200/GROUP`` of `hlsfactory-u200` (Vitis HLS 2025.1), both of
``--data``; ``open/KERNEL`` of the dataset of `weft label` in ``--open`` (after place and route). Each
``NAME/mean`` is over the splits. The rows without a prefix are those of the first predictor; what
else is in ``--predictors`` has its name in front, as in ``white box/P1/atax``, and no goals. Groups of
equivalent designs never straddle a split; figures are means over ``--seeds`` repetitions.
``speed``: from a schedule to a prediction, white box and graph included, one process.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks._row import Goal, Options, Row, main, say
from dse.labels.examples import examples_of
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import zu9eg
from qor_gnn.gnn.examples.convert import convert
from qor_gnn.gnn.examples.convert_zu9eg import source
from qor_gnn.gnn.examples.example import METRICS, Example, Predictor
from qor_gnn.gnn.training.baselines import BASELINES
from qor_gnn.gnn.training.evaluate import EvalRow, rows

NAME = "qor_gnn"
OPEN = Path("qor_gnn/fit/datasets/open-ecp5")
SHORT = {"bram18": "bram", "period_ns": "period"}
SOURCES = {
    "zu9eg": "Vitis HLS 2022.1, xczu9eg, 10 ns: csynth",
    "u200": "Vitis HLS 2025.1, xcu200, 4 ns: csynth; HLSFactory, CC BY-SA 4.0",
    "open": "Yosys and nextpnr, ECP5, 10 ns: after routing",
}
QUICK_EACH = 60  # designs of a kernel under --quick
QUICK_SPLITS = ("P0", "P1/atax", "P1/gemm")
SPEED = 256  # designs


def _at_most(**bounds: float) -> dict[str, Goal]:
    return {f"{name}_pct": Goal("<=", bound) for name, bound in bounds.items()}


P1 = _at_most(latency_mape=0.1, lut_mape=4, ff_mape=5, dsp_mape=2)
U200 = {"latency": 10, "lut": 12, "ff": 12, "dsp": 10, "bram": 10}
GOALS: Mapping[str, Mapping[str, Goal]] = {
    "P0": _at_most(latency_mape=0.1, lut_mape=2, ff_mape=2, dsp_mape=0.3),
    "P1/mean": P1,
    "P1": {name: Goal("<=", 2 * goal.bound) for name, goal in P1.items()},
    "P2": _at_most(latency_mape=0.1, lut_mape=5, ff_mape=6, dsp_mape=3)
    | {"kendall_tau": Goal(">=", 0.95)},
    "adrs": _at_most(adrs=3),
    "adrs/mean": _at_most(adrs=1),
    "k16/mean": _at_most(lut_mape=3.5, ff_mape=4.5),
    "k64/mean": _at_most(lut_mape=2.4, ff_mape=3),
    "u200/mean": _at_most(**{f"{name}_mape": bound for name, bound in U200.items()})
    | _at_most(**{f"{name}_median_ape": bound / 2 for name, bound in U200.items()}),
    "open/mean": _at_most(lut_mape=8, ff_mape=8, dsp_mape=2, bram_mape=2, period_mape=8),
    "speed": {
        "ms_per_design": Goal("<=", 15),
        "train_minutes": Goal("<=", 60),
    },
}
"""By case, else by what is in front of its ``/``."""


def goal_of(case: str, metric: str) -> Goal | None:
    """The bound of a row of the first predictor."""
    known = GOALS.get(case)
    if known is None and not case.endswith("/mean"):
        known = GOALS.get(case.partition("/")[0])
    return (known or {}).get(metric)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Data, predictors, and which protocols."""
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR")
    parser.add_argument("--open", type=Path, default=OPEN, metavar="DIR")
    parser.add_argument("--cache", type=Path, default=Path("build/gnn/parts"), metavar="DIR")
    parser.add_argument("--keep", action="store_true", help="take CACHE/../NAME.npz where it is")
    parser.add_argument("--predictors", default="gnn,gnn-flat,white-box,trees,pragmas")
    parser.add_argument("--protocols", default="P0,P1,P2,k16,k64,u200,open,speed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, help="of the networks; default: their own")


def predictor(name: str, epochs: int | None) -> Predictor:
    """A predictor by its name on the command line.

    Raises:
        SystemExit: there is none of that name.
    """
    if name in BASELINES:
        return BASELINES[name]()
    if name in ("gnn", "gnn-flat"):
        from dataclasses import replace

        from qor_gnn.gnn.training.predict import FLAT, GnnPredictor
        from qor_gnn.gnn.training.train import Settings

        settings = Settings() if name == "gnn" else FLAT
        return GnnPredictor(settings if epochs is None else replace(settings, epochs=epochs))
    raise SystemExit(f"no predictor is called '{name}': gnn, gnn-flat, {', '.join(BASELINES)}")


def measure(options: Options) -> Iterator[Row]:
    """All rows."""
    extra, quick = options.extra, options.quick
    epochs = 2 if quick and extra.epochs is None else extra.epochs
    chosen = [predictor(name, epochs) for name in extra.predictors.split(",")]
    protocols = extra.protocols.split(",")
    if quick:
        say(f"--quick: {QUICK_EACH} designs of a kernel, {epochs} epochs, one seed, few splits")
    seeds = range(1 if quick else extra.seeds)
    study = Study(chosen, seeds, quick)
    for data in ("zu9eg", "u200", "open"):
        mine = [p for p in protocols if _data_of(p) == data and not (quick and data != "zu9eg")]
        if not mine:
            continue
        examples = read(data, extra, quick)
        if examples:
            names = {"P1": data} if data != "zu9eg" else {}
            wanted = ["P1" if p in ("u200", "open") else p for p in mine]
            yield from study.rows(examples, data, wanted, names)
    if "speed" in protocols:
        yield from speed_rows(chosen[0], extra, quick)


def _data_of(protocol: str) -> str:
    return protocol if protocol in ("u200", "open") else "" if protocol == "speed" else "zu9eg"


def read(data: str, extra: argparse.Namespace, quick: bool) -> list[Example]:
    """The examples of a data set; none where it is not there."""
    folders = {
        "zu9eg": extra.data / "vitis2022-zu9eg",
        "u200": extra.data / "hlsfactory-u200",
        "open": extra.open,
    }
    folder, kept = folders[data], extra.cache.parent / f"{data}.npz"
    if extra.keep and kept.exists():
        say(f"{data}: {kept}, made by whatever the model was then")
        examples = examples_of(kept)
        return _part(examples) if quick else examples
    if not folder.is_dir():
        say(f"there are no labelled designs in {folder}: its rows are left out")
        return []
    if quick:
        return quick_examples(folder, extra.cache)
    return examples_of(folder, extra.cache, progress=_told(data), remark=say)


def _told(data: str) -> Callable[[int, int], None]:
    return lambda done, total: say(f"{data}: {done} of {total} parts converted")


def quick_examples(folder: Path, cache: Path) -> list[Example]:
    """A few designs of each kernel of zu9eg, always the same."""
    samples = list(zu9eg.samples(folder, "kernels"))
    chosen: list[zu9eg.Sample] = []
    for kernel in zu9eg.KERNELS:
        mine = [s for s in samples if s.kernel == kernel]
        chosen += random.Random(0).sample(mine, min(QUICK_EACH, len(mine)))
    whole = source(folder, ("kernels",))
    return convert(type(whole)("quick", folder, tuple(chosen), whole.make), cache)


def _part(examples: list[Example]) -> list[Example]:
    found: list[Example] = []
    for kernel in sorted({e.kernel for e in examples}):
        mine = [e for e in examples if e.kernel == kernel and not e.part]
        found += random.Random(0).sample(mine, min(QUICK_EACH, len(mine)))
    return found


# ---------------------------------------------------------------------------------------- accuracy


@dataclass(frozen=True)
class Study:
    """Predictors, the first one with goals, on protocols."""

    predictors: Sequence[Predictor]
    seeds: Sequence[int]
    quick: bool

    def rows(
        self, examples: Sequence[Example], data: str, protocols: list[str], names: Mapping[str, str]
    ) -> Iterator[Row]:
        """Each split's rows when its seeds are done, then the means of each protocol."""
        for protocol in protocols:
            for one in self.predictors:
                found: dict[str, list[EvalRow]] = defaultdict(list)
                only = (lambda s: s.name in QUICK_SPLITS) if self.quick else (lambda s: True)
                for row in rows(examples, [one], (protocol,), self.seeds, only, say):
                    found[row.split].append(row)
                for case, metric, value, n in figures(found, names.get(protocol, protocol)):
                    prefix = "" if one is self.predictors[0] else f"{one.name}/"
                    yield from self._row(prefix, case, metric, value, n, SOURCES[data])

    def _row(
        self, prefix: str, case: str, metric: str, value: float, n: int, where: str
    ) -> Iterator[Row]:
        unit = "1" if metric == "kendall_tau" else "min" if metric == "train_minutes" else "%"
        goals: list[Goal | None] = [goal_of(case, metric)]
        if metric == "coverage90_pct" and case.endswith("/mean"):
            goals = [Goal(">=", 85), Goal("<=", 95)]
        elif metric == "train_minutes":
            goals = [GOALS["speed"][metric]]
        for goal in goals if not prefix else [None]:
            yield Row(NAME, prefix + case, metric, value, unit, goal, where, n)


def figures(
    found: Mapping[str, Sequence[EvalRow]], protocol: str
) -> Iterator[tuple[str, str, float, int]]:
    """Case, metric, value and number of designs: of each split, then their means."""
    means: dict[str, list[float]] = defaultdict(list)
    losses: dict[str, float] = {}
    total = 0
    for split, several in found.items():
        case = split if "/" not in split else f"{protocol}/{split.partition('/')[2]}"
        number = round(max(r.errors.designs for r in several))
        total += number
        for metric, value in _split_figures(several).items():
            yield case, metric, value, number
            means[metric].append(value)
        losses[split.partition("/")[2]] = _mean([r.adrs for r in several])
    if len(found) > 1:
        for metric, values in means.items():
            yield f"{protocol}/mean", metric, _mean(values), total
    if protocol == "P1":
        for kernel, loss in losses.items():
            yield f"adrs/{kernel}", "adrs_pct", loss, total
        yield "adrs/mean", "adrs_pct", _mean(list(losses.values())), total
    yield protocol, "train_minutes", max(r.seconds for s in found.values() for r in s) / 60, 1


def _split_figures(several: Sequence[EvalRow]) -> dict[str, float]:
    """Of one split, means over seeds; tau is the least of the metrics, coverage their mean."""
    found: dict[str, float] = {}
    tau, covered = [], []
    for metric in METRICS:
        mine = [r.errors for r in several if r.metric == metric]
        if mine:
            name = SHORT.get(metric, metric)
            found[f"{name}_mape_pct"] = _mean([e.mape for e in mine])
            found[f"{name}_median_ape_pct"] = _mean([e.median for e in mine])
            tau.append(_mean([e.tau for e in mine]))
            if metric in ("lut", "ff", "period_ns"):
                covered.append(_mean([e.coverage for e in mine]))
    found["kendall_tau"] = min((t for t in tau if not math.isnan(t)), default=math.nan)
    found["coverage90_pct"] = _mean(covered)
    return found


def _mean(values: Sequence[float]) -> float:
    """The mean of those that are numbers, NaN of none."""
    known = [v for v in values if not math.isnan(v)]
    return statistics.fmean(known) if known else math.nan


# ------------------------------------------------------------------------------------------- speed


def speed_rows(one: Predictor, extra: argparse.Namespace, quick: bool) -> Iterator[Row]:
    """Schedules of gemm to predictions, together and one by one."""
    from qor_gnn.gnn.training.predict import design
    from qor_gnn.tools.personality import personality

    folder = extra.data / "vitis2022-zu9eg"
    if not folder.is_dir():
        say(f"there are no designs in {folder}: the rows of speed are left out")
        return
    known = quick_examples(folder, extra.cache)
    fitted = one.fit(known, [], 0)
    tool = personality(zu9eg.PERSONALITY)
    samples = [s for s in zu9eg.samples(folder, "kernels") if s.kernel == "gemm"]
    chosen = random.Random(1).sample(samples, 64 if quick else SPEED)

    def asked(sample: zu9eg.Sample) -> Example:
        kernel = zu9eg.kernel_of(sample)
        return design(kernel, tool, estimate(kernel, tool))

    fitted.predict([asked(chosen[0])])  # what is loaded once is loaded
    began = perf_counter()
    fitted.predict([asked(sample) for sample in chosen])
    rate = len(chosen) / (perf_counter() - began)
    single = []
    for sample in chosen[:32]:
        began = perf_counter()
        fitted.predict([asked(sample)])
        single.append(1000 * (perf_counter() - began))
    where = f"{one.name}: schedule, white box, graph, prediction; one process"
    values = {"designs_per_s": (rate, "1/s"), "ms_per_design": (statistics.median(single), "ms")}
    for metric, (value, unit) in values.items():
        yield Row(NAME, "speed", metric, value, unit, goal_of("speed", metric), where, len(chosen))


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure, add_options))
