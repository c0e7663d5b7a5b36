"""Addresses and banks against enumeration: what the residues say is what the iterations do."""

from __future__ import annotations

import itertools
import random
from math import lcm

import pytest

import weft
from dsl.expressions.affine import Affine
from dsl.expressions.types import f32
from polyhedral.banks.splits import Split
from qor_gnn.design.region import Memory
from qor_gnn.memory.addresses import Addresses, site
from qor_gnn.schedule.intervals.carried import Nest, carried_distance
from weft import i16

EXTENT = 48
COUNTS = {"i": 4, "j": 6}


def memory(*splits: Split) -> Memory:
    return Memory("A", f32, (EXTENT,) * len(splits), splits)


def bank(split: Split, index: int) -> int:
    if split.kind == "block":
        return index // -(-EXTENT // split.factor)
    return index % split.factor


def random_split(rng: random.Random) -> Split:
    kind = rng.choice(["cyclic", "cyclic", "block"])
    return Split(kind, rng.choice([1, 2, 3, 4, 6, 8, EXTENT]))


def random_subscript(rng: random.Random) -> Affine:
    total = Affine((), rng.randrange(8))
    for v in COUNTS:
        total = total + Affine.of(v) * rng.choice([0, 0, 1, 2, 3, 4])
    return total


def iterations() -> list[dict[str, int]]:
    names = list(COUNTS)
    return [
        dict(zip(names, at, strict=True))
        for at in itertools.product(*(range(COUNTS[v]) for v in names))
    ]


def place(table: Addresses, indices: list[Affine]) -> int:
    return site(table, 0, indices, frozenset()).place(table, {})


@pytest.mark.parametrize("seed", range(60))
def test_every_bank_that_an_access_meets_is_in_its_classes(seed: int) -> None:
    rng = random.Random(seed)
    table = Addresses([memory(random_split(rng), random_split(rng))])
    subscripts = [[random_subscript(rng) for _ in range(2)] for _ in range(3)]
    numbers = [place(table, indices) for indices in subscripts]
    classes = table.classes(numbers)
    finest = [lcm(*(table.shape(n).moduli[d] for n in numbers)) for d in range(2)]
    splits = table.memories[0].splits
    for indices, number in zip(subscripts, numbers, strict=True):
        met = {
            tuple(bank(splits[d], e.evaluate(env)) % finest[d] for d, e in enumerate(indices))
            for env in iterations()
        }
        assert met <= set(classes[number])
        shape = table.shape(number)
        for d, e in enumerate(indices):
            if shape.resolved[d]:
                assert len({bank(splits[d], e.evaluate(env)) for env in iterations()}) == 1


@pytest.mark.parametrize("seed", range(60))
def test_accesses_that_are_kept_apart_never_meet(seed: int) -> None:
    rng = random.Random(1000 + seed)
    table = Addresses([memory(random_split(rng), random_split(rng))])
    a, b = ([random_subscript(rng) for _ in range(2)] for _ in range(2))
    x, y = place(table, a), place(table, b)
    splits = table.memories[0].splits
    for env in iterations():
        here = [e.evaluate(env) for e in a]
        there = [e.evaluate(env) for e in b]
        if here == there:
            assert x == y or table.may_alias(x, y)
        banks = ([bank(s, e) for s, e in zip(splits, at, strict=True)] for at in (here, there))
        if next(banks) == next(banks):
            assert table.may_share_bank(x, y)


def test_a_bank_is_known_where_the_factor_divides_the_step() -> None:
    table = Addresses([memory(Split("cyclic", 4))])
    known = table.shape(place(table, [Affine.of("i") * 8 + 3]))
    half = table.shape(place(table, [Affine.of("i") * 2 + 3]))
    unknown = table.shape(place(table, [Affine.of("i")]))
    assert (known.moduli, known.known_bank) == ((4,), True)
    assert (half.moduli, half.known_bank) == ((2,), False)
    assert (unknown.moduli, unknown.known_bank) == ((1,), False)


@pytest.mark.parametrize("seed", range(80))
def test_the_carried_distance_is_the_one_that_iterations_have(seed: int) -> None:
    rng = random.Random(2000 + seed)
    table = Addresses([memory(Split(), Split())])
    names = tuple(COUNTS)
    subscript = {v: rng.choice([0, 1, 1]) for v in names}
    base = [Affine.of(v) * k for v, k in subscript.items()]
    shifts = [rng.choice([0, 0, 1, -1, 2]) if k else 0 for k in subscript.values()]
    stored = place(table, [e + 8 for e in base])
    loaded = place(table, [e + 8 + s for e, s in zip(base, shifts, strict=True)])
    found = carried_distance(table, stored, loaded, Nest(COUNTS))
    every = iterations()
    target = [e.evaluate(env) for env in every for e in base]
    at = [tuple(target[2 * n : 2 * n + 2]) for n in range(len(every))]
    gaps = [
        later - first
        for first, later in itertools.combinations(range(len(every)), 2)
        if at[first] == tuple(x + s for x, s in zip(at[later], shifts, strict=True))
    ]
    if gaps:
        assert found == min(gaps)
    else:
        assert found is None or found > 0


@pytest.mark.parametrize(
    ("nest", "terms", "distance"),
    [
        # i·6 + j with 6 values of j: each element has its own i and j, which come again with k.
        ("kij", {"i": 6, "j": 1}, 24),
        ("ikj", {"i": 6, "j": 1}, 6),
        ("ijk", {"i": 6, "j": 1}, 1),
        ("ij", {"i": 6, "j": 1}, None),
        ("ij", {"i": -12, "j": 2}, None),
        # i·4 + j: (0, 4) and (1, 0) are one element.
        ("ij", {"i": 4, "j": 1}, 2),
    ],
)
def test_counters_that_are_digits_of_a_subscript_tell_when_an_element_comes_again(
    nest: str, terms: dict[str, int], distance: int | None
) -> None:
    table = Addresses([Memory("A", f32, (1024,), (Split(),))])
    subscript = sum((Affine.of(v) * k for v, k in terms.items()), Affine((), 100))
    address = place(table, [subscript])
    found = carried_distance(
        table, address, address, Nest({v: {**COUNTS, "k": 3}[v] for v in nest})
    )
    assert found == distance
    even = place(table, [Affine.of("i") * 12 + Affine.of("j") * 2])
    odd = place(table, [Affine.of("i") * 12 + Affine.of("j") * 2 + 1])
    assert carried_distance(table, even, odd, Nest(COUNTS)) is None


# ------------------------------------------------------------------- banks of divided subscripts


@weft.kernel
def divided(A: i16[18, 38]):
    for i in range(2, 6):
        A[i // 3 + 1, 2 * i] = A[i // 3 + 1, 2 * i] + 1


@divided.schedule
def two_copies(s):
    s.unroll("i", factor=2)
    s.partition("A", 0, factor=2)


@pytest.mark.parametrize("tool", ["vitis-2022.1-zu9eg-10ns", "vitis-2025.1-u200-4ns"])
def test_copies_whose_subscripts_are_divided_may_be_in_one_bank(tool: str) -> None:
    """4 // 3 and 5 // 3 are one row: two loads and two stores of a bank with two ports."""
    (loop,) = weft.estimate(divided, two_copies, tool=tool).loops
    assert loop.ii >= 2
