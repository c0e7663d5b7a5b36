"""What ranking does not look at changes nothing: banks above those that copies reach, columns above the second."""

from __future__ import annotations

import random
from itertools import product

from dse.ranking.ports import Arrays
from dse.space.costs.addresses import Products, priced_products, products, row_products
from dse.space.memory.banks import interval_at
from dse.space.nests.nest import NestLoop, Order, Use
from dsl.expressions.affine import Affine
from qor_gnn.body.address_products import products_of
from qor_gnn.tools.personality import available, personality
from qor_gnn.tools.policies.indices import Indices

SHAPE = (40, 53)
TOOL = personality(next(name for name in available() if "2022.1" in name))
FIRST, SECOND = Affine.of("i"), Affine.of("j")
POLICY = Indices(row_states=1, row_add_states=2)
TIMES = (1, 2, 3, 4, 6, 7)


def uses(rng: random.Random) -> tuple[Use, ...]:
    """Some neighbours, or every second of them, in both dimensions or with the loops exchanged."""
    steps = rng.choice(
        ((FIRST, SECOND), (2 * FIRST, SECOND), (SECOND, FIRST), (FIRST + SECOND, SECOND))
    )
    places = {(rng.randrange(3), rng.randrange(3)) for _ in range(4)}
    ports = rng.choice(((1, 1, 2), (2, 2, 2)))
    return tuple(
        Use("a", (steps[0] + a, steps[1] + b), n == 3, SHAPE, ports)
        for n, (a, b) in enumerate(sorted(places))
    )


def order_of(accesses: tuple[Use, ...]) -> Order:
    loops = tuple(NestLoop(name, name, 48, 48.0, unrolls=True) for name in ("i", "j"))
    return Order((), loops, accesses, (), 1)


def test_more_banks_than_copies_reach_give_no_other_interval() -> None:
    """Nor do several banks in the place of each one where that is free of conflicts."""
    rng = random.Random(0)
    apart = conflicts = 0
    for _ in range(150):
        mine = uses(rng)
        arrays = Arrays(order_of(mine), TOOL)
        copies = (rng.choice(TIMES), rng.choice(TIMES))
        few = (rng.randint(1, 39), rng.randint(1, 23))
        many = (few[0] * rng.randint(1, 3), few[1] * rng.randint(1, 3))
        named = tuple(zip("ij", copies, strict=True))
        exact = tuple(interval_at(mine, named, factors) for factors in (few, many))
        assert arrays.interval(copies, few) == exact[0]
        assert arrays.intervals(copies, few, many) == exact
        apart += exact == (1, 1)
        conflicts += exact[1] > 1
    assert apart > 10
    assert conflicts > 10


def test_row_products_are_those_of_all_copies() -> None:
    """Of three dimensions, too, whose rows are products of products."""
    rng = random.Random(1)
    names = frozenset("ij")
    found: set[Products] = set()
    for _ in range(150):
        shape = rng.choice((SHAPE, (6, 45, 53), (40, 53, 1), (40, 8, 53)))
        steps = rng.choice(
            ((FIRST, SECOND, SECOND), (FIRST, FIRST, SECOND), (SECOND, FIRST, SECOND))
        )
        indices = tuple(step + rng.randrange(3) for step in steps[: len(shape)])
        use = Use("a", indices, False, shape, (1, 1, 2))
        copies = {"i": rng.choice(TIMES), "j": rng.choice(TIMES)}
        factors = tuple(rng.randint(1, min(n, 7)) for n in shape)
        words = [-(-n // f) for n, f in zip(shape, factors, strict=True)]
        terms = [tuple((str(v), c * copies[str(v)]) for v, c in x.terms) for x in indices]
        needed = []
        for i, j in product(*(range(u) for u in copies.values())):
            at = [x.evaluate({"i": i, "j": j}) // f for x, f in zip(indices, factors, strict=True)]
            each = zip(words, terms, at, factors, strict=True)
            needed.append(tuple(products_of(each, names)))
        exact = priced_products(needed, POLICY)
        assert priced_products(row_products([use], copies, names, factors), POLICY) == exact
        banks = {("a", d): f for d, f in enumerate(factors)}
        assert products([use], copies, names, banks, POLICY) == exact
        found.add(exact)
    assert len(found) > 5
