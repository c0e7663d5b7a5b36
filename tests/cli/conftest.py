"""Running ``weft`` in this process: its exit code, what it wrote where."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from dse.cli import run

KERNEL = """\
import weft
from weft import f32

SIZES = {"mini": {"N": 7}, "small": {"N": 9}}
N = 16


@weft.kernel(sizes=SIZES)
def axpy(a: f32, x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] += a * x[i]


@axpy.schedule
def fast(s):
    s.split("i", 3)
    s.pipeline("i_0")


@weft.kernel
def copy(x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] = x[i]
"""


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def cpu_seconds(command: list[str | Path], times: int = 3) -> float:
    """The least processor time that a command takes: a loaded machine hardly changes it."""

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    found = []
    for _ in range(times):
        before = used()
        subprocess.run(command, capture_output=True, check=True, timeout=120)
        found.append(used() - before)
    return min(found)


Weft = Callable[..., Done]


@pytest.fixture
def weft(capfd: pytest.CaptureFixture[str]) -> Weft:
    def call(*words: str | Path) -> Done:
        code = run([str(word) for word in words])
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return call


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.py"
    path.write_text(KERNEL)
    return path
