"""``reshape(array, dim, scheme, factor)``: several elements of one dimension of an array in one word of its memory.

The elements of a word are those that `polyhedral.transforms.arrays.partition` would put into different memories at one
address: of ``cyclic`` neighbours, of ``block`` what is ``ceil(extent/factor)`` apart, of ``complete`` the whole
dimension. The order of the program stays, and what it computes. ::

    u8 W[64]        # reshape("W", 0, "cyclic", 8)

    u64 W[8]        # element x is byte x % 8 of word x // 8

All elements of a word are read through one port at once. A word that is written in part is read before: two
iterations that write different elements of a word then depend on each other, which no pragma may deny
(`polyhedral.codegen.independent`). Dimensions that are in no word may be partitioned.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.expressions.types import MAX_WIDTH
from dsl.schedules.pragma_steps import Reshape
from polyhedral.banks.splits import lanes_of, splits_in
from polyhedral.requests.repeated import once, told
from polyhedral.scop.lookup import find_array
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.arrays.partition import check_apart, fitted_to
from polyhedral.transforms.registry import Order, transform


@transform(Reshape, order=Order.KEPT)
def reshape(state: ScheduledScop, step: Reshape) -> ScheduledScop:
    """Record it; see the module.

    Raises:
        ScheduleError: W207 if dimension or factor do not fit the array, or its words are wider than the widest
            integer; W223 where the dimension is partitioned, or reshaped otherwise.
    """
    array = find_array(state, step.array, step)
    step = fitted_to(array, step)
    check_apart(step, state.partitions)
    same = [p for p in state.reshapes if (p.array, p.dim) == (step.array, step.dim)]
    what = f"the words of dimension {step.dim} of '{step.array}'"
    if step.factor == 1:
        check_apart(step, state.reshapes)
        return state
    found = replace(state, reshapes=once(state.reshapes, same, step, what))
    width = getattr(array.dtype, "width", 32)
    bits = width * lanes_of(splits_in(array.name, array.shape, found.reshapes))
    if bits > MAX_WIDTH:
        raise ScheduleError(
            "W207",
            f"a word of '{array.name}' would have {bits} bits, more than {MAX_WIDTH}",
            span=step.span,
            notes=[f"{array.name} is {array.type}; " + ", ".join(map(told, found.reshapes))],
            help="put fewer elements into a word, or partition the dimension",
        )
    return found
