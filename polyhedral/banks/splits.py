"""Where the elements of a partitioned array lie: in which of its banks, and where in that.

The one meaning of a partition: processes and their FIFOs (`polyhedral.dataflow`), the model and the RTL
backend ask here. Subscripts are whatever has ``//`` and ``%``: integers, affine expressions, arrays of NumPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol, Self, TypeVar

from dsl.schedules.pragma_steps import Reshape
from dsl.schedules.steps import Partition, PartitionKind


class Subscript(Protocol):
    """What can be divided by an integer."""

    def __floordiv__(self, divisor: int, /) -> Self:
        """The quotient, rounded down."""
        ...

    def __mod__(self, divisor: int, /) -> Self:
        """The remainder, not negative."""
        ...


S = TypeVar("S", bound=Subscript)


@dataclass(frozen=True, slots=True)
class Split:
    """How one dimension is spread over banks; factor 1 is not at all, a complete one has the extent."""

    kind: PartitionKind = "cyclic"
    factor: int = 1

    def words(self, extent: int) -> int:
        """Elements of a bank along the dimension: as many in all banks, also where it does not come out even."""
        return -(-extent // self.factor)

    def bank(self, subscript: S, extent: int) -> S:
        """Which of the banks along the dimension an element is in."""
        if self.kind == "cyclic":
            return subscript % self.factor
        return subscript // self.words(extent)

    def offset(self, subscript: S, extent: int) -> S:
        """Where in its bank an element is, along the dimension."""
        if self.kind == "cyclic":
            return subscript // self.factor
        return subscript % self.words(extent)


def splits_of(
    shape: Sequence[int], asked: Iterable[tuple[int, PartitionKind, int]]
) -> tuple[Split, ...]:
    """How each dimension of an array is spread.

    Args:
        shape: of the array.
        asked: dimension, kind and factor of each partition; 0 is the extent, and no factor is above it.
    """
    found = [Split()] * len(shape)
    for dim, kind, factor in asked:
        found[dim] = Split(kind, min(factor or shape[dim], shape[dim]))
    return tuple(found)


def words_of(
    shape: Sequence[int], asked: Iterable[tuple[int, PartitionKind, int]]
) -> tuple[Split, ...]:
    """How each dimension is spread over the lanes of words; () where none is."""
    listed = tuple(asked)
    return splits_of(shape, listed) if listed else ()


def splits_in(
    name: str, shape: Sequence[int], steps: Iterable[Partition | Reshape]
) -> tuple[Split, ...]:
    """How each dimension of an array is spread, over banks or the lanes of words, by the steps that name it."""
    return splits_of(shape, ((p.dim, p.scheme, p.factor) for p in steps if p.array == name))


def lanes_of(splits: Sequence[Split]) -> int:
    """Elements of a word, where that is how dimensions are spread over the lanes of words."""
    return prod(split.factor for split in splits)


def words_a_bank(shape: Sequence[int], splits: Sequence[Split]) -> int:
    """Elements of the largest bank."""
    return prod(split.words(extent) for split, extent in zip(splits, shape, strict=True))


def in_registers(shape: Sequence[int], splits: Sequence[Split]) -> bool:
    """Every bank holds a single element: no memory is left, and no port to wait for."""
    return all(split.factor >= extent for split, extent in zip(splits, shape, strict=True))
