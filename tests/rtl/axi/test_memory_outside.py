"""Kernels behind AXI in Verilator: exact data whatever memory does, and a beat in a cycle where it lets them."""

from __future__ import annotations

import json

import pytest

from backends.rtl.axi.ahead import Order
from backends.rtl.axi.control import READ_ERROR, UNALIGNED, WRITE_ERROR
from backends.rtl.axi.files import files
from backends.rtl.axi.predict import memory_cycles
from backends.rtl.axi.simulate import AxiSimulation, Memory
from backends.rtl.axi.testbench import main_program, memory_map
from backends.rtl.tools import build, find_verilator, lint
from dse.kernels.target import target
from dsl.errors.errors import ToolError
from dsl.schedules.schedule import ScheduleBuilder
from tests.rtl.axi.designs import Built, built, random_outside, simulated
from tests.support.amount import sample

READY, STALLED = Memory(), [Memory(0, 0), Memory(3, 60, 2), Memory(100, 20, 3), Memory(7, 95, 4)]


def case(name: str, schedule: str, latency: int = 1) -> Built:
    what = target(f"tests/rtl/axi/kernels.py:{name}", schedule, None)
    return built(what.program, what.schedule, latency)


def predicted(what: Built, memories: list[Memory], found: list[AxiSimulation]) -> bool:
    """Memory that is always ready takes what is predicted, within 3%."""
    assert all(memory.stall == 0 for memory in memories)
    for memory, simulation in zip(memories, found, strict=False):
        cycles = memory_cycles(what.design, memory.latency)
        assert cycles == pytest.approx(simulation.cycles[0], rel=0.03), memory
    return True


@pytest.mark.parametrize(("schedule", "beats"), [("apart", 4096), ("together", 8192)])
def test_a_port_passes_a_beat_in_a_cycle(schedule, beats, tmp_path, runtime):
    found = simulated(case("vadd", schedule), [READY, *STALLED[:2]], tmp_path, runtime)
    assert [f.verdict for f in found] == ["ok"] * len(found), found
    assert max(read for read, _ in found[0].beats) == beats
    for ready in found[:2]:
        assert beats / max(ready.cycles) > 0.95
    assert found[2].cycles[0] > beats * 2  # three of five cycles stall
    assert predicted(case("vadd", schedule), [READY, STALLED[0]], found)


def test_what_is_read_may_have_been_written(tmp_path, runtime):
    what = case("updates", "mixed")
    turn, demand = Order.IN_TURN, Order.ON_DEMAND
    assert what.design.orders == {"A": turn, "B": Order.AHEAD, "acc": turn, "P": demand}
    found = simulated(what, [READY, *STALLED], tmp_path, runtime)
    assert [f.verdict for f in found] == ["ok"] * len(found), found
    assert predicted(what, [READY], found)


def test_elements_of_any_width_and_arrays_anywhere(tmp_path, runtime):
    what = case("types", "narrow", 2)
    checked = lint(find_verilator(), what.design.verilog, what.design.module.name, tmp_path / "l")
    assert checked.ok, checked.log
    found = simulated(what, [READY, *STALLED], tmp_path, runtime)
    assert [f.verdict for f in found] == ["ok"] * len(found), found
    assert list(what.design.direct) == ["B"]
    assert {bank.array for bank in what.design.banks} == {"F"}


def test_tiles_of_words_that_are_read_again(tmp_path, runtime):
    given = target("examples/outside/edge_strips.py:edge_strips", "strips", "mini")
    what = built(given.program, given.schedule)
    found = simulated(what, [READY, *STALLED], tmp_path, runtime)
    assert [f.verdict for f in found] == ["ok"] * len(found), found
    assert predicted(what, [READY, STALLED[0]], found)
    assert found[0].beats == ((48, 0), (42, 42), (96, 48))  # each word once where it is needed


@pytest.mark.slow
def test_regions_in_processes_of_others_keep_their_data(tmp_path, runtime):
    found = simulated(case("product", "nested"), [READY, STALLED[1]], tmp_path, runtime)
    assert [f.verdict for f in found] == ["ok"] * len(found), found


@pytest.mark.parametrize("seed", sample([3103, 4048, 4059], 3))
def test_random_programs_keep_their_data(seed, tmp_path, runtime):
    """In 4048 and 4059 the first beat of an array is read right after one whose number has all bits set."""
    what = random_outside(seed)
    assert what is not None
    found = simulated(what, [READY, *STALLED], tmp_path, runtime)
    assert [f.verdict for f in found] == ["ok"] * len(found), found


# -- what a host sees --------------------------------------------------------------------------------

HOST = """
int main() {{
  VerilatedContext context;
  Vdesign d(&context);
  memory.resize(extent);
  d.rst = 1;
  for (int i = 0; i < 3; i++) cycle(d);
  d.rst = 0;
  for (int round = 0; round < 3; round++) {{
    fails = round == 1;
    {writes}
    if (round == 2) put_register(d, 0x10, {unaligned}u);
    put_register(d, 0, 1);
    long cycles = 3;
    while (!(get_register(d, 0) & 2)) cycles += 2;
    std::printf("%u %d\\n", get_register(d, {status}), cycles < 20);
  }}
}}
"""


def test_errors_are_in_the_status_and_a_run_on_half_beats_is_none(tmp_path, runtime):
    design = case("vadd", "apart").design
    address = memory_map(design).addresses
    writes = [
        f"put_register(d, {r.offset + 4 * n}u, {address[r.name] >> 32 * n & 0xFFFFFFFF}u);"
        for r in design.registers
        if r.kind == "address"
        for n in range(2)
    ]
    main = HOST.format(
        writes=" ".join(writes), status=design.status, unaligned=(address["A"] + 2) & 0xFFFFFFFF
    )
    text = main_program(design).replace("resp = 0;", "resp = fails ? 2 : 0;")
    text = text.replace("void drive(Vdesign &design);", "bool fails; void drive(Vdesign &design);")
    text = text[: text.index("int main(")] + "using namespace weft;" + main
    simulator = build(
        *(find_verilator(), design.verilog, design.module.name, text, tmp_path), runtime=runtime
    )
    assert simulator.program is not None, simulator.message
    ran = simulator.run()
    assert ran.ok, ran.log
    wrong = 1 << READ_ERROR | 1 << WRITE_ERROR
    assert ran.log.split("\n")[:3] == ["0 0", f"{wrong} 0", f"{1 << UNALIGNED} 1"]


def test_no_pin_of_axi_follows_another_within_a_cycle():
    for name, schedule in (("vadd", "together"), ("updates", "mixed"), ("types", "narrow")):
        paths = dict(case(name, schedule).design.module.paths)
        axi = {pin: inputs for pin, inputs in paths.items() if "_axi_" in pin}
        assert len(axi) > 20
        assert {pin for pin, inputs in axi.items() if inputs} == set(), name


def test_registers_are_where_the_files_say(tmp_path):
    design = case("types", "narrow").design
    made = files(design)
    data = json.loads(made["types_axi.json"])
    offsets = {r["name"]: r["offset"] for r in data["registers"]}
    # A scalar of 40 bits has two words, one of 100 four; addresses two; a word is free behind each. A and B have none.
    assert offsets == {
        "control": 0,
        "k": 0x10,
        "z": 0x1C,
        "C": 0x30,
        "D": 0x3C,
        "E": 0x48,
        "never": 0x54,
        "status": 0x60,
    }
    assert [port["data_bits"] for port in data["ports"]] == [128, 128]
    assert all(f"| {offset:#04x} |" in made["README.md"] for offset in offsets.values())
    sizes = {a["name"]: (a["element_bits"], a["bytes"]) for p in data["ports"] for a in p["arrays"]}
    assert sizes["E"] == (128, 80)
    assert sizes["A"] == (8, 33)


# -- what is refused ---------------------------------------------------------------------------------


def test_a_control_that_is_in_no_register_is_refused():
    program = target("tests/rtl/axi/kernels.py:vadd", None, None).program
    schedule = ScheduleBuilder().interface("A", "m_axi").interface("return", "ap_ctrl_none")
    with pytest.raises(ToolError, match="no hardware for ap_ctrl_none") as caught:
        built(program, schedule.build())
    assert caught.value.code == "W460"
    assert "leave interface('return', ...) out" in str(caught.value)


def test_two_arrays_in_one_place_are_refused():
    program = target("tests/rtl/axi/kernels.py:vadd", None, None).program
    schedule = ScheduleBuilder().interface("A", "m_axi", offset="off")
    with pytest.raises(ToolError, match="A and B would both be at address 0") as caught:
        built(program, schedule.interface("B", "m_axi", "b", offset="off").build())
    assert caught.value.code == "W460"
