"""Where the values of a running program are: one NumPy array for each array of the program."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from dsl.arrays.storage import storage_dtype
from dsl.arrays.tables import table_data
from dsl.expressions.affine import Affine
from dsl.programs.program import Array, Program, Storage


@dataclass(slots=True)
class Store:
    """An array, with a mask of what was written if it is a local.

    ``prefix`` are subscripts that come before those of the program: one for each loop whose
    iterations run at once and have a copy of the local each. ``complete`` is set once everything
    is known to be written. ``inside`` are the accesses (by ``id``) that are proven in bounds.
    ``recipes`` belongs to `places`.
    """

    array: Array
    data: NDArray[Any]
    written: NDArray[np.bool_] | None
    inside: frozenset[int]
    prefix: tuple[Affine, ...] = ()
    complete: bool = False
    recipes: dict[Any, Any] = field(default_factory=dict)

    def forget(self) -> None:
        """Make it undefined again."""
        if self.written is not None:
            self.written.fill(False)
            self.complete = False


Memory = dict[str, Store]


def local(
    array: Array,
    inside: frozenset[int],
    copies: tuple[int, ...] = (),
    prefix: tuple[Affine, ...] = (),
) -> Store:
    """An undefined local, with as many copies."""
    shape = (*copies, *array.shape)
    data = np.zeros(shape, dtype=storage_dtype(array.dtype))
    return Store(array, data, np.zeros(shape, dtype=np.bool_), inside, prefix)


def allocate(
    program: Program, inputs: dict[str, NDArray[Any]], inside: frozenset[int] = frozenset()
) -> Memory:
    """Copies of the arguments, and undefined locals; see `Store` for ``inside``.

    Memory outside that nobody fills may be copied before it is written: words are moved as a whole.
    """
    found: Memory = {}
    for array in program.arrays:
        match array.storage:
            case Storage.ARGUMENT:
                found[array.name] = Store(array, inputs[array.name].copy(), None, inside)
            case Storage.LOCAL:
                found[array.name] = local(array, inside)
            case Storage.TABLE:
                found[array.name] = Store(array, table_data(array), None, inside)
            case Storage.SCRATCH:
                found[array.name] = replace(local(array, inside), written=None)
            case _:
                assert_never(array.storage)
    return found
