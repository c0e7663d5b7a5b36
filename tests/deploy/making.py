"""Kernels that are brought to boards, and what the tests do with the folder that comes of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import weft
from dse.cli import run as weft_command
from weft import fixed, i8, i24, u1

ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"

KERNELS = {
    "gemm": (GEMM, "--size", "mini"),  # scalars of float, an array in and out
    "fir": (f"{ROOT}/examples/fixed_point/fir.py:fir", "--size", "mini"),
    "conv2d_i8": (f"{ROOT}/examples/fixed_point/conv2d_i8.py:conv2d_i8", "--size", "mini"),
    "gemm_tiles": (f"{ROOT}/examples/outside/gemm_tiles.py:gemm_tiles", "--size", "mini"),
    "edge_strips": (  # memory that hosts neither fill nor read
        f"{ROOT}/examples/outside/edge_strips.py:edge_strips",
        "--size",
        "mini",
        "--schedule",
        "strips",
    ),
    "mlp": (f"{ROOT}/examples/tutorial/mlp.py:mlp",),
    "odd": (f"{Path(__file__)}:odd",),
}


@weft.kernel
def odd(
    host: i24[5, 3],
    run: u1[7],
    device: fixed[18, 6][4],
    kernel: i8[6],
    scale: i8,
    there: i24[5, 3],
    wrong: fixed[18, 6][4],
):
    """Names that a host has, too; widths that memory pads; an array that is written in part."""
    for i, j in weft.grid(5, 3):
        there[i, j] = host[i, j] + scale
    for k in range(4):
        wrong[k] = device[k] if run[k] == 1 else wrong[k]
    for k in range(3):
        kernel[2 * k] += 1


def export(name: str, onto: str, folder: Path) -> Path:
    assert weft_command(["export", *KERNELS[name], "--deploy", onto, "--out", str(folder)]) == 0
    return folder / "deploy"


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *words, f"PYTHON={sys.executable}"],
        cwd=folder, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
