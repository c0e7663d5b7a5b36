"""The clock that csynth would estimate: what is chained in a state, and whether that fits the clock asked for."""

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dse.estimates.words import clock_text
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u280 import PERSONALITY
from qor_gnn.fit.labelled.u280_flow import designs
from qor_gnn.fit.labelled.u280_flow_program import flow_design
from qor_gnn.schedule.clock import Clock
from qor_gnn.tools.delays import Delays, delays_of
from qor_gnn.tools.operators.timing import timing_classes
from qor_gnn.tools.personality import personality
from tests.support.labelled import labelled
from weft import f32, i8, i32, i1000

FOLDER = labelled("streamhls-u280")
COUNTERS = [
    "comparison of a counter", "condition of the nest", "selection", "addition", "register",
]  # fmt: skip


@weft.kernel
def narrow(A: i32[8], B: i32[8], C: i32[8]):
    for i in range(8):
        C[i] = ((A[i] + B[i]) + (A[i] - B[i])) + ((A[i] + 7) + (B[i] + 5))


@weft.kernel
def wide(A: i1000[8], B: i8[8]):
    for i in range(8):
        A[i] = A[i] + B[i]


def period(kernel, **where):
    answer = estimated(kernel.program, Schedule(), setting(**where)).answer
    return answer.period_ns, answer.clock_ns


def test_chains_are_cut_so_that_they_fit():
    for device in ("xczu9eg", "xcu280"):
        needed, asked = period(narrow, device=device)
        assert needed == asked


def test_an_operator_that_is_too_long_lengthens_the_period():
    needed, asked = period(wide, clock=2.0)
    tool = setting(clock=2.0).tool
    # The sum is stored in 1,000 bits: the tool adds no more of them.
    assert needed == pytest.approx(tool.operator("add", "int", 1000).delay)
    assert needed > asked


# ------------------------------------------------------- chains, on the device whose estimates were compared


def clock(kernel: str, name: str) -> Clock:
    """Of a design of streamhls-u280."""
    label = (kernel, name)
    design = next(d for d in designs(FOLDER) if (d.kernel, d.label.design) == label)
    program, schedule = flow_design(kernel, design.shapes, design.streams)
    answer = estimate(kernel_of_tree(loop_tree(apply(program, schedule))), PERSONALITY)
    assert answer.clock is not None
    return answer.clock


def whats(found: Clock) -> list[str]:
    assert found.chain is not None
    return list(dict.fromkeys(link.what for link in found.chain.links))


@pytest.mark.parametrize(
    ("kernel", "name", "reported", "links"),
    [
        # One sum in a register, added to in logic: its last stage, the reset of the nest, the register.
        ("gemm", "2560_DSPs/opt1", 2.697, ["stage of fadd_fabric", "selection", "register of the sum"]),
        # Ten terms and more are four additions around the register: the tool chains adders in front of them.
        ("gemm", "2560_DSPs/opt3", 4.684, ["stage of fadd"]),
        # Four additions take 29 states; the element comes again after 26 iterations.
        ("atax", "2560_DSPs/opt4", 4.911, ["stage of fadd", "selection"]),
        # Here it comes after 50.
        ("gemm", "2560_DSPs/opt4", 2.772, COUNTERS),
        ("atax", "2560_DSPs/opt2", 2.507, COUNTERS),
    ],
)  # fmt: skip
def test_the_chain_of_a_design(kernel: str, name: str, reported: float, links: list[str]):
    found = clock(kernel, name)
    assert whats(found) == links
    assert found.estimate_ns == pytest.approx(reported, rel=0.06)
    assert found.low_ns <= reported <= found.high_ns
    assert found.met == (reported <= 3.33)
    assert found.period_ns == (3.33 if found.met else found.estimate_ns)


def test_each_loop_of_a_flattened_nest_is_a_condition_more():
    flat = [clock("gemm", "2560_DSPs/opt2"), clock("atax", "2560_DSPs/opt2")]
    assert whats(flat[0]) == whats(flat[1]) == COUNTERS
    gate = delays_of(personality(PERSONALITY)).logic("logic", 1)
    assert flat[0].estimate_ns - flat[1].estimate_ns == pytest.approx(gate)


@weft.kernel
def product(A: f32[64, 64], B: f32[64, 64], C: f32[64, 64]):
    for i, j in weft.grid(64, 64):
        C[i, j] = A[i, j] * B[i, j]


def test_a_class_that_was_not_compared_is_taken_to_cut_its_chains():
    schedule = ScheduleBuilder().pipeline("j").build()
    for device, clock_ns in (("xc7z020", 10), ("xc7z020", 5), ("xczu9eg", 5)):
        found = estimated(
            product.program, schedule, setting(device=device, clock=clock_ns)
        ).answer.clock
        assert found.met
        assert found.estimate_ns <= found.usable_ns + 1e-9
        assert found.high_ns > found.usable_ns


def test_a_request_of_a_port_takes_all_that_is_usable():
    schedule = ScheduleBuilder().interface("A", "m_axi").build()
    found = estimated(product.program, schedule, setting(device="xcu280", clock=10)).answer.clock
    assert whats(found) == ["request of a port"]
    assert found.estimate_ns == pytest.approx(found.usable_ns)


@weft.kernel
def moved(A: i32[64, 64], B: i32[64, 64]):
    B[0, 1] = A[1, 0]


@weft.kernel
def divided(A: i32[64], B: i32[64]):
    for i in range(64):
        B[i] = A[i] // 7


def test_what_is_only_loaded_passes_its_memory():
    found = estimated(moved.program, Schedule(), setting(device="xcu280", clock=5)).answer.clock
    assert whats(found) == ["memory"]
    assert found.estimate_ns == pytest.approx(delays_of(setting(device="xcu280").tool).load("bram"))


def test_a_core_that_no_report_shows_stages_of_widens_the_range():
    found = estimated(divided.program, Schedule(), setting(device="xcu280", clock=5)).answer.clock
    assert found.high_ns >= found.usable_ns > found.estimate_ns


def test_the_words_say_which_chain_misses():
    text = clock_text(clock("atax", "2560_DSPs/opt4"), explain=False)
    assert text == (
        "clock    4.90 ns (2.29 to 6.12) by csynth's estimate: misses the 3.33 ns asked for; "
        "one state, to close a recurrence, in jo, io (U_node3): "
        "2 x stage of fadd 2.34 + selection 0.22"
    )
    met = clock_text(clock("atax", "2560_DSPs/opt2"), explain=False)
    assert met.endswith("within the 3.33 ns asked for, in the 0.90 ns that the tool keeps free")


@pytest.mark.parametrize("timing", sorted(timing_classes()))
def test_every_class_has_delays(timing: str):
    found = Delays(timing_classes()[timing], 7.3)
    assert 0 < found.register < found.fifo
    assert 0 < found.load("lutram") < found.load("bram") < found.load("uram")
    assert found.stage("fmul") > 0
    assert found.stage("fadd_fabric") > 0
    assert found.stage("nothing") == 0
