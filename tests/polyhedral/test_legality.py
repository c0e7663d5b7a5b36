"""Legality: what must be refused is, with a true witness; what is legal is accepted."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.programs.program import Program
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.legality.violations import IllegalStep
from polyhedral.schedule import apply
from weft import f32


@weft.kernel
def wave(A: f32[8, 8]):
    for i in range(1, 8):
        for j in range(7):
            A[i, j] = A[i - 1, j + 1] * 0.5


@weft.kernel
def seidel(A: f32[10, 10]):
    for t in range(4):
        for i in range(1, 9):
            for j in range(1, 9):
                A[i, j] = A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i + 1, j] + A[i, j + 1]


@weft.kernel
def dot(x: f32[16], y: f32[16], out: f32[1]):
    out[0] = 0.0
    for i in range(16):
        out[0] += x[i] * y[i]


@weft.kernel
def chain(A: f32[8], B: f32[8], C: f32[8]):
    for i in range(8):
        B[i] = A[i]
    for i in range(8):
        C[i] = B[7 - i]


@weft.kernel
def private(A: f32[6, 7], B: f32[6, 7]):
    for i in range(6):
        for j in range(7):
            t: f32 = A[i, j]
            B[i, j] = t * t


def refused(program: Program, builder: ScheduleBuilder) -> ScheduleError:
    with pytest.raises(ScheduleError) as caught:
        apply(program, builder.build())
    return caught.value


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def test_interchange_against_a_diagonal() -> None:
    error = refused(wave.program, steps().interchange("i", "j"))
    assert isinstance(error, IllegalStep)
    assert error.code == "W203"
    witness = error.witness
    assert witness.distance == (1, -1)
    assert witness.source[1] == (witness.sink[1][0] - 1, witness.sink[1][1] + 1)
    text = error.render()
    assert "error[W203]: interchange(i, j) reverses a flow dependence" in text
    assert 'steps().interchange("i", "j")' in text
    assert "^" * len('steps().interchange("i", "j")') in text
    assert "S0 -> S0 through A, distance (1, -1): S0[" in text
    assert 'help: skew("i", "j", 1) first makes the distance nonnegative' in text


def test_the_suggested_skew_makes_it_legal() -> None:
    apply(wave.program, steps().skew("i", "j", 1).interchange("i", "j").build())


def test_seidel_tiles_only_after_skewing() -> None:
    square = steps().tile(["t", "i", "j"], [2, 4, 4])
    assert refused(seidel.program, square).code == "W203"
    skewed = steps().skew("t", "i", 1).skew("t", "j", 1).skew("i", "j", 1)
    apply(seidel.program, skewed.tile(["t", "i", "j"], [2, 4, 4]).build())


def test_a_reduction_keeps_its_order_until_told_otherwise() -> None:
    error = refused(dot.program, steps().reverse("i"))
    assert 'help: reassociate("S1") allows' in error.render()
    apply(dot.program, steps().reassociate("S1").reverse("i").build())


def test_reassociate_keeps_what_comes_before_and_after() -> None:
    @weft.kernel
    def scaled(x: f32[16], out: f32[4]):
        for j in range(4):
            out[j] = 1.0
        for i in range(16):
            for j in range(4):
                out[j] += x[i]
        for j in range(4):
            out[j] = out[j] * 2.0

    fused = steps().reassociate("S1").interchange("S1.i", "S1.j").fuse(["S1", "S2"], 1)
    assert refused(scaled.program, fused.distribute(["S2"]).fuse(["S2", "S1"], 1)).code == "W203"


def test_fusion_needs_the_value_in_time() -> None:
    error = refused(chain.program, steps().fuse(["S0", "S1"], 1))
    assert error.code == "W203"
    assert isinstance(error, IllegalStep)
    source, sink = error.witness.source[1][0], error.witness.sink[1][0]
    assert source == 7 - sink
    assert source > sink


def test_a_local_of_the_loop_body_does_not_order_iterations() -> None:
    apply(private.program, steps().interchange("i", "j").build())
    apply(private.program, steps().tile(["i", "j"], [4, 4]).reverse("j_1").build())


def test_lifetimes_of_a_private_scalar_must_not_overlap() -> None:
    error = refused(private.program, steps().distribute(["S1"]))
    assert error.code == "W211"
    assert "'t' overlap" in error.render()
    error = refused(private.program, steps().shift("S1", "j", 1))
    assert error.code == "W211"


@weft.kernel
def private_twice(x: f32[6, 8], y: f32[6, 8]):
    for i in range(6):
        for j in range(8):
            t: f32 = x[i, j]
            y[i, j] = t
    for k in range(6):
        for m in range(8):
            u: f32 = x[k, m]
            y[k, m] = u + 1.0


def test_lifetimes_are_asked_of_the_locals_of_the_nest_that_a_step_changes() -> None:
    legal = steps().interchange("i", "j").reverse("m")
    apply(private_twice.program, legal.build())
    for last, local in (("S2", "u"), ("S0", "t")):
        begun = steps().interchange("i", "j").reverse("m")
        error = refused(private_twice.program, begun.distribute([last]))
        assert error.code == "W211"
        assert f"'{local}' overlap" in error.render()


@weft.kernel
def folded(x: f32[6, 12], y: f32[6]):
    for i in range(6):
        t: f32 = 0.0
        for k in range(2):
            t += x[i, k]
            t += x[i, k + 1]
            t += x[i, k + 2]
            t += x[i, k + 3]
            t += x[i, k + 4]
            t += x[i, k + 5]
            t += x[i, k + 6]
            t += x[i, k + 7]
            t += x[i, k + 8]
            t += x[i, k + 9]
        y[i] = t


@pytest.mark.parametrize("name", [f"S{n}" for n in range(12)])
def test_of_many_writes_of_a_local_none_leaves_its_scope(name: str) -> None:
    program = folded.program
    assert refused(program, steps().distribute([name], 0)).code in ("W211", "W203")
    state = apply(program, steps().split("i", 4).reverse("i_0").build())
    assert not state.reassociated


def test_violation_text_is_built_only_when_read() -> None:
    error = refused(wave.program, steps().interchange("i", "j"))
    assert error.message == ""
    assert "reverses" in str(error)


@pytest.mark.parametrize(
    ("builder", "code", "text"),
    [
        (steps().pipeline("kk"), "W201", "no loop is called 'kk'"),
        (steps().pipeline("S1.j"), "W205", "no statement is called 'S1'"),
        (steps().partition("AA", 0, factor=2), "W206", "did you mean 'A'?"),
        (steps().split("t", 0), "W207", "the factor is 0"),
        (steps().partition("A", 2, factor=2), "W207", "there is no dimension 2"),
        (steps().partition("A", 1, factor=11), "W207", "which has 10 elements"),
        (steps().split("t", 2, inner="j"), "W208", "already runs in a loop called 'j'"),
        (steps().reassociate("S0"), "W209", "S0 is not a reduction"),
        (steps().distribute(["S0"]), "W210", "shares no loop below depth 0"),
        (steps().pipeline("t").pipeline("i"), "W213", "inside the pipelined loop 't'"),
        (steps().pipeline("i").split("i", 2), "W214", "annotated already"),
        (steps().bind_storage("A", "ram_3p"), "W215", "no memory type is called 'ram_3p'"),
        (steps().bind_storage("A", "ram_2p").interface("A", "m_axi"), "W215", "has no memory"),
        (steps().interface("A", "m_axi", "x;y"), "W215", "'x;y' is no bundle name"),
        (steps().interchange("i", "i"), "W204", "are the same loop"),
    ],
)
def test_refusals_name_the_fault(builder: ScheduleBuilder, code: str, text: str) -> None:
    error = refused(seidel.program, builder)
    assert error.code == code
    assert text in error.render()
    assert error.span is not None


def test_ambiguous_loops_are_listed() -> None:
    error = refused(chain.program, steps().pipeline("i"))
    assert error.code == "W202"
    assert error.help == "write 'S0.i' or 'S1.i'"


def test_imperfect_nests_are_not_interchanged() -> None:
    @weft.kernel
    def rows(A: f32[4, 5], s: f32[4]):
        for i in range(4):
            s[i] = 0.0
            for j in range(5):
                s[i] += A[i, j]

    error = refused(rows.program, steps().interchange("i", "j"))
    assert error.code == "W204"
    assert error.help == 'distribute(["S0"], depth=0) gives it loops of its own'
    apply(rows.program, steps().distribute(["S0"]).interchange("S1.i", "j").build())


def test_complete_unrolling_needs_a_constant_trip_count() -> None:
    @weft.kernel
    def lower(A: f32[6, 6]):
        for i in range(6):
            for j in range(i):
                A[i, j] = 0.0

    assert refused(lower.program, steps().unroll("j")).code == "W212"
    assert refused(lower.program, steps().pipeline("i")).code == "W212"
    apply(lower.program, steps().pipeline("j").build())
