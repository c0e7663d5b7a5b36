"""What a host passes to a kernel: how each argument is kept in memory, and in the files of the testbench."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from backends.rawdata import file_type, numpy_type
from backends.vitis.testbench import Golden
from dsl.errors.errors import ToolError
from dsl.expressions.types import FloatType
from mlir_passes.emit.hls import Argument
from polyhedral.requests.outside import word_bits

_WIDEST = 64


@dataclass(frozen=True, slots=True)
class Passed:
    """An argument as a host sees it.

    Attributes:
        golden: its data, and what is expected.
        memory: of an element in memory outside, or of a scalar.
        file: of an element in the files of the testbench.
        bfloat16: NumPy has no such type: the upper half of a float32.
    """

    golden: Golden
    memory: np.dtype[Any]
    file: np.dtype[Any]
    bfloat16: bool

    @property
    def name(self) -> str:
        """The user's."""
        return self.golden.argument.name

    def row(self) -> dict[str, Any]:
        """As the host in Python has it."""
        golden = self.golden
        return {
            "name": self.name,
            "port": golden.argument.cpp,
            "shape": golden.argument.shape,
            "row": golden.argument.words[-1] * golden.argument.lanes
            if golden.argument.lanes
            else 0,
            "access": golden.argument.access,
            "memory": self.memory.str,
            "file": self.file.str,
            "bfloat16": self.bfloat16,
            "initial": golden.initial_file,
            "final": golden.final_file,
            "tolerance": golden.tolerance,
        }


def behind_row(argument: Argument) -> dict[str, Any]:
    """What a kernel takes behind its arguments, as a host in Python has it: the port, and how many bytes of memory it
    provides, or of what this is a second pointer.
    """
    if argument.of:
        return {"port": argument.cpp, "of": argument.of}
    elements = prod(argument.words) * max(1, argument.lanes)
    return {"port": argument.cpp, "bytes": elements * word_bits(argument.dtype) // 8}


def passed(data: Sequence[Golden]) -> tuple[Passed, ...]:
    """The arguments of a kernel.

    Raises:
        ToolError: W407, one that no host can pass: wider than 64 bits.
    """
    return tuple(map(_passed, data))


def _passed(golden: Golden) -> Passed:
    dtype = golden.argument.dtype
    bits = word_bits(dtype)
    if bits > _WIDEST:
        raise ToolError(
            "W407",
            f"'{golden.argument.name}' is of {bits} bits, and hosts pass up to {_WIDEST}",
            help="keep wider numbers inside the kernel",
        )
    bfloat16 = isinstance(dtype, FloatType) and dtype.name == "bf16"
    memory = np.dtype("<u2") if bfloat16 else numpy_type(dtype, bits // 8)
    return Passed(golden, memory, file_type(dtype), bfloat16)
