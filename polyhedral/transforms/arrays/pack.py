"""``pack(array, bits)``: an argument in memory outside is in words of several elements.

Before, with A in memory outside, ``buffer("A")`` copies an element in each iteration::

    for load_A_0 in range(20):
      for load_A_1 in range(24):
        A_buf[load_A_0, load_A_1] = A[load_A_0, load_A_1]                            # load_A

After ``pack("A", 256)``, which comes before it, of words of eight ``f32``, a word::

    for load_A_0 in range(20):
      for load_A_1 in range(3):
        for load_A_lane in range(8):                                                 # unrolled
          A_buf[load_A_0, 8*load_A_1 + load_A_lane] = A[load_A_0, 8*load_A_1 + load_A_lane]

Rows begin with a word: what is behind the last element of a row is padding, which a host lays out and nobody
reads (`polyhedral.transforms.words` has the loops). A word that is written in part is read before.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.expressions.types import IndexType
from dsl.programs.program import Array, Storage
from dsl.schedules.steps import Pack
from polyhedral.requests.outside import WIDTHS, word_bits
from polyhedral.requests.repeated import once
from polyhedral.scop.lookup import find_array
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform


@transform(Pack, order=Order.KEPT)
def pack(state: ScheduledScop, step: Pack) -> ScheduledScop:
    """Say that the argument is in words; see the module.

    Raises:
        ScheduleError: W215 it cannot be; W207 so many bits; W223 twice.
    """
    array = find_array(state, step.array, step)
    if array.storage is Storage.LOCAL or not array.shape:
        what = "a scalar" if not array.shape else "a local on the chip"
        raise ScheduleError(
            "W215",
            f"'{array.name}' is {what}: arrays in memory outside are packed",
            span=step.span,
            help=f'interface("{array.name}", "m_axi") in front of it puts it there'
            if array.shape
            else None,
        )
    _check_bits(array, step)
    same = [s for s in state.packs if s.array == array.name]
    return replace(state, packs=once(state.packs, same, step, f"the words of '{array.name}'"))


def _check_bits(array: Array, step: Pack) -> None:
    if array.shape[-1] == 1:
        raise ScheduleError(
            "W215",
            f"a row of '{array.name}' is one element, of which no word has several",
            span=step.span,
        )
    element = word_bits(array.dtype)
    own = element if isinstance(array.dtype, IndexType) else array.dtype.width
    if element != own:
        raise ScheduleError(
            "W215",
            f"an element of '{array.name}' has {own} bits and takes {element} in memory",
            span=step.span,
            help=f"words are of elements without padding, as those of {element} bits",
        )
    low, high = 2 * element, WIDTHS[1]
    if not low <= step.bits <= high or step.bits & (step.bits - 1):
        raise ScheduleError(
            "W207",
            f"words of {step.bits} bits do not fit",
            span=step.span,
            notes=[f"{array.name} is {array.type}: an element takes {element} bits"],
            help=f"a power of two from {low} to {high}",
        )
