"""What a module will take of an ECP5 after routing, read off its registers and expressions.

A first-order estimate without any tool: registers and block RAM nearly exactly, multipliers by
the tiles of `mul2dsp`, carry chains by their length, other logic by the number of inputs of each
cone of logic: a tree of four-input tables over k inputs takes ``ceil((k - 1) / 3)`` of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from backends.rtl.ir.expr import (
    ArithOp,
    Binary,
    Compare,
    CompareOp,
    Concat,
    Expr,
    Extend,
    Lit,
    Mux,
    Not,
    Reduce,
    Ref,
    Shift,
    Slice,
    children,
    topological,
)
from backends.rtl.ir.module import Memory, Module, Style
from backends.rtl.tools.result import Resources

_TILE = 18
"""Bits of an operand of MULT18X18D; a signed tile has one of them as its sign."""

_SHORT_CHAIN = 4
"""Comparisons up to so many bits become tables, longer ones carry chains."""

_RAM_SHAPES = ((1, 16384), (2, 8192), (4, 4096), (9, 2048), (18, 1024), (36, 512))
"""Widths and depths of a DP16KD; 36 bits only with one read and one write port."""


@dataclass(frozen=True, slots=True)
class Area:
    """Tables, registers, multipliers and block RAM; they add up."""

    lut: float = 0.0
    ff: int = 0
    dsp: int = 0
    bram: int = 0

    def __add__(self, other: Area) -> Area:
        return Area(
            self.lut + other.lut, self.ff + other.ff, self.dsp + other.dsp, self.bram + other.bram
        )

    @property
    def resources(self) -> Resources:
        """In whole numbers."""
        return Resources(round(self.lut), self.ff, self.dsp, self.bram)


@lru_cache(maxsize=512)
def area(module: Module) -> Area:
    """The estimate for a module with all that it instantiates."""
    total = _logic(module)
    total += Area(ff=sum(r.ref.width for r in module.regs))
    for memory in module.memories:
        reads = sum(r.memory is memory for r in module.reads)
        total += _memory(memory, reads)
    for instance in module.instances:
        total += area(instance.module)
    return total


def _memory(memory: Memory, reads: int) -> Area:
    if memory.style is Style.BLOCK:
        return Area(bram=max(1, reads) * block_rams(memory.width, memory.depth))
    if memory.style is Style.DISTRIBUTED:
        # 16 x 4 cells of four tables and two for the write port; deeper ones need multiplexers.
        rows = ceil(memory.depth / 16)
        cells = rows * ceil(memory.width / 4)
        choice = memory.width * (rows - 1) * 2 / 3 if rows > 1 else 0.0
        return Area(lut=max(1, reads) * (6 * cells + choice), ff=memory.width)
    choice = memory.width * (memory.depth - 1) * 2 / 3
    return Area(lut=max(1, reads) * choice, ff=memory.width * memory.depth)


def block_rams(width: int, depth: int) -> int:
    """DP16KD of a memory with one read and one write port: the least over the shapes."""
    return min(ceil(width / w) * ceil(depth / d) for w, d in _RAM_SHAPES)


@dataclass(slots=True)
class _Cones:
    """For each expression the inputs of its cone per bit, and what has been paid for."""

    uses: Counter[int]
    inputs: dict[int, float]
    lut: float = 0.0
    dsp: int = 0


def _logic(module: Module) -> Area:
    roots = list(module.roots())
    order = topological(roots)
    uses: Counter[int] = Counter(id(r) for r in roots)
    for e in order:
        uses.update(id(c) for c in children(e))
    cones = _Cones(uses, {})
    for e in order:
        cones.inputs[id(e)] = _inputs(cones, e)
    wired = {id(e) for e in _free_roots(module)}
    for root in {id(r): r for r in roots}.values():
        if id(root) not in wired:
            _pay(cones, root)
    return Area(lut=cones.lut, dsp=cones.dsp)


def _free_roots(module: Module) -> Iterator[Expr]:
    """What has a name only: whoever uses a wire or an output once absorbs it."""
    used = Counter(e.name for e in topological(list(module.roots())) if isinstance(e, Ref))
    for wire in module.wires:
        if used[wire.ref.name] <= 1:
            yield wire.expr


def _inputs(cones: _Cones, e: Expr) -> float:
    """Inputs of the cone of one bit; a node that is used twice or is hard is an input itself."""
    own = _own_inputs(cones, e)
    if own > 1 and cones.uses[id(e)] > 1:
        _pay_for(cones, e, own)
        return 1.0
    return own


def _own_inputs(cones: _Cones, e: Expr) -> float:
    known = cones.inputs
    match e:
        case Ref():
            return 1.0
        case Lit():
            return 0.0
        case Slice() | Extend() | Not():
            return known[id(e.arg)]
        case Concat(parts=parts):
            return sum(known[id(p)] * p.width for p in parts) / e.width
        case Binary(op=ArithOp.ADD | ArithOp.SUB):
            return _chain(cones, e.lhs, e.rhs, e.width)
        case Binary(op=ArithOp.MUL):
            return _multiplier(cones, e)
        case Binary():
            return known[id(e.lhs)] + known[id(e.rhs)]
        case Compare(op=CompareOp.LT | CompareOp.LE) if e.lhs.width > _SHORT_CHAIN:
            return _chain(cones, e.lhs, e.rhs, e.lhs.width)
        case Compare():
            return e.lhs.width * (known[id(e.lhs)] + known[id(e.rhs)])
        case Reduce():
            return e.arg.width * known[id(e.arg)]
        case Mux(cond=c, then=a, other=b):
            return known[id(c)] + known[id(a)] + known[id(b)]
        case Shift():
            return _shifter(cones, e)
        case _:
            raise TypeError(f"no area for {type(e).__name__}")


def _pay(cones: _Cones, e: Expr) -> None:
    """What ends in a register, a memory or an operator is a table's output."""
    own = cones.inputs[id(e)]
    if own > 1 and cones.uses[id(e)] <= 1:
        _pay_for(cones, e, own)


def _pay_for(cones: _Cones, e: Expr, inputs: float) -> None:
    cones.lut += e.width * max(1.0, (inputs - 1) / 3)
    cones.inputs[id(e)] = 1.0


def _chain(cones: _Cones, lhs: Expr, rhs: Expr, width: int) -> float:
    """A carry chain: two bits a cell of two tables, one cell more where it starts or ends."""
    for part in (lhs, rhs):
        _pay(cones, part)
    cones.lut += 2 * ceil(width / 2) + 1
    return 1.0


def _shifter(cones: _Cones, e: Shift) -> float:
    """A level of multiplexers for each bit of the amount that counts."""
    levels = min(e.amount.width, max(1, (e.width - 1).bit_length()))
    if isinstance(e.amount, Lit):
        return cones.inputs[id(e.arg)]
    for part in (e.arg, e.amount):
        _pay(cones, part)
    cones.lut += e.width * levels * 0.75
    return 1.0


def _multiplier(cones: _Cones, e: Binary) -> float:
    """Tiles of 18 x 18 and the adders of their partial products."""
    if isinstance(e.lhs, Lit) or isinstance(e.rhs, Lit):
        return _constant_product(cones, e)
    (a, a_signed), (b, b_signed) = _narrow(e.lhs), _narrow(e.rhs)
    for part in (e.lhs, e.rhs):
        _pay(cones, part)
    columns = _tiles(a, a_signed)
    rows = _tiles(b, b_signed)
    cones.dsp += columns * rows
    partial = columns * rows - 1
    cones.lut += partial * (min(e.width, a + b) * 0.75 + 1)
    return 1.0


def _constant_product(cones: _Cones, e: Binary) -> float:
    constant, other = (e.lhs, e.rhs) if isinstance(e.lhs, Lit) else (e.rhs, e.lhs)
    assert isinstance(constant, Lit)
    terms = bin(constant.value).count("1")
    _pay(cones, other)
    cones.lut += max(0, min(terms, e.width // 2) - 1) * (e.width + 1)
    return 1.0


def _narrow(e: Expr) -> tuple[int, bool]:
    """Bits of an operand before its extension, and whether that is by the sign."""
    if isinstance(e, Extend):
        return e.arg.width, e.signed
    return e.width, False


def _tiles(width: int, signed: bool) -> int:
    if width <= _TILE:
        return 1
    return ceil((width - signed) / (_TILE - 1)) if signed else ceil(width / _TILE)
