"""Whether two programs compute the same values, as the interpreter runs them."""

from __future__ import annotations

import numpy as np

from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.programs.program import Program


def same_values(before: Program, after: Program, seeds: int = 2) -> bool:
    """Every argument of the first is the same, for so many random inputs."""
    for seed in range(seeds):
        inputs = random_inputs(before, seed)
        want, got = interp.run(before, inputs), interp.run(after, inputs)
        if not all(np.array_equal(want[name], got[name]) for name in want):
            return False
    return True
