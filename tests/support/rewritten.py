"""Is what a step made of the program still the program? Asked of the interpreter."""

from __future__ import annotations

from dsl import interp
from dsl.arrays.inputs import random_inputs
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.materialise import materialised
from tests.support.bits import same
from tests.support.enumeration import TooManyError
from tests.support.oracle import Oracle

_STATEMENTS = 1_000_000
"""Of more than these the interpreter takes seconds: a loop over what is far apart, fused, has more."""


def rewriting_faults(before: ScheduledScop, after: ScheduledScop, seed: int = 0) -> list[str]:
    """What differs between the loops of a schedule as a program and what a step made of that.

    Programs that run for too long are left to the other levels.
    """
    program = materialised(before).program
    if max(map(interp.one_by_one, (program, after.scop.program))) > _STATEMENTS:
        return []
    inputs = random_inputs(program, seed)
    expected, found = interp.run(program, inputs), interp.run(after.scop.program, inputs)
    return [f"{name} differs" for name in expected if not same(expected[name], found[name])]


def oracle_of(oracle: Oracle, state: ScheduledScop) -> Oracle | None:
    """The ground truth about a state: of another program where a step has rewritten it; None where
    that has too many iterations to look at.
    """
    program = state.scop.program
    if program is oracle.program:
        return oracle
    try:
        return Oracle(program)
    except TooManyError:
        return None
