"""The directives of a design as a vector of fixed length: what predictors without a graph see.

Places, not names: the loops in program order, then the arrays in the order of the arguments.
"""

from __future__ import annotations

from math import log2

from qor_gnn.design.region import Kernel, Loop, Memory, loops_in

LOOPS, ARRAYS, DIMENSIONS = 20, 16, 3
PER_LOOP, PER_ARRAY = 4, DIMENSIONS
LENGTH = LOOPS * PER_LOOP + ARRAYS * PER_ARRAY


def pragmas_of(kernel: Kernel) -> tuple[float, ...]:
    """The vector, `LENGTH` long: what is beyond it is left out, what is not there is 0.

    Of a loop: whether it is pipelined, the interval asked for, ``log2`` of the unroll factor,
    whether it may be flattened (1 where nothing is said). Of an array: ``log2`` of the banks of
    each dimension.
    """
    loops = [loop for function in kernel.functions for loop in loops_in(function.body)]
    arrays = [memory for memory in kernel.memories if memory.shape]
    found: list[float] = []
    for n in range(LOOPS):
        found += _loop(loops[n]) if n < len(loops) else [0.0] * PER_LOOP
    for n in range(ARRAYS):
        found += _array(arrays[n]) if n < len(arrays) else [0.0] * PER_ARRAY
    return tuple(found)


def _loop(loop: Loop) -> list[float]:
    pipelined = loop.ii is not None
    flat = float(loop.flatten is not False)
    return [float(pipelined), float(loop.ii or 0), log2(max(1, loop.factor)), flat]


def _array(memory: Memory) -> list[float]:
    factors = [log2(max(1, split.factor)) for split in memory.splits[:DIMENSIONS]]
    return factors + [0.0] * (DIMENSIONS - len(factors))
