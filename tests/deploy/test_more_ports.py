"""Arrays of a board behind several ports: where copying takes longer than computing, and the memory passes more than a port."""

from __future__ import annotations

import weft
from backends.deploy.boards import board
from backends.deploy.more_ports import through_more_ports
from backends.deploy.outside import outside
from backends.deploy.tiles import Allowance
from dsl.schedules.port_steps import Spread
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Interface
from polyhedral.schedule import apply
from tests.deploy.making import make
from weft import f32, i32, u8


@weft.kernel
def scaled(A: f32[1024, 1024], B: f32[1024, 1024]):
    for i, j in weft.grid(1024, 1024):
        B[i, j] = 2 * A[i, j]


@weft.kernel
def small(A: f32[24, 64], B: f32[24, 64]):
    for i, j in weft.grid(24, 64):
        B[i, j] = 2 * A[i, j]


@weft.kernel
def turned(A: f32[1024, 1024], B: f32[1024, 1024]):
    for i, j in weft.grid(1024, 1024):
        B[j, i] = A[i, j]


@weft.kernel
def product(A: f32[512, 512], B: f32[512, 512], C: f32[512, 512]):
    for i, j, k in weft.grid(512, 512, 512):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def total(x: f32[1 << 20], s: f32[1]):
    for i in range(1 << 20):
        s[0] += x[i]


@weft.kernel
def histogram(image: u8[1080, 1920], count: i32[256]):
    for y, x in weft.grid(1080, 1920):
        count[image[y, x]] += 1


@weft.kernel
def blurred(image: f32[256, 512], across: f32[256, 512], out: f32[252, 512]):
    for y, x in weft.grid(256, 508):
        s: f32 = 0.0
        for t in range(5):
            s += image[y, x + t]
        across[y, x] = s
    for y, x in weft.grid(252, 508):
        r: f32 = 0.0
        for t in range(5):
            r += across[y + t, x]
        out[y, x] = r


@weft.kernel
def sweeps(A: f32[258, 514], B: f32[258, 514]):
    for _t in range(4):
        for i, j in weft.grid(256, 512):
            B[i + 1, j + 1] = A[i, j + 1] + A[i + 2, j + 1]
        for i, j in weft.grid(256, 512):
            A[i + 1, j + 1] = B[i + 1, j] + B[i + 1, j + 2]


def planned(kernel: weft.Kernel, onto: str, clock: float = 10.0, trees: bool = False) -> Schedule:
    """What a search for a board begins with; legal as a whole."""
    there = board(onto)
    allowed = Allowance(there.device.dsp, trees)
    plan = outside(kernel.program, Schedule(), there, allowed)
    found = through_more_ports(kernel.program, plan, there, clock, allowed)
    apply(kernel.program, found)
    return found


def bundles(schedule: Schedule) -> dict[str, tuple[str, ...]]:
    """The ports of each array, the first one first."""
    ports = (s for s in schedule if isinstance(s, Interface))
    return {s.argument: (s.bundle, *s.also) for s in ports}


def spread(schedule: Schedule) -> dict[str, tuple[int, str]]:
    return {
        s.loop.partition(".")[0]: (s.ports, s.scheme) for s in schedule if isinstance(s, Spread)
    }


def test_rows_of_tiles_take_turns_at_all_ports_of_a_processor() -> None:
    found = planned(turned, "zcu104")
    assert spread(found) == {"load_A": (4, "cyclic"), "store_B": (4, "cyclic")}
    # Reads and writes of a port do not wait for each other.
    every = {f"gmem{n}" for n in range(4)}
    assert {name: set(own) for name, own in bundles(found).items()} == {"A": every, "B": every}


def test_whole_rows_are_in_blocks_on_a_card() -> None:
    found = planned(scaled, "u250")
    assert spread(found) == {"load_A": (2, "block"), "store_B": (2, "block")}
    assert bundles(found) == {"A": ("gmem0", "gmem0_1"), "B": ("gmem1", "gmem1_1")}


def test_nests_that_follow_one_another_share_ports() -> None:
    found = planned(
        blurred, "kv260"
    )  # few terms of a sum are unrolled: rows do not wait for each other
    assert all(kind == "cyclic" for _, kind in spread(found).values())
    assert {name: len(own) for name, own in bundles(found).items()} == dict.fromkeys(
        bundles(found), 4
    )
    assert len(spread(found)) == 4


def test_arrays_of_sweeps_are_copied_in_apart_and_through_several_ports() -> None:
    found = planned(sweeps, "kv260")
    ports = {s.argument: s for s in found if isinstance(s, Interface)}
    assert all(ports[array].reads and ports[array].also for array in "AB")


def test_one_port_is_enough() -> None:
    for kernel, onto, clock in (
        (scaled, "u55c", 3.33),  # passes what a channel does
        (product, "u250", 10.0),  # computing takes longer
        (total, "zcu104", 10.0),  # the sum waits for itself
        (histogram, "zcu104", 10.0),  # a word's elements are updated in a cycle
    ):
        assert not spread(planned(kernel, onto, clock))
    assert spread(planned(total, "zcu104", trees=True)) == {"load_x": (2, "block")}


def test_hosts_pass_an_array_to_each_of_its_pointers(tmp_path) -> None:
    schedule = planned(small, "zcu104")
    assert len(spread(schedule)) == 2
    weft.export(small, tmp_path / "made", schedule, deploy="zcu104")
    folder = tmp_path / "made/deploy"
    assert "set bundles {gmem0 gmem1}" in (folder / "block_design.tcl").read_text()
    for array in ("A", "B"):
        assert f"{{'port': '{array}_1', 'of': '{array}'}}" in (folder / "run.py").read_text()
    assert make(folder, "software").returncode == 0
