"""Kernels from text: written to a file, as a user's would be, and loaded."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path

import pytest

from dsl.errors.errors import WeftError
from dsl.kernels.kernel import Kernel
from dsl.kernels.loader import load
from tests.support.as_python import differences

HEADER = """\
import math
import weft
from weft import f32, f64, fixed, i8, i32

N, M = 4, 6
TAPS = (1, 2, 3)


"""

Load = Callable[..., Kernel]


@pytest.fixture
def kernel(tmp_path: Path) -> Load:
    """``kernel(text, name="k")``: the kernel of that name in a file ``k.py`` with this text."""

    def from_text(text: str, name: str = "k") -> Kernel:
        file = tmp_path / "k.py"
        file.write_text(HEADER + text, encoding="utf-8")
        linecache.checkcache(str(file))
        return load(f"{file}:{name}")

    return from_text


@pytest.fixture
def as_in_python(kernel: Load) -> Callable[[str, str], None]:
    """``as_in_python(head, body)``: the kernel with this body computes what Python does, on three sets of inputs."""

    def computes(head: str, body: str) -> None:
        text = head + body.replace("\n", "\n    ") + "\n"
        found = kernel(f"import numpy as np\nfrom weft import *\n{text}")
        for seed in range(3):
            assert differences(found, text, seed) == []

    return computes


@pytest.fixture
def error(kernel: Load) -> Callable[[str], str]:
    """``error(text)``: the rendered error of the kernel ``k`` in this text."""

    def of_text(text: str) -> str:
        with pytest.raises(WeftError) as caught:
            _ = kernel(text).program
        return caught.value.render()

    return of_text
