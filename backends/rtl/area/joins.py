"""Sums that synthesis joins with the only sum that takes them, by words (Yosys' ``alumacc``).

It does so before it looks at bits: equal expressions are one, wires are nothing, and a sum that is
extended is joined where it cannot overflow, for then its extension is exact. An extension by a sign
is bits to it unless both operands end with two equal bits: then the sum becomes one of signed words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from backends.rtl.area.arithmetic import SHORT
from backends.rtl.ir.expr import ArithOp, Expr
from backends.rtl.ir.module import Module
from backends.rtl.ir.nodes import Binary, Concat, Extend, Lit, Ref, Slice, children, topological


def joined_words(module: Module) -> frozenset[int]:
    """The `id` of the sums of a module that go into another one of more than a few bits."""
    words = _Words(module)
    found = set()
    for e in words.order:
        if _is_sum(e):
            into = words.taker(words.number[id(e)])
            if into is not None and into.width > SHORT:
                found.add(id(e))
    return frozenset(found)


class _Words:
    """Expressions of a module by number, equal ones by the same, and who takes them."""

    def __init__(self, module: Module) -> None:
        roots = list(module.roots())
        self.order: Sequence[Expr] = topological(roots)
        self.number: dict[int, int] = {}
        self._first: list[Expr] = []
        self._ranges: list[Range] = []
        keys: dict[object, int] = {}
        for e in self.order:
            number = keys.setdefault(_key(e, self.number), len(self._first))
            self.number[id(e)] = number
            if number == len(self._first):
                self._first.append(e)
                parts = [self._ranges[self.number[id(child)]] for child in children(e)]
                self._ranges.append(_range(e, parts))
        self._users: dict[int, set[int]] = defaultdict(set)
        for number, e in enumerate(self._first):
            for child in children(e):
                self._users[self.number[id(child)]].add(number)
        self._wires: dict[int, set[int]] = defaultdict(set)
        self._value = list(range(len(self._first)))  # of a wire that of what it stands for
        for wire in module.wires:
            number = self.number[id(wire.expr)]
            if (known := keys.get((Ref, wire.ref.name))) is not None:
                self._wires[number].add(known)
                self._value[known] = number
        inner = {id(wire.expr) for wire in module.wires}
        # Of a register, a memory, an instance or an output.
        self._ends = {self.number[id(root)] for root in roots if id(root) not in inner}

    def taker(self, number: int, signed: bool = False) -> Expr | None:
        """The sum that alone takes a word, extensions and lower parts of it left out.

        Args:
            number: Of the word.
            signed: Whether it was extended by its sign on the way.
        """
        users: set[int] = set()
        todo, seen = [number], {number}
        while todo:
            n = todo.pop()
            if n in self._ends:
                return None
            users |= self._users[n]
            fresh = self._wires[n] - seen
            seen |= fresh
            todo += fresh
        if len(users) != 1:
            return None
        user = users.pop()
        e = self._first[user]
        if isinstance(e, Slice) and e.lo == 0:
            return self.taker(user, signed)
        if isinstance(e, Extend) and self._holds(number, e.signed):
            return self.taker(user, signed or e.signed)
        return e if _is_sum(e) and (not signed or self._signs(e)) else None

    def _signs(self, total: Expr) -> bool:
        """Whether both operands of a sum could be extended by a sign."""
        parts = [self._first[self._value[self.number[id(child)]]] for child in children(total)]
        return all(_repeats(part) for part in parts)

    def _holds(self, number: int, signed: bool) -> bool:
        """Whether the bits of a sum are its value, with a sign or without."""
        (low, high), width = self._ranges[number], self._first[number].width
        if not _is_sum(self._first[number]):
            return False
        if signed:
            return low >= -(1 << width - 1) and high < 1 << width - 1
        return low >= 0 and high < 1 << width


def _is_sum(e: Expr) -> bool:
    return isinstance(e, Binary) and e.op in (ArithOp.ADD, ArithOp.SUB)


def _repeats(e: Expr) -> bool:
    """Whether the two highest bits of a word are the same one."""
    match e:
        case Extend():
            return e.signed or e.width > e.arg.width + 1
        case Lit():
            return e.value >> max(0, e.width - 2) in (0, 3)
        case Concat(parts=(Lit(value=0) as top, *_)):
            return top.width > 1
        case _:
            return False


def _key(e: Expr, number: dict[int, int]) -> object:
    """Equal for equal expressions, given the numbers of what they are of."""
    if isinstance(e, Ref):
        return Ref, e.name
    parts = tuple(number[id(child)] for child in children(e))
    match e:
        case Lit():
            return Lit, e.value, e.width
        case Slice():
            return Slice, e.hi, e.lo, parts
        case Extend():
            return Extend, e.signed, e.width, parts
        case _:
            kind = getattr(e, "op", None), getattr(e, "signed", None), getattr(e, "every", None)
            return type(e), kind, parts


Range = tuple[int, int]


def _range(e: Expr, parts: Sequence[Range]) -> Range:
    """The least and the greatest value of a word, if no sum in it overflows.

    Args:
        e: The word.
        parts: Those of its operands.
    """
    match e:
        case Binary(op=ArithOp.ADD):
            (a, b), (c, d) = parts
            return a + c, b + d
        case Binary(op=ArithOp.SUB):
            (a, b), (c, d) = parts
            return a - d, b - c
        case Extend(signed=True):
            half = 1 << e.arg.width - 1
            return -half, half - 1
        case Extend():
            return 0, (1 << e.arg.width) - 1
        case Lit():
            return e.value, e.value
        case Concat(parts=(Lit(value=0) as top, *_)):
            return 0, (1 << e.width - top.width) - 1
        case _:
            return 0, (1 << e.width) - 1
