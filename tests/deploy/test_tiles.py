"""Tiles of arrays that do not fit on the chip: found, legal, exact, small enough."""

from __future__ import annotations

from math import prod
from pathlib import Path

import pytest

import weft
from backends.deploy import rooms
from backends.deploy.boards import board
from backends.deploy.outside import outside
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Distribute, Tile
from polyhedral.schedule import apply
from weft import f32, i16, u16

POLYBENCH = Path(__file__).resolve().parents[2] / "examples/polybench"
TILED = ("gemm", "atax", "bicg", "mvt", "gesummv", "k2mm", "k3mm", "syrk", "trisolv", "covariance", "doitgen", "gemver")  # fmt: skip


def onto(name: str = "pynq-z2"):
    return board(name)


def made(kernel, size: str | None = None, name: str = "pynq-z2") -> tuple:
    sized = kernel.at(size)
    return sized, outside(sized.program, Schedule(), onto(name))


def copies(kernel, schedule: Schedule) -> dict[str, tuple[int, ...]]:
    """Shapes of the copies on the chip."""
    names = {s.name for s in schedule if isinstance(s, Buffer)}
    arrays = apply(kernel.program, schedule).scop.program.arrays
    return {a.name: a.shape for a in arrays if a.name in names}


@pytest.mark.parametrize("name", TILED)
def test_tiles_of_a_small_chip_compute_the_same(name, monkeypatch):
    """At the smallest size, with room for a part of the arrays only."""
    monkeypatch.setattr(rooms, "_ROOM", 0.002)  # some 10,000 bits of an xc7z020
    kernel, schedule = made(weft.load(POLYBENCH / f"{name}.py"), "mini")
    result = weft.verify(kernel, schedule)
    assert result.ok, result
    assert weft.equivalence(kernel, schedule).verdict == "proven"
    # Where no tiles are found, what the chip has room for is copied as a whole, and of covariance that is nothing.
    whole = {s.array for s in schedule if isinstance(s, Buffer) and not s.at}
    arrays = [a for a in kernel.program.arguments if a.shape]
    fitting = {a.name for a in arrays if rooms.bits_of(a) <= rooms.most_room(onto())}
    assert any(isinstance(s, Tile) for s in schedule) or whole == fitting


@weft.kernel
def framed(A: i16[40, 30], B: i16[40, 30]):
    for y in range(40):
        for x in range(30):
            if 1 <= y < 39 and 1 <= x < 29:
                B[y, x] = A[y - 1, x] + A[y + 1, x]
            else:
                B[y, x] = A[y, x]


def test_a_frame_is_in_loops_of_its_own_in_tiles_of_all_rows(monkeypatch):
    """The rows of the frame are tiled with those inside, so that tiles end where the array does."""
    monkeypatch.setattr(rooms, "_ROOM", 0.003)
    kernel, schedule = made(framed)
    (tile,) = (s for s in schedule if isinstance(s, Tile))
    assert 40 % tile.factors[0] == 0
    apart = {name for s in schedule if isinstance(s, Distribute) for name in s.stmts}
    assert {"S1", "S1_2", "S1_3"} <= apart
    assert weft.verify(kernel, schedule).ok
    assert weft.equivalence(kernel, schedule).verdict == "proven"


def test_what_fits_is_copied_whole():
    kernel, schedule = made(weft.load(POLYBENCH / "gemm.py"), "small")
    assert not any(isinstance(s, Tile) for s in schedule)
    assert copies(kernel, schedule) == {"A_chip": (60, 80), "B_chip": (80, 70), "C_chip": (60, 70)}


@pytest.mark.parametrize(
    ("size", "name"), [("medium", "pynq-z2"), ("large", "pynq-z2"), ("large", "kv260")]
)
def test_tiles_of_a_product_fit_the_chip(size, name):
    kernel, schedule = made(weft.load(POLYBENCH / "gemm.py"), size, name)
    found = copies(kernel, schedule)
    bits = sum(32 * prod(shape) for shape in found.values())
    assert bits <= rooms._ROOM * onto(name).device.bram18 * 18 * 1024
    assert bits >= 0.1 * rooms._ROOM * onto(name).device.bram18 * 18 * 1024  # as large as fit
    assert any(isinstance(s, Tile) for s in schedule)


def test_an_array_is_copied_where_it_moves():
    _, schedule = made(weft.load(POLYBENCH / "gemm.py"), "medium")
    where = {s.array: s.at for s in schedule if isinstance(s, Buffer)}
    assert where["A"].endswith("i_0")
    assert where["C"].endswith("i_0")
    assert where["B"] == ""  # of all rows of A: it is read once
    _kernel, schedule = made(weft.load(POLYBENCH / "gemm.py"), "large")
    apart = [s for s in schedule if isinstance(s, Distribute)]
    assert apart, "the product is a nest of its own, whose three loops are tiled"
    where = {s.name: s.at for s in schedule if isinstance(s, Buffer)}
    # A tile of C stays while those of A and B go by, which are copied while others are worked on.
    assert (where["A_chip_2"], where["B_chip_2"], where["C_chip_2"]) == (
        "S1.k_0",
        "S1.k_0",
        "S1.j_0",
    )


@weft.kernel
def swept(A: f32[60, 60], B: f32[60, 60]):
    """Every sweep touches all of both: no tile of the outer loop is less."""
    for i in range(60):
        for j in range(60):
            B[i, j] = A[i, j]
    for t in range(3):
        for i in range(1, 59):
            for j in range(1, 59):
                B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
        for i in range(1, 59):
            for j in range(1, 59):
                A[i, j] = B[i, j]


@weft.kernel
def in_place(A: f32[60, 60]):
    for t in range(3):
        for i in range(1, 59):
            for j in range(1, 59):
                A[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])


@pytest.mark.parametrize("kernel", [swept, in_place])
def test_what_every_sweep_touches_is_copied_in_tiles_in_each_of_them(kernel, monkeypatch):
    monkeypatch.setattr(rooms, "_ROOM", 0.01)
    _, schedule = made(kernel)
    found = copies(kernel, schedule)
    assert {name.split("_")[0] for name in found} == {a.name for a in kernel.program.arguments}
    assert sum(32 * prod(shape) for shape in found.values()) <= 0.01 * 280 * 18 * 1024
    assert weft.verify(kernel, schedule).ok
    assert weft.equivalence(kernel, schedule).verdict == "proven"


@weft.kernel
def gathered(x: f32[2048], column: u16[3000], y: f32[3000]):
    for i in range(3000):
        y[i] = x[column[i] & 2047]


@weft.kernel
def scattered(column: u16[3000], y: f32[2048]):
    for i in range(3000):
        y[column[i] & 2047] += 1.0


@pytest.mark.parametrize("kernel", [gathered, scattered])
def test_a_table_that_does_not_fit_is_looked_up_in_memory_outside(kernel, monkeypatch):
    monkeypatch.setattr(rooms, "_ROOM", 0.01)
    _, schedule = made(kernel)
    tiled = {s.array for s in schedule if isinstance(s, Buffer)}
    assert tiled == {a.name for a in kernel.program.arguments} - {"x"} - (
        {"y"} if kernel is scattered else set()
    )
    assert weft.verify(kernel, schedule).ok
    assert weft.equivalence(kernel, schedule).verdict == "proven"


@weft.kernel
def turned(A: f32[600, 600], x: f32[600, 40]):
    """A row and a column in each iteration, which meet: no tile has them."""
    for j, i in weft.grid(600, 600):
        A[i, j] += A[j, i] * x[i, 0]


@weft.kernel
def by_channel(x: f32[12, 4, 40], g: f32[4], y: f32[12, 4, 40]):
    """Nests in a loop, and statements that stand in it alone: sums of all that a channel has, more than there is room for."""
    for c in range(4):
        total: f32 = 0.0
        for n, k in weft.grid(12, 40):
            total += x[n, c, k]
        mean: f32 = total / 480.0
        for n, k in weft.grid(12, 40):
            y[n, c, k] = (x[n, c, k] - mean) * g[c]


def test_nests_are_tiled_beside_statements_that_stand_in_their_loop_alone(monkeypatch):
    monkeypatch.setattr(rooms, "_ROOM", 0.002)
    _, schedule = made(by_channel)
    found = copies(by_channel, schedule)
    assert {name.split("_")[0] for name in found} == {"x", "g", "y"}
    assert weft.verify(by_channel, schedule).ok
    assert weft.equivalence(by_channel, schedule).verdict == "proven"


def test_where_there_are_no_tiles_what_fits_is_copied_whole():
    kernel, schedule = made(turned)
    found = copies(kernel, schedule)
    assert found == {"x_chip": (600, 1)}  # what is accessed of it


@weft.kernel
def banked(A: i16[512, 64], B: i16[512, 64]):
    for i, j in weft.grid(512, 64):
        B[i, j] = A[i, j]


@banked.schedule
def dear(s):
    s.partition("A", 0, "complete")


def test_an_export_says_that_it_does_not_fit(tmp_path, capfd):
    from dse.cli import run as weft_command

    spec = f"{Path(__file__)}:banked"
    assert weft_command(["export", spec, "--schedule", "dear", "--deploy", "pynq-z2",
                         "--out", str(tmp_path / "x"), "--no-equivalence"]) == 0  # fmt: skip
    assert "BRAM18 and there are 280: explore with --deploy" in capfd.readouterr().err


def test_a_search_finds_an_accelerator_for_a_product_that_does_not_fit(tmp_path):
    run = weft.explore(
        weft.load(POLYBENCH / "gemm.py"), "medium", deploy="pynq-z2", trials=12, progress=False,
        evaluator="model",
    )  # fmt: skip
    best = run.best()
    assert best.resources["bram18"] <= 224
    bound = run.problem.bound.cycles
    assert best.latency < 2.5 * bound  # with all copies from and to memory
    best.export(tmp_path / "made", deploy="pynq-z2")
    assert (tmp_path / "made/deploy/block_design.tcl").is_file()
