"""The reference semantics: a program run on NumPy arrays.

Everything else (the JIT, the compiled C++, RTL) must give what this gives. Two paths lead to the
same result, to the last bit: element by element in program order, and whole slices of arrays
where iterations are proven to be independent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dsl.arrays.inputs import Value, check_inputs
from dsl.interp.fast import ELEMENTS_AT_ONCE, FastRun
from dsl.interp.faults import ExecutionError
from dsl.interp.memory import allocate
from dsl.interp.plan import deepest, inside, plan_program
from dsl.interp.plan import one_by_one as statements_in
from dsl.interp.scalar_nest import compile_plan
from dsl.programs.program import Program

__all__ = ["ExecutionError", "one_by_one", "run"]

_MIN_TRIPS = 4


def run(
    program: Program,
    inputs: Mapping[str, Value],
    *,
    path: Literal["fast", "plain"] = "fast",
    min_trips: int = _MIN_TRIPS,
    chunk: int = ELEMENTS_AT_ONCE,
) -> dict[str, NDArray[Any]]:
    """Run a program.

    Args:
        program: to run.
        inputs: an array of the exact shape for each array argument, a number for each scalar one,
            in the representation of `dsl.arrays.inputs.storage_dtype`. They are not changed.
        path: ``plain`` runs element by element; the result is the same.
        min_trips: loops of fewer iterations are not run at once.
        chunk: elements that are worked on at once, about.

    Returns:
        The final contents of every array argument, by name.

    Raises:
        InputError: inputs that do not fit the program (see `check_inputs`).
        ExecutionError: W190 to W194, division by zero and the like.
    """
    arguments = check_inputs(program, inputs)
    plans = plan_program(program, path == "fast", min_trips)
    memory = allocate(program, arguments, inside(plans, program))
    depth = deepest(plans)
    with np.errstate(all="ignore"):
        if path == "fast":
            FastRun(memory, depth, chunk, 3 * min_trips).run(plans)
        else:
            for plan in plans:
                compile_plan(plan, memory)([0] * depth)
    return {array.name: memory[array.name].data for array in program.arguments if array.shape}


def one_by_one(program: Program) -> int:
    """How many statements at most `run` takes one after the other, about two microseconds each."""
    return statements_in(plan_program(program, True, _MIN_TRIPS))
