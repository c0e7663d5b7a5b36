"""Chains of additions as trees: what is late, and what an iteration hands to the next, joins last.

Integer additions may be done in any order. Those of floats only in a statement that a schedule
reassociates, and there only the order of its own iterations is free.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from backends.rtl.front.blocks.block import Draft, moved
from backends.rtl.front.values.val import bits_of, signed_range
from backends.rtl.graph import FLOATS, Kind, Op, Use

_CARRIED = 1 << 20
"""Lateness of what depends on an earlier iteration."""

_LATENESS = {
    Kind.MUL: 3,
    Kind.ADD: 1,
    Kind.SUB: 1,
    Kind.LT: 1,
    Kind.LE: 1,
    Kind.DIV: 20,
    Kind.FLOORDIV: 20,
    Kind.REM: 20,
    Kind.FDIV: 16,
    Kind.FSQRT: 16,
    Kind.FEXP: 20,
}


@dataclass(frozen=True, slots=True)
class _Term:
    """A summand: how it is read, its sign, its range and how late it is."""

    use: Use
    minus: bool
    low: int
    high: int
    late: int


def balanced(found: Draft, reassociated: frozenset[str]) -> Draft:
    """The same block with trees for chains of additions.

    Args:
        found: a block in order.
        reassociated: statements whose float sums may be done in any order.
    """
    if not any(op.kind in (Kind.ADD, Kind.SUB, Kind.FADD, Kind.FSUB) for op in found.ops):
        return found
    return _Balancer(found, reassociated).run()


@dataclass(slots=True)
class _Balancer:
    found: Draft
    reassociated: frozenset[str]
    late: list[int] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    lateness: list[int] = field(default_factory=list)
    new: dict[int, int] = field(default_factory=dict)

    def run(self) -> Draft:
        old = self.found.ops
        self.late = _lateness(self.found)
        uses = [0] * len(old)
        for op in old:
            for u in op.operands:
                uses[u.op] += 1
        inner: set[int] = set()
        roots: dict[int, list[_Term]] = {}
        for op in reversed(old):
            if op.kind in (Kind.ADD, Kind.SUB, Kind.FADD, Kind.FSUB) and op.id not in inner:
                terms, absorbed = self._terms(op, uses)
                if len(terms) > 2:
                    roots[op.id] = terms
                    inner |= absorbed
        for op in old:
            if op.id in roots:
                self.new[op.id] = self._tree(op, roots[op.id])
            elif op.id not in inner:
                operands = tuple(Use(self.new[u.op], u.signed) for u in op.operands)
                new = moved(op, len(self.ops), operands)
                self.new[op.id] = self._emit(new, self.found.ranges[op.id], self.late[op.id])
        accesses = tuple(a.at(self.new[a.op]) for a in self.found.accesses)
        return Draft(
            tuple(self.ops), tuple(self.ranges), accesses, self.found.registers, self.found.held
        )

    def _emit(self, op: Op, limits: tuple[int, int], late: int) -> int:
        number = len(self.ops)
        self.ops.append(op if op.id == number else moved(op, number, op.operands))
        self.ranges.append(limits)
        self.lateness.append(late)
        return number

    def _terms(self, root: Op, uses: Sequence[int]) -> tuple[list[_Term], set[int]]:
        """What a chain adds up, and the additions that are part of it."""
        old = self.found.ops
        terms: list[_Term] = []
        absorbed: set[int] = set()
        floats = root.kind in FLOATS
        pending = [(u, n == 1 and root.kind in (Kind.SUB, Kind.FSUB)) for n, u in _operands(root)]
        while pending:
            use, minus = pending.pop()
            op = old[use.op]
            same = (Kind.FADD, Kind.FSUB) if floats else (Kind.ADD, Kind.SUB)
            if op.kind in same and uses[op.id] == 1 and self._open(root, op, use):
                absorbed.add(op.id)
                for n, u in _operands(op):
                    pending.append((u, minus ^ (n == 1 and op.kind in (Kind.SUB, Kind.FSUB))))
            else:
                terms.append(_Term(use, minus, *self._limits(use), self.late[use.op]))
        return terms, absorbed

    def _open(self, root: Op, op: Op, use: Use) -> bool:
        """Its operands may as well be added to the root's others."""
        if root.kind in FLOATS:
            return (
                root.stmt in self.reassociated
                and op.stmt == root.stmt
                and self.late[op.id] >= _CARRIED
            )
        if op.width >= root.width:
            return True
        low, high = self.found.ranges[op.id]
        return (low < 0) == use.signed and bits_of(low, high) <= op.width and self._exact(op)

    def _exact(self, op: Op) -> bool:
        """The range of its operands says that the sum does not wrap around."""
        a, b = (self._limits(u) for u in op.operands)
        if op.kind is Kind.SUB:
            b = (-b[1], -b[0])
        low, high = self.found.ranges[op.id]
        return low <= a[0] + b[0] and a[1] + b[1] <= high

    def _limits(self, use: Use) -> tuple[int, int]:
        """The range of an operand as it is read."""
        op, (low, high) = self.found.ops[use.op], self.found.ranges[use.op]
        if op.kind is Kind.CONST:
            negative = use.signed and op.value >> (op.width - 1)
            value = op.value - (1 << op.width) if negative else op.value
            return value, value
        least, most = signed_range(op.width) if use.signed else (0, (1 << op.width) - 1)
        return (low, high) if least <= low and high <= most else (least, most)

    def _tree(self, root: Op, terms: list[_Term]) -> int:
        """Join the two earliest until there is one."""
        heap = [
            (t.late, n, replace(t, use=replace(t.use, op=self.new[t.use.op])))
            for n, t in enumerate(reversed(terms))
        ]
        heapq.heapify(heap)
        count = len(heap)
        while True:
            _, _, a = heapq.heappop(heap)
            _, _, b = heapq.heappop(heap)
            joined = self._joined(root, a, b, last=not heap)
            if not heap:
                return joined.use.op
            heapq.heappush(heap, (joined.late, count, joined))
            count += 1

    def _joined(self, root: Op, a: _Term, b: _Term, *, last: bool) -> _Term:
        if a.minus and not b.minus:
            a, b = b, a
        late = max(a.late, b.late) + _cost(root)
        subtract = b.minus and not a.minus
        both = a.minus and b.minus
        if both and last:
            return self._negated(root, a, b, late)
        if root.kind in FLOATS:
            kind = Kind.FSUB if subtract else Kind.FADD
            low, high, width = 0, (1 << 32) - 1, 32
        else:
            kind = Kind.SUB if subtract else Kind.ADD
            low, high = a.low + b.low, a.high + b.high
            if subtract:
                low, high = a.low - b.high, a.high - b.low
            width = root.width if last else min(root.width, bits_of(low, high))
            if bits_of(low, high) > width:
                low, high = signed_range(width)
        op = replace(root, kind=kind, width=width, operands=(a.use, b.use))
        limits = self.found.ranges[root.id] if last else (low, high)
        number = self._emit(op, limits, late)
        return _Term(Use(number, low < 0), both, low, high, late)

    def _negated(self, root: Op, a: _Term, b: _Term, late: int) -> _Term:
        """``-a - b``: no term is positive."""
        if root.kind in FLOATS:
            flipped = replace(root, kind=Kind.FNEG, width=32, operands=(a.use,))
            first = self._emit(flipped, (0, (1 << 32) - 1), late)
        else:
            const = replace(root, kind=Kind.CONST, width=1, operands=(), value=0)
            zero = self._emit(const, (0, 0), 0)
            op = replace(root, kind=Kind.SUB, operands=(Use(zero), a.use))
            first = self._emit(op, signed_range(root.width), late)
        return self._joined(
            root, _Term(Use(first, True), False, *signed_range(root.width), late), b, last=True
        )


def _operands(op: Op) -> list[tuple[int, Use]]:
    return list(enumerate(op.operands))


def _cost(op: Op) -> int:
    return 6 if op.kind in FLOATS else _LATENESS.get(op.kind, 0)


def _lateness(found: Draft) -> list[int]:
    """When each result is there, roughly, `_CARRIED` or more if it needs an earlier iteration's."""
    stored = {a.array for a in found.accesses if a.is_store}
    late: list[int] = []
    for op in found.ops:
        start = max((late[u.op] for u in op.operands), default=0)
        if op.kind is Kind.LOAD and op.place is not None and op.place.array in stored:
            start = _CARRIED
        late.append(start + _cost(op))
    return late
