"""Locals that the chip has no room for: which go to the board's memory, and that designs work there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weft
from backends.deploy import rooms
from backends.deploy.boards import board
from backends.deploy.outside import outside
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Buffer, Interface, Pack, Partition
from tests.deploy.making import export, make
from weft import f32, fixed, i24, u8

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SIZES = {"small": {"H": 20, "W": 45}, "full": {"H": 1080, "W": 1920}}
H, W = SIZES["small"].values()


@weft.kernel(sizes=SIZES)
def filters(src: u8[H, W], dst: u8[H, W]):
    row: u8[W]
    first: u8[H, W]
    second: u8[H, W]
    for j in range(W):
        row[j] = src[0, j] >> 1
    for i in range(H):
        for j in range(1, W - 1):
            first[i, j] = (src[i, j - 1] + 2 * src[i, j] + src[i, j + 1]) >> 2
    for i in range(1, H - 1):
        for j in range(1, W - 1):
            second[i, j] = abs(first[i + 1, j] - first[i - 1, j])
    for i in range(1, H - 1):
        for j in range(1, W - 1):
            dst[i, j] = second[i, j] + row[j]


@weft.kernel
def layers(x: f32[6, 20], w: f32[24, 20], v: f32[5, 24], y: f32[6, 5]):
    hidden: f32[6, 24]
    for b in range(6):
        for n in range(24):
            hidden[b, n] = 0.0
            for k in range(20):
                hidden[b, n] += x[b, k] * w[n, k]
    for b in range(6):
        for n in range(24):
            hidden[b, n] = max(hidden[b, n], 0.0)
    for b in range(6):
        for o in range(5):
            y[b, o] = 0.0
            for n in range(24):
                y[b, o] += hidden[b, n] * v[o, n]


@weft.kernel
def turned(a: i24[20, 11], f: fixed[18, 6][20, 11], out: i24[11, 20], g: fixed[18, 6][11, 20]):
    t: i24[11, 20]
    u: fixed[18, 6][11, 20]
    for r in range(20):
        for c in range(11):
            t[c, r] = a[r, c] + 1
            u[c, r] = f[r, c]
    for c in range(11):
        for r in range(20):
            out[c, r] = t[c, 19 - r]
            g[c, r] = u[c, r] + u[c, 19 - r]


@weft.kernel
def sweeps(a: f32[14, 14]):
    b: f32[14, 14]
    for i in range(14):
        for j in range(14):
            b[i, j] = a[i, j]
    for t in range(3):
        for i in range(1, 13):
            for j in range(1, 13):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, 13):
            for j in range(1, 13):
                a[i, j] = b[i, j]


def scratch(kernel: weft.Kernel, schedule: Schedule) -> set[str]:
    """The locals that a schedule puts outside."""
    own = {a.name for a in kernel.program.locals}
    return {s.argument for s in schedule if isinstance(s, Interface)} & own


def room(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """So many bits of an xc7z020 are for copies."""
    monkeypatch.setattr(rooms, "_ROOM", bits / (280 * 18 * 1024))


@pytest.mark.parametrize(
    ("kernel", "bits", "onto", "expected"),
    [
        (filters, 6000, "pynq-z2", {"first", "second"}),
        (filters, 16000, "u280", {"second"}),  # the first one has room beside copies
        (layers, 4000, "u280", {"hidden"}),
        (turned, 7000, "pynq-z2", {"t", "u"}),
        (sweeps, 13000, "pynq-z2", set()),  # there is room for all of both
    ],
)
def test_what_does_not_fit_goes_outside_and_the_kernel_computes_the_same(
    kernel, bits, onto, expected, monkeypatch
):
    chip = board(onto)
    monkeypatch.setattr(rooms, "_ROOM", bits / (chip.device.bram18 * 18 * 1024))
    schedule = outside(kernel.program, Schedule(), chip)
    assert scratch(kernel, schedule) == expected
    assert weft.verify(kernel, schedule, trials=2).ok
    assert weft.equivalence(kernel, schedule).verdict == "proven"
    copied = {s.array for s in schedule if isinstance(s, Buffer)}
    assert expected <= copied  # in tiles


def test_what_sweeps_leave_outside_is_copied_in_tiles_in_each_sweep(monkeypatch):
    room(monkeypatch, 6500)
    schedule = outside(sweeps.program, Schedule(), board("pynq-z2"))
    assert scratch(sweeps, schedule) == {"b"}
    made = [s for s in schedule if isinstance(s, Buffer)]
    assert {s.array for s in made} == {"a", "b"}
    assert {s.at.split(".")[0] for s in made} == {"S0", "S1", "S2"}
    assert weft.verify(sweeps, schedule).ok
    assert weft.equivalence(sweeps, schedule).verdict == "proven"


@weft.kernel
def crossed(a: f32[14, 14], out: f32[14]):
    """A row and a column of the local in each iteration, which meet."""
    b: f32[14, 14]
    for i, j in weft.grid(14, 14):
        b[i, j] = a[i, j]
    for i, j in weft.grid(14, 14):
        b[i, j] += b[j, i] * 0.5
    for i in range(14):
        out[i] = b[i, 3]


def test_a_local_that_there_are_no_tiles_of_stays_outside_as_it_is(monkeypatch):
    """Its elements pass one after the other, instead of no design."""
    room(monkeypatch, 6500)
    schedule = outside(crossed.program, Schedule(), board("pynq-z2"))
    assert scratch(crossed, schedule) == {"b"}
    assert {s.array for s in schedule if isinstance(s, Buffer)} == {"a", "out"}
    assert not any(isinstance(s, Pack) for s in schedule)
    assert weft.verify(crossed, schedule).ok


def test_what_fits_stays_on_the_chip():
    schedule = outside(filters.program, Schedule(), board("pynq-z2"))
    assert not scratch(filters, schedule)
    assert {s.array for s in schedule if isinstance(s, Buffer)} == {"src", "dst"}


def steps(build) -> Schedule:
    s = ScheduleBuilder()
    build(s)
    return s.build()


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.dataflow(),
        lambda s: s.dataflow().stream("second", 4),
        lambda s: s.expand("first", "S1.i").expand("second", "S2.i"),
        lambda s: s.bind_storage("first", "ram_2p", "uram").bind_storage(
            "second", "ram_2p", "uram"
        ),
        lambda s: s.split("S1.i", 4),  # tiles would be other loops, and the chip holds all
    ],
)
def test_what_a_schedule_makes_of_locals_stays(build, monkeypatch):
    room(monkeypatch, 6000)
    asked = steps(build)
    found = outside(filters.program, asked, board("pynq-z2"))
    assert not scratch(filters, found)


def test_a_schedule_of_loops_keeps_its_locals_as_long_as_the_chip_holds_them():
    asked = steps(lambda s: s.pipeline("S1.j"))
    large = filters.at("full")
    assert scratch(large, outside(large.program, asked, board("pynq-z2"))) == {"first", "second"}
    assert not scratch(large, outside(large.program, asked, board("u280")))  # 74 Mbit


def test_what_is_outside_already_stays_as_it_is(monkeypatch):
    room(monkeypatch, 6000)
    asked = steps(lambda s: s.interface("first", "m_axi", "mine"))
    found = outside(filters.program, asked, board("pynq-z2"))
    assert scratch(filters, found) == {"first", "second"}
    ports = {s.argument: s.bundle for s in found if isinstance(s, Interface)}
    assert ports["first"] == "mine"
    assert outside(filters.program, found, board("pynq-z2")) == found
    assert not scratch(filters, outside(filters.program, Schedule(), board("u280")))


def test_what_is_said_of_a_local_is_said_of_its_copy(monkeypatch):
    room(monkeypatch, 6000)
    asked = steps(lambda s: s.partition("second", 1, factor=2))
    found = outside(filters.program, asked, board("pynq-z2"))
    made = {s.name for s in found if isinstance(s, Buffer) and s.array == "second"}
    assert len(made) == 2  # where it is written, and where it is read
    assert {s.array for s in found if isinstance(s, Partition)} == made
    assert weft.verify(filters, found).ok


@pytest.mark.parametrize(
    ("spec", "size", "name", "expected"),
    [
        ("polybench/k2mm.py:k2mm", "large", "pynq-z2", {"tmp"}),
        ("polybench/k2mm.py:k2mm", "large", "kv260", {"tmp"}),
        ("polybench/k3mm.py:k3mm", "large", "kv260", {"E", "F"}),
        ("image/edge_detect.py:edge_detect", "large", "pynq-z2", {"ring"}),
    ],
)
def test_kernels_whose_locals_no_chip_holds_fit_boards(spec, size, name, expected):
    kernel = weft.load(f"{EXAMPLES / spec.split(':')[0]}:{spec.split(':')[1]}")
    onto = board(name)
    schedule = outside(kernel.at(size).program, Schedule(), onto)
    assert scratch(kernel, schedule) == expected
    estimate = weft.estimate(kernel, schedule, size=size, device=onto.device.name)
    assert estimate.bram18 <= onto.device.bram18


def test_a_search_finds_an_accelerator_for_filters_of_a_large_image(tmp_path):
    kernel = filters.at("full")
    run = weft.explore(
        filters, "full", deploy="pynq-z2", trials=2, progress=False, evaluator="model"
    )
    best = run.best()
    assert scratch(kernel, best.schedule) == {"first", "second"}
    assert best.resources["bram18"] <= 224
    best.export(tmp_path / "made", deploy="pynq-z2")
    host = (tmp_path / "made/deploy/run.py").read_text()
    assert re.search(r"BEHIND = \[\{'port': 'first', 'bytes': 2073600\},", host)
    design = (tmp_path / "made/deploy/block_design.tcl").read_text()
    assert "set bundles {gmem0 gmem1 gmem2 gmem3}" in design


def test_hosts_provide_memory_that_is_neither_filled_nor_looked_at(tmp_path):
    """In the place of the card, and of the board: what reads it before it is written is found."""
    for onto, file in (("u280", "host.cpp"), ("pynq-z2", "run.py")):
        folder = export("edge_strips", onto, tmp_path / onto)
        assert "smooth" in (folder / file).read_text()
        if file == "host.cpp":  # a host that is right passes in other tests
            assert make(folder, "software").returncode == 0
        source = tmp_path / onto / "edge_strips.cpp"
        text = source.read_text()
        lost = re.sub(r"(\n *)smooth\[.*\]\[store.*= smooth_word_\d;", r"\1;", text)
        assert lost != text
        source.write_text(lost)
        assert make(folder, "software").returncode != 0
    config = (tmp_path / "u280/deploy/host.cpp").read_text()
    assert re.search(
        r"xrt::bo buffer_smooth\(device, sizeof\(.*\), kernel.group_id\(2\)\);", config
    )
    assert "buffer_smooth.sync" not in config


def test_the_linker_is_told_the_bank_of_scratch(tmp_path):
    asked = steps(lambda s: s.interface("first", "m_axi", "g", bank="HBM[7]"))
    weft.export(filters, tmp_path / "x", asked, device="u280")
    assert "sp=filters_1.first:HBM[7]" in (tmp_path / "x/link.cfg").read_text()
    readme = (tmp_path / "x/README.md").read_text()
    assert (
        "| `ap_uint<8> first[20][45]` | `u8[20, 45]` | memory, neither filled nor read |" in readme
    )
