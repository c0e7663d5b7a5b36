"""Scalar locals of which only low bits count: they have no more.

``s1 = (e >> 6) | (e << 26)`` of a ``u32`` has 58 bits, as nothing is lost. Where all that is ever made of ``s1`` goes into
32 bits, by sums, products, logic and choices whose low bits depend on low bits alone, ``s1`` is a ``u32``: what is
computed is the same, of fewer bits. Rotations, hashes and ciphers are written so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Const,
    Expr,
    Gather,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
    children,
    loads,
)
from dsl.expressions.numeric import width_of
from dsl.expressions.result_types import binary_type, common_type, unary_type
from dsl.expressions.types import IndexType, IntType
from dsl.programs.program import Program, Stmt, Storage, map_statements

_EVERY = 1 << 30
"""All bits of an expression, of whatever type."""

_WORTH_IT = 0.75
"""Locals of more bits than this share of what they had keep their types, which people know."""

_ROUNDS = 8
"""Needs that still grow after as many rounds, as over a shift to the right in a recurrence, are all bits."""

_OF_LOW_BITS = (
    BinaryOp.ADD,
    BinaryOp.SUB,
    BinaryOp.MUL,
    BinaryOp.AND,
    BinaryOp.OR,
    BinaryOp.XOR,
)


def kept_bits(program: Program) -> Program:
    """The program with scalar locals of integers no wider than what is used of them."""
    widths = {
        a.name: a.dtype.width
        for a in program.locals
        if a.storage is Storage.LOCAL and not a.shape and isinstance(a.dtype, IntType)
    }
    if not widths:
        return program
    kept = {a.name: a.dtype.width for a in program.arrays if isinstance(a.dtype, IntType)}
    needs = _needs(list(program.statements()), kept, widths)
    types = {
        a.name: IntType(max(needs[a.name], 1 + a.dtype.signed), a.dtype.signed)
        for a in program.locals
        if isinstance(a.dtype, IntType) and 0 < needs.get(a.name, 0) < a.dtype.width
    }
    types = {name: t for name, t in types.items() if t.width <= _WORTH_IT * widths[name]}
    if not types:
        return program
    arrays = tuple(
        replace(a, dtype=types[a.name], by_value=False) if a.name in types else a
        for a in program.arrays
    )
    wide = {a.name: a.dtype.width for a in arrays if isinstance(a.dtype, IntType)}

    def rebuilt(s: Stmt) -> Stmt:
        if s.target.array not in types and not any(a.array in types for a in loads(s.value)):
            return s
        bits = wide.get(s.target.array, _EVERY)
        return replace(s, value=_Rebuilding(types).of(s.value, bits))

    body = tuple(map_statements(node, rebuilt) for node in program.body)
    return replace(program, arrays=arrays, body=body)


def _needs(
    statements: Sequence[Stmt], kept: dict[str, int], widths: dict[str, int]
) -> dict[str, int]:
    """Of each local how many of its low bits anything depends on; all of those of what nothing depends on."""
    needs = _Needs(kept, widths, dict.fromkeys(widths, 0))
    needs.settle(statements)
    needs.found.update({name: widths[name] for name, bits in needs.found.items() if not bits})
    needs.settle(statements)
    return needs.found


def operand_bits(x: Expr, bits: int) -> tuple[int, ...]:
    """How many low bits of each operand, in the order of `children`, the low ``bits`` of an expression depend on.

    All bits of an operand are as many as its type has, or more.
    """
    match x:
        case Unary(op=UnaryOp.NEG | UnaryOp.INVERT):
            return (bits,)
        case Binary(BinaryOp.SHL, _, rhs):
            moved = rhs.value if isinstance(rhs, Const) and isinstance(rhs.value, int) else 0
            return bits - max(moved, 0), _EVERY
        case Binary(BinaryOp.SHR, _, Const(value=int(moved))) if moved >= 0:
            return bits + moved, _EVERY
        case Binary(BinaryOp.FLOORDIV, _, Const(value=int(by))) if _is_power(by):
            return bits + by.bit_length() - 1, _EVERY
        case Binary(BinaryOp.MOD, _, Const(value=int(by))) if _is_power(by):
            return min(bits, by.bit_length() - 1), _EVERY
        case Binary(BinaryOp.AND, a, b):
            return min(bits, _ones(b)), min(bits, _ones(a))
        case Binary(op) if op in _OF_LOW_BITS:
            return bits, bits
        case Select():
            return _EVERY, bits, bits
        case Cast(operand, IntType()) if isinstance(operand.dtype, IntType | IndexType):
            return (bits,)
        case Scatter(data=data):
            return (*(_EVERY for _ in data), bits)
        case _:
            return tuple(_EVERY for _ in children(x))


def _of_type(x: Expr, bits: int) -> int:
    return max(1, min(bits, x.dtype.width)) if isinstance(x.dtype, IntType) else _EVERY


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _ones(x: Expr) -> int:
    """How many low bits may be set in what an operand is masked by; without end of what may be negative."""
    if isinstance(x, Const) and isinstance(x.value, int) and x.value >= 0:
        return x.value.bit_length()
    return _EVERY


@dataclass(slots=True)
class _Needs:
    """Bits that are needed of locals, as far as they have been found."""

    kept: dict[str, int]
    widths: dict[str, int]
    found: dict[str, int]
    rounds: int = 0
    has_grown: bool = True

    def settle(self, statements: Sequence[Stmt]) -> None:
        """Go through the statements until nothing more is needed."""
        self.has_grown = True
        while self.has_grown:
            self.has_grown = False
            self.rounds += 1
            for s in statements:
                self._of_statement(s)

    def _of_statement(self, s: Stmt) -> None:
        name = s.target.array
        kept = self.found.get(name, self.kept.get(name, _EVERY))
        if not kept:
            return  # nothing is needed of it, as far as is known
        pending = [(s.value, kept)]
        seen: dict[int, int] = {}
        while pending:
            x, bits = pending.pop()
            bits = _of_type(x, bits)
            if bits <= seen.get(id(x), 0):
                continue
            seen[id(x)] = bits
            match x:
                case Load(access) | Gather(access):
                    self._grown(access.array, bits)
            pending.extend(zip(children(x), operand_bits(x, bits), strict=True))

    def _grown(self, name: str, bits: int) -> None:
        width = self.widths.get(name, 0)
        bits = min(bits, width)
        if bits > self.found.get(name, width):
            self.found[name] = width if self.rounds > _ROUNDS else bits
            self.has_grown = True


@dataclass(slots=True)
class _Rebuilding:
    """Values over locals of their new types: of each expression the low bits that are needed are as they were."""

    types: dict[str, IntType]
    done: dict[tuple[int, int], tuple[Expr, Expr]] = field(default_factory=dict)

    def of(self, x: Expr, bits: int) -> Expr:
        bits = _of_type(x, bits)
        key = id(x), bits
        if key not in self.done:
            self.done[key] = x, self._made(x, bits)
        return self.done[key][1]

    def _made(self, x: Expr, bits: int) -> Expr:
        if isinstance(x, Load):
            dtype = self.types.get(x.access.array)
            return x if dtype is None else replace(x, dtype=dtype)
        taken = children(x)
        parts = [self.of(t, n) for t, n in zip(taken, operand_bits(x, bits), strict=True)]
        if isinstance(x, Binary) and x.op is BinaryOp.SHL:
            return _shift(x, parts[0], parts[1], bits)
        if isinstance(x, Cast):
            return _cast(x, parts[0], bits)
        if all(a is b for a, b in zip(taken, parts, strict=True)):
            return x
        match x:
            case Unary(op, span=span):
                return Unary(op, parts[0], unary_type(op, parts[0].dtype, span), span)
            case Binary(op, span=span):
                a, b = parts
                return Binary(op, a, b, binary_type(op, a.dtype, b.dtype, span), span)
            case Select(span=span):
                cond, a, b = parts
                return Select(cond, a, b, common_type(a.dtype, b.dtype, span), span)
            case Scatter(access, data):
                return Scatter(access, tuple(parts[: len(data)]), parts[-1])
            case Gather():
                return replace(x, data=tuple(parts))
            case Compare():
                return replace(x, lhs=parts[0], rhs=parts[1])
            case _:
                raise TypeError(f"no operands of {type(x).__name__} are rebuilt")


def _shift(x: Binary, moved: Expr, amount: Expr, bits: int) -> Expr:
    """A shift to the left, with no more bits than are needed, or than what is moved has."""
    assert isinstance(x.dtype, IntType)
    bare = moved
    while isinstance(bare, Cast) and _is_wider(bare):
        bare = bare.operand
    assert isinstance(bare.dtype, IntType | IndexType)
    width = min(x.dtype.width, max(bits, width_of(bare.dtype)))
    if width == x.dtype.width and moved is x.lhs and amount is x.rhs:
        return x
    dtype = IntType(width, x.dtype.signed)
    if isinstance(bare, Const):
        return x if moved is x.lhs else replace(x, lhs=moved, rhs=amount)
    widened = bare if bare.dtype == dtype else Cast(bare, dtype, x.span)
    return Binary(BinaryOp.SHL, widened, amount, dtype, x.span)


def _cast(x: Cast, operand: Expr, bits: int) -> Expr:
    """A conversion, left out where it adds bits that nobody needs."""
    if isinstance(operand.dtype, IntType) and isinstance(x.dtype, IntType):
        if x.dtype.width > operand.dtype.width >= bits:
            return operand
        if operand.dtype == x.dtype:
            return operand
    return x if operand is x.operand else replace(x, operand=operand)


def _is_wider(x: Cast) -> bool:
    """Whether a conversion between integers keeps every value."""
    a, b = x.operand.dtype, x.dtype
    if not isinstance(a, IntType | IndexType) or not isinstance(b, IntType):
        return False
    if isinstance(a, IndexType):
        return b.signed and b.width >= 32
    return common_type(a, b) == b
