"""RTL of the examples: data and cycles in Verilator; next to hand-written designs, its size and clock.

Rows `KERNEL/SCHEDULE`: every kernel of examples/polybench, fixed_point, image and hardware at its
smallest size, unscheduled and with each of its schedules, against the reference interpreter.
Rows `yardstick/mac` and `yardstick/systolic`: the int16 product of 64 × 64 matrices with 8 and with
64 multipliers, placed and routed for an ECP5 with the banks of its arrays on the chip, relative to
two designs written by hand for it (8 multipliers in a row; an 8 × 8 output-stationary array).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from backends.rtl.design import RtlDesign
from backends.rtl.ir import to_verilog
from backends.rtl.simulate import simulate
from backends.rtl.synth import SynthOptions, default_cache, rtl_of
from backends.rtl.tools import Cache, find_nextpnr, find_verilator, find_yosys, implement
from backends.rtl.wrap.host import host_wrapper
from benchmarks._row import Goal, Options, Row, main, say
from dsl.errors.errors import WeftError
from dsl.kernels.kernel import Kernel
from dsl.kernels.loader import load_kernels
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design

NAME = "rtl_quality"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
GROUPS = ("polybench", "fixed_point", "image", "hardware")
QUICK = ("fir", "mvt", "gemm", "gemm_i16")
UNSCHEDULED = "none"
GENERATIONS = 5


@dataclass(frozen=True, slots=True)
class Yardstick:
    """A hand-written design, as it was measured with the tools that the group `rtl` pins.

    ``lut``, ``ff`` and ``mhz`` after routing for an LFE5U-85 in CABGA756, speed grade 6, seed 1,
    at a goal of 100 MHz.
    """

    case: str
    schedule: str
    period_ns: float
    cycles: int
    lut: int
    ff: int
    mhz: float


YARDSTICKS = (
    Yardstick("yardstick/mac", "mac8", 8.0, 32_775, 718, 1_039, 124.9),
    Yardstick("yardstick/systolic", "mac64", 8.0, 5_385, 4_875, 10_000, 96.1),
)


def measure(options: Options) -> Iterator[Row]:
    """The rows of all kernels, then those of the yardsticks."""
    cache = Cache(options.extra.cache or default_cache())
    with tempfile.TemporaryDirectory() as folder:
        for path in _files(options.quick, options.extra.only):
            for kernel in load_kernels(path).values():
                size = "mini" if "mini" in kernel.sizes else None
                sized = kernel.at(size) if size else kernel
                yield from _kernel(sized, Path(folder) / "verilated", cache)
        for yardstick in YARDSTICKS:
            yield from _yardstick(yardstick, options, cache)
    if options.quick:
        say(f"rtl_quality: quick: {', '.join(QUICK)} only, and nothing placed and routed")


def _files(quick: bool, only: list[str] | None) -> list[Path]:
    found = sorted(p for g in GROUPS for p in (EXAMPLES / g).glob("*.py"))
    wanted = only or (QUICK if quick else [p.stem for p in found])
    return [p for p in found if p.stem in wanted]


def _kernel(kernel: Kernel, runtime: Path, cache: Cache) -> Iterator[Row]:
    tool = find_verilator()
    schedules = {UNSCHEDULED: Schedule(), **kernel.schedules}
    for name, schedule in schedules.items():
        row = partial(Row, NAME, f"{kernel.program.name}/{name}", unit="1")
        try:
            design = _design(kernel, schedule, 10.0)
        except WeftError as error:
            yield row(metric="data_ok", value=None, goal=Goal("==", 1), provenance=str(error))
            continue
        found = simulate(
            design,
            kernel.program,
            schedule,
            tool,
            make_inputs=kernel.make_inputs,
            runtime=runtime,
            cache=cache,
        )
        where = f"Verilator {tool.version}, {design.cycles} cycles predicted {found.detail}".strip()
        right = found.verdict in ("ok", "cycles")
        yield row(metric="data_ok", value=int(right), goal=Goal("==", 1), provenance=where)
        exact = found.cycles == design.cycles
        yield row(metric="cycles_ok", value=int(exact), goal=Goal("==", 1), provenance=where)


def _design(kernel: Kernel, schedule: Schedule, period: float) -> RtlDesign:
    module = compile_design(kernel.program, schedule).module
    return rtl_of(module, schedule, SynthOptions(period_ns=period))


def _yardstick(yardstick: Yardstick, options: Options, cache: Cache) -> Iterator[Row]:
    kernel = load_kernels(EXAMPLES / "hardware" / "gemm_i16.py")["gemm_i16"].at("medium")
    schedule = kernel.schedules[yardstick.schedule]
    module = compile_design(kernel.program, schedule).module
    seconds = []
    for _ in range(GENERATIONS):
        begin = time.perf_counter()
        design = rtl_of(module, schedule, SynthOptions(period_ns=yardstick.period_ns))
        _ = design.verilog
        seconds.append(time.perf_counter() - begin)
    row = partial(Row, NAME, yardstick.case)
    yield row("generate_s", statistics.median(seconds), "s", Goal("<=", 1.0), n=GENERATIONS)
    ratio = design.cycles / yardstick.cycles
    where = f"{design.cycles} cycles, {yardstick.cycles} by hand"
    yield row("cycles_ratio", ratio, "1", Goal("<=", 1.01), where)
    if options.quick:
        return
    tools = (find_yosys(), find_nextpnr())
    wrapped = host_wrapper(design).module
    seeds = tuple(range(1, 1 + options.extra.seeds))
    with tempfile.TemporaryDirectory() as folder:
        text = to_verilog(wrapped)
        found = implement(
            tools, text, wrapped.name, "ecp5-85k", Path(folder), seeds=seeds, cache=cache
        )
    where = f"{tools[1].name} {tools[1].version}, seeds {seeds}, {found.outcome.value}"
    placed = found.routings[0].resources if found.routings else None
    lut = placed.lut / yardstick.lut if placed else None
    ff = placed.ff / yardstick.ff if placed else None
    mhz = found.fmax / yardstick.mhz if found.fmax else None
    yield row("lut_ratio", lut, "1", Goal("<=", 1.3), where)
    yield row("ff_ratio", ff, "1", Goal("<=", 1.3), where)
    yield row("fmax_ratio", mhz, "1", Goal(">=", 0.9), where, len(seeds))


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="+", metavar="KERNEL", help="these kernels only")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="of the placer")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="of results of tools")


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", measure, _add_options))
