"""Locals in memory outside: what they become at each level, that they mean the same, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache

import pytest

import weft
from backends.equivalence import module_equivalence
from backends.verify import VerifyResult, verify_many
from dsl.errors.errors import ScheduleError
from dsl.programs.pretty import pretty
from dsl.programs.program import Storage
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Buffer, Interface, Pack
from mlir_passes.dialect.attributes import argument_infos, context, top_function
from mlir_passes.provider import ir
from polyhedral.schedule import apply, apply_step
from polyhedral.scop.scheduled import original
from polyhedral.scop.scop import build_scop
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from tests.support.amount import programs
from tests.support.levels import Case, check_levels
from tests.support.random_pipelines import random_pipeline
from tests.support.random_programs import random_program
from tests.support.random_schedules import with_random_steps
from tests.support.rewritten import rewriting_faults
from weft import fixed, i24, i32, u8

Build = Callable[[ScheduleBuilder], object]


@weft.kernel
def edge(src: u8[20, 45], dst: u8[20, 45]):
    tmp: u8[20, 45]
    for i in range(20):
        for j in range(1, 44):
            tmp[i, j] = (src[i, j - 1] + 2 * src[i, j] + src[i, j + 1]) >> 2
    for i in range(1, 19):
        for j in range(1, 44):
            dst[i, j] = abs(tmp[i + 1, j] - tmp[i - 1, j])


@weft.kernel
def three(a: i32[6, 9], g: fixed[18, 6][6], out: i32[9, 6], h: fixed[18, 6][6]):
    turned: i24[9, 6]
    sums: i32[9, 6]
    half: fixed[18, 6][6]
    for i in range(6):
        half[i] = g[5 - i] >> 1
        for j in range(i + 1):
            turned[j, i] = a[i, j] + 1
    for j in range(9):
        for i in range(6):
            sums[j, i] = 0
            for k in range(j, i + 1):
                sums[j, i] += turned[k, i]
    for j in range(9):
        for i in range(6):
            out[j, i] = sums[j, i]
    for i in range(6):
        h[i] = half[i]


@weft.kernel
def scoped(x: i32[12, 16], y: i32[12, 16]):
    t: i32[12, 16]
    k: i32 = 3
    for i in range(12):
        for j in range(16):
            r: i32[2]
            r[0] = x[i, j]
            t[i, j] = r[0] + k
    for i in range(12):
        for j in range(16):
            y[i, j] = t[i, 15 - j] + t[i, j]


@weft.kernel
def flow(x: i32[12, 16], y: i32[12, 16]):
    t: i32[12, 16]
    for i in range(12):
        for j in range(16):
            t[i, j] = x[i, j] + 1
    for i in range(12):
        for j in range(16):
            y[i, j] = t[i, j] * 2


def outside(*arrays: str, **bits: int) -> Build:
    def build(s: ScheduleBuilder) -> None:
        for n, array in enumerate((*arrays, *bits)):
            s.interface(array, "m_axi", f"g{n}")
        for array, size in bits.items():
            s.pack(array, size)

    return build


def both(*builds: Build) -> Build:
    def build(s: ScheduleBuilder) -> None:
        for each in builds:
            each(s)

    return build


def tiles(s: ScheduleBuilder) -> None:
    s.tile(["S0.i", "S0.j"], [7, 8], tail="guard").tile(["S1.i", "S1.j"], [8, 16], tail="guard")
    s.buffer("tmp", "S0.j_0", "made").buffer("tmp", "S1.j_0", "used")


def results_of(
    sound: Sequence[tuple[weft.Kernel, Build]],
) -> list[VerifyResult]:
    """What is found of each kernel under its schedule, with two sets of inputs."""
    designs = [weft.compile(kernel, schedule_of(build)) for kernel, build in sound]
    return verify_many(designs, trials=2, make_inputs=[kernel.make_inputs for kernel, _ in sound])


def schedule_of(build: Build) -> Schedule:
    s = ScheduleBuilder()
    build(s)
    return s.build()


SOUND: list[tuple[weft.Kernel, Build]] = [
    (edge, outside("tmp")),
    (edge, both(outside("tmp"), lambda s: s.buffer("tmp"))),
    (edge, both(outside("tmp"), lambda s: s.reverse("S0.i").unroll("S1.j", 4))),
    (edge, both(outside("tmp"), tiles)),
    *((edge, both(outside(tmp=n, src=64), tiles, lambda s: s.buffer("src"))) for n in (16, 64)),
    (edge, both(outside(tmp=512), lambda s: s.buffer("tmp"))),
    (edge, both(outside("tmp"), lambda s: s.buffer("tmp").interface("tmp_buf", "m_axi", "h"))),
    (flow, both(outside(t=128), lambda s: s.fuse(["S0", "S1"], 1).buffer("t", "i"))),
    (flow, both(outside("t"), lambda s: s.interface("t", "m_axi", "g0"))),  # said twice
    (three, outside("turned", "sums", "half")),
    (three, both(outside("turned", sums=64), lambda s: s.buffer("sums").buffer("turned"))),
    (scoped, outside("t")),
]  # fmt: skip


@cache
def verified() -> list[VerifyResult]:
    """All of them: g++ compiles once what they share."""
    return results_of(SOUND)


@pytest.mark.parametrize("number", range(len(SOUND)))
def test_a_local_outside_means_the_same(number: int) -> None:
    kernel, build = SOUND[number]
    schedule = schedule_of(build)
    assert verified()[number].ok, verified()[number]
    assert weft.equivalence(kernel, schedule).verdict == "proven"
    state = original(build_scop(kernel.program))
    for step in schedule:
        before, state = state, apply_step(state, step)
        if isinstance(step, Buffer):
            assert not rewriting_faults(before, state)


def test_it_is_memory_that_the_caller_provides_behind_the_arguments() -> None:
    schedule = schedule_of(outside("tmp"))
    program = apply(edge.program, schedule).scop.program
    assert [a.name for a in program.scratch] == ["tmp"]
    assert not program.locals
    assert [a.name for a in program.arguments] == ["src", "dst"]
    assert pretty(program) == pretty(edge.program)  # the language has no word for it
    assert program.array("tmp").storage is Storage.SCRATCH
    design = weft.compile(edge, schedule)
    infos = argument_infos(top_function(design.module))
    assert [(a.name, a.access) for a in infos] == [
        ("src", "in"), ("dst", "out"), ("tmp", "scratch"),
    ]  # fmt: skip
    assert "ap_uint<8> dst[20][45], ap_uint<8> tmp[20][45]) {" in design.hls_cpp
    assert "#pragma HLS interface mode=m_axi port=tmp bundle=g0" in design.hls_cpp
    assert [a.name for a in design.hls.arguments] == ["src", "dst"]
    assert [a.name for a in design.hls.behind] == ["tmp"]


def test_the_proof_knows_scratch_from_arguments() -> None:
    schedule = schedule_of(outside("tmp"))
    text = str(weft.compile(edge, schedule).module)
    assert text.count('hls.access = "scratch"') == 1
    for old, new, said in (
        (
            'hls.access = "scratch"',
            'hls.access = "inout"',
            "the kernel has 2 arguments, level 3 has 3",
        ),
        ('hls.access = "in"', 'hls.access = "scratch"', "argument 0 is another one"),
        ('hls.name = "tmp"', 'hls.name = "other"', "the kernel has no local other: u8[20, 45]"),
    ):
        assert old in text
        with context():
            module = ir.Module.parse(text.replace(old, new))
        found = module_equivalence(edge.program, module, schedule)
        assert found.verdict == "refuted"
        assert said in found.detail


def test_a_model_counts_it_as_memory_outside() -> None:
    design = weft.compile(edge, schedule_of(both(outside(tmp=64), tiles)))
    kernel = kernel_of_module(design.module)
    assert kernel == kernel_of_tree(design.tree)
    there = next(m for m in kernel.memories if m.name == "tmp")
    assert there.argument
    assert there.port is not None
    assert (there.port.bundle, there.port.lanes) == ("g0", 8)


def test_words_that_are_stored_in_part_are_read_before() -> None:
    """Whatever is in the rest of them, which nobody has written: it is copied, and never used."""
    text = pretty(apply(edge.program, schedule_of(both(outside(tmp=64), tiles))).scop.program)
    assert text.index("made[load_tmp_0, ") < text.index("made[i_1, ")
    apart = pretty(apply(edge.program, schedule_of(both(outside("tmp"), tiles))).scop.program)
    assert "made[load_tmp_0, " not in apart


REFUSED: list[tuple[weft.Kernel, Build, str, str]] = [
    (scoped, outside("k"), "W215", "'k' is a local scalar: it has no interface"),
    (scoped, outside("r"), "W215", "'r' belongs to one iteration of loops"),
    (scoped, lambda s: s.buffer("t", "S1.i").interface("t_buf", "m_axi"), "W215", "'t_buf' belongs to"),
    *(
        (scoped, lambda s, mode=mode: s.interface("t", mode), "W215", f"has no interface {mode}")
        for mode in ("ap_memory", "bram", "axis", "ap_fifo", "s_axilite", "ap_none")
    ),
    (scoped, lambda s: s.interface("t", "maxi"), "W215", "no interface mode is called 'maxi'"),
    (scoped, lambda s: s.interface("t", "m_axi", "1"), "W215", "is no bundle name"),
    (scoped, lambda s: s.interface("t", "m_axi", width=16), "W207", "no multiple of an element of 't'"),
    (scoped, both(outside("t"), lambda s: s.partition("t", 0, factor=2)), "W215", "has no partitions"),
    (scoped, both(lambda s: s.partition("t", 0, factor=2), outside("t")), "W215", "has no partitions"),
    (scoped, both(outside("t"), lambda s: s.bind_storage("t", "ram_2p")), "W215", "no memory to choose"),
    (scoped, both(lambda s: s.bind_storage("t", "ram_2p"), outside("t")), "W215", "no memory to choose"),
    (scoped, both(outside("t"), lambda s: s.interface("t", "m_axi", "h")), "W223", "in two ways"),
    (scoped, both(outside("t"), lambda s: s.interface("x", "m_axi", "g0", width=64)), "W223", "'t' and 'x' share"),
    (scoped, both(lambda s: s.pack("t", 64), outside("t")), "W215", "'t' is a local on the chip"),
    (scoped, outside(t=64), "W230", "accesses one of them, t[i, j]"),
    (three, both(outside(turned=64), lambda s: s.buffer("turned")), "W215", "has 24 bits and takes 32"),
    (scoped, both(outside("t"), lambda s: s.expand("t", "S1.i")), "W228", "in memory outside already"),
    (flow, both(outside("t"), lambda s: s.dataflow()), "W217", "memory outside 't' is written by one process"),
    (flow, both(lambda s: s.dataflow(), outside("t")), "W217", "memory outside 't' is written by one process"),
    (flow, both(lambda s: s.dataflow().stream("t", 2), outside("t")), "W217", "memory outside 't' is written"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "build", "code", "text"), REFUSED)
def test_refused(kernel: weft.Kernel, build: Build, code: str, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        weft.compile(kernel, schedule_of(build))
    assert caught.value.code == code
    assert text in caught.value.message
    assert caught.value.span is not None
    assert "help:" in caught.value.render() or "bundle name" in text


def test_an_error_says_what_to_write_instead() -> None:
    with pytest.raises(ScheduleError) as caught:
        weft.compile(flow, schedule_of(both(outside("t"), lambda s: s.dataflow())))
    assert caught.value.render().endswith(
        "help: leave interface of 't' out: on the chip it is a channel between processes"
    )
    with pytest.raises(ScheduleError) as caught:
        weft.compile(flow, schedule_of(lambda s: s.pack("t", 64)))
    assert caught.value.help == 'interface("t", "m_axi") in front of it puts it there'


@pytest.mark.slow
def test_random_programs_with_locals_outside_compute_the_same() -> None:
    cases, words = [], 0
    made = [*map(random_program, programs(15)), *map(random_pipeline, programs(8))]
    for seed, program in enumerate(made):
        rng = random.Random(seed)
        schedule = Schedule()
        for array in program.locals:
            if array.shape and not array.scope_depth:
                schedule = schedule.then(Interface(array.name, "m_axi", array.name))
                bits = getattr(array.dtype, "width", 0)
                if array.shape[-1] > 1 and bits in (8, 16, 32, 64) and rng.random() < 0.7:
                    schedule = schedule.then(Pack(array.name, bits * rng.choice((2, 4))))
                    schedule = schedule.then(Buffer(array.name))
                    words += 1
        if not schedule.steps:
            continue
        schedule = with_random_steps(rng, program, schedule, 4)
        cases.append(Case(seed, program, schedule))
    assert len(cases) > 7
    assert words > 7
    failures = check_levels(cases)
    assert not failures, failures[0].report()
