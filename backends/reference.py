"""What is right: inputs, the interpreter's results, and how far others may be from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from backends.compare import limited_scale
from backends.tolerance import magnitudes, tolerances
from dsl import interp
from dsl.arrays.inputs import InputMaker, random_inputs
from dsl.expressions.types import FloatType
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule

RawArray = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Reference:
    """One set of inputs and the final contents of every array argument, as raw arrays.

    ``tolerances`` has those that need not be exact, in units in the last place; ``scales`` the
    magnitudes that the units are of, where they are known (see `backends.tolerance`).
    """

    inputs: Mapping[str, Any]
    results: Mapping[str, RawArray]
    tolerances: Mapping[str, int]
    scales: Mapping[str, RawArray]


Run = Callable[[Program, Mapping[str, Any]], dict[str, RawArray]]


def reference(
    program: Program,
    schedule: Schedule,
    seed: int,
    make_inputs: InputMaker | None = None,
    run: Run = interp.run,
) -> Reference:
    """Run the interpreter on inputs.

    Args:
        program: The kernel.
        schedule: What it may reassociate has a tolerance.
        seed: Of the inputs.
        make_inputs: Makes them from the seed; None for `random_inputs`.
        run: What to run them by; `backends.expected.expected` where that may be a compiler.

    Raises:
        ExecutionError: W190 to W194: the program divides by zero on these inputs, or the like.
        InputError: W541 to W545: ``make_inputs`` makes something else.
    """
    inputs = random_inputs(program, seed) if make_inputs is None else make_inputs(seed)
    results = run(program, inputs)
    allowed = tolerances(program, schedule)
    scales = _scales(program, inputs, results, run) if allowed else {}
    return Reference(inputs, results, allowed, scales)


def _scales(
    program: Program, inputs: Mapping[str, Any], results: Mapping[str, RawArray], run: Run
) -> dict[str, RawArray]:
    floats = [a for a in program.arguments if isinstance(a.dtype, FloatType)]
    positive = {**inputs, **{a.name: np.abs(inputs[a.name]) for a in floats}}
    try:
        sums = run(magnitudes(program), positive)
    except interp.ExecutionError:
        return {}  # magnitudes overflow where the values do not; the results are the scale then
    found = {a.name: limited_scale(sums[a.name], results[a.name]) for a in floats if a.shape}
    return {name: scale for name, scale in found.items() if scale is not None}
