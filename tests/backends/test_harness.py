"""Many kernels in one C++ program: each on its own data, whatever the others do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backends.ap_types import find_ap_types
from backends.cxx import SANITIZE, need_cxx
from backends.harness import Unit, build, program_text, run_jobs
from backends.rawdata import pack, unpack
from dsl.expressions.types import DType, IntType, f32, f64
from dsl.programs.program import Array, Program

needs_ap = pytest.mark.skipif(find_ap_types() is None, reason="needs the group csim")


def unit(text: str, *arrays: Array) -> Unit:
    return Unit(Program("k", arrays, ()), "k", text, "<ap_int.h>" in text)


def array(name: str, dtype: DType, *shape: int) -> Array:
    return Array(name, dtype, shape)


SCALE = unit(
    "#include <cmath>\nvoid k(float s, const float A[2][3], float B[2][3]) {\n"
    "  for (int i = 0; i < 2; ++i) for (int j = 0; j < 3; ++j) B[i][j] = s * A[i][j];\n}\n",
    array("s", f32), array("A", f32, 2, 3), array("B", f32, 2, 3),
)  # fmt: skip
ADD = unit("void k(double A[4]) { for (int i = 0; i < 4; ++i) A[i] += 1; }\n", array("A", f64, 4))
CRASH = unit("void k(double A[4]) { volatile int *p = 0; *p = 1; }\n", array("A", f64, 4))
HANG = unit("void k(double A[4]) { volatile int x = 1; while (x) {} }\n", array("A", f64, 4))
NOTHING = unit("void k() {}\n")
WIDE = unit(
    "#include <ap_int.h>\nvoid k(ap_int<70> x, ap_uint<3> A[2]) { A[1] = x == -5 ? 6 : 1; }\n",
    array("x", IntType(70)), array("A", IntType(3, False), 2),
)  # fmt: skip


def inputs(u: Unit, seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    kinds = {f32: np.float32, f64: np.float64}
    return {a.name: rng.uniform(size=a.shape).astype(kinds[a.dtype]) for a in u.program.arguments}


def run(folder: Path, units: list[Unit], data: list[list[bytes]], seconds: int = 20):
    built = build(need_cxx(), units, folder, "p")
    assert built.executable is not None, built.compilation.log
    jobs = folder / "jobs"
    jobs.mkdir()
    return run_jobs(built.executable, data, jobs, seconds)


def test_each_kernel_on_each_of_its_data_sets(tmp_path: Path) -> None:
    units = [SCALE, ADD, NOTHING]
    values = [[inputs(u, 10 * n + t) for t in range(2)] for n, u in enumerate(units)]
    data = [[pack(u.program.arguments, v) for v in vs] for u, vs in zip(units, values, strict=True)]
    outcomes = run(tmp_path, units, data)
    for trial in range(2):
        given, found = values[0][trial], outcomes[0][trial].data
        assert found is not None
        arrays = SCALE.program.arguments[1:]
        got = unpack(arrays, found, dict.fromkeys("AB", np.dtype(np.float32)))
        assert np.array_equal(got["A"], given["A"])
        assert np.array_equal(got["B"], given["s"] * given["A"])
        added = outcomes[1][trial].data
        assert added == (values[1][trial]["A"] + 1).tobytes()
        assert outcomes[2][trial].data == b""


def test_a_crash_and_a_hang_do_not_stop_the_others(tmp_path: Path) -> None:
    zeros = [bytes(32), bytes(32)]
    outcomes = run(tmp_path, [ADD, CRASH, HANG, ADD], [zeros] * 4, seconds=1)
    ones = np.ones(4).tobytes()
    assert [o.data for o in outcomes[0] + outcomes[3]] == [ones] * 4
    assert [(o.data, o.detail) for o in outcomes[1]] == [(None, "SIGSEGV")] * 2
    assert [(o.data, o.detail) for o in outcomes[2]] == [(None, "no answer in 1 s")] * 2


@needs_ap
def test_arbitrary_precision(tmp_path: Path) -> None:
    values = {"x": np.array(-5, object), "A": np.array([7, 0], np.uint8)}
    outcomes = run(tmp_path, [WIDE], [[pack(WIDE.program.arguments, values)]])
    assert outcomes[0][0].data == bytes([7, 6])


def test_kernels_without_ap_types_do_not_see_their_headers() -> None:
    assert "ap_" not in program_text([SCALE, ADD])


def test_functions_of_one_name_with_c_linkage(tmp_path: Path) -> None:
    plus, minus = (
        unit(f'extern "C" void k(double A[1]) {{ A[0] {op}= 1; }}\n', array("A", f64, 1))
        for op in "+-"
    )
    outcomes = run(tmp_path, [plus, minus], [[bytes(8)], [bytes(8)]])
    assert [o[0].data for o in outcomes] == [np.float64(x).tobytes() for x in (1.0, -1.0)]


def test_includes_are_outside_of_the_namespaces() -> None:
    text = program_text([SCALE, SCALE])
    assert text.count("#include <cmath>") == 1
    assert text.index("#include <cmath>") < text.index("namespace")


def test_the_widest_integer_of_all_is_defined_first() -> None:
    wide = [unit(f"#define AP_INT_MAX_W {w}\n#include <ap_int.h>\nvoid k() {{}}\n")
            for w in (2048, 4096)]  # fmt: skip
    text = program_text(wide)
    assert text.startswith("#define AP_INT_MAX_W 4096\n#include <ap_int.h>\n")
    assert text.count("AP_INT_MAX_W") == 1


def test_another_type_than_the_data_s_is_found(tmp_path: Path) -> None:
    other = unit("void k(float A[4]) {}\n", array("A", f64, 4))
    [[outcome]] = run(tmp_path, [other], [[bytes(32)]])
    assert outcome.data is None
    assert "argument 0 has another type than its data" in outcome.detail


def test_a_refusal_of_the_compiler_is_a_result(tmp_path: Path) -> None:
    bad = unit("void k(double A[4]) { A[0] = nothing; }\n", array("A", f64, 4))
    built = build(need_cxx(), [bad], tmp_path, "p")
    assert built.executable is None
    assert "nothing" in built.compilation.log


def test_a_kernel_of_another_type_does_not_compile(tmp_path: Path) -> None:
    """The data would be read in another format than the kernel's."""
    three = unit("void k(double A[3], int x, int y) {}\n", array("A", f64, 3))
    assert build(need_cxx(), [three], tmp_path, "p").executable is None


def test_sanitizers_find_an_access_out_of_bounds(tmp_path: Path) -> None:
    bad = unit(
        "void k(double A[4]) { double t[2] = {0, 1}; int n = A[0] == 0 ? 5 : 0; A[1] = t[n]; }\n",
        array("A", f64, 4),
    )
    built = build(need_cxx(), [bad], tmp_path, "p", flags=SANITIZE)
    assert built.executable is not None, built.compilation.log
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    [[outcome]] = run_jobs(built.executable, [[bytes(32)]], jobs, 20, memory=0)
    assert outcome.data is None
    assert "index 5 out of bounds" in outcome.detail
