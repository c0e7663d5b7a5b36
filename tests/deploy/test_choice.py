"""Tiles that move least: what is counted, and that nothing that is tried moves less."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from backends.deploy.choice import Tileable, choices
from backends.deploy.tile_copies import Moved
from dsl.expressions.affine import Affine

X, Y, Z = (Affine.of(name) for name in "ijk")
N, M, L = 100, 120, 80
ROOM = 40 * 40 * 3 * 32
SLICES = 5
EACH = ((("i", "j"), SLICES),)  # a multiply-add for each element


def product(lanes: int = 1) -> list[Moved]:
    """C[i, j] += A[i, k] * B[k, j]."""
    return [
        Moved("C", (X, Y), (N, M), 32, lanes, written=True, port="C"),
        Moved("C", (X, Y), (N, M), 32, lanes, written=False, port="C"),
        Moved("A", (X, Z), (N, L), 32, lanes, written=False, port="A"),
        Moved("B", (Z, Y), (L, M), 32, lanes, written=False, port="B"),
    ]


def tiles(
    room: int = ROOM,
    lanes: int = 1,
    every: tuple[int, ...] = (1, 1, 1),
    dsp: int = 10**9,
    chains=(),
):
    nest = Tileable(
        ("i", "j", "k"), (N, M, L), every, {}, product(lanes), ((("i", "j", "k"), SLICES),), ()
    )
    return choices(nest, dsp, room)


def test_all_that_fits_is_one_tile():
    """But where rows of C are copied while others are worked on. Each array has a port of its own."""
    first, *others = tiles(room=10**9)
    assert first.apart
    whole = next(choice for choice in (first, *others) if not choice.apart)
    assert whole.sizes == (N, M, L)
    assert whole.bits == 32 * (N * M + N * L + L * M)
    assert whole.cycles == pytest.approx(60 + N * M * 2 + 2 * 72, rel=1e-3)


def test_none_that_fits_moves_less():
    found = tiles()
    assert found
    assert all(choice.bits <= ROOM for choice in found)
    assert min(choice.cycles for choice in found) == found[0].cycles
    assert tiles(room=10) == []


def test_what_is_copied_in_and_out_stays():
    """With k innermost C is copied once for each tile of it."""
    best = tiles()[0]
    counts = [-(-n // t) for n, t in zip((N, M, L), best.sizes, strict=True)]
    if counts[2] > 1:
        assert best.order[-1] == 2
    assert prod(counts) > 1


def test_rows_that_are_whole_are_one_burst():
    """Of a matrix that is read once, in tiles of so many elements, the whole rows come first."""
    read = [Moved("A", (X, Y), (400, 400), 32, 1, written=False, port="A")]
    best = choices(
        Tileable(("i", "j"), (400, 400), (1, 1), {}, read, EACH, ()), 10**9, 40 * 400 * 32
    )[0]
    assert best.sizes[1] == 400
    assert best.cycles == pytest.approx(400 * 400 + 10 * (72 + 60), rel=1e-2)


def test_tiles_are_of_whole_words_and_words_are_counted():
    best = tiles(lanes=16, every=(1, 16, 16))
    assert all(size % 16 == 0 or size in (M, L) for choice in best for size in choice.sizes[1:])
    assert best[0].cycles < 0.6 * tiles(every=(1, 16, 16))[0].cycles


def test_halos_are_in_the_box():
    near = [Moved("A", (X + n, Y), (64, 64), 32, 1, written=False, port="A") for n in (0, 1, 2)]
    found = choices(Tileable(("i",), (62,), (1,), {"j": 64}, near, EACH, ()), 10**9, 10 * 64 * 32)
    assert max(choice.sizes[0] for choice in found) == 8  # ten rows fit


def test_what_does_not_divide_is_wasted_where_slices_are_few():
    few = tiles(dsp=10)[0]
    waste = prod(-(-n // t) * t / n for n, t in zip((N, M, L), few.sizes, strict=True))
    assert waste < 1.1


def test_tiles_that_are_copied_while_others_are_worked_on_are_there_twice():
    """A matrix that is read once, and as much computed: the slower of the two counts."""
    read = [Moved("A", (X, Y), (400, 400), 32, 1, written=False, port="A")]
    nest = Tileable(("i", "j"), (400, 400), (1, 1), {}, read, EACH, ())
    room = 40 * 400 * 32
    best = choices(nest, 5, room)[0]  # a multiply-add a cycle
    tiles = prod(-(-n // t) for n, t in zip((400, 400), best.sizes, strict=True))
    assert best.bits == 2 * prod(best.sizes) * 32 <= room
    last = prod(best.sizes) + 60  # is worked on behind all copies
    assert best.cycles == pytest.approx(400 * 400 + tiles * 72 + last, rel=2e-3)


def test_what_goes_both_ways_starts_from_a_copy_of_its_own():
    both = [Moved("A", (X, Y), (400, 400), 32, 1, written=w, port="A") for w in (True, False)]
    nest = Tileable(("i", "j"), (400, 400), (1, 1), {}, both, EACH, ())
    best = choices(nest, 5, 40 * 400 * 32)[0]
    assert best.apart == {"A"}
    assert best.bits == 4 * prod(best.sizes) * 32
    taken = 400 * 400 / 4  # from one copy on the chip to the other
    assert 400 * 400 + taken < best.cycles < 1.1 * (400 * 400 + taken)
    in_turn = next(choice for choice in choices(nest, 5, 40 * 400 * 32) if not choice.apart)
    assert in_turn.cycles > 3 * 400 * 400


def test_what_the_next_tile_reads_again_is_copied_in_turn():
    for choice in tiles():
        if choice.apart:
            counts = [-(-n // t) for n, t in zip((N, M, L), choice.sizes, strict=True)]
            assert counts[2] == 1


def test_what_cannot_be_copied_in_and_out_apart_is_copied_in_turn_in_small_tiles():
    both = [Moved("A", (X, Y), (400, 400), 32, 1, written=w, port="A") for w in (True, False)]
    nest = Tileable(("i", "j"), (400, 400), (1, 1), {}, both, EACH, ())
    found = choices(replace(nest, in_turn=frozenset("A")), 5, 40 * 400 * 32)
    assert not any(choice.apart or choice.overlaps for choice in found)
    near = [c for c in found if c.cycles <= 1.05 * min(choice.cycles for choice in found)]
    assert prod(found[0].sizes) == min(prod(choice.sizes) for choice in near)
    assert choices(nest, 5, 40 * 400 * 32)[0].overlaps


@pytest.mark.parametrize(
    ("first", "count", "apart"), [(0, 64, False), (1, 62, True), (0, 62, True)]
)
def test_of_words_that_are_written_in_part_the_rest_is_copied_in(first, count, apart):
    written = [Moved("A", (X, Y + first), (64, 64), 8, 4, written=True, port="A")]
    nest = Tileable(("i",), (64,), (1,), {"j": count}, written, EACH, ())
    found = choices(nest, 10**9, 60 * 64 * 8)
    assert any(choice.apart for choice in found) == apart


def test_loops_of_one_port_take_turns():
    """Two arrays that are read and one that is written: through three ports they pass at the same time."""
    shared, own = (
        [Moved(a, (X, Y), (400, 400), 32, 1, written=a == "C", port=a * n or "p") for a in "ABC"]
        for n in (0, 1)
    )
    cycles = [
        choices(Tileable(("i", "j"), (400, 400), (1, 1), {}, moved, EACH, ()), 10**9, 10**6)[
            0
        ].cycles
        for moved in (shared, own)
    ]
    assert cycles[0] == pytest.approx(2 * cycles[1], rel=0.1)


def test_what_goes_both_ways_in_turn_has_one_port():
    """Rows updated in place: several ports pass rows that are copied in apart from what is copied out."""
    moved = [Moved("X", (X, Y), (240, 1024), 32, 4, written=w, port="X") for w in (True, False)]
    nest = Tileable(("i",), (240,), (1,), {"j": 1024}, moved, EACH, ())
    for turns in ({"X"}, set()):
        one, four = (
            choices(replace(nest, in_turn=turns, ports=ports), 10**9, 96 * 1024 * 32)[0]
            for ports in (1, 4)
        )
        assert four.overlaps == (not turns)
        assert one.cycles / four.cycles == pytest.approx(1 if turns else 3.8, rel=0.1)


def test_the_terms_of_a_sum_follow_each_other_in_each_tile():
    """Row sums: the more rows a tile has, the more sums go on at once."""
    read = [Moved("A", (X, Y), (128, 1024), 32, 1, written=False, port="A")]
    plain, waiting = (
        choices(
            Tileable(("i", "j"), (128, 1024), (1, 1), {}, read, EACH, chains), 10**9, 8 * 1024 * 32
        )
        for chains in ((), 4 * (("j",),))
    )
    assert plain[0].sizes[1] == 1024
    assert waiting[0].sizes[0] > plain[0].sizes[0]
    assert waiting[0].cycles >= 128 // waiting[0].sizes[0] * 1024 * 4 * 5


def test_what_each_tile_needs_all_of_is_copied_once():
    """C[i, j] += A[i, k] * A[j, k] in tiles of rows: with rows of a tile all rows of A are there."""
    moved = [
        *(Moved("C", (X, Y), (256, 256), 32, 16, written=w, port="C") for w in (True, False)),
        Moved("A", (X, Z), (256, 128), 32, 16, written=False, port="A"),
        Moved("A", (Y, Z), (256, 128), 32, 16, written=False, port="A"),
    ]
    work = ((("i", "j:256", "k:128"), SLICES),)
    moved = [replace(m, indices=tuple(_inner(i) for i in m.indices)) for m in moved]
    nest = Tileable(("i",), (256,), (1,), {"j:256": 256, "k:128": 128}, moved, work, ())
    best = choices(nest, 10_000, 10**7)[0]
    assert best.sizes[0] < 256
    assert best.whole == {"A"}
    small = choices(
        nest, 10_000, 256 * 128 * 32
    )  # there is no room for all of A beside a tile of C
    assert not any(choice.whole for choice in small)


def _inner(index: Affine) -> Affine:
    """With names of loops inside as nests have them."""
    return index.rename({"j": "j:256", "k": "k:128"})
