"""Addresses: which element an access touches, as far as the tool can know, and in which bank.

An address is a shape (the part of each subscript that moves with loops) and constants. Addresses
and shapes are interned, so that a body of thousands of accesses compares small integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import gcd, lcm

from dsl.expressions.affine import Affine, Atom, FloorDiv
from qor_gnn.design.region import Memory

Terms = tuple[tuple[Atom, int], ...]
Residues = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """The moving part of an access: per dimension its terms, and what they leave of the bank.

    ``moduli[d]`` is g: the bank of dimension d is known modulo g; it is known iff g is the factor.
    """

    memory: int
    terms: tuple[Terms, ...]
    moduli: tuple[int, ...]
    resolved: tuple[bool, ...]
    variables: frozenset[str]
    in_blocks: bool = False

    @property
    def known_bank(self) -> bool:
        """The bank is the same in every iteration."""
        return all(self.resolved)


@dataclass(slots=True)
class Addresses:
    """The interned shapes and addresses of one evaluation.

    Attributes:
        memories: the arrays, by number.
        banks_hide: see `Banks.hidden_by_innermost`.
        order: of the counters, outer ones first, while a pipeline's accesses are interned
            (`Banks.hidden_by_others`); elsewhere there is none.
        blurred: counters of which the tool cannot compare the copies (`Unrolling.compares_copies`).
        cancelled: memories with a remainder for a subscript from which the beginning of a loop may
            be lost.
    """

    memories: Sequence[Memory]
    banks_hide: bool = False
    order: Mapping[str, int] = field(default_factory=dict)
    blurred: set[str] = field(default_factory=set)
    cancelled: set[int] = field(default_factory=set)
    lane_counters: dict[int, frozenset[str]] = field(
        default_factory=dict
    )  # that choose a lane of a word
    counters: dict[str, tuple[int, int]] = field(
        default_factory=dict
    )  # values that each takes, and its step, of the unrolled loop
    unplaced: dict[int, tuple[int, ...]] = field(
        default_factory=dict
    )  # dimensions of which the bank may be any: see `Access.late`
    shapes: list[Shape] = field(default_factory=list)
    shape_of: list[int] = field(default_factory=list)
    consts: list[tuple[int, ...]] = field(default_factory=list)
    residues: list[Residues] = field(default_factory=list)
    _shape_ids: dict[tuple[int, tuple[Terms, ...], tuple[int, ...]], int] = field(
        default_factory=dict
    )
    _ids: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict)
    _apart: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    def shape_id(self, memory: int, terms: tuple[Terms, ...]) -> int:
        """The number of a shape."""
        hidden: tuple[int, ...] = ()
        if self.order:
            one = self.memories[memory]
            hidden = tuple([d for d, t in enumerate(terms) if _hidden(one, d, t, self.order)])
        key = (memory, terms, hidden)
        found = self._shape_ids.get(key)
        if found is None:
            found = self._shape_ids[key] = len(self.shapes)
            self.shapes.append(_shape(self.memories[memory], memory, terms, hidden))
        return found

    def address_id(self, shape: int, consts: tuple[int, ...]) -> int:
        """The number of an address."""
        key = (shape, consts)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = len(self.consts)
            self.shape_of.append(shape)
            self.consts.append(consts)
            self.residues.append(self._residues(self.shapes[shape], consts))
        return found

    def _residues(self, shape: Shape, consts: tuple[int, ...]) -> Residues:
        if not shape.in_blocks:
            return tuple([(g, c % g) for g, c in zip(shape.moduli, consts, strict=True)])
        memory = self.memories[shape.memory]
        found = []
        for d, (g, c) in enumerate(zip(shape.moduli, consts, strict=True)):
            split = memory.splits[d]
            if split.kind == "block":
                c = split.bank(c, memory.shape[d])
            found.append((g, c % g))
        return tuple(found)

    def shape(self, address: int) -> Shape:
        """The shape of an address."""
        return self.shapes[self.shape_of[address]]

    def memory(self, address: int) -> Memory:
        """The memory of an address."""
        return self.memories[self.shape(address).memory]

    def moves(self, address: int, counters: frozenset[str]) -> bool:
        """Whether some of the counters move the element: to another word, or to another lane of it."""
        lane = self.lane_counters.get(address, frozenset())
        return not counters.isdisjoint(self.shape(address).variables | lane)

    def may_alias(self, a: int, b: int) -> bool:
        """Whether two different addresses of one memory can be the same element."""
        s, t = self.shape_of[a], self.shape_of[b]
        if self.shapes[s].memory != self.shapes[t].memory:
            return False
        return self._may_be_equal(a, b, self.apart(s, t))

    def apart(self, s: int, t: int) -> tuple[int, ...]:
        """What tells elements of two shapes of one memory apart: a number for each dimension.

        Subscripts can be equal where their constants are equal modulo the number; 0 where they
        are alike but for the constants, which have to be the same.
        """
        key = (s, t)
        found = self._apart.get(key)
        if found is None:
            pairs = zip(self.shapes[s].terms, self.shapes[t].terms, strict=True)
            found = self._apart[key] = tuple([_common_step(p, q) for p, q in pairs])
        return found

    def where(self, address: int, apart: Sequence[int]) -> tuple[int, ...]:
        """What `apart` leaves of an address: two of these shapes can be equal where that is equal."""
        pairs = zip(self.consts[address], apart, strict=True)
        return tuple([c % rule if rule else c for c, rule in pairs])

    def may_alias_in_copies(self, a: int, b: int) -> bool:
        """The same for accesses of different copies: subscripts of blurred counters tell nothing."""
        if not self.blurred or self.shape(a).memory != self.shape(b).memory:
            return self.may_alias(a, b)
        return self._may_be_equal(a, b, self.apart_in_copies(self.shape_of[a], self.shape_of[b]))

    def _may_be_equal(self, a: int, b: int, apart: tuple[int, ...]) -> bool:
        dims = zip(self.consts[a], self.consts[b], apart, strict=True)
        return not any((c - d) % rule if rule else c != d for c, d, rule in dims)

    def apart_in_copies(self, s: int, t: int) -> tuple[int, ...]:
        """The same for accesses of different copies; 1 where a subscript tells nothing."""
        pairs = zip(self.shapes[s].terms, self.apart(s, t), strict=True)
        return tuple([1 if self.blurs(terms) else rule for terms, rule in pairs])

    def blurs(self, terms: Terms) -> bool:
        """A subscript moves with a counter whose copies the tool cannot compare."""
        return bool(self.blurred) and any(atom in self.blurred for atom, _ in terms)

    def may_share_bank(self, a: int, b: int) -> bool:
        """Whether two accesses of one memory can meet in a bank."""
        if self.shape(a).memory != self.shape(b).memory:
            return False
        pairs = zip(self.residues[a], self.residues[b], strict=True)
        return all((r - q) % gcd(g, h) == 0 for (g, r), (h, q) in pairs)

    def text(self, address: int) -> str:
        """The access as a person writes it."""
        shape = self.shape(address)
        parts = zip(shape.terms, self.consts[address], strict=True)
        indices = "".join(f"[{'?' if (e := Affine(t, c)).is_data else e}]" for t, c in parts)
        return self.memories[shape.memory].name + indices

    def classes(self, used: Sequence[int]) -> dict[int, tuple[tuple[int, ...], ...]]:
        """For each address the bank classes that it may occupy.

        The classes of a memory are as fine as the finest access in ``used`` needs.
        """
        finest: dict[int, list[int]] = {}
        for a in used:
            shape = self.shape(a)
            known = finest.setdefault(shape.memory, [1] * len(shape.moduli))
            for d, g in enumerate(shape.moduli):
                known[d] = lcm(known[d], g)
        found = {}
        known_classes: dict[tuple[int, Residues], tuple[tuple[int, ...], ...]] = {}
        for a in used:
            if a in found:
                continue
            key = (self.shape(a).memory, self.residues[a])
            classes = known_classes.get(key)
            if classes is None:
                classes = known_classes[key] = bank_classes(finest[key[0]], key[1])
            found[a] = classes
        return found

    def rotating(self, used: Sequence[int]) -> dict[int, tuple[tuple[int, ...], ...]]:
        """The bank of each address relative to where its moving subscripts are.

        Accesses of different shapes are taken to move alike, but where every element has its bank:
        there they meet in few iterations. Which block of neighbours a moving subscript is in is not
        known: it may be any; nor is the bank of one that is divided, against one that is so otherwise.
        """
        found: dict[int, tuple[tuple[int, ...], ...]] = {}
        numbers: dict[Terms, int] = {}
        divided = self._divided_otherwise(used)
        for a in used:
            memory, terms = self.memory(a), self.shape(a).terms
            where: list[Sequence[int]] = []
            for d, (c, split, extent, moving) in enumerate(
                zip(self.consts[a], memory.splits, memory.shape, terms, strict=True)
            ):
                if d in self.unplaced.get(a, ()):
                    where.append(range(split.factor))
                    continue
                if (self.shape(a).memory, d) in divided and 1 < split.factor < extent:
                    where.append(range(split.factor) if moving else (c % split.factor,))
                    continue
                if split.kind == "block" and 1 < split.factor < extent:
                    block = split.bank(c, extent)
                    where.append(range(split.factor) if moving else (block % split.factor,))
                    continue
                apart = split.factor >= extent and numbers.setdefault(moving, len(numbers))
                where.append((c % split.factor + split.factor * apart,))
            found[a] = tuple(product(*where))
        return found

    def _divided_otherwise(self, used: Sequence[int]) -> set[tuple[int, int]]:
        """Memories and dimensions with several subscripts of which one is divided: i // 3, (i + 1) // 3."""
        ways: dict[tuple[int, int], set[Terms]] = {}
        for a in used:
            for d, moving in enumerate(self.shape(a).terms):
                ways.setdefault((self.shape(a).memory, d), set()).add(moving)
        return {
            key
            for key, terms in ways.items()
            if len(terms) > 1
            and any(isinstance(atom, FloorDiv) for moving in terms for atom, _ in moving)
        }


def bank_classes(limits: Sequence[int], residues: Residues) -> tuple[tuple[int, ...], ...]:
    """The classes modulo ``limits`` that are compatible with the residues."""
    choices = (
        (r,) if g >= limit else tuple(range(r, limit, g))
        for limit, (g, r) in zip(limits, residues, strict=True)
    )
    return tuple(product(*choices))


def _common_step(p: Terms, q: Terms) -> int:
    """What the difference of two subscripts is a multiple of, but for constants; 0 of equal ones."""
    return 0 if p == q else gcd(*(k for _, k in (*p, *q)))


def _shape(memory: Memory, number: int, terms: tuple[Terms, ...], hidden: tuple[int, ...]) -> Shape:
    moduli, resolved = [], []
    for d, subscript in enumerate(terms):
        split = memory.splits[d]
        g = split.factor
        if (split.kind == "block" and subscript) or d in hidden:
            g = 1
        else:
            for _, coefficient in subscript:
                g = gcd(g, coefficient)
        moduli.append(g)
        resolved.append(g == split.factor)
    names: set[str] = set()
    for subscript in terms:
        names |= Affine(subscript).variables()
    in_blocks = any(split.kind == "block" for split in memory.splits)
    return Shape(number, terms, tuple(moduli), tuple(resolved), frozenset(names), in_blocks)


def _hidden(memory: Memory, d: int, terms: Terms, order: Mapping[str, int]) -> bool:
    """Nothing is known of the remainder that is a subscript's bank: a counter moves it by no
    multiple of what the innermost one does.
    """
    factor = memory.splits[d].factor
    if len(terms) < 2 or factor >= memory.shape[d] or not factor & (factor - 1):
        return False
    _, step = max(terms, key=lambda term: order.get(str(term[0]), -1))
    return any(k % step for _, k in terms)


@dataclass(frozen=True, slots=True)
class Site:
    """An access in a body, ready to be placed: the shape, and constants that move with copies.

    ``dims`` holds per dimension the constant and the (copied variable, coefficient) pairs.
    ``slow`` holds the subscripts themselves where a floor division hides a copied variable. ``lane``: of the word
    that is accessed. ``unplaced``: dimensions of which the bank may be any.
    """

    memory: int
    shape: int
    dims: tuple[tuple[int, tuple[tuple[str, int], ...]], ...]
    slow: tuple[Affine, ...] | None = None
    lane: Affine | None = None
    unplaced: tuple[int, ...] = ()

    @property
    def moved(self) -> frozenset[str]:
        """The copied variables that tell its copies apart."""
        hidden = (v for e in (*(self.slow or ()), self.lane or Affine()) for v in e.variables())
        return frozenset((*hidden, *(v for _, moving in self.dims for v, _ in moving)))

    def lane_in(self, copies: Mapping[str, int]) -> Affine:
        """The lane in one copy of the body; of what is no word the only one there is."""
        lane = self.lane or Affine()
        return lane.substitute({v: Affine((), c) for v, c in copies.items()})

    def place(self, table: Addresses, copies: Mapping[str, int]) -> int:
        """The address in one copy of the body."""
        if self.slow is not None:
            values = {v: Affine((), c) for v, c in copies.items()}
            subscripts = [e.substitute(values) for e in self.slow]
            shape = table.shape_id(self.memory, tuple(e.terms for e in subscripts))
            return table.address_id(shape, tuple(e.const for e in subscripts))
        consts = []
        for const, moving in self.dims:
            for v, k in moving:
                const += k * copies[v]
            consts.append(const)
        found = table.address_id(self.shape, tuple(consts))
        if self.unplaced:
            table.unplaced[found] = self.unplaced
        return found


def site(
    table: Addresses,
    memory: int,
    indices: Sequence[Affine],
    copied: frozenset[str],
    late: tuple[int, ...] = (),
) -> Site:
    """Prepare an access whose outer variables are already placed; ``copied`` are still open. ``late``: see `Access`."""
    terms: list[Terms] = []
    dims: list[tuple[int, tuple[tuple[str, int], ...]]] = []
    for e in indices:
        if not e.is_linear and e.variables() & copied:
            return Site(memory, -1, (), tuple(indices))
        terms.append(tuple(t for t in e.terms if t[0] not in copied))
        moving = tuple((str(a), c) for a, c in e.terms if a in copied)
        dims.append((e.const, moving))
    unplaced = _divided(table.memories[memory], terms, late) if late else ()
    return Site(memory, table.shape_id(memory, tuple(terms)), tuple(dims), unplaced=unplaced)


def _divided(memory: Memory, terms: Sequence[Terms], dims: tuple[int, ...]) -> tuple[int, ...]:
    """Those of some dimensions whose bank only a division of counters that run tells."""
    found = []
    for d in dims:
        split = memory.splits[d]
        no_power = split.kind == "cyclic" and split.factor & (split.factor - 1)
        if (
            no_power
            and split.factor < memory.shape[d]
            and any(k % split.factor for _, k in terms[d])
        ):
            found.append(d)
    return tuple(found)
