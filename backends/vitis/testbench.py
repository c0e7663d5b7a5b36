"""The C++ testbench and its golden data: inputs and the results of the reference interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.compare import limited_scale, ulp
from backends.rawdata import to_bytes
from backends.tolerance import magnitudes, tolerances
from dsl import interp
from dsl.inputs import random_inputs
from dsl.program import Array, Program
from dsl.schedule import Schedule
from dsl.types import FixedType, FloatType, IntType
from mlir_passes.emit_hls import Argument


@dataclass(frozen=True, slots=True)
class Golden:
    """One argument's data: the file of its initial value and, if the kernel writes it, of its
    final one, with the absolute distance from it that is allowed (0: the same bits).
    """

    argument: Argument
    initial: tuple[str, bytes]
    final: tuple[str, bytes] | None
    tolerance: float = 0.0


def written_arrays(program: Program) -> frozenset[str]:
    """Names of the arrays that some statement writes."""
    return frozenset(stmt.target.array for stmt in program.statements())


def golden(
    program: Program, schedule: Schedule, arguments: tuple[Argument, ...], seed: int
) -> tuple[Golden, ...]:
    """Inputs, results and tolerances of every argument, in order.

    Args:
        program: The kernel.
        schedule: What a schedule may reassociate has a tolerance.
        arguments: What the emitted C++ calls the program's arguments, in order.
        seed: Of the random inputs.
    """
    inputs = random_inputs(program, seed)
    results = interp.run(program, inputs)
    allowed = tolerances(program, schedule)
    scales: dict[str, Any] = {}
    if allowed:
        floats = {a.name for a in program.arguments if isinstance(a.dtype, FloatType)}
        positive = {n: np.abs(v) if n in floats else v for n, v in inputs.items()}
        with np.errstate(all="ignore"):
            scales = dict(interp.run(magnitudes(program), positive))
    written = written_arrays(program)
    found = []
    for n, (array, argument) in enumerate(zip(program.arguments, arguments, strict=True)):
        stem = f"data/{n:02d}_{argument.cpp}"
        initial = (f"{stem}.in.bin", to_bytes(array, inputs[array.name]))
        if array.name not in written:
            found.append(Golden(argument, initial, None))
            continue
        final = (f"{stem}.out.bin", to_bytes(array, results[array.name]))
        bound = _absolute(array, allowed.get(array.name, 0), scales, results)
        found.append(Golden(argument, initial, final, bound))
    return tuple(found)


def _absolute(
    array: Array, units: int, scales: Mapping[str, Any], results: Mapping[str, Any]
) -> float:
    """A tolerance in units in the last place as a distance: those of the largest magnitude."""
    if not units:
        return 0.0
    match array.dtype:
        case FloatType():
            scale = limited_scale(scales[array.name], results[array.name])
            values = np.abs(results[array.name].astype(np.float64))
            largest = values[np.isfinite(values)].max(initial=0.0)
            if scale is not None:
                largest = max(largest, scale.max(initial=0.0))
            return float(units * ulp(array.dtype, np.asarray(largest)))
        case FixedType(width=width, integer=integer):
            return 2.0 ** (integer - width)
        case IntType():
            return 1.0
        case _:
            return 0.0


_TEXT = """\
// Testbench of @TOP@: runs it once on the inputs in data/ and compares what it wrote with the
// results of Weft's reference interpreter. Returns 0 when all elements agree.

#include "@TOP@.h"
#include "weft_tb.h"

@DECLARATIONS@
int main(int argc, char **argv) {
  const weft_tb::folder data(argc, argv, "@FIRST@");
@LOADS@

  @TOP@(@ARGUMENTS@);

  long wrong = 0;
@CHECKS@
  std::printf(wrong ? "FAILED\\n" : "PASSED\\n");
  return wrong ? 1 : 0;
}
"""


def testbench(top: str, data: tuple[Golden, ...]) -> str:
    """The testbench's text."""
    declarations = [f"static {declaration(g.argument)};" for g in data]
    loads = [f'  data.load("{_base(g.initial[0])}", {g.argument.cpp});' for g in data]
    checks = []
    for g in data:
        if g.final is not None:
            name = g.argument.cpp
            if g.tolerance:
                checks.append(
                    "  // A reduction in another order, or exp, log, tanh: not bit exact."
                )
            bound = f", {g.tolerance!r}" if g.tolerance else ""
            checks.append(f'  wrong += data.check("{_base(g.final[0])}", "{name}", {name}{bound});')
    values = {
        "TOP": top,
        "DECLARATIONS": "\n".join(declarations) + ("\n" if declarations else ""),
        "FIRST": _base(data[0].initial[0]) if data else "",
        "LOADS": "\n".join(loads),
        "ARGUMENTS": ", ".join(g.argument.cpp for g in data),
        "CHECKS": "\n".join(checks),
    }
    text = _TEXT
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def declaration(argument: Argument) -> str:
    """``float A[200][240]``."""
    extents = "".join(f"[{n}]" for n in argument.shape)
    return f"{argument.type} {argument.cpp}{extents}"


def _base(path: str) -> str:
    return path.rpartition("/")[2]
