"""Where the elements of partitioned arrays lie, counted one by one."""

from itertools import product

import numpy as np
import pytest

from dsl.expressions.affine import Affine
from dsl.schedules.steps import Partition, PartitionKind
from polyhedral.banks.splits import Split, in_registers, splits_in, splits_of, words_a_bank

ONE_DIMENSION = [
    ("cyclic", 3, [0, 1, 2, 0, 1, 2, 0], [0, 0, 0, 1, 1, 1, 2], 3),
    ("block", 3, [0, 0, 0, 1, 1, 1, 2], [0, 1, 2, 0, 1, 2, 0], 3),
    ("block", 4, [0, 0, 1, 1, 2, 2, 3], [0, 1, 0, 1, 0, 1, 0], 2),
    ("complete", 0, [0, 1, 2, 3, 4, 5, 6], [0] * 7, 1),
]


@pytest.mark.parametrize(("kind", "factor", "banks", "offsets", "words"), ONE_DIMENSION)
def test_seven_elements(
    kind: PartitionKind, factor: int, banks: list[int], offsets: list[int], words: int
) -> None:
    (split,) = splits_of((7,), [(0, kind, factor)])
    numbers = np.arange(7)
    assert [split.bank(x, 7) for x in range(7)] == banks == split.bank(numbers, 7).tolist()
    assert [split.offset(x, 7) for x in range(7)] == offsets == split.offset(numbers, 7).tolist()
    assert split.words(7) == words
    bank, offset = (at(Affine.of("x"), 7) for at in (split.bank, split.offset))
    assert [bank.evaluate({"x": x}) for x in range(7)] == banks
    assert [offset.evaluate({"x": x}) for x in range(7)] == offsets


def test_every_element_has_a_place_of_its_own_in_a_bank_that_is_large_enough() -> None:
    kinds: tuple[PartitionKind, ...] = ("cyclic", "block", "complete")
    for extent, factor, kind in product(range(1, 13), range(1, 13), kinds):
        (split,) = splits_of((extent,), [(0, kind, factor)])
        places = {(split.bank(x, extent), split.offset(x, extent)) for x in range(extent)}
        assert len(places) == extent
        assert all(0 <= b < split.factor and 0 <= o < split.words(extent) for b, o in places)


def test_steps_of_other_arrays_do_not_count_and_zero_is_the_extent() -> None:
    steps = (Partition("A", 1, "complete"), Partition("B", 0, "cyclic", 2))
    splits = splits_in("A", (4, 6), steps)
    assert splits == (Split(), Split("complete", 6))
    assert words_a_bank((4, 6), splits) == 4
    assert not in_registers((4, 6), splits)
    assert in_registers((4, 6), (Split("cyclic", 4), Split("complete", 6)))
