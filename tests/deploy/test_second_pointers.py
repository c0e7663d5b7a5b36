"""Arrays that are read and written where tiles overlap: deployments give them a second pointer, and hosts pass it."""

from __future__ import annotations

import weft
from backends.deploy.boards import board
from backends.deploy.outside import outside
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Buffer, Interface
from tests.deploy.making import make
from weft import f32, i32, u8

SIZES = {"small": {"N": 1000}, "large": {"N": 1 << 20}}
N = SIZES["small"]["N"]


@weft.kernel(sizes=SIZES)
def axpy(a: f32, x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] += a * x[i]


@weft.kernel
def smooth(src: u8[720, 1280], dst: u8[720, 1280]):
    for i in range(1, 719):
        for j in range(1, 1279):
            dst[i, j] = (src[i, j - 1] + 2 * src[i, j] + src[i, j + 1]) >> 2


@weft.kernel
def running(x: i32[1 << 20], y: i32[1 << 20]):
    for i in range(1, 1 << 20):
        y[i] = y[i - 1] + x[i]


def second(schedule: Schedule) -> set[str]:
    """The arrays with a second pointer, all of which are copied in apart from what is copied out."""
    found = {s.argument for s in schedule if isinstance(s, Interface) and s.reads}
    assert found == {s.array for s in schedule if isinstance(s, Buffer) and s.apart}
    return found


def test_what_is_read_and_written_in_tiles_gets_one():
    assert second(outside(axpy.at("large").program, Schedule(), board("pynq-z2"))) == {"y"}
    assert second(outside(smooth.program, Schedule(), board("pynq-z2"))) == {"dst"}
    assert not second(outside(axpy.program, Schedule(), board("pynq-z2")))  # it fits as a whole
    assert not second(outside(running.program, Schedule(), board("pynq-z2")))  # reads what it wrote


def test_hosts_pass_an_array_twice(tmp_path):
    for onto, line in (
        ("u280", "buffer_x, buffer_y, buffer_y)"),
        ("pynq-z2", "BEHIND = [{'port': 'y_in', 'of': 'y'}]"),
    ):
        weft.export(axpy, tmp_path / onto, tiles(), deploy=onto)
        folder = tmp_path / onto / "deploy"
        text = "".join(p.read_text() for p in folder.glob("*") if p.suffix in (".cpp", ".py"))
        assert line in text
        assert make(folder, "software").returncode == 0
    readme = (tmp_path / "u280/README.md").read_text()
    assert "`y` again: it is read here" in readme


@weft.kernel
def never(x: f32[64], y: f32[64], z: f32[64]):
    for i in range(64):
        y[i] = 2 * x[i]
    for i in range(5, 5):
        z[i] = x[i]


def test_what_no_iteration_writes_is_passed_as_it_is(tmp_path):
    given = outside(never.program, Schedule(), board("pynq-z2"))
    weft.export(never, tmp_path / "made", given, deploy="pynq-z2")
    assert make(tmp_path / "made/deploy", "software").returncode == 0


def tiles() -> Schedule:
    s = ScheduleBuilder()
    s.interface("x", "m_axi", "gmem0").interface("y", "m_axi", "gmem1", reads="gmem1")
    s.pack("x", 128).pack("y", 128).split("i", 96, tail="guard")
    s.buffer("y", "i_0", apart=True).buffer("x", "i_0")
    s.dataflow([["take_y", "S0"]], at="i_0")
    return s.build()
