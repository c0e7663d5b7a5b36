"""Whole accelerators: what passes to memory outside, exactly; emulation and the board, next to csynth's view."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import weft
from backends.deploy.boards import board, boards
from dse.accelerator.figures import Accelerator, accelerator_of
from dse.cli import run as weft_command
from dse.estimates.estimation import Estimation, estimated, setting
from dse.evaluators.base import Result, Status
from dse.run.folder.codec import result_from_json, result_to_json
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.accelerator.at_once import at_once
from qor_gnn.accelerator.emulation import waits
from qor_gnn.accelerator.service import Service, served
from qor_gnn.design.directives import written_unrolls
from qor_gnn.estimate import brief, estimate
from qor_gnn.schedule.alike import Alike
from qor_gnn.support.perturbed import perturbed
from weft import f32

Build = Callable[[ScheduleBuilder], ScheduleBuilder]
TILES = "examples/outside/gemm_tiles.py:gemm_tiles"


@weft.kernel
def scaled(a: f32[24, 40], b: f32[24, 40]):
    for i in range(24):
        for j in range(40):
            b[i, j] = a[i, j] * 2.0


def found(build: Build, on: str = "u55c", kernel=scaled) -> Estimation:
    where = setting(None, board(on).device, 4.0)
    return estimated(kernel.program, build(ScheduleBuilder()).build(), where)


def figures(build: Build, on: str = "u55c") -> Accelerator:
    of = accelerator_of(found(build, on), scaled.program, on)
    assert isinstance(of, Accelerator)
    return of


def outside(s: ScheduleBuilder, **options) -> ScheduleBuilder:
    for number, array in enumerate("ab"):
        s.interface(array, "m_axi", f"gmem{number}", bank=f"HBM[{number}]", **options)
    return s


def copied(s: ScheduleBuilder, bits: int = 512) -> ScheduleBuilder:
    for array in "ab":
        s.pack(array, bits)
        s.buffer(array)
        s.partition(f"{array}_buf", 1, factor=8)
    return s.pipeline("load_a_1").pipeline("store_b_1").pipeline("j")


@pytest.mark.parametrize(
    ("kernel", "schedule"),
    [
        ("outside/gemm_tiles", "overlapped"),
        ("polybench/syrk", "columns"),
        ("dataflow/two_products", "streamed"),
    ],
)
def test_a_brief_answer_has_the_cycles_and_slices_of_the_estimate(kernel, schedule):
    of = weft.load(f"examples/{kernel}.py:{Path(kernel).name}")
    design = estimated(of.program, of.schedules[schedule], setting(None, "xczu9eg", 10.0))
    short = brief(design.regions, design.setting.tool, written_unrolls(design.schedule))
    assert (short.cycles, short.dsp) == (design.answer.latency.average, design.answer.dsp)


@pytest.mark.parametrize(
    ("kernel", "schedule", "waits"),
    [("outside/gemm_tiles", "overlapped", True), ("polybench/syrk", "columns", False)],
)
def test_bodies_that_rules_share_give_the_same_answers(kernel, schedule, waits):
    of = weft.load(f"examples/{kernel}.py:{Path(kernel).name}")
    design = estimated(of.program, of.schedules[schedule], setting(None, "u55c", 3.33))
    own, kept, known = design.setting.tool, written_unrolls(design.schedule), Alike()
    slow = served(design.regions, lambda memory, port: Service(150, 2.0, 3.0, 0.1))
    asked = [(design.regions, own), (slow, own)]
    asked += [(design.regions, rules) for _, rules in perturbed(design.regions, own)]
    alone = [brief(regions, rules, kept) for regions, rules in asked]
    assert [brief(regions, rules, kept, known) for regions, rules in asked] == alone
    assert len({answer.cycles for answer in alone}) > 1
    assert (
        alone[1].cycles > alone[0].cycles
    ) == waits  # its copies wait; the other has no memory outside


# ------------------------------------------------------------------------------------------ traffic


def moved(of: Estimation) -> dict[tuple[str, str], tuple[float, float, int]]:
    return {
        (t.array, t.direction): (round(t.words, 6), round(t.bursts, 6), t.word_bytes)
        for t in of.answer.traffic
    }


def test_words_and_bursts_of_tiles_are_those_that_are_copied() -> None:
    kernel = weft.load(TILES).at("mini")
    of = estimated(kernel.program, kernel.schedules["tiled"], setting(None, "xcu55c", 4.0))
    words = dict.fromkeys("ABC", 0)
    rows = dict.fromkeys("ABC", 0)
    for i in range(0, 20, 32):  # tiles of 32 by 16 by 16, cut at the border
        for j in range(0, 22, 16):
            height, width = min(32, 20 - i), min(16, 22 - j)
            words["C"] += height * width
            rows["C"] += height
            for k in range(0, 24, 16):
                depth = min(16, 24 - k)
                words["A"] += height * depth
                rows["A"] += height
                words["B"] += depth * width
                rows["B"] += depth
    assert moved(of) == {
        ("A", "read"): (words["A"], rows["A"], 4),
        ("B", "read"): (words["B"], rows["B"], 4),
        ("C", "write"): (words["C"], rows["C"], 4),
    }


@pytest.mark.parametrize(("bits", "words"), [(128, 24 * 10), (512, 24 * 3)])
def test_words_of_packed_rows_are_padded(bits: int, words: int) -> None:
    of = found(lambda s: copied(outside(s), bits))
    assert moved(of) == {
        ("a", "read"): (words, 1, bits // 8),
        ("b", "write"): (words, 1, bits // 8),
    }


def test_nests_that_follow_one_another_pass_alone() -> None:
    nests = at_once(found(lambda s: copied(outside(s))).regions)
    assert [(dict(n.shares), n.overlap) for n in nests] == [
        ({("a", "read"): 1.0}, False),
        ({("b", "write"): 1.0}, False),
    ]
    (body,) = at_once(found(outside).regions)
    assert set(body.shares) == {("a", "read"), ("b", "write")}


def test_against_the_order_of_memory_each_word_is_a_request() -> None:
    of = found(lambda s: outside(s).interchange("i", "j").pipeline("i"))
    assert moved(of) == {("a", "read"): (960, 960, 4), ("b", "write"): (960, 960, 4)}


def test_arrays_on_the_chip_pass_nothing() -> None:
    assert moved(found(lambda s: s)) == {}


# ----------------------------------------------------------------------- memory that is not always ready


def test_a_slower_port_holds_its_loop_up() -> None:
    of = found(lambda s: copied(outside(s)))

    def cycles(**service: float) -> float:
        slow = served(of.regions, lambda m, _: Service(**service) if m.name == "a" else Service())
        return estimate(slow, of.setting.tool, of.setting.device).latency.average

    plain = of.answer.latency.average
    assert cycles() == plain
    assert cycles(read=0.5) == plain  # no port passes more than a word a cycle
    assert cycles(read=3.0) == plain + 2 * 72  # 72 words
    assert cycles(write=3.0) == plain  # a is not written
    assert cycles(stall=0.5) == plain + 36
    assert cycles(latency=164) == plain + 100


def test_a_loop_that_takes_its_time_waits_for_no_channel() -> None:
    of = found(lambda s: outside(s).pipeline("j", ii=4))
    slow = served(of.regions, lambda *_: Service(read=4.0, write=2.0))
    assert estimate(slow, of.setting.tool, of.setting.device).latency == of.answer.latency


# ---------------------------------------------------------------------------------------- emulation


def test_emulation_is_csynth_and_waits_for_each_line() -> None:
    of = figures(lambda s: copied(outside(s)))
    lines = 2 * 72
    assert of.emulation.low == of.csynth
    assert of.emulation.value == pytest.approx(of.csynth + waits().stall * lines)
    assert of.emulation.high == pytest.approx(of.csynth + waits().most * lines)


@weft.kernel
def summed(a: f32[4096], b: f32[4096], c: f32[16]):
    for i in range(4096):
        c[i % 16] += a[i] * b[i]


def test_no_port_passes_two_arrays_at_a_time() -> None:
    def through(*bundles: str) -> float:
        s = ScheduleBuilder()
        for array, bundle in zip("ab", bundles, strict=True):
            s.interface(array, "m_axi", bundle)
        of = found(lambda _: s.pipeline("i", ii=1), kernel=summed)
        on = accelerator_of(of, summed.program, "u55c")
        assert isinstance(on, Accelerator)
        return on.emulation.low

    apart, together = through("x", "y"), through("x", "x")
    assert together >= 2 * 4096
    assert together >= apart


# ---------------------------------------------------------------------------------------- the board


def test_what_is_in_flight_limits_a_port() -> None:
    few = figures(lambda s: outside(s, burst=2, outstanding=1).pipeline("j"))
    many = figures(lambda s: outside(s).pipeline("j"))
    # Two words of 4 bytes in the 213 ns that HBM2 takes to answer: 960 words take 480 times as long.
    assert few.board.kernel_ms.value >= 480 * 213e-6
    assert many.board.kernel_ms.value < few.board.kernel_ms.value / 4


def test_ports_of_one_channel_share_it() -> None:
    def on(banks: str) -> Accelerator:
        def build(s: ScheduleBuilder) -> ScheduleBuilder:
            for number, array in enumerate("ab"):
                bank = f"HBM[{banks[number]}]"
                s.interface(array, "m_axi", f"gmem{number}", bank=bank)
            return copied(s)

        return figures(build)

    apart, shared = on("01"), on("00")
    assert shared.board.memory_ms == pytest.approx(2 * apart.board.memory_ms)
    assert shared.board.kernel_ms.high >= apart.board.kernel_ms.high
    assert apart.notes == ()
    assert "gmem0, gmem1 share HBM[0], and 31 of 32 channels of u55c are free" in shared.notes[0]
    assert 'bank="HBM[1]"' in shared.notes[0]


@pytest.mark.parametrize("on", ["u55c", "u200", "pynq-z2", "kv260"])
def test_a_call_is_the_sum_of_its_parts_and_every_range_is_one(on: str) -> None:
    def build(s: ScheduleBuilder) -> ScheduleBuilder:
        for number, array in enumerate("ab"):
            s.interface(array, "m_axi", f"gmem{number}", bank=board(on).bank(number))
        return copied(s, board(on).word)

    of = figures(build, on).board
    parts = of.kernel_ms, of.transfer_ms, of.launch_ms
    for end in ("low", "value", "high"):
        assert getattr(of.total_ms, end) == pytest.approx(sum(getattr(p, end) for p in parts))
    for range_ in (*parts, of.period_ns):
        assert 0 < range_.low <= range_.value <= range_.high
    words = 24 * -(-40 * 32 // board(on).word)
    size = words * board(on).word / 8
    assert sum(c.read for c in of.channels) == sum(c.written for c in of.channels) == size
    assert of.transfer_ms.value == pytest.approx(2 * size / board(on).host.gigabytes[1] * 1e-6)
    assert max(c.busy_ms for c in of.channels) == of.memory_ms <= of.kernel_ms.value


def test_the_memory_and_the_host_of_every_board_are_known() -> None:
    for name in boards():
        place = board(name)
        # What a search says of a channel and what a design is told of it are of the same memory.
        rate = place.flow.gigabytes or place.memory.read[1]
        assert place.memory.write[0] <= rate <= place.memory.read[2], name
        assert place.memory.evidence
        assert place.host.launch[0] > 0


# ----------------------------------------------------------------------------------------- is shown


def test_estimate_shows_three_figures_where_a_board_is_named(capfd) -> None:
    told = ["estimate", TILES, "--size", "mini", "--schedule", "tiled", "--board", "u55c"]
    assert weft_command([*told, "--format", "json"]) == 0
    data = json.loads(capfd.readouterr().out)["accelerator"]
    emulation = data["emulation_cycles"]
    assert data["csynth_cycles"] == emulation["low"] <= emulation["value"] <= emulation["high"]
    assert [c["channel"] for c in data["channels"]] == ["HBM[0]", "HBM[1]", "HBM[2]"]
    assert {roof["name"] for roof in data["roofline"]} == {"DSP", "LUT", "bytes"}
    assert weft_command(told) == 0
    text = capfd.readouterr().out
    assert "time on the board: " in text
    assert "waits fitted to RTL emulation" in text


@pytest.mark.parametrize(
    ("schedule", "on", "why"),
    [
        (Schedule(), "u55c", "no array is in memory outside"),
        (outside(ScheduleBuilder()).build(), "u200", "a is in HBM[0], which u200 has not"),
        (outside(ScheduleBuilder()).build(), "pynq-z2", "a is in HBM[0], which pynq-z2 has not"),
        (outside(ScheduleBuilder()).build(), "vcu118", "nothing is known of the memory of vcu118"),
    ],
)
def test_where_there_are_no_figures_it_says_why(schedule: Schedule, on: str, why: str) -> None:
    of = estimated(scaled.program, schedule, setting(None, "xcu55c", 4.0))
    told = accelerator_of(of, scaled.program, on)
    assert isinstance(told, str)
    assert told.startswith(why)


def test_the_open_backend_has_no_figures_of_memory() -> None:
    of = found(outside)
    tool = setting("open", "ecp5-85k", 10.0).tool
    told = accelerator_of(
        replace(of, setting=replace(of.setting, tool=tool)), scaled.program, "u55c"
    )
    assert isinstance(told, str)
    assert "weft synth" in told


def test_the_function_refuses_what_has_no_figures() -> None:
    with pytest.raises(weft.ToolError, match="no figures of u55c") as caught:
        weft.on_board(scaled, board="u55c")
    assert caught.value.code == "W408"
    of = weft.on_board(scaled, outside(ScheduleBuilder()).build(), board="u55c", clock=4.0)
    assert "time on the board" in str(of)
    with pytest.raises(weft.InputError, match="uncertainty"):
        weft.on_board(scaled, board="u55c", uncertainty="much")


def test_a_run_keeps_the_figures_and_refuses_what_is_none() -> None:
    kept = Result(Status.OK, board=figures(lambda s: copied(outside(s))).kept)
    data = json.loads(json.dumps(result_to_json(kept)))
    assert result_from_json(data) == kept
    for damaged in ({}, {"board": 3}, {**data["board"], "ms": "soon"}, {**data["board"], "x": 1}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            result_from_json({**data, "board": damaged})


def test_the_open_backend_waits_for_memory(capfd) -> None:
    told = ["estimate", "examples/outside/edge_strips.py:edge_strips", "--schedule", "strips"]
    assert weft_command([*told, "--size", "mini", "--tool", "open", "--format", "json"]) == 0
    data = json.loads(capfd.readouterr().out)
    # Strips of the second filter wait for those of the first: the way to memory and back, several times.
    assert data["latency"]["average"] + 4 * 64 < data["memory"]["cycles"]
    assert data["memory"]["cycles"] < data["latency"]["average"] + 8 * 64
