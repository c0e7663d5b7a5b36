"""Banks that accesses want: what an unrolled copy touches has one bank, in every block of iterations."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.space.memory.banks import interval_at
from dse.space.nests.nest import Use
from dsl.expressions.affine import Affine
from polyhedral.banks.wanted import Use as Wanted
from polyhedral.banks.wanted import factors, widest

X, Y = Affine.of("i"), Affine.of("j")


@pytest.mark.parametrize(
    ("index", "copies", "gone", "extent", "banks"),
    [
        (X // 2, {"i": 8}, set(), 32, 4),
        (X // 2, {"i": 3}, set(), 32, 1),  # three copies begin at halves
        (X // 2 + X % 2, {"i": 62}, {"i"}, 32, 32),
        (X % 2, {"i": 2}, set(), 8, 2),  # the same in every block
        (X % 64, {"i": 16}, set(), 64, 16),
        ((X + 17) % 64, {"i": 16}, set(), 64, 16),
        (Y // 16, {"j": 16}, set(), 8, 1),  # all copies read one element
        (4 * X + Y // 3, {"i": 2, "j": 6}, {"j"}, 64, 8),
        (4 * X + Y // 3, {"j": 6}, {"j"}, 64, 4),
        ((2 * X + Y) // 3, {"i": 3}, set(), 64, 1),  # j moves it by thirds
        (Affine.of("?0"), {"i": 8}, set(), 64, 1),  # data: nobody knows
    ],
)
def test_floors_have_banks(index, copies, gone, extent, banks):
    assert widest(index, copies, gone, extent) == banks


def subscripts():
    """Subscripts of two loops, with floors and remainders."""
    small = st.integers(-3, 3)
    linear = st.builds(lambda a, b, c: a * X + b * Y + c, small, small, st.integers(0, 5))
    divided = st.builds(lambda e, d: e // d, linear, st.integers(1, 6))
    rest = st.builds(lambda e, d: e % d, linear, st.integers(1, 6))
    return st.builds(lambda a, b, c, k: a + k * b + c, linear, divided, rest, small)


@settings(max_examples=300, deadline=None)
@given(
    index=subscripts(),
    u=st.sampled_from([1, 2, 3, 4, 6]),
    v=st.sampled_from([1, 2, 4]),
    whole=st.booleans(),
)
def test_a_copy_has_one_bank_in_all_blocks(index, u, v, whole):
    """The loop over j has nothing left where it is unrolled whole."""
    copies, gone = {"i": u, "j": v}, {"j"} if whole else set()
    banks = widest(index, copies, gone, 1 << 20)
    for a, b in product(range(u), range(v)):
        blocks = product(range(0, 12 * u, u), [0] if whole else range(0, 8 * v, v))
        values = {index.evaluate({"i": i + a, "j": j + b}) for i, j in blocks}
        # Where nothing moves a copy, banks lie from the first element to the last.
        assert len({x % banks for x in values}) == 1


@pytest.mark.parametrize(
    ("index", "copies", "banks", "cycles"),
    [
        (X // 2 + X % 2, 62, 32, 1),  # 32 elements
        (X // 2, 8, 4, 1),
        (X // 2, 8, 1, 2),  # four elements at two ports
        (X % 2, 8, 1, 1),  # two elements
        (X // 4, 4, 1, 1),
    ],
)
def test_ports_count_each_element_once(index, copies, banks, cycles):
    use = Use("A", (index,), write=False, shape=(64,), ports=(2, 1, 2))
    assert interval_at((use,), (("i", copies),), (banks,)) == cycles


def test_banks_that_are_given_stay_however_many():
    """Those of a dimension that is left become fewer, and nothing else can."""
    use = Wanted("A", (X, Y), {"i": 64, "j": 64}, {"i", "j"})
    assert factors((64, 64), [use], {0: 64, 1: 64}) == [64, 64]
    assert factors((64, 64), [use], {0: 64}) == [64, 16]
    assert factors((4096, 64), [use], {0: 4096}) == [4096, 1]
