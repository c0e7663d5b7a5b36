"""Choices among constants that counters decide, as a rewriting of the program: tables of what counters choose.

Before::

    for i in range(64):
      S0: y[i] = ((1.0 if 2*i % 32 < 2 else 0.98) if 2*i % 32 < 4 else ...) * x[i]

After::

    T: f32[16] = 1.0, 0.98, ...
    for i in range(64):
      S0: y[i] = T[i % 16] * x[i]

A choice among n words of w bits is n - 1 multiplexers of w bits wherever a counter is no number; a memory is read through one
port, in as many banks as copies of a loop read, and its address is known ahead. Each key (a test's subscript without its
constant and the factor that all of its terms have) has the values that counters give it, so that a stage of a transform has
a table of its own twiddle factors. What is small stays a choice, among no more than what its counters reach.

An ``if`` of which every branch assigns a constant to one element is such a choice as well.

What data decide stays a choice, too: a memory's state would be in every recurrence that the choice is in.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, prod
from typing import assert_never

from dsl.errors.errors import Span
from dsl.expressions import typing
from dsl.expressions.affine import Affine, And, Cond, Constraint, Or
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    Load,
    Select,
    Unary,
    UnaryOp,
    children,
    walk,
    with_operands,
)
from dsl.expressions.numeric import bounds
from dsl.expressions.types import DType, FloatType, IndexType, IntType, boolean
from dsl.programs.names import unused
from dsl.programs.program import (
    Array,
    If,
    Loop,
    Node,
    Program,
    Stmt,
    Storage,
    statements_in,
    variables_in,
)

MIN_ENTRIES = 8
MIN_BITS = 128
"""Of all words: a table of fewer is a few LUTs as a choice, and has no state of its own then."""
MAX_ENTRIES = 4096
MOST_UNUSED = 4
"""Entries for each constant of the choice: those between two that a condition tells apart are stored one by one."""
MOST_KEYS = 2
MAX_POINTS = 4096
"""Values of loop variables that are tried: ``i % 3`` is 0 to 2, which its terms do not tell."""

Ranges = Mapping[str, tuple[int, int]]
Values = Mapping[Affine, int]

_COMPARED: dict[CompareOp, Callable[[int, int], bool]] = {
    CompareOp.EQ: lambda a, b: a == b,
    CompareOp.NE: lambda a, b: a != b,
    CompareOp.LT: lambda a, b: a < b,
    CompareOp.LE: lambda a, b: a <= b,
    CompareOp.GT: lambda a, b: a > b,
    CompareOp.GE: lambda a, b: a >= b,
}
_LOGIC: dict[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.AND: lambda a, b: a & b,
    BinaryOp.OR: lambda a, b: a | b,
    BinaryOp.XOR: lambda a, b: a ^ b,
}


def tabulated(program: Program) -> Program:
    """The program with tables in the place of its large choices among constants that counters decide."""
    chosen = any(isinstance(e, Select) for s in program.statements() for e in walk(s.value))
    if not chosen and not any(isinstance(node, If) for node, _ in program.walk()):
        return program
    taken = {a.name for a in program.arrays} | variables_in(program)
    taken |= {s.name for s in program.statements()}
    made = _Tables(taken, list(program.tables), {a.name: a.dtype for a in program.arrays})
    body = tuple(made.node(n, {}) for n in program.body)
    if body == program.body:
        return program
    arguments = tuple(a for a in program.arrays if a.storage is Storage.ARGUMENT)
    others = [a for a in program.arrays if a.storage not in (Storage.ARGUMENT, Storage.TABLE)]
    return replace(program, arrays=(*arguments, *made.tables, *others), body=body)


@dataclass(slots=True)
class _Tables:
    """Rewrites statements.

    Attributes:
        taken: names that no table may have.
        tables: those that are there.
        types: of elements, by array.
    """

    taken: set[str]
    tables: list[Array]
    types: Mapping[str, DType]

    def node(self, node: Node, ranges: Ranges) -> Node:
        """A node, its loops' variables in these ranges."""
        match node:
            case Stmt(value=value):
                new = self.of(value, ranges)
                return node if new is value else replace(node, value=new)
            case If(then=then, orelse=orelse):
                if (one := self._assignment(node, ranges)) is not None:
                    return one
                sides = [tuple(self.node(n, ranges) for n in side) for side in (then, orelse)]
                return replace(node, then=sides[0], orelse=sides[1])
            case Loop(var=var, lowers=lowers, uppers=uppers, body=body):
                inside = dict(ranges)
                inside.pop(var, None)
                if all(b.variables() <= ranges.keys() for b in (*lowers, *uppers)):
                    low = max(b.interval(ranges)[0] for b in lowers)
                    high = max(low, min(b.interval(ranges)[1] for b in uppers) - 1)
                    inside[var] = low, high
                return replace(node, body=tuple(self.node(n, inside) for n in body))

    def _assignment(self, node: If, ranges: Ranges) -> Stmt | None:
        """An ``if`` whose branches assign constants to one element as an assignment from a table; None of all others."""
        statements = list(statements_in(node))
        first = statements[0]
        value = _value(node) if all(s.target == first.target for s in statements) else None
        if not isinstance(value, Select) or first.target.array not in self.types:
            return None
        value = replace(value, dtype=self.types[first.target.array])
        found = self._choice(value, ranges)
        if not isinstance(found, Load):
            return None
        return replace(first, value=found, span=node.span)

    def of(self, expr: Expr, ranges: Ranges) -> Expr:
        """An expression; the same object where nothing in it changes."""
        if isinstance(expr, Select) and (found := self._choice(expr, ranges)) is not None:
            return found
        return with_operands(expr, [self.of(part, ranges) for part in children(expr)])

    def _choice(self, choice: Select, ranges: Ranges) -> Expr | None:
        """What stands for a choice; None where it stays as it is."""
        keys = _keys(choice)
        if not keys or len(keys) > MOST_KEYS:
            return None
        if not all(key.variables() <= ranges.keys() for key in keys):
            return None  # a counter of the kernel that this one is read for
        spans = [_span(key, ranges) for key in keys]
        shape = [high - low + 1 for low, high in spans]
        leaves = sum(isinstance(e, Select) for e in walk(choice)) + 1
        if prod(shape) > min(MAX_ENTRIES, MOST_UNUSED * leaves):
            return None
        every = itertools.product(*(range(low, high + 1) for low, high in spans))
        entries = [_chosen(choice, dict(zip(keys, at, strict=True))) for at in every]
        words = [w for e in entries if (w := _typed(e, choice.dtype)) is not None]
        if len(words) < len(entries):
            return None
        if min(leaves, len(words)) < MIN_ENTRIES or len(words) * _width(words) < MIN_BITS:
            small = len(keys) == 1 and len(words) < leaves
            return _among(words, keys[0], spans[0][0], choice.span) if small else None
        array = self._table(choice, words, shape)
        places = tuple(key - low for key, (low, _) in zip(keys, spans, strict=True))
        return Load(Access(array.name, places, choice.span), choice.dtype)

    def _table(self, choice: Select, words: Sequence[Const], shape: Sequence[int]) -> Array:
        """A table of these words: one that is there already, else a new one."""
        from dsl.arrays.tables import words_of  # needs NumPy, which other kernels do not

        contents = words_of([w.value for w in words], choice.dtype)
        for known in self.tables:
            if (known.dtype, known.shape, known.contents) == (choice.dtype, tuple(shape), contents):
                return known
        name = unused(_name(choice.span), self.taken)
        self.taken.add(name)
        array = Array(
            name, choice.dtype, tuple(shape), Storage.TABLE, True, 0, choice.span, contents
        )
        self.tables.append(array)
        return array


def _value(node: Node) -> Expr | None:
    """What an ``if`` assigns, if each of its branches is one assignment or such an ``if``."""
    match node:
        case Stmt(value=value):
            return value
        case If(cond=cond, then=(then,), orelse=(orelse,)):
            a, b = _value(then), _value(orelse)
            if a is None or b is None:
                return None
            return Select(_tests(cond), a, b, a.dtype, node.span)
    return None


def _tests(cond: Cond) -> Expr:
    """A condition on counters as an expression."""
    match cond:
        case Constraint(expr, kind):
            op = CompareOp.GE if kind == ">=" else CompareOp.EQ
            return typing.compare(op, Index(expr), 0)
        case And(parts) | Or(parts):
            every = isinstance(cond, And)
            found: Expr = Const(int(every), boolean)
            for part in parts:
                found = Binary(BinaryOp.AND if every else BinaryOp.OR, found, _tests(part), boolean)
            return found
    assert_never(cond)


def _key(affine: Affine) -> tuple[Affine, int]:
    """What of an expression changes, without the factor of all its terms, and that factor."""
    factor = gcd(*(c for _, c in affine.terms))
    if affine.terms[0][1] < 0:
        factor = -factor
    return Affine(tuple((atom, c // factor) for atom, c in affine.terms)), factor


def _keys(choice: Select) -> list[Affine]:
    """The keys that decide a choice, in the order of its tests; none where something else decides, too, or no constants
    are chosen.
    """
    found: dict[Affine, None] = {}
    pending: list[Expr] = [choice]
    while pending:
        match pending.pop():
            case Select(cond=cond, then=then, orelse=orelse):
                pending += [orelse, then]
                for key in _tested(cond):
                    if key is None:
                        return []
                    found[key] = None
            case Const():
                pass
            case _:
                return []
    return list(found)


def _tested(cond: Expr) -> Iterator[Affine | None]:
    """The keys of a condition; None of what is no counter."""
    for part in walk(cond):
        match part:
            case Index(affine=affine) if not affine.is_const:
                yield _key(affine)[0]
            case Index() | Const(dtype=IntType() | IndexType()) | Compare():
                pass
            case Binary(op=op, dtype=dtype) if op in _LOGIC and dtype == boolean:
                pass
            case Unary(op=UnaryOp.NOT, dtype=dtype) if dtype == boolean:
                pass
            case _:
                yield None


def _span(key: Affine, ranges: Ranges) -> tuple[int, int]:
    """The range of a key: of all that its variables may be, where these are not too many."""
    spans = {name: ranges[name] for name in sorted(key.variables())}
    if key.is_linear or prod(high - low + 1 for low, high in spans.values()) > MAX_POINTS:
        return key.interval(ranges)
    points = itertools.product(*(range(low, high + 1) for low, high in spans.values()))
    found = [key.evaluate(dict(zip(spans, point, strict=True))) for point in points]
    return min(found), max(found)


def _chosen(expr: Expr, at: Values) -> Const | None:
    while isinstance(expr, Select):
        expr = expr.then if _number(expr.cond, at) else expr.orelse
    return expr if isinstance(expr, Const) else None


def _typed(word: Const | None, dtype: DType) -> Const | None:
    """A constant as one of the choice's type, which has all integers that it is among; None of what is no such constant."""
    if word is None or word.dtype == dtype:
        return word
    if not (isinstance(word.dtype, IntType) and isinstance(dtype, IntType)):
        return None
    low, high = bounds(dtype)
    return Const(word.value, dtype) if low <= int(word.value) <= high else None


def _number(expr: Expr, at: Values) -> int:
    """The value of what `_tested` accepts."""
    match expr:
        case Index(affine=affine):
            if affine.is_const:
                return affine.const
            key, factor = _key(affine)
            return factor * at[key] + affine.const
        case Const(value=value):
            return int(value)
        case Compare(op=op, lhs=a, rhs=b):
            return int(_COMPARED[op](_number(a, at), _number(b, at)))
        case Binary(op=op, lhs=a, rhs=b):
            return _LOGIC[op](_number(a, at), _number(b, at))
        case Unary(operand=x):
            return 1 - _number(x, at)
    raise AssertionError(expr)


def _width(words: Sequence[Const]) -> int:
    """Bits of a word: of integers those that the largest of them has."""
    dtype = words[0].dtype
    if isinstance(dtype, IntType | IndexType):
        values = [int(w.value) for w in words]
        return max((v if v >= 0 else ~v).bit_length() + (min(values) < 0) for v in values)
    return dtype.width


def _among(words: Sequence[Const], key: Affine, low: int, span: Span | None) -> Expr:
    """A choice by halves."""
    if all(_same(w, words[0]) for w in words):
        return words[0]
    half = (len(words) + 1) // 2
    test = typing.compare(CompareOp.LT, Index(key), low + half, span)
    then = _among(words[:half], key, low, span)
    orelse = _among(words[half:], key, low + half, span)
    return Select(test, then, orelse, words[0].dtype, span)


def _same(a: Const, b: Const) -> bool:
    """Whether two constants are one word; zeros of floats have signs."""
    return a == b and (not isinstance(a.dtype, FloatType) or repr(a.value) == repr(b.value))


def _name(span: Span | None) -> str:
    """The name of the table that is looked up there; ``table`` of what was not written as one."""
    if span is None:
        return "table"
    found = re.match(r"([A-Za-z]\w*)\s*\[", span.source_line()[span.col - 1 :])
    return found[1] if found else "table"
