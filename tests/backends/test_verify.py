"""Verification finds what is wrong at each level, and nothing where all is right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import weft
from backends.ap_types import find_ap_types
from backends.verify import verify, verify_many
from dsl.errors.errors import InputError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.emit.hls import HlsSource
from mlir_passes.pipeline import compile_design
from weft import f16, f32, f64, fixed, i7, i16, u3

needs_ap = pytest.mark.skipif(find_ap_types() is None, reason="needs the group csim")
N = 12


@weft.kernel
def axpy(a: f32, x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] += a * x[i]


@weft.kernel
def dot(x: f64[N], y: f64[N], z: f64[1]):
    for i in range(N):
        z[0] += x[i] * y[i]


@weft.kernel
def squash(x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] = weft.tanh(x[i]) + weft.exp(x[i])


@weft.kernel
def filtered(x: fixed[12, 4][N], c: i7, y: fixed[20, 9][N], n: u3[N]):
    for i in range(1, N):
        y[i] = x[i] * c - x[i - 1]
        n[i] = n[i - 1] + 3


@weft.kernel
def halves(x: f16[N], y: f16[N]):
    for i in range(N):
        y[i] = x[i] * x[i] + y[i]


@weft.kernel
def quantised(x: f32[N], y: i16[N]):
    for i in range(N):
        y[i] = i16(weft.tanh(x[i]) * 100.0)


def reassociated() -> Schedule:
    s = ScheduleBuilder()
    s.reassociate("S0").split("i", 4).reorder(["i_1", "i_0"])
    return s.build()


@dataclass
class Tampered:
    """A design whose levels do not belong together."""

    program: Program
    schedule: Schedule
    module: Any
    hls: HlsSource


def tampered(kernel: Any = axpy, other: Any = None, **replaced: str) -> Tampered:
    design = compile_design(kernel.program)
    text = design.hls.text
    for old, new in replaced.items():
        assert OLD[old] in text
        text = text.replace(OLD[old], new)
    module = compile_design((other or kernel).program).module
    return Tampered(kernel.program, Schedule(), module, replace(design.hls, text=text))


OLD = {"product": "a * x[i]", "statement": "y[i] += a * x[i];"}


def test_floats_agree_to_the_bit() -> None:
    found = verify(axpy.program, Schedule(), seed=3, trials=4)
    assert found.ok, found
    assert (found.tolerance, found.max_ulp) == (0, 0.0)
    assert (found.jit.status, found.cxx.status) == ("ok", "ok")
    assert (found.kernel, found.seed, found.trials) == ("axpy", 3, 4)
    assert found.seconds > 0


@weft.kernel
def zeros(x: f32[N], k: i16[N], y: f32[9, N], z: f64[3, N]):
    for i in range(N):
        y[0, i] = 0.0 - f32(k[i])
        y[1, i] = 0.0 - f32(i)
        y[2, i] = 0.0 - abs(x[i])
        y[3, i] = 0.0 - x[i] * x[i]
        y[4, i] = 0.0 - weft.sqrt(x[i])
        y[5, i] = f32(k[i]) - 0.0
        y[6, i] = -f32(k[i]) + 0.0
        y[7, i] = 0.0 - (x[i] - x[i])
        y[8, i] = 0.0 - (1.0 if x[i] > 0.0 else f32(k[i]))
        z[0, i] = 0.0 - f64(k[i])
        z[1, i] = 0.0 - abs(f64(x[i]))
        z[2, i] = 0.0 - f64(2 * i - 3 * (i // 3))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_zeros_have_their_signs(sign: float) -> None:
    found = verify(zeros.program, Schedule(), make_inputs=lambda seed: {
        "x": np.full(N, sign * 0.0, np.float32), "k": np.zeros(N, np.int16),
        "y": np.zeros((9, N), np.float32), "z": np.zeros((3, N)),
    })  # fmt: skip
    assert found.ok, found


@needs_ap
def test_integers_and_fixed_point_agree_to_the_bit() -> None:
    found = verify(filtered.program, Schedule(), trials=5)
    assert found.ok, found
    assert found.tolerance == 0


def test_small_floats_agree_to_the_bit() -> None:
    found = verify(halves.program, Schedule(), trials=3)
    assert found.ok, found
    assert found.tolerance == 0


def test_a_reassociated_reduction_has_a_tolerance() -> None:
    found = verify(dot.program, reassociated(), trials=8)
    assert found.ok, found
    assert found.inexact == ("z",)
    assert found.tolerance == 4 * (1 + N)
    assert 0 < found.max_ulp <= N


def test_exp_and_tanh_have_a_tolerance() -> None:
    found = verify(squash.program, Schedule(), trials=2)
    assert found.ok, found
    assert found.inexact == ("y",)


@needs_ap
def test_an_integer_made_of_an_inexact_float() -> None:
    found = verify(quantised.program, Schedule(), trials=2)
    assert found.ok, found
    assert found.inexact == ("y",)


def test_a_wrong_jit_is_found() -> None:
    @weft.kernel
    def other(a: f32, x: f32[N], y: f32[N]):
        for i in range(N):
            y[i] += a * x[N - 1 - i]

    [found] = verify_many([tampered(other=other)])
    assert not found.ok
    assert found.jit.status == "mismatch"
    assert "wrong, first y[0] is " in found.jit.detail
    assert found.jit.max_ulp > 1
    assert found.cxx.status == "ok"


@pytest.mark.parametrize(
    ("product", "status"),
    [
        ("a * x[i] + 1e-6f", "mismatch"),
        ("a * x[i] * 1.0000001f", "mismatch"),
        ("a * x[i] + 0.0f", "ok"),
        ("a * x[i] + undeclared", "error"),
        ("*(volatile float *)(i == 3 ? 0 : &x[i])", "crash"),
    ],
)
def test_wrong_cxx_is_found(product: str, status: str) -> None:
    [found] = verify_many([tampered(product=product)], jit=False)
    assert found.cxx.status == status, found
    assert found.jit.status == "skipped"
    assert found.ok is (status == "ok")
    assert bool(found.cxx.detail) is (status != "ok")


def test_an_endless_loop_is_a_result() -> None:
    design = tampered(statement="volatile int go = 1; while (go) {}")
    [found] = verify_many([design], jit=False, seconds=1)
    assert (found.cxx.status, found.cxx.detail) == ("crash", "no answer in 1 s")


def test_a_sanitizer_finds_what_stays_unseen_otherwise() -> None:
    design = tampered(statement="y[i] += a * x[i]; { int n = 2000000000; volatile int m = n + n; }")
    plain, checked = (verify_many([design], jit=False, sanitize=on)[0] for on in (False, True))
    assert plain.ok
    assert checked.cxx.status == "crash"
    assert "signed integer overflow" in checked.cxx.detail


@needs_ap
def test_many_at_once_each_get_their_own_result() -> None:
    designs = [
        compile_design(filtered.program),
        tampered(product="undeclared"),
        compile_design(axpy.program),
        tampered(product="a"),
        compile_design(dot.program, reassociated()),
    ]
    found = verify_many(designs, trials=2, jit=False)
    assert [r.kernel for r in found] == ["filtered", "axpy", "axpy", "axpy", "dot"]
    assert [r.cxx.status for r in found] == ["ok", "error", "ok", "mismatch", "ok"]


def test_levels_can_be_left_out() -> None:
    found = verify(axpy.program, Schedule(), cxx=False)
    assert (found.jit.status, found.cxx.status) == ("ok", "skipped")
    assert found.ok


@weft.kernel
def divides(x: i16[N], y: i16[N]):
    for i in range(N):
        y[i] = x[i] // (y[i] - y[i])


def test_a_program_that_fails_on_the_inputs_has_no_reference() -> None:
    failing, fine = verify_many(
        [compile_design(divides.program), compile_design(axpy.program)], trials=2
    )
    assert not failing.ok
    assert failing.interp.status == "error"
    assert "error[W190]: S0: division by zero" in failing.interp.detail
    assert (failing.jit.status, failing.cxx.status) == ("skipped", "skipped")
    assert fine.ok


@weft.kernel
def root(x: f32[N], y: f32[N], z: i16[N]):
    for i in range(N):
        y[i] = weft.sqrt(x[i] - 4.0)
        z[i] = 1


@weft.kernel
def half(x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] = weft.sqrt(x[i])


def signs(seed: int) -> dict[str, Any]:
    x = np.resize(np.array([4.0, -4.0], np.float32), N)
    return {"x": x, "y": np.zeros(N, np.float32)}


def test_results_that_are_no_numbers_prove_nothing() -> None:
    found = verify(root.program, Schedule(), make_inputs=lambda seed: {
        "x": np.zeros(N, np.float32), "y": np.zeros(N, np.float32), "z": np.zeros(N, np.int16)
    })  # fmt: skip
    assert not found.ok
    assert found.interp.status == "vacuous"
    assert found.interp.detail == (
        "all 12 computed elements of y are infinite or NaN; "
        "say under @root.inputs which inputs the kernel is meant for"
    )
    assert (found.jit.status, found.cxx.status) == ("ok", "ok")


def test_some_results_that_are_no_numbers_are_noted() -> None:
    found = verify(half.program, Schedule(), trials=2, make_inputs=signs)
    assert found.ok
    assert found.interp.detail.startswith("12 of 24 computed elements of y are infinite or NaN; ")
    assert verify(half.program, Schedule()).interp.detail == ""


def test_what_was_not_computed_does_not_count() -> None:
    @weft.kernel
    def first(x: f32[N]):
        x[0] = x[0] / 0.0

    inf = np.full(N, np.inf, np.float32)
    inf[0] = 1
    found = verify(first.program, Schedule(), cxx=False, make_inputs=lambda seed: {"x": inf})
    assert found.interp.detail.startswith("all 1 computed elements of x")
    inf[0] = np.inf
    found = verify(first.program, Schedule(), cxx=False, make_inputs=lambda seed: {"x": inf})
    assert found.ok


def test_each_design_has_its_inputs() -> None:
    designs = [compile_design(half.program), compile_design(axpy.program)]
    found = verify_many(designs, make_inputs=[signs, None], cxx=False)
    assert [r.ok for r in found] == [True, True]
    assert [bool(r.interp.detail) for r in found] == [True, False]


def test_inputs_that_do_not_fit_are_a_result() -> None:
    def fails(seed: int) -> Any:
        raise InputError("W545", "no inputs")

    designs = [compile_design(half.program), compile_design(axpy.program)]
    bad, fine = verify_many(designs, make_inputs=[fails, None], cxx=False)
    assert (bad.interp.status, bad.jit.status) == ("error", "skipped")
    assert "error[W545]: no inputs" in bad.interp.detail
    assert fine.ok
