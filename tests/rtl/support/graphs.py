"""Small graphs made by hand."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from backends.rtl.graph import (
    Array,
    Block,
    Counter,
    Dep,
    DepKind,
    Graph,
    Kind,
    Memory,
    Op,
    Pipeline,
    Place,
    Use,
)
from dsl.expressions.affine import Affine, Constraint
from polyhedral.banks.splits import Split


def affine(terms: dict[str, int] | None = None, const: int = 0) -> Affine:
    total = Affine((), const)
    for name, factor in (terms or {}).items():
        total = total + Affine.of(name) * factor
    return total


def array(name: str, width: int, depth: int, banks: int = 1, **more) -> Array:
    split = Split("cyclic", banks)
    memory = more.pop("memory", Memory.BRAM)
    argument = more.pop("argument", True)
    return Array(name, width, (depth * banks,), (split,), memory, argument, **more)


def counter(iv: str, upper, lower=0, step: int = 1) -> Counter:
    def bounds(given):
        several = given if isinstance(given, tuple) else (given,)
        return tuple(Affine.of(b) for b in several)

    return Counter(iv, bounds(lower), bounds(upper), step, iv)


@dataclass
class Maker:
    """Collects the operations of a block."""

    ops: list[Op] = field(default_factory=list)
    deps: list[Dep] = field(default_factory=list)

    def op(self, kind: Kind, width: int, *operands: int, signed: bool = True, **more) -> int:
        uses = tuple(Use(o, signed) for o in operands)
        self.ops.append(Op(len(self.ops), kind, width, uses, **more))
        return len(self.ops) - 1

    def load(self, name: str, width: int, offset: Affine, **more) -> int:
        place = Place(name, offset, more.pop("bank", 0), more.pop("bank_affine", None))
        return self.op(Kind.LOAD, width, place=place, **more)

    def store(self, name: str, width: int, value: int, offset: Affine, **more) -> int:
        place = Place(name, offset, more.pop("bank", 0), more.pop("bank_affine", None))
        return self.op(Kind.STORE, width, value, place=place, **more)

    def dep(self, src: int, dst: int, kind: DepKind, distance: int = 0) -> None:
        self.deps.append(Dep(src, dst, kind, distance))

    @property
    def block(self) -> Block:
        return Block(tuple(self.ops), tuple(self.deps))


def mac(n: int = 12, ii: int = 1, size: int = 12, *, floats: bool = False) -> Graph:
    """``s[0] += a[i] * b[i]`` with the sum in a register; of floats without the product."""
    m = Maker()
    i = affine({"i": 1})
    first = (Constraint(-i),)
    acc = m.load("acc", 32, affine())
    start = m.load("s", 32, affine(), guard=first)
    a, b = m.load("a", 16, i), m.load("b", 16, i)
    holds = m.op(Kind.HOLDS, 1, guard=first)
    old = m.op(Kind.SELECT, 32, holds, start, acc, signed=False)
    product = m.op(Kind.MUL, 32, a, b)
    add = Kind.FADD if floats else Kind.ADD
    total = m.op(add, 32, product, old, signed=not floats)
    keep = m.store("acc", 32, total, affine())
    last = m.store("s", 32, total, affine(), guard=(Constraint(i - (n - 1)),))
    m.dep(acc, keep, DepKind.ANTI)
    m.dep(keep, acc, DepKind.FLOW, 1)
    m.dep(start, last, DepKind.ANTI)
    arrays = (
        array("a", 16, max(n, size)),
        array("b", 16, max(n, size)),
        array("s", 32, 4),
        array("acc", 32, 1, memory=Memory.REGISTERS, argument=False),
    )
    return Graph("mac", arrays, (), (Pipeline((counter("i", n),), m.block, ii),))


def random_block(seed: int):
    """Loads, stores and operators on two banks, with order between iterations."""
    rng = random.Random(seed)
    m = Maker()
    values: list[int] = []
    loads: list[tuple[int, str]] = []
    stores: list[tuple[int, str]] = []
    for n in range(rng.randint(4, 14)):
        if len(values) < 2 or rng.random() < 0.4:
            name = rng.choice("ab")
            values.append(m.load(name, 32, affine({"i": 1}, n)))
            loads.append((values[-1], name))
        elif rng.random() < 0.25:
            name = rng.choice("ab")
            stores.append((m.store(name, 32, rng.choice(values[-3:]), affine({"i": 1}, n)), name))
        else:
            kind = rng.choice((Kind.ADD, Kind.MUL, Kind.FADD))
            pair = (rng.choice(values[-3:]), rng.choice(values))
            values.append(m.op(kind, 32, *pair, signed=False))
    stores.append((m.store("a", 32, values[-1], affine({"i": 1}, 99)), "a"))
    for store, there in stores:
        for load, here in loads:
            if there == here and rng.random() < 0.5:
                m.dep(store, load, DepKind.FLOW, rng.randint(1, 3))
            elif there == here and load < store:
                m.dep(load, store, DepKind.ANTI)
    return Graph("random", (array("a", 32, 64), array("b", 32, 64)), ()), m.block
