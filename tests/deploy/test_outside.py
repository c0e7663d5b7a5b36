"""Which designs come to which boards: arrays go outside, designs of runs too; what no host drives is refused."""

from __future__ import annotations

import json

import pytest

import weft
from backends.deploy.boards import Board, board, boards
from backends.deploy.capacity import check_capacity
from backends.deploy.outside import outside
from backends.deploy.whole_copies import brought_to
from backends.devices import BOARDS
from dse.cli import run as weft_command
from dsl.errors.errors import ScheduleError, ToolError
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import AutoPartition, Buffer, Interface, Partition, Pipeline
from tests.deploy.making import GEMM, KERNELS, make
from weft import f32, u16


def test_a_design_of_a_run_is_brought_to_a_board(tmp_path, capfd):
    run = str(tmp_path / "run")
    words = [
        "explore",
        "--evaluator",
        "model",
        GEMM,
        "--size",
        "mini",
        "--board",
        "pynq-z2",
        "--trials",
        "4",
        "--out",
        run,
    ]
    assert weft_command(words) == 0
    out = tmp_path / "made"
    assert weft_command(["export", run, "--best", "--deploy", "pynq-z2", "--out", str(out)]) == 0
    assert make(out / "deploy", "software").returncode == 0
    assert json.loads((out / "weft.json").read_text())["equivalence"]["verdict"] == "proven"
    capfd.readouterr()
    assert weft_command(["export", run, "--best", "--deploy", "kv260", "--out", str(out)]) == 1
    said = capfd.readouterr().err
    assert "error[W406]: the design is for xc7z020, and kv260 has xck26" in said


def test_all_boards_are_known_and_have_what_their_flow_needs():
    for name in boards():
        found = board(name)
        assert name in BOARDS
        if found.flow.flow == "xrt":
            assert found.flow.platform
            assert found.flow.channels
        else:
            assert found.flow.board_part
            assert found.device.family.startswith(("zynq", "kria")), found.device.family


@pytest.mark.parametrize(
    ("name", "what"),
    [("arty-a7-35", "neither a processor nor a shell"), ("pynqz2", "no board is called"),
     ("", "no board is called")],
)  # fmt: skip
def test_other_boards_are_refused(name, what):
    with pytest.raises(ToolError, match=what) as caught:
        board(name)
    assert caught.value.code == "W406"
    assert caught.value.help


@weft.kernel
def scaled(x: f32[8], y: f32[8], z: f32[8]):
    for i in range(8):
        y[i] = 2.0 * x[i]


def moved(*steps: tuple[str, ...], onto: str = "u280"):
    s = ScheduleBuilder()
    for name, *given in steps:
        getattr(s, name)(*given)
    return outside(scaled.program, s.build(), board(onto))


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ([("interface", "x", "axis")], "passes through axis"),
        ([("interface", "x", "ap_fifo")], "passes through ap_fifo"),
        ([("interface", "return", "ap_ctrl_none")], "started by ap_ctrl_none"),
        ([("interface", "x", "m_axi", "g", 0, 0, 0, -1, "direct")], "not in a register"),
        ([("interface", "x", "m_axi", "g", 0, 0, 0, -1, "", "DDR[0]")], "u280 has HBM"),
    ],
)
def test_what_no_host_drives_is_refused(steps, what):
    with pytest.raises(ToolError, match=what) as caught:
        moved(*steps)
    assert caught.value.code == "W407"


def test_one_memory_has_no_channels():
    with pytest.raises(ToolError, match="all of pynq-z2 leads to one memory") as caught:
        moved(("interface", "x", "m_axi", "g", 0, 0, 0, -1, "", "HBM[3]"), onto="pynq-z2")
    assert caught.value.code == "W407"


@weft.kernel
def huge(x: f32[100, 1000, 1000], y: f32[8]):
    for i in range(8):
        y[i] = x[i, 0, 0]


@pytest.mark.parametrize(
    ("onto", "bank", "what"),
    [
        ("u50", "", r"x, y take 381 MiB, and HBM\[0\] of u50 has 256 MiB"),
        ("u50", "HBM[3:3]", r"HBM\[3\] of u50 has 256"),
        ("u55c", "", ""),
        ("u50", "HBM[0:1]", ""),
        ("pynq-z2", "", ""),
        ("rfsoc2x2", "", ""),  # of which we do not know the memory
    ],
)
def test_arrays_have_room_in_the_memory_of_the_board(onto, bank, what):
    steps = [Interface("x", "m_axi", "g0", bank=bank), Interface("y", "m_axi", "g1")]
    if not what:
        check_capacity(huge.program, steps, board(onto))
        return
    with pytest.raises(ToolError, match=what) as caught:
        check_capacity(huge.program, steps, board(onto))
    assert caught.value.code == "W254"
    assert "bank='HBM[0:1]'" in caught.value.help


def test_arrays_of_one_channel_share_its_room():
    three = [Interface(name, "m_axi", "g") for name in ("x", "y", "z")]
    program = sharing.program
    with pytest.raises(ToolError, match=r"x, y, z take 572 MiB, and pynq-z2 has 512 MiB"):
        outside(program, Schedule(tuple(three)), board("pynq-z2"))
    check_capacity(program, three[:2], board("pynq-z2"))


@weft.kernel
def sharing(x: f32[50, 1000, 1000], y: f32[50, 1000, 1000], z: f32[50, 1000, 1000]):
    for i in range(8):
        y[i, 0, 0] = x[i, 0, 0]


def test_arrays_go_outside_with_what_is_said_of_them():
    found = moved(
        ("partition", "x", 0, "cyclic", 2), ("auto_partition", "y"), ("interface", "y", "ap_memory")
    )
    asked = [s for s in found if isinstance(s, Interface)]
    assert [(s.argument, s.mode, s.bundle) for s in asked] == [
        ("x", "m_axi", "gmem0"), ("y", "m_axi", "gmem1"), ("z", "m_axi", "gmem2"),
    ]  # fmt: skip
    copies = {s.array: s.name for s in found if isinstance(s, Buffer)}
    assert copies == {"x": "x_chip", "y": "y_chip"}  # nothing uses z
    assert [s.array for s in found if isinstance(s, Partition)] == ["x_chip"]
    assert [s.array for s in found if isinstance(s, AutoPartition)] == ["y_chip"]
    weft.compile(scaled, found)


@weft.kernel
def thirds(x: u16[48], y: u16[48]):
    for i in range(48):
        y[i] = x[i] // 3


def test_what_is_asked_of_the_program_as_it_is_written_stays_in_front_of_copies():
    s = ScheduleBuilder().strength_reduce("S0").pipeline("S0.i").unroll("S0.i", 4)
    found = outside(thirds.program, s.build(), board("kv260"))
    assert next(step.kind for step in found) == "strength_reduce"
    assert {step.array for step in found if isinstance(step, Buffer)} == {"x", "y"}
    assert "] / 3" not in weft.compile(thirds, found).hls_cpp


@weft.kernel
def norm(x: f32[64], out: f32[1]):
    out[0] = 0.0
    for i in range(64):
        out[0] += x[i] * x[i]


@pytest.mark.parametrize(
    "steps",
    [
        ScheduleBuilder().partial_sums("S1", "i", 8).pipeline("i"),
        ScheduleBuilder().reassociate("S1").tree("S1", "i"),
    ],
)
def test_sums_that_are_rewritten_go_to_boards(steps):
    found = outside(norm.program, steps.build(), board("kv260"))
    assert "x_chip[" in weft.compile(norm, found).hls_cpp
    assert {step.array for step in found if isinstance(step, Buffer)} >= {"x"}


def test_what_is_outside_already_stays():
    found = moved(("interface", "x", "m_axi", "mine"), ("buffer", "x", "", "tile"))
    names = [(s.array, s.name) for s in found if isinstance(s, Buffer)]
    assert ("x", "tile") in names
    assert "x" not in {a for a, n in names if n.endswith("_chip")}
    one = next(s for s in found if isinstance(s, Interface) and s.argument == "x")
    assert one.bundle == "mine"


@pytest.mark.parametrize(
    ("bundle", "bank", "expected"),
    [
        ("mine", "HBM[0]", ["HBM[1]", "HBM[2]"]),
        ("gmem1", "HBM[2]", ["HBM[0]", "HBM[3]"]),
        ("mine", "HBM[0:3]", ["HBM[4]", "HBM[5]"]),
        ("mine", "", ["HBM[1]", "HBM[2]"]),  # linked to the first one
    ],
)
def test_no_array_goes_to_a_channel_that_another_one_has(bundle, bank, expected):
    found = moved(("interface", "x", "m_axi", bundle, 0, 0, 0, -1, "", bank))
    others = [s for s in found if isinstance(s, Interface) and s.argument != "x"]
    assert [s.bank for s in others] == expected
    assert bundle not in {s.bundle for s in others}


def test_boards_share_ports_where_there_are_more_arrays():
    assert isinstance(board("pynq-z2"), Board)
    assert {board("u200").bank(n) for n in range(9)} == {f"DDR[{n}]" for n in range(4)}
    assert board("pynq-z2").bank(0) == ""


def test_python_brings_designs_to_boards(tmp_path):
    kernel = weft.load(GEMM)
    made = weft.export(kernel, tmp_path / "a", size="mini", deploy="pynq-z2")
    assert made.names.device.name == "xc7z020"
    assert make(tmp_path / "a/deploy", "software").returncode == 0
    run = weft.explore(
        kernel, "mini", device="xc7z020", trials=2, progress=False, evaluator="model"
    )
    run.best().export(tmp_path / "b", deploy="pynq-z2")
    assert (tmp_path / "b/deploy/run.ipynb").is_file()
    with pytest.raises(ToolError, match="and u280 has xcu280"):
        weft.export(kernel, tmp_path / "c", size="mini", device="xc7z020", deploy="u280")


def test_a_search_has_the_boards_memory_in_its_budget(tmp_path, capfd):
    words = [
        "explore",
        "--evaluator",
        "model",
        GEMM,
        "--size",
        "mini",
        "--strategy",
        "pom",
        "--deploy",
        "pynq-z2",
    ]
    assert weft_command([*words, "--out", str(tmp_path / "run")]) == 0
    run = weft.load_run(tmp_path / "run")
    assert run.directory.manifest["device"].startswith("xc7z020")
    best = run.best()
    assert {s.argument for s in best.schedule if isinstance(s, Interface)} == {"A", "B", "C"}
    assert best.resources["bram18"] > 0
    best.export(tmp_path / "made", deploy="pynq-z2")
    # Nothing is put outside again: the kernel is that of the run.
    kernel = (tmp_path / "made/gemm.cpp").read_text()
    assert kernel == best.hls_cpp
    assert make(tmp_path / "made/deploy", "software").returncode == 0
    capfd.readouterr()
    small = [
        "explore",
        "--evaluator",
        "model",
        GEMM,
        "--size",
        "small",
        "--trials",
        "2",
        "--deploy",
        "pynq-z2",
    ]
    assert weft_command([*small, "--limit", "bram18=1", "--out", str(tmp_path / "small")]) == 3
    assert "note: where the copies on the chip are too large" in capfd.readouterr().err
    other = [*words, "--device", "xczu9eg", "--out", str(tmp_path / "other")]
    assert weft_command(other) == 1
    assert "error[W406]" in capfd.readouterr().err


def test_a_search_in_python_has_the_boards_memory_too():
    kernel = weft.load(GEMM)
    found = weft.explore(
        kernel, "mini", deploy="kv260", trials=3, progress=False, evaluator="model"
    )
    assert all(d.resources["bram18"] > 0 for d in found.designs)
    tiled = weft.load(KERNELS["gemm_tiles"][0])
    found = weft.explore(
        tiled, "mini", schedule="tiled", deploy="u280", trials=3, progress=False, evaluator="model"
    )
    banks = {s.argument: s.bank for s in found.best().schedule if isinstance(s, Interface)}
    assert banks == {"A": "HBM[0]", "B": "HBM[1]", "C": "HBM[2]"}


def test_an_array_outside_passes_its_ports_a_word_a_cycle():
    """A matrix that is read once, through two ports: no design is faster than that, and the search comes near one port."""
    kernel = weft.load(GEMM.replace("gemm", "mvt"))
    run = weft.explore(kernel, "small", deploy="kv260", trials=8, progress=False, evaluator="model")
    bound = run.problem.bound
    assert (bound.kind, bound.cycles) == ("ports", 120 * 120 // 8)  # two of 128 bits
    assert "8 elements a cycle from outside" in bound.reason
    assert bound.cycles <= run.best().latency < 1.8 * bound.cycles
    inside = weft.explore(
        kernel, "small", device="xck26", trials=3, progress=False, evaluator="model"
    )
    assert inside.problem.bound.cycles < bound.cycles  # memories on the chip have banks
    assert inside.best().latency < bound.cycles


@weft.kernel
def no_room(x: f32[1000, 1000], y: f32[1000, 1000]):
    for i in range(1000):
        for j in range(1000):
            y[i, j] = x[i, j] + 1.0


def test_a_schedule_for_arrays_on_the_chip_is_refused_where_they_are_in_tiles():
    onto = board("kv260")
    s = ScheduleBuilder()
    s.pipeline("j")
    with pytest.raises(ToolError, match="x, y do not fit on that of kv260 as a whole") as caught:
        brought_to(no_room.program, s.build(), onto)
    assert caught.value.code == "W409"
    assert "weft explore --deploy kv260" in caught.value.help
    brought_to(
        scaled.program, Schedule((Pipeline("i"),)), onto
    )  # copies of all leave loops as they are
    with pytest.raises(ScheduleError, match="no loop is called 'k'") as wrong:
        brought_to(no_room.program, Schedule((Pipeline("k"),)), onto)
    assert wrong.value.code == "W201"
