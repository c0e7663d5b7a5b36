"""What is in a table of constants: an element at a subscript that copies of a loop know is a number, and no load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dsl.expressions.types import DType, FloatType

MOST_WORDS = 4096
"""Loops are not unrolled as far as a larger table is long."""


@dataclass(frozen=True, slots=True)
class TableContents:
    """The words of a table.

    Attributes:
        words: raw, row by row, as `dsl.programs.program.Array.contents` has them.
        dtype: of its elements.
    """

    words: tuple[int, ...]
    dtype: DType
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.words, self.dtype)))

    def __hash__(self) -> int:
        return self._hash

    def value(self, place: int) -> float:
        """An element: an integer, of fixed point that of its bits, or a float."""
        word = self.words[place]
        if not isinstance(self.dtype, FloatType):
            return word
        from dsl.arrays.tables import float_of_word  # needs NumPy, which most designs do not

        return float_of_word(word, self.dtype)


def contents_of(dtype: DType, words: Sequence[int]) -> TableContents | None:
    """What is in a table; None of an array that is none, and of a table of more than `MOST_WORDS`."""
    return TableContents(tuple(words), dtype) if 0 < len(words) <= MOST_WORDS else None
