"""Words of packed arguments: what their copies look like, that they mean the same, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import pytest

import weft
from backends.verify import VerifyResult
from dsl.errors.errors import IRError, ScheduleError
from dsl.programs.pretty import pretty
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Buffer, Interface, Pack
from mlir_passes.dialect.verify import verify_module
from polyhedral.schedule import apply, apply_step
from polyhedral.scop.scheduled import original
from polyhedral.scop.scop import build_scop
from qor_gnn.design.from_module import kernel_of_module
from tests.polyhedral.test_scratch import results_of, schedule_of
from tests.support.amount import programs
from tests.support.levels import Case, check_levels
from tests.support.random_programs import random_program
from tests.support.random_schedules import with_random_steps
from tests.support.rewritten import rewriting_faults
from weft import bf16, f16, f32, fixed, i8, i24, i32

Build = Callable[[ScheduleBuilder], object]


@weft.kernel
def gemm(A: f32[20, 24], B: f32[24, 22], C: f32[20, 22]):
    for i in range(20):
        for j in range(22):
            C[i, j] = 0.0
            for k in range(24):
                C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def syrk(A: i32[18, 7], C: i32[18, 18]):
    for i in range(18):
        for j in range(i + 1):
            for k in range(7):
                C[i, j] += A[i, k] * A[j, k]


@weft.kernel
def jacobi(A: f32[14, 45], B: f32[14, 45]):
    for i in range(1, 13):
        for j in range(1, 44):
            B[i, j] = A[i, j] + A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]


@weft.kernel
def narrow(a: i8[3, 5], x: fixed[16, 8][33], y: fixed[16, 8][33], h: f16[9], b: bf16[2, 2, 3]):
    for i in range(33):
        y[i] = x[32 - i] + x[i]
    for i in range(9):
        h[i] = h[i] * 2.0
    for i, j, k in weft.grid(2, 2, 3):
        b[i, j, k] += 1.0
    for i, j in weft.grid(3, 5):
        a[i, j] += 1


def packed(build: Build, **bits: int) -> Build:
    """The arrays in words outside, then the rest."""

    def both(s: ScheduleBuilder) -> None:
        for n, (array, size) in enumerate(bits.items()):
            s.interface(array, "m_axi", f"g{n}")
            s.pack(array, size)
        build(s)

    return both


def whole(*arrays: str) -> Build:
    def build(s: ScheduleBuilder) -> None:
        for array in arrays:
            s.buffer(array)

    return build


def tiled(i: int, j: int, k: int) -> Build:
    def build(s: ScheduleBuilder) -> None:
        s.tile(["i", "j"], [i, j], tail="guard")
        s.buffer("C", "j_0")
        s.distribute(["S1"], 2)
        s.split("k", k, tail="guard")
        s.reorder(["k_0", "k_1", "S1.i_1", "S1.j_1"])
        s.buffer("A", "k_0")
        s.buffer("B", "k_0")

    return build


def strips(s: ScheduleBuilder) -> None:
    s.tile(["i", "j"], [4, 16], tail="guard")
    s.buffer("A", "j_0")
    s.buffer("B", "j_0")


SOUND: list[tuple[weft.Kernel, Build]] = [
    *((gemm, packed(whole("A", "B", "C"), A=n, B=n, C=n)) for n in (64, 128, 256, 512, 1024)),
    (gemm, packed(tiled(8, 16, 8), A=256, B=512, C=512)),
    (gemm, packed(tiled(7, 8, 16), A=128, B=128, C=128)),
    (syrk, packed(whole("A", "C"), A=64, C=128)),
    (syrk, packed(lambda s: s.buffer("A").split("i", 5, tail="guard").buffer("C", "i_0"), A=64, C=512)),
    # The copy of a copy has no room for the padding of rows.
    (gemm, packed(lambda s: s.buffer("B").buffer("B_buf"), B=256)),
    (gemm, packed(lambda s: s.buffer("C").buffer("C_buf", access="C_buf[i, j]"), C=256)),
    (jacobi, packed(whole("A", "B"), A=512, B=512)),
    (jacobi, packed(strips, A=512, B=512)),
    (jacobi, packed(strips, A=128, B=256)),
    (narrow, packed(whole("a", "x", "y", "h", "b"), a=32, x=256, y=512, h=64, b=32)),
]  # fmt: skip


@cache
def verified() -> list[VerifyResult]:
    """All of them: g++ compiles once what they share."""
    return results_of(SOUND)


@pytest.mark.parametrize("number", range(len(SOUND)))
def test_words_mean_the_same(number: int) -> None:
    kernel, build = SOUND[number]
    schedule = schedule_of(build)
    assert verified()[number].ok, verified()[number]
    state = original(build_scop(kernel.program))
    for step in schedule:
        before, state = state, apply_step(state, step)
        if isinstance(step, Buffer):
            assert not rewriting_faults(before, state)
    assert weft.equivalence(kernel, schedule).ok


def test_a_row_is_of_whole_words() -> None:
    text = pretty(apply(gemm.program, schedule_of(packed(whole("B"), B=256))).scop.program)
    assert text.partition("@weft.kernel\n")[2].startswith(
        "def gemm(A: f32[20, 24], B: f32[24, 22], C: f32[20, 22]):\n"
        "    B_buf: f32[24, 24]\n"  # with room for the padding
        "    for load_B_0, load_B_1 in weft.grid(24, 3):\n"
        "        for load_B_lane in range(min(8, 22 - 8 * load_B_1)):\n"
        '            with weft.stmt("load_B"):\n'
        "                B_buf[load_B_0, 8 * load_B_1 + load_B_lane] = "
        "B[load_B_0, 8 * load_B_1 + load_B_lane]"
    )


def test_a_tile_with_a_halo_begins_with_a_word() -> None:
    program = apply(jacobi.program, schedule_of(packed(strips, A=512, B=512))).scop.program
    shapes = {a.name: a.shape for a in program.locals}
    # 18 columns of A are in two words, and so are the 16 of B, which begin behind the first one of a word.
    assert shapes == {"A_buf": (6, 32), "B_buf": (4, 32)}
    text = pretty(program)
    # Words of B that are written in part are read before, all of the box: it is one burst.
    assert text.index("B_buf[load_B_0, ") < text.index("B_buf[i_1, ")


def test_what_is_written_in_whole_words_is_not_read_before() -> None:
    text = pretty(apply(gemm.program, schedule_of(packed(whole("C"), C=512))).scop.program)
    assert "store_C" in text
    assert "load_C" not in text


def test_rows_that_no_iteration_writes_are_not_copied_though_words_are_written_in_part() -> None:
    def rows(s: ScheduleBuilder) -> None:
        s.split("i", 5, tail="guard").buffer("B", "i_0")

    text = pretty(apply(jacobi.program, schedule_of(packed(rows, B=64))).scop.program)
    assert text.count("for load_B_0 in range(min(12 - 5 * i_0, 5)):") == 1  # 12 rows of 14
    assert text.count("for store_B_0 in range(min(12 - 5 * i_0, 5)):") == 1


def test_copies_of_a_packed_argument_move_words_in_cpp() -> None:
    source = weft.compile(gemm, schedule_of(packed(whole("A", "C"), A=512, C=256)))
    assert "weft::word<float, 16> A[20][2]" in source.hls_cpp
    assert "const weft::word<float, 16> A_word = A[load_A_0][load_A_1];" in source.hls_cpp
    assert "= A_word[load_A_lane];" in source.hls_cpp
    assert "C[store_C_0][store_C_1] = C_word;" in source.hls_cpp
    assert "depth=40" in source.hls_cpp
    assert "depth=60" in source.hls_cpp


def test_padding_is_copied_along_only_where_there_is_room() -> None:
    end = "if (8 * load_B_1 + load_B_lane < 22)"
    once = schedule_of(packed(whole("B"), B=256))
    assert end not in weft.compile(gemm, once).hls_cpp
    # The copy of the copy is of what is used: rows of 22 elements.
    again = schedule_of(packed(lambda s: s.buffer("B").buffer("B_buf"), B=256))
    text = weft.compile(gemm, again).hls_cpp
    assert "B_buf_buf[24][22]" in text
    assert end in text
    for schedule in (once, again):  # the model sees the same
        design = weft.compile(gemm, schedule)
        assert ("Guard" in repr(kernel_of_module(design.module))) == (end in design.hls_cpp)


@weft.kernel
def odd(x: i24[12], y: i32[12], z: i32):
    for i in range(12):
        t: i32[2]
        t[0] = x[i] + z
        y[i] = t[0]


REFUSED: list[tuple[weft.Kernel, Build, str, str]] = [
    (gemm, packed(lambda s: None, A=256), "W230", "S1 accesses one of them, A[i, k]"),
    (gemm, lambda s: s.interface("A", "m_axi").buffer("A").pack("A", 64), "W230", "load_A accesses"),
    (gemm, lambda s: s.pack("A").buffer("A"), "W215", "'A' is packed, and not in memory outside"),
    (gemm, lambda s: s.interface("A", "axis").pack("A").buffer("A"), "W215", "not in memory outside"),
    (gemm, packed(whole("A"), A=32), "W207", "words of 32 bits do not fit"),
    (gemm, packed(whole("A"), A=2048), "W207", "words of 2048 bits do not fit"),
    (gemm, packed(whole("A"), A=96), "W207", "words of 96 bits do not fit"),
    (gemm, packed(lambda s: s.pack("A", 128), A=64), "W223", "the words of 'A' is asked for twice"),
    (
        gemm,
        lambda s: s.interface("A", "m_axi", width=64).pack("A", 128).buffer("A"),
        "W223",
        "in words of 128 bits, and its port has 64",
    ),
    (
        jacobi,
        packed(lambda s: s.tile(["i", "j"], [4, 12], tail="guard").buffer("B", "j_0"), B=512),
        "W230",
        "tiles of 'B' begin at 12*j_0 + 1 of their rows",
    ),
    (
        gemm,
        packed(lambda s: s.buffer("A").split("load_A_lane", 2), A=256),
        "W214",
        "load_A_lane",
    ),
    (
        gemm,
        packed(lambda s: s.buffer("A").reorder(["load_A_lane", "load_A_1"]), A=256),
        "W230",
        "load_A accesses one of them",
    ),
    (odd, packed(whole("x"), x=64), "W215", "an element of 'x' has 24 bits and takes 32 in memory"),
    (odd, lambda s: s.pack("t", 64), "W215", "'t' is a local"),
    (odd, lambda s: s.pack("z", 64), "W215", "'z' is a scalar"),
    (odd, lambda s: s.pack("nothing"), "W206", "nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "build", "code", "text"), REFUSED)
def test_refused(kernel: weft.Kernel, build: Build, code: str, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        weft.compile(kernel, schedule_of(build))
    assert caught.value.code == code
    assert text in caught.value.message
    assert caught.value.span is not None


def test_level_3_refuses_words_in_part() -> None:
    design = weft.compile(gemm, schedule_of(packed(whole("A"), A=256)))
    text = str(design.module)
    verify_module(parsed(text))
    for old, new in (("#hls.unroll<0 :", "#hls.unroll<2 :"), ("* 8 +", "* 4 +")):
        assert old in text
        with pytest.raises(IRError) as caught:
            verify_module(parsed(text.replace(old, new)))
        assert caught.value.code == "W340"
    for condition in ("d1 - 1", "d1 mod 2"):
        with pytest.raises(IRError) as caught:
            verify_module(parsed(guarded(text, condition)))
        assert caught.value.code == "W340"
    verify_module(parsed(guarded(text, "d0 * -8 - d1 + 20")))


def test_level_3_refuses_words_that_are_stored_in_part() -> None:
    text = str(weft.compile(gemm, schedule_of(packed(whole("C"), C=256))).module)
    verify_module(parsed(text))
    end = "d0 * -8 - d1 + 21 >= 0"  # of rows of 22 elements
    assert end in text
    for other in ("d0 * -8 - d1 + 20 >= 0", "-d1 + 3 >= 0", "d0 * -8 - d1 + 21 >= 0, -d1 + 6 >= 0"):
        with pytest.raises(IRError) as caught:
            verify_module(parsed(text.replace(end, other)))
        assert caught.value.code == "W340"


def guarded(text: str, condition: str) -> str:
    """The copy of a lane under a condition over words and lanes."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if "affine.load %arg0" in line)
    test = f"affine.if affine_set<(d0, d1) : ({condition} >= 0)>(%arg4, %arg5) {{"
    return "\n".join([*lines[:first], test, *lines[first : first + 2], "}", *lines[first + 2 :]])


def parsed(text: str):
    from mlir_passes.dialect.attributes import context
    from mlir_passes.provider import ir

    with context():
        return ir.Module.parse(text)


@pytest.mark.slow
def test_random_programs_on_words_compute_the_same() -> None:
    cases, words = [], 0
    for seed in programs(13):
        program, rng = random_program(seed), random.Random(seed)
        steps: list[object] = []
        for array in program.arguments:
            bits = getattr(array.dtype, "width", 0)
            if array.shape and array.shape[-1] > 1 and bits in (8, 16, 32, 64):
                steps += [
                    Interface(array.name, "m_axi", array.name),
                    Pack(array.name, bits * rng.choice((2, 4))),
                ]
        schedule = Schedule(tuple(steps))
        for array in [s.array for s in steps if isinstance(s, Pack)]:
            schedule = schedule.then(Buffer(array))
        try:
            schedule = with_random_steps(rng, program, schedule, 4)
        except ScheduleError:  # nothing uses it
            continue
        words += sum(isinstance(s, Pack) for s in schedule)
        cases.append(Case(seed, program, schedule))
    assert len(cases) > 6
    assert words > 6
    failures = check_levels(cases, jit=False)
    assert not failures, failures[0].report()
