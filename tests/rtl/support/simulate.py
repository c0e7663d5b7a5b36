"""Runs designs in Verilator, and says in what they differ from the graph run in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.process import Limits
from backends.rtl.design import RtlDesign
from backends.rtl.front.evaluate import evaluate
from backends.rtl.graph import Graph
from backends.rtl.ir import Ref
from backends.rtl.operators.floats.exp import exp
from backends.rtl.testbench import pack, testbench, unpack
from backends.rtl.tools import build, find_verilator
from tests.rtl.evaluate import value

Arrays = Mapping[str, Sequence[int]]
Scalars = Mapping[str, int]


@dataclass(frozen=True)
class Simulated:
    """Of each data set the arrays afterwards, and the cycles."""

    arrays: tuple[dict[str, list[int]], ...]
    cycles: tuple[int, ...]


def simulate(
    design: RtlDesign,
    sets: Sequence[tuple[Arrays, Scalars]],
    folder: Path,
    *,
    runtime: Path | None = None,
    hold: bool = False,
    optimise: bool = False,
) -> Simulated:
    """Run a design on data sets, one after the other without a reset between them."""
    simulator = build(
        find_verilator(),
        design.verilog,
        design.top.name,
        testbench(design),
        folder,
        runtime=runtime,
        optimise=optimise,
    )
    assert simulator.program is not None, simulator.message
    (folder / "in").write_bytes(b"".join(pack(design, a, s) for a, s in sets))
    limit = 2 * design.cycles + 1000
    run = simulator.run(
        ("in", "out", str(len(sets)), str(limit), str(int(hold))), Limits(seconds=120)
    )
    assert run.ok, (run.outcome, run.log)
    data = (folder / "out").read_bytes()
    results = []
    for arrays, _ in sets:
        result, data = unpack(design, data, arrays)
        results.append(result)
    assert not data
    return Simulated(tuple(results), tuple(int(line) for line in run.log.split()))


_EXP = exp(Ref("x", 32))


def _exp(bits: int) -> int:
    """As the hardware rounds it, whose own tests say how far that is from the nearest."""
    return value(_EXP, {"x": bits})


def faults(
    design: RtlDesign,
    graph: Graph,
    sets: Sequence[tuple[Arrays, Scalars]],
    simulated: Simulated,
) -> list[str]:
    """What is not as the graph computes it, or takes other cycles than predicted."""
    found = []
    for n, (arrays, scalars) in enumerate(sets):
        right = evaluate(graph, arrays, scalars, exp=_exp)
        for name in right:
            got = simulated.arrays[n][name]
            wrong = [i for i, (a, b) in enumerate(zip(right[name], got, strict=True)) if a != b]
            if wrong:
                i = wrong[0]
                found.append(
                    f"set {n}: {name}[{i}] is {got[i]:#x}, not {right[name][i]:#x}"
                    f" ({len(wrong)} of {len(got)} differ)"
                )
        if simulated.cycles[n] != design.cycles:
            found.append(f"set {n}: {simulated.cycles[n]} cycles, not {design.cycles}")
    return found
