"""Accesses to packed arguments, lane by lane as level 3 has them, as accesses of whole words.

The lanes of a word are copies of a statement (`mlir_passes.dialect.words` holds that), each with the same
offset and a bank of its own. Here they become one `LOAD` of a word, whose lanes are cut out of it, or one
`STORE` of which each operand is a lane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from backends.rtl.front.accesses.memory import Access
from backends.rtl.front.blocks.block import Draft
from backends.rtl.front.unsupported import unsupported
from backends.rtl.front.values.scope import Scope
from backends.rtl.graph import Array, Kind, Op, Use
from dsl.expressions.affine import Affine


def in_words(found: Draft, arrays: Mapping[str, Array], scope: Scope) -> Draft:
    """The same block with one access for each word of a packed argument.

    Args:
        found: Operations in any order; those that come new are appended.
        arrays: By name; packed ones have ``lanes``.
        scope: The loops around.

    Raises:
        ToolError: W460, a word that is stored in parts.
    """
    packed = [a for a in found.accesses if a.array in arrays and arrays[a.array].lanes > 1]
    if not packed:
        return found
    maker = _Words(found, arrays, scope)
    loads: dict[tuple[str, Affine, int], list[Access]] = {}
    stores: dict[tuple[str, Affine], list[Access]] = {}
    for access in packed:
        offset = maker.offset(access)
        if access.is_store:
            stores.setdefault((access.array, offset), []).append(access)
        else:
            loads.setdefault((access.array, offset, access.time), []).append(access)
    words = [*map(maker.load, loads.values()), *map(maker.store, stores.values())]
    kept = [a for a in found.accesses if a not in packed]
    accesses = sorted((*kept, *words), key=lambda a: (a.time, a.op))
    return Draft(
        tuple(maker.ops), tuple(maker.ranges), tuple(accesses), found.registers, found.held
    )


class _Words:
    """The operations of a block so far."""

    def __init__(self, found: Draft, arrays: Mapping[str, Array], scope: Scope) -> None:
        self.found = found
        self.arrays = arrays
        self.scope = scope
        self.ops = list(found.ops)
        self.ranges = list(found.ranges)

    def offset(self, access: Access) -> Affine:
        place = self.ops[access.op].place
        assert place is not None
        if place.bank is None:
            raise unsupported(f"an access to '{access.array}' that is no lane of a word")
        return place.offset

    def _new(self, op: Op, limits: tuple[int, int]) -> int:
        self.ops.append(op)
        self.ranges.append(limits)
        return op.id

    def _word(
        self, like: Op, array: Array, operands: tuple[Use, ...], lanes: Sequence[Access]
    ) -> int:
        """An access of a word, under the condition of its first lane: others are left out where that is."""
        ops = [self.ops[a.op] for a in lanes]
        first = min(ops, key=_lane)
        guard = first.guard
        if _lane(first):
            guard = tuple(c for c in guard if all(c in op.guard for op in ops))
        assert like.place is not None
        op = replace(
            like,
            id=len(self.ops),
            width=array.word,
            operands=operands,
            place=replace(like.place, bank=0),
            guard=guard,
        )
        return self._new(op, (0, (1 << array.word) - 1))

    def load(self, lanes: list[Access]) -> Access:
        """One load; the loads of lanes become shifts of what it gives."""
        array = self.arrays[lanes[0].array]
        like = self.ops[lanes[0].op]
        word = self._word(like, array, (), lanes)
        for access in lanes:
            old = self.ops[access.op]
            at = _lane(old) * array.width
            bits = max(1, at.bit_length())
            const = Op(len(self.ops), Kind.CONST, bits, value=at, stmt=old.stmt)
            amount = Use(self._new(const, (at, at)))
            self.ops[access.op] = Op(
                old.id, Kind.SHR, array.width, (Use(word), amount), stmt=old.stmt
            )
        return self._access(lanes[0], word, lanes)

    def store(self, lanes: list[Access]) -> Access:
        """One store of all lanes; those that no statement gives are padding of a row."""
        array = self.arrays[lanes[0].array]
        lanes.sort(key=lambda a: a.time)
        self._check_together(lanes)
        given = {_lane(self.ops[a.op]): self.ops[a.op].operands[0] for a in lanes}
        if 0 not in given or len(given) < len(lanes):
            raise unsupported(f"a word of '{array.name}' that is stored twice, or in parts")
        *_, last = lanes[0].indices
        base = last - Affine((), _lane(self.ops[lanes[0].op]))
        row = array.shape[-1]
        missing = [n for n in range(array.lanes) if n not in given]
        if any(self.scope.low(base + Affine((), n)) < row for n in missing):
            raise unsupported(f"a word of '{array.name}' that is stored in parts")
        zero = (
            Use(self._new(Op(len(self.ops), Kind.CONST, 1, value=0), (0, 0))) if missing else None
        )
        operands = [given.get(n, zero) for n in range(array.lanes)]
        uses = tuple(u for u in operands if u is not None)
        word = self._word(self.ops[lanes[0].op], array, uses, lanes)
        return self._access(lanes[-1], word, lanes)

    def _check_together(self, lanes: list[Access]) -> None:
        """That nothing in between may be of the same word."""
        ops = {a.op for a in lanes}
        first, last = lanes[0].time, lanes[-1].time
        for other in self.found.accesses:
            if other.array != lanes[0].array or other.op in ops:
                continue
            if first < other.time < last and not self.scope.distinct(
                _word_indices(other, self.found.ops), _word_indices(lanes[0], self.found.ops)
            ):
                raise unsupported(f"a word of '{other.array}' that is stored in parts")

    def _access(self, like: Access, op: int, lanes: list[Access]) -> Access:
        """Of the word, in the name of its first lane: two words meet where these do."""
        return Access(
            op,
            like.is_store,
            like.array,
            _word_indices(like, self.found.ops),
            self.ops[op].guard,
            like.time,
        )


def _lane(op: Op) -> int:
    assert op.place is not None
    assert op.place.bank is not None
    return op.place.bank


def _word_indices(access: Access, ops: Sequence[Op]) -> tuple[Affine, ...]:
    """The subscripts of the first lane."""
    *others, last = access.indices
    return (*others, last - Affine((), _lane(ops[access.op])))
