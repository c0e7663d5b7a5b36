"""Are the results numbers? What is infinite or NaN at every level proves nothing about any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.compare import same_bits
from backends.reference import Reference
from dsl.expressions.types import FloatType
from dsl.programs.program import Array


@dataclass(frozen=True, slots=True)
class NotFinite:
    """Of the elements of an array that a kernel changed, how many are infinite or NaN."""

    array: str
    wrong: int
    changed: int

    @property
    def everywhere(self) -> bool:
        """No element of the array was worth comparing."""
        return self.wrong == self.changed

    def __str__(self) -> str:
        which = f"all {self.changed}" if self.everywhere else f"{self.wrong} of {self.changed}"
        return f"{which} computed elements of {self.array} are infinite or NaN"


def not_finite(arrays: Sequence[Array], trials: Sequence[Reference]) -> tuple[NotFinite, ...]:
    """The arrays of floats that hold infinities or NaNs after the reference interpreter.

    Args:
        arrays: Arguments; elements that still have their initial value do not count.
        trials: What the interpreter made of each set of inputs; they are counted together.
    """
    found = []
    for array in arrays:
        if not isinstance(array.dtype, FloatType):
            continue
        wrong = changed = 0
        for trial in trials:
            result = trial.results[array.name]
            new = ~same_bits(np.asarray(trial.inputs[array.name]), result)
            changed += int(new.sum())
            wrong += int((new & ~np.isfinite(result)).sum())
        if wrong:
            found.append(NotFinite(array.name, wrong, changed))
    return tuple(found)


def help_line(kernel: str) -> str:
    """What to do about it."""
    return f"say under @{kernel}.inputs which inputs the kernel is meant for"
