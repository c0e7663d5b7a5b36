"""Iteration latency and interval of pipelined loops of prometheus-u55c, rebuilt from their sources, next to csynth's.

60 loops of accelerators of four generators (Vitis HLS 2023.2, U55C, 4.55 and 4.00 ns). Chosen before any error was looked
at: of each generator the pipelined loops of ``loops.csv``, sorted by design, top, module and name; of n of them those in
places ``i * n // 15`` for i from 0 to 14. Two generators (`FOUND_ON`) were there to find mechanisms on, the other two
were scored once. The sources are read by `benchmarks._cxx_loops` at run time.

A loop that waits for memory outside has the way there in its iteration latency where the tool leaves it in the
module of its function, and not where it makes a module of the loop; which of the two is taken from the module's name.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._cxx_loops import Reader
from benchmarks._cxx_names import Names, Unsupported, names_of
from benchmarks._cxx_syntax import Directive, For, If, Routine, Stmt, routines_of
from benchmarks._row import Goal, Options, Row, main, say
from dse.estimates.estimation import setting
from qor_gnn.design.region import Kernel, Statement, walk
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import LoopEstimate
from qor_gnn.tools.personality import Personality

NAME = "iterations"
TOOL, DEVICE = "vitis-2023.2", "u55c"
LOOPS = 15
FOUND_ON = ("prometheus", "sisyphus")
SCORED_ON = ("allo", "scalehls")
NEAR = 2
_LINE = re.compile(r"VITIS_LOOP_(\d+)_\d+")


@dataclass(frozen=True, slots=True)
class Reported:
    """A pipelined loop of a report."""

    design: str
    top: str
    module: str
    loop: str
    latency: int
    interval: int

    @property
    def outlined(self) -> bool:
        """The tool made a module of it."""
        return "_Pipeline_" in self.module


@dataclass(frozen=True, slots=True)
class Source:
    """A file of a design."""

    routines: tuple[Routine, ...]
    names: Names
    ports: frozenset[tuple[str, str]]

    def outside(self, routine: Routine) -> frozenset[str]:
        """The arguments of a function that are in memory outside."""
        arguments = (a.name for a in routine.arguments if a.extents)
        return frozenset(a for a in arguments if self.names.root((routine.name, a)) in self.ports)


def chosen(data: Path, generator: str) -> list[Reported]:
    """The loops of one generator that are compared."""
    with (data / "loops.csv").open(encoding="utf-8") as file:
        rows = [
            Reported(
                r["design"], r["top"], r["module"], r["loop"], int(r["iter_latency_max"]),
                int(r["ii_achieved"]),
            )
            for r in csv.DictReader(file)
            if r["pipelined"] == "yes" and r["design"].startswith(generator)
        ]  # fmt: skip
    rows.sort(key=lambda r: (r.design, r.top, r.module, r.loop))
    return [rows[n * len(rows) // LOOPS] for n in range(LOOPS)]


def source_of(data: Path, row: Reported) -> Source:
    """The file that a loop is in."""
    part = f"slr{row.top[-1]}" if "slr" in row.top else "output"
    packed = data / "sources" / row.design / f"{part}.cpp.gz"
    plain = packed.with_suffix("")
    text = gzip.decompress(packed.read_bytes()).decode() if packed.is_file() else plain.read_text()
    routines = tuple(routines_of(text))
    names = names_of(routines)
    top = next(r for r in routines if r.name == row.top)
    ports = [
        d.get("port")
        for d in top.body
        if isinstance(d, Directive) and d.word == "interface" and ("m_axi", "") in d.options
    ]
    return Source(routines, names, frozenset(names.root((top.name, p)) for p in ports))


def nest_of(source: Source, loop: str) -> tuple[Routine, For, For]:
    """The function, the outermost loop and the loop itself.

    Raises:
        Unsupported: no loop, or several, are of that name.
    """
    lines = _LINE.findall(loop)
    found = []
    for routine in source.routines:
        for chain in _chains(routine.body):
            if lines and chain[-1].line == int(lines[-1]):
                found.append((routine, chain[0], chain[-1]))
            labels = [f.label for f in chain]
            if not lines and any("_".join(labels[n:]) == loop for n in range(len(labels))):
                found.append((routine, chain[0], chain[-1]))
    if len(found) != 1:
        raise Unsupported(f"{len(found)} loops are called {loop}")
    return found[0]


def _chains(nodes: Sequence[Stmt], around: tuple[For, ...] = ()) -> Iterator[tuple[For, ...]]:
    for node in nodes:
        if isinstance(node, For):
            yield (*around, node)
            yield from _chains(node.body, (*around, node))
        elif isinstance(node, If):
            yield from _chains((*node.then, *node.other), around)


def rebuilt(source: Source, loop: str) -> tuple[Kernel, str]:
    """The design of a nest, and the variable of the loop."""
    routine, nest, own = nest_of(source, loop)
    reader = Reader(routine, source.names)
    return reader.kernel(nest, source.outside(routine)), own.label or str(own.line)


def answer(kernel: Kernel, loop: str, tool: Personality) -> LoopEstimate:
    """What the model says of a loop.

    Raises:
        Unsupported: it has no such loop: it is unrolled, or flattened away.
    """
    for row in estimate(kernel, tool).loops:
        if loop in row.loops and row.kind == "pipeline":
            return row
    raise Unsupported(f"the model does not pipeline {loop}")


def rows(options: Options) -> Iterator[Row]:
    """All rows."""
    data: Path = options.extra.data
    if not (data / "loops.csv").is_file():
        say(f"no reports in {data}: all rows are left out")
        return
    near: dict[str, list[bool]] = defaultdict(list)
    exact: dict[str, list[bool]] = defaultdict(list)
    for generator in options.extra.of or (*FOUND_ON, *SCORED_ON):
        for reported in chosen(data, generator):
            case = f"{reported.design}/{reported.module}/{reported.loop}"
            latency, interval, why = _measured(data, reported)
            error = None if latency is None else latency - reported.latency
            near[generator].append(error is not None and abs(error) <= NEAR)
            exact[generator].append(interval == reported.interval)
            said = why or f"model {latency:g}, {interval:g}"
            of = f"{said}; csynth {reported.latency}, {reported.interval}"
            yield Row(NAME, case, "iteration_latency_error", error, "states", None, of)
    for generator, hits in near.items():
        yield _share(generator, f"latency_within_{NEAR}_pct", hits, None)
        yield _share(generator, "interval_exact_pct", exact[generator], None)
    every = [hit for hits in near.values() for hit in hits]
    yield _share("all", f"latency_within_{NEAR}_pct", every, Goal(">=", 90))
    yield _share("all", "interval_exact_pct", [h for hits in exact.values() for h in hits], None)


def _measured(data: Path, reported: Reported) -> tuple[float | None, float | None, str]:
    clock = 4.55 if reported.design.startswith("prometheus") else 4.0
    try:
        source = source_of(data, reported)
        kernel, loop = rebuilt(source, reported.loop)
        tool = setting(TOOL, DEVICE, clock).tool
        found = answer(kernel, loop, tool)
    except Unsupported as error:
        return None, None, str(error)
    way = 0 if reported.outlined else _way_outside(kernel, tool)
    return found.depth + way, found.ii, ""


def _way_outside(kernel: Kernel, tool: Personality) -> int:
    """States to memory outside and back, of the loop that has them in its iterations."""
    policy = tool.outside
    assert policy is not None, "2023.2 has one"
    ports = {m.name for m in kernel.memories if m.port is not None}
    (function,) = kernel.functions
    statements = [n for n in walk(function.body) if isinstance(n, Statement)]
    loads = (op.access for s in statements for op in s.ops if op.kind == "load")
    if any(access is not None and access.memory in ports for access in loads):
        return policy.latency + policy.read
    return policy.latency + policy.write if any(s.target.memory in ports for s in statements) else 0


def _share(case: str, metric: str, hits: Sequence[bool], goal: Goal | None) -> Row:
    return Row(NAME, case, metric, 100 * sum(hits) / len(hits), "%", goal, "csynth", len(hits))


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--data`` and ``--of``."""
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data/prometheus-u55c"), metavar="DIR",
        help="the folder of reports and sources",
    )  # fmt: skip
    parser.add_argument("--of", action="append", metavar="GENERATOR", help="these alone")


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", rows, add_options))
