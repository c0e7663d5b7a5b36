"""The open backend answers for itself: its scheduler's cycles, its own operators."""

import json
import random

import pytest

import weft
from backends.rtl.schedule.timing import Fabric
from backends.rtl.synth import SynthOptions, rtl_of
from dse.estimates.estimation import estimated, setting
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline
from mlir_passes.pipeline import compile_design
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.estimate import estimate
from qor_gnn.tools.open_ecp5.write import FILE, NAME, document
from qor_gnn.tools.personality import personality
from tests.support.qor_checks import open_faults
from tests.support.random_recurrences import random_directives, random_recurrence
from weft import i32, u8, u32

GEMM = "examples/polybench/gemm.py:gemm"


def test_the_personality_is_what_the_library_says():
    assert json.loads(FILE.read_text("utf-8")) == document(), (
        "python -m qor_gnn.tools.open_ecp5.write"
    )


def test_the_device_chooses_it():
    assert setting(device="ecp5-85k").tool.name == NAME
    assert setting(device="ecp5-85k").notes == ()
    assert setting().tool.name != NAME


def test_its_states_are_as_long_as_the_schedulers():
    fabric, own = Fabric(), personality(NAME)
    accesses = own.accesses
    assert (accesses.word_ns, accesses.bank_ns) == (fabric.ram_out, fabric.choose)
    assert (accesses.load, accesses.store_ns) == (fabric.read_latency, fabric.write)
    assert (accesses.register, accesses.address_ns) == (0, fabric.address)
    assert own.usable_ns == own.clock_ns - fabric.margin


@pytest.mark.parametrize("name", ["pipelined", "tiled"])
def test_cycles_are_those_of_the_rtl(name):
    kernel = load(GEMM).at("mini")
    schedule = kernel.schedules[name]
    answer = estimated(kernel.program, schedule, setting(device="ecp5-85k")).answer
    module = compile_design(kernel.program, schedule).module
    design = rtl_of(module, schedule, SynthOptions())
    assert answer.latency.average == answer.latency.maximum == design.cycles
    pipelines = [loop for loop in answer.loops if loop.kind == "pipeline"]
    assert [loop.ii for loop in pipelines] == [r.ii for r in design.regions if r.ii]
    top = sum(loop.latency.average for loop in answer.loops if loop.level == 0)
    assert top + 1 == design.cycles  # start to done takes a cycle besides the loops
    assert {loop.statements for loop in pipelines} == {("S0",), ("S1",)}
    assert min(answer.lut or 0, answer.ff or 0, answer.dsp, answer.bram18 or 0) > 0


def test_a_nest_that_the_backend_takes_apart_is_compared_by_its_parts():
    """Iterations of ``i`` without S6 make a pipeline of S4 and S5 alone, which needs less."""
    program = random_recurrence(7000448)
    schedule, state = random_directives(random.Random(7000448), program)
    assert [*open_faults(program, schedule, state)] == []


@weft.kernel
def checksum(x: u8[16], table: u32[256], y: u32[1]):
    c: u32 = 0xFFFFFFFF
    for i in range(16):  # xor, table, xor: the address does not fit behind the word of x
        c = (c >> 8) ^ table[(c ^ x[i]) & 255]
    y[0] = ~c


@weft.kernel
def machine(x: u8[16], step: u8[8, 4], y: u8[16]):
    s: u8 = 0
    for i in range(16):  # the place in a table of two dimensions is a sum
        s = step[s & 7, x[i] & 3]
        y[i] = s


@weft.kernel
def running(x: i32[12], y: i32[12]):
    total: i32 = 0
    for i in range(12):  # three blocks, a pipeline and a loop, one after the other
        total += x[i]
    for j in range(12):
        y[j] = max(x[j] - total, 0)
    y[0] = total


@weft.kernel
def by_numbers(x: i32[12], y: i32[12], d: u32[12], z: u32[12]):
    for i in range(12):  # products with the inverses of the numbers, no divisions
        y[i] = x[i] // 3
        z[i] = d[i] // 400


@pytest.mark.parametrize("pipelined", [(), ("i",)])
@pytest.mark.parametrize(
    "kernel", [checksum, machine, running, by_numbers], ids=lambda k: k.program.name
)
def test_the_model_takes_the_cycles_of_the_scheduler(kernel, pipelined):
    schedule = Schedule(tuple(Pipeline(loop, 1) for loop in pipelined))
    module = compile_design(kernel.program, schedule).module
    model = estimate(kernel_of_module(module), NAME)
    assert model.latency.average == rtl_of(module, schedule, SynthOptions()).cycles


@weft.kernel
def swaps(x: i32[6]):
    for i in range(5):
        for j in range(5):
            low: i32 = min(x[j], x[j + 1])
            x[j + 1] = max(x[j], x[j + 1])
            x[j] = low


@weft.kernel
def paths(d: i32[4, 4]):
    for k in range(4):
        for i in range(4):
            for j in range(4):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@pytest.mark.parametrize("kernel", [swaps, paths], ids=lambda k: k.program.name)
def test_of_loads_that_share_a_port_the_recurrence_has_the_last(kernel):
    schedule = Schedule((Pipeline("j", 1),))
    module = compile_design(kernel.program, schedule).module
    design = rtl_of(module, schedule, SynthOptions())
    assert [region.ii for region in design.regions if region.ii] == [3]
    assert estimate(kernel_of_module(module), NAME).latency.average == design.cycles
