"""Many designs in one simulator: compiling is most of the work, and most of it is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backends.rtl.design import BankPort, RtlDesign, ScalarPort
from backends.rtl.graph import Array, Graph, Memory
from backends.rtl.ir import ModuleBuilder, lit, mux
from backends.rtl.schedule.result import ScheduledGraph
from polyhedral.banks.splits import Split
from tests.rtl.support.simulate import Arrays, Scalars, Simulated, faults, simulate

COUNTS = "cycles taken"


@dataclass(frozen=True)
class Case:
    """A design, what it was made of, and its data sets (as many for each case of a batch)."""

    design: RtlDesign
    graph: Graph
    sets: Sequence[tuple[Arrays, Scalars]]


def check(cases: Sequence[Case], folder: Path, runtime: Path | None = None) -> list[list[str]]:
    """Of each case, what is not as its graph says or takes other cycles than predicted."""
    whole = combined([c.design for c in cases])
    count = len(cases[0].sets)
    sets = []
    for n in range(count):
        arrays = {f"{k} {name}": v for k, c in enumerate(cases) for name, v in c.sets[n][0].items()}
        scalars = {
            f"{k} {name}": v for k, c in enumerate(cases) for name, v in c.sets[n][1].items()
        }
        sets.append(({**arrays, COUNTS: [0] * len(cases)}, scalars))
    got = simulate(whole, sets, folder, runtime=runtime)
    found = []
    for k, case in enumerate(cases):
        arrays = tuple(
            {name: values[f"{k} {name}"] for name in case.sets[0][0]} for values in got.arrays
        )
        cycles = tuple(values[COUNTS][k] for values in got.arrays)
        found.append(faults(case.design, case.graph, case.sets, Simulated(arrays, cycles)))
    return found


def combined(designs: Sequence[RtlDesign]) -> RtlDesign:
    """One design that starts all and is done when all are; an array of its has their cycles."""
    assert len({d.read_latency for d in designs}) == 1, "one testbench answers all"
    b = ModuleBuilder("batch")
    start = b.input("start")
    finished = b.reg("finished", 1, reset=0)
    b.output("done", finished)
    banks: list[BankPort] = []
    scalars: list[ScalarPort] = []
    waiting = lit(0, 1)
    for k, design in enumerate(designs):
        inputs = {design.start: start}
        for s in design.scalars:
            ref = b.input(f"k{k}_{s.port}", s.width)
            inputs[s.port] = ref
            scalars.append(ScalarPort(f"{k} {s.name}", ref.name, s.width))
        read = {p.rdata: b.input(f"k{k}_{p.rdata}", p.width) for p in design.banks if p.rdata}
        unit = b.instance(replace(design.top, name=f"k{k}"), f"u{k}", {**inputs, **read})
        for p in design.banks:
            names = {
                field: b.output(f"k{k}_{getattr(p, field)}", unit[getattr(p, field)])
                for field in ("raddr", "re", "waddr", "we", "wdata")
                if getattr(p, field)
            }
            if p.rdata:
                names["rdata"] = read[p.rdata].name
            banks.append(replace(p, array=f"{k} {p.array}", **names))
        done, count = unit[design.done], b.reg(f"k{k}_count", 32, reset=0)
        b.drive(count, mux(start, lit(1, 32), count + lit(1, 32)))
        over = b.reg(f"k{k}_over", 1, reset=0)
        b.drive(over, ~start & (over | done))
        waiting = waiting | ~(over | done)
        we, data = b.output(f"k{k}_count_we", done), b.output(f"k{k}_count_wdata", count)
        port = BankPort(COUNTS, k, 1, 32, 1, Memory.REGISTERS, we=we, wdata=data)
        banks.append(port)
    running = b.reg("running", 1, reset=0)
    b.drive(running, start | (running & waiting))
    b.drive(finished, running & ~waiting)
    arrays = [
        replace(a, name=f"{k} {a.name}")
        for k, d in enumerate(designs)
        for a in d.graph.arrays
        if a.argument
    ]
    split = (Split("complete", len(designs)),)
    arrays.append(Array(COUNTS, 32, (len(designs),), split, Memory.REGISTERS, True, "out"))
    graph = Graph("batch", tuple(arrays), ())
    longest = max(d.cycles for d in designs)
    return RtlDesign(
        "batch",
        b.build(),
        graph,
        ScheduledGraph(graph, ()),
        tuple(banks),
        tuple(scalars),
        longest + 1,
        designs[0].read_latency,
        (),
    )
