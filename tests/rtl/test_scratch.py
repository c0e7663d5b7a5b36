"""A local in memory outside is a memory at the ports of the module, as arguments are, and full of nonsense."""

from __future__ import annotations

from pathlib import Path

import weft
from backends.rtl.simulate import simulate
from backends.rtl.synth import SynthOptions, rtl_of
from backends.rtl.tools import find_verilator
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.dialect.attributes import context
from mlir_passes.pipeline import compile_design
from mlir_passes.provider import ir
from weft import i17, u8


@weft.kernel
def edge(src: u8[10, 13], dst: i17[10, 13]):
    tmp: i17[10, 13]
    for i in range(10):
        for j in range(1, 12):
            tmp[i, j] = src[i, j - 1] - 2 * src[i, j] + src[i, j + 1]
    for i in range(1, 9):
        for j in range(1, 12):
            dst[i, j] = tmp[i + 1, j] + tmp[i - 1, j]


def schedules() -> list[Schedule]:
    plain = ScheduleBuilder().interface("tmp", "m_axi", "g")
    copied = (
        ScheduleBuilder().interface("tmp", "m_axi", "g").split("S0.i", 4).buffer("tmp", "S0.i_0")
    )
    return [plain.build(), copied.build()]


def test_the_simulation_provides_it(runtime: Path) -> None:
    for schedule in schedules():
        module = compile_design(edge.program, schedule).module
        design = rtl_of(module, schedule, SynthOptions())
        (port,) = design.banks_of("tmp")
        assert port.reads
        assert port.writes
        found = simulate(
            design, edge.program, schedule, find_verilator(), trials=2, runtime=runtime
        )
        assert found.verdict == "ok", found


def test_what_is_read_before_it_is_written_is_found(runtime: Path) -> None:
    """A design that leaves a row of it as it is."""
    (schedule, _) = schedules()
    text = str(compile_design(edge.program, schedule).module)
    assert "= 0 to 10 {" in text
    with context():
        module = ir.Module.parse(text.replace("= 0 to 10 {", "= 0 to 9 {"))
    design = rtl_of(module, schedule, SynthOptions())
    found = simulate(design, edge.program, schedule, find_verilator(), runtime=runtime)
    assert found.verdict == "mismatch"
