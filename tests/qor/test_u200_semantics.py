"""What the programs of the hlsfactory-u200 kernels compute, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dsl.arrays.inputs import random_inputs
from dsl.interp import run
from qor_gnn.fit.labelled.u200 import kernels
from qor_gnn.fit.labelled.u200_program import Converted, convert
from tests.support.labelled import labelled

FOLDER = labelled("hlsfactory-u200")


@pytest.fixture(scope="module")
def converted() -> dict[str, Converted]:
    found = {name: convert(f) for name, f in kernels(FOLDER).items()}
    return {name: c for name, c in found.items() if isinstance(c, Converted)}


def executed(c: Converted, seed: int = 3) -> tuple[dict[str, Any], dict[str, Any]]:
    given = random_inputs(c.program, seed)
    return given, run(c.program, given)


def gemm_p(v: dict[str, Any]) -> dict[str, Any]:
    return {"C": v["C"] * v["beta"] + v["alpha"] * (v["A"] @ v["B"])}


def two_mm(v: dict[str, Any]) -> dict[str, Any]:
    tmp = v["alpha"] * (v["A"] @ v["B"])
    return {"tmp": tmp, "D": v["D"] * v["beta"] + tmp @ v["C"]}


def atax(v: dict[str, Any]) -> dict[str, Any]:
    tmp = v["A"] @ v["x"]
    return {"tmp": tmp, "y": v["A"].T @ tmp}


def bicg(v: dict[str, Any]) -> dict[str, Any]:
    return {"q": v["A"] @ v["p"], "s": v["A"].T @ v["r"]}


def mvt(v: dict[str, Any]) -> dict[str, Any]:
    return {"x1": v["x1"] + v["A"] @ v["y_1"], "x2": v["x2"] + v["A"].T @ v["y_2"]}


def symm(v: dict[str, Any]) -> dict[str, Any]:
    A = np.tril(v["A"]) + np.tril(v["A"], -1).T
    return {"C": v["beta"] * v["C"] + v["alpha"] * (A @ v["B"])}


def syr2k(v: dict[str, Any]) -> dict[str, Any]:
    A, B, C = v["A"], v["B"], v["C"]
    full = v["beta"] * C + v["alpha"] * (A @ B.T + B @ A.T)
    return {"C": np.where(np.tri(len(C), dtype=bool), full, C)}


def trmm(v: dict[str, Any]) -> dict[str, Any]:
    return {"B": v["alpha"] * (v["B"] + np.tril(v["A"], -1).T @ v["B"])}


def doitgen(v: dict[str, Any]) -> dict[str, Any]:
    return {"A": v["A"] @ v["C4"]}


def matmul(v: dict[str, Any]) -> dict[str, Any]:
    product = v["m1"].reshape(64, 64) @ v["m2"].reshape(64, 64)
    return {"prod": product.ravel()}


def blocked(v: dict[str, Any]) -> dict[str, Any]:
    return {"prod": v["prod"] + matmul(v)["prod"]}


def correlation(v: dict[str, Any]) -> dict[str, Any]:
    data, n = v["data"], v["float_n"]
    mean = data.sum(axis=0) / n
    stddev = np.sqrt(((data - mean) ** 2).sum(axis=0) / n)
    stddev = np.where(stddev <= 0.1, 1.0, stddev)
    data = (data - mean) / (np.sqrt(n) * stddev)
    corr = data.T @ data
    np.fill_diagonal(corr, 1.0)
    return {"mean": mean, "stddev": stddev, "data": data, "corr": corr}


def gemver(v: dict[str, Any]) -> dict[str, Any]:
    A = v["A"] + np.outer(v["u1"], v["v1"]) + np.outer(v["u2"], v["v2"])
    x = v["x"] + v["beta"] * (A.T @ v["y"]) + v["z"]
    return {"A": A, "x": x, "w": v["w"] + v["alpha"] * (A @ x)}


def jacobi_1d(v: dict[str, Any]) -> dict[str, Any]:
    A, B = v["A"].copy(), v["B"].copy()
    for _ in range(40):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return {"A": A, "B": B}


def stencil_3d(v: dict[str, Any]) -> dict[str, Any]:
    i, j, k = np.mgrid[1:33, 1:33, 1:33]
    at = 1156 * i + 34 * j + k
    near = sum(v["orig"][at + d] for d in (1156, -1156, 34, -34, 1, -1))
    sol = np.concatenate([v["sol"], np.zeros(38113 - 32768, np.int64)])
    sol[at] = v["orig"][at] * v["C0"] + near * v["C1"]
    return {"sol": sol[:32768]}


REFERENCES = {
    "gemm-p": gemm_p,
    "2mm": two_mm,
    "atax": atax,
    "bicg": bicg,
    "mvt": mvt,
    "symm": symm,
    "symm-opt": symm,
    "syr2k": syr2k,
    "trmm": trmm,
    "trmm-opt": trmm,
    "doitgen": doitgen,
    "doitgen-red": doitgen,
    "gemm-ncubed": matmul,
    "gemm-blocked": blocked,
    "correlation": correlation,
    "stencil-3d": stencil_3d,
    "gemver": gemver,
    "jacobi-1d": jacobi_1d,
    "atax-medium": atax,
    "bicg-medium": bicg,
    "bicg-large": bicg,
    "gemm-p-large": gemm_p,
    "gemver-medium": gemver,
    "mvt-medium": mvt,
    "symm-opt-medium": symm,
}


SLOW = {"doitgen", "doitgen-red", "gemm-blocked", "gemm-ncubed", "stencil-3d"}
SLOW |= {k for k in REFERENCES if k.endswith(("-medium", "-large"))}


@pytest.mark.parametrize(
    "kernel",
    [pytest.param(k, marks=[pytest.mark.slow] * (k in SLOW)) for k in sorted(REFERENCES)],
)
def test_programs_compute_what_their_kernels_do(converted, kernel: str) -> None:
    given, result = executed(converted[kernel])
    if kernel == "correlation":  # the square root of the sample size wants it to be positive
        given["float_n"] = np.float64(100.0)
        result = run(converted[kernel].program, given)
    for name, expected in REFERENCES[kernel](given).items():
        np.testing.assert_allclose(result[name], expected, rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    "kernel",
    [
        *("fdtd-2d", "fdtd-2d-large", "heat-3d"),
        *(pytest.param(k, marks=pytest.mark.slow) for k in ("adi", "seidel-2d")),
    ],
)
def test_other_programs_run(converted, kernel: str) -> None:
    given, result = executed(converted[kernel])
    written = {a["name"] for a in kernels(FOLDER)[kernel].data["args"] if a.get("copy_out")}
    assert {n for n in result if not np.array_equal(result[n], given[n])} == written


def test_every_program_was_run(converted) -> None:
    others = {"fdtd-2d", "fdtd-2d-large", "heat-3d", "adi", "seidel-2d"}
    assert set(converted) == others | set(REFERENCES)
