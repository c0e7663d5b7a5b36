"""Where the values of a running program are: one NumPy array for each array of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsl.affine import Affine
from dsl.arrays.storage import storage_dtype
from dsl.program import Array, Program, Storage


@dataclass(slots=True)
class Store:
    """An array, with a mask of what was written if it is a local.

    ``prefix`` are subscripts that come before those of the program: one for each loop whose
    iterations run at once and have a copy of the local each. ``complete`` is set once everything
    is known to be written.
    """

    array: Array
    data: NDArray[Any]
    written: NDArray[np.bool_] | None
    prefix: tuple[Affine, ...] = ()
    complete: bool = False

    def forget(self) -> None:
        """Make it undefined again."""
        if self.written is not None:
            self.written.fill(False)
            self.complete = False


Memory = dict[str, Store]


def local(array: Array, copies: tuple[int, ...] = (), prefix: tuple[Affine, ...] = ()) -> Store:
    """An undefined local, with as many copies."""
    shape = (*copies, *array.shape)
    data = np.zeros(shape, dtype=storage_dtype(array.dtype))
    return Store(array, data, np.zeros(shape, dtype=np.bool_), prefix)


def allocate(program: Program, inputs: dict[str, NDArray[Any]]) -> Memory:
    """Copies of the arguments, and undefined locals."""
    return {
        array.name: Store(array, inputs[array.name].copy(), None)
        if array.storage is Storage.ARGUMENT
        else local(array)
        for array in program.arrays
    }
