"""What Vitis HLS 2020.1 to 2022.1 does with its own settings (docs/lab/schedule.md, Settings of 2020.1 to 2022.1).

Figures are those of csynth reports of public projects.
"""

from __future__ import annotations

import numpy as np
import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.personality import personality
from weft import f32, i8, i16

OWN, TOLD = "vitis-2021.1", "vitis-2022.1"
ANGLES = 2 * np.pi * np.arange(256) / 256
COS, SIN = np.cos(ANGLES).astype(np.float32), np.sin(ANGLES).astype(np.float32)


@weft.kernel
def transform(re: f32[256], im: f32[256], to_re: f32[256], to_im: f32[256]):
    for i in range(256):
        to_re[i] = 0.0
        to_im[i] = 0.0
        for j in range(256):
            c = COS[i * j % 256]
            s = SIN[i * j % 256]
            to_re[i] += re[j] * c - im[j] * s
            to_im[i] += re[j] * s + im[j] * c


@weft.kernel
def product(a: i8[3, 3], b: i8[3, 3], res: i16[3, 3]):
    for i in range(3):
        for j in range(3):
            res[i, j] = 0
            for k in range(3):
                res[i, j] += a[i, k] * b[k, j]


@weft.kernel
def copies(x: f32[100], y: f32[100], u: f32[20], v: f32[20, 20]):
    for i in range(100):
        y[i] = x[i] * 2.0
    for i in range(20):
        for j in range(20):
            v[i, j] = u[j] * 2.0


def found(kernel: Kernel, tool: str, device: str, clock: float, schedule: Schedule) -> QorEstimate:
    return estimated(kernel.program, schedule, setting(tool, device, clock)).answer


def test_a_fourier_transform_without_pipelines_of_its_own() -> None:
    """2021.1, xc7z020, 10 ns: 332,801 cycles, 5 slices, 2 block RAMs; not pipelined 1,049,089 and 16."""
    builder = ScheduleBuilder()
    for name in ("re", "im", "to_re", "to_im"):
        builder = builder.partition(name, 0, "cyclic", 2)
    own = found(transform, OWN, "xc7z020", 10.0, builder.build())
    assert (own.latency.maximum, own.dsp, own.bram18) == (332801, 5, 2)
    told = found(transform, TOLD, "xc7z020", 10.0, Schedule())
    assert told.latency.maximum == pytest.approx(1049089, rel=0.001)
    assert told.dsp == 16


def test_arguments_have_two_ports() -> None:
    """2022.1, xcu50, 13.33 ns: three products, interval 2, 6 states, where one port would need 3."""
    s = ScheduleBuilder().pipeline("j")
    for tool in (OWN, TOLD):
        own = found(product, tool, "xcu50", 13.33, s.build()).loops[0]
        assert (own.ii, own.depth) == (2, 6)
    for array in product.program.arrays:
        s.bind_storage(array.name, "ram_s2p")
    assert found(product, OWN, "xcu50", 13.33, s.build()).loops[0].ii == 3


def test_loops_of_up_to_64_iterations_are_unrolled_into_the_one_around() -> None:
    rows = {tool: found(copies, tool, "xczu9eg", 10.0, Schedule()).loops for tool in (OWN, TOLD)}
    assert rows[OWN][0].ii == 1
    assert len(rows[TOLD]) == 3
    assert all(row.ii != 1 for row in rows[TOLD])


def test_loops_that_the_tool_unrolls_are_named() -> None:
    """Those that somebody unrolls, or has unrolled by a pipeline around them, are not the tool's doing."""
    told = {
        "by itself": ScheduleBuilder(),
        "unrolled": ScheduleBuilder().unroll("k"),
        "pipelined": ScheduleBuilder().pipeline("j"),
    }
    rows = {n: found(product, OWN, "xcu50", 13.33, s.build()).loops for n, s in told.items()}
    assert rows["by itself"][0].unrolled == ("k",)
    assert all(row.unrolled == () for n in ("unrolled", "pipelined") for row in rows[n])
    assert all(row.unrolled == () for row in found(product, TOLD, "xcu50", 13.33, Schedule()).loops)


def test_it_is_never_chosen_unless_it_is_asked_for() -> None:
    assert setting(None, "xczu9eg", 10.0).tool == personality(f"{TOLD}-zu9eg-10ns")
    assert setting(None, "xc7z020", 10.0).tool.measured_as == f"{TOLD}-zu9eg-10ns"
