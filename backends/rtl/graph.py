"""What the RTL backend schedules: regions of operations over banked memories.

`backends.rtl.front` makes it of a level 3 module, with unrolling and partitioning applied;
`backends.rtl.schedule` gives every operation of it a cycle; `backends.rtl.control` makes hardware
of both. Everything is frozen and free of MLIR.

Integers have no sign of their own: an operand (`Use`) says how its bits are read where it is used,
so that widening costs no operation. The result of an integer operator is its exact value modulo
``2**width``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import product

from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.types import FixedType
from polyhedral.banks.splits import Split, words_a_bank


class Kind(Enum):
    """Operations. Comparisons give one bit; floats are binary32 (subnormals are flushed)."""

    CONST = "const"  # `Op.value`: the raw bits, unsigned
    INDEX = "index"  # `Op.affine` of the loop variables around, as a signed integer
    INPUT = "input"  # a scalar argument, `Op.name`
    LOAD = "load"  # at a computed address operand 0 is the offset, operand 1 the bank, unsigned
    STORE = (
        "store"  # operand 0 is the value, offset and bank behind it; of words, operand l is lane l
    )

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"  # truncated towards zero
    FLOORDIV = "floordiv"
    REM = "rem"  # of the division truncated towards zero
    AND = "and"
    OR = "or"
    XOR = "xor"
    SHL = "shl"  # by operand 1, unsigned
    SHR = "shr"  # arithmetic where operand 0 is signed
    RESIZE = "resize"  # the low bits, or the extension; free
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    SELECT = "select"  # operand 0 (1 bit) ? operand 1 : operand 2; floats too
    HOLDS = "holds"  # one bit: `Op.guard` holds in this iteration

    FADD = "fadd"
    FSUB = "fsub"
    FMUL = "fmul"
    FDIV = "fdiv"
    FSQRT = "fsqrt"
    FEXP = "fexp"
    FNEG = "fneg"
    FABS = "fabs"
    FEQ = "feq"  # ordered comparisons: false with a NaN
    FNE = "fne"  # unordered: true with a NaN
    FLT = "flt"
    FLE = "fle"
    TO_FLOAT = "to_float"  # the fixed-point raw of `Op.fixed` to the nearest binary32
    FROM_FLOAT = "from_float"  # binary32 quantised, then overflow, to the raw of `Op.fixed`


FLOATS = frozenset(k for k in Kind if k.value.startswith("f") and k is not Kind.FLOORDIV)
"""Kinds that take or give binary32, `Kind.TO_FLOAT` apart."""


@dataclass(frozen=True, slots=True)
class Use:
    """An operand: the `Op.id` of what makes it, and how its bits are read."""

    op: int
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where in an array a `LOAD` or `STORE` goes.

    ``bank`` is the bank's number where it is the same in every iteration, else None and
    ``bank_affine`` gives it. ``offset`` is the element of the bank. Both are quasi-affine in the
    loop variables around. At a computed address operands give them instead: the offset is a name
    that no other place has (``is_data``), ``bank`` None without ``bank_affine`` where the bank is computed, too.
    """

    array: str
    offset: Affine
    bank: int | None = 0
    bank_affine: Affine | None = None


@dataclass(frozen=True, slots=True)
class Op:
    """One operation of a block; ``id`` is its position there.

    ``width`` is that of the result in bits (of what is stored, for a store). ``guard`` is a
    conjunction over the loop variables: the operation counts only where it holds (a store then
    writes; anything else may be computed always, an access within the bounds of its bank or not).
    """

    id: int
    kind: Kind
    width: int
    operands: tuple[Use, ...] = ()
    value: int = 0
    name: str = ""
    affine: Affine | None = None
    fixed: FixedType | None = None
    place: Place | None = None
    guard: tuple[Constraint, ...] = ()
    stmt: str = ""

    @property
    def address(self) -> tuple[Use, ...]:
        """The operands that are the offset, and the bank, of a computed address; none of another."""
        if self.place is None or not self.place.offset.is_data:
            return ()
        return self.operands if self.kind is Kind.LOAD else self.operands[1:]


class DepKind(Enum):
    """Order of two accesses of one array (register or RAM)."""

    FLOW = "flow"  # the load sees the store: at least one cycle later
    ANTI = "anti"  # the load must not see the store; so not later than it
    OUTPUT = "output"  # the later store stays


@dataclass(frozen=True, slots=True)
class Dep:
    """``dst`` of the iteration ``distance`` later (in iterations of the flattened loops) than
    ``src`` must respect it. ``distance`` is a lower bound: the least one that occurs.
    """

    src: int
    dst: int
    kind: DepKind
    distance: int = 0


@dataclass(frozen=True, slots=True)
class Counter:
    """``for iv = max(lowers); iv < min(uppers); iv += step`` (step > 0); bounds over outer ivs."""

    iv: str
    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    step: int = 1
    name: str = ""

    @property
    def trips(self) -> int | None:
        """The trip count where the bounds are constant."""
        if all(b.is_const for b in (*self.lowers, *self.uppers)):
            extent = min(b.const for b in self.uppers) - max(b.const for b in self.lowers)
            return max(0, -(-extent // self.step))
        return None


@dataclass(frozen=True, slots=True)
class Block:
    """Operations, operands before what uses them, and the order of their accesses."""

    ops: tuple[Op, ...]
    deps: tuple[Dep, ...] = ()


@dataclass(frozen=True, slots=True)
class Straight:
    """Operations run once, in the states of a machine."""

    block: Block


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A loop, or a perfect nest flattened into one (outermost first), started every ``ii`` cycles.

    The outermost may have no iteration; those inside have at least one, wherever they are reached.
    ``ii`` is what was asked: the least that the schedule may take.
    """

    counters: tuple[Counter, ...]
    block: Block
    ii: int = 1


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop whose iterations run one after the other, each region of its body in turn."""

    counter: Counter
    body: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Guarded:
    """Regions that run where all constraints hold."""

    constraints: tuple[Constraint, ...]
    body: tuple[Region, ...]


Region = Straight | Pipeline | Loop | Guarded


class Memory(Enum):
    """What a bank is made of."""

    BRAM = "bram"  # block RAM, one read and one write port, clocked read
    LUTRAM = "lutram"  # distributed RAM, one read and one write port, clocked read
    REGISTERS = "registers"  # one element a bank, read at once, any number of readers


@dataclass(frozen=True, slots=True)
class Array:
    """An array: an argument (its banks are ports of the kernel) or a local.

    ``access`` of an argument is ``in``, ``out``, ``inout``, or ``scratch``: memory that the caller
    neither fills nor reads. Element ``[i0, i1, …]`` lies in bank
    number `bank` at `offset`; every bank is `depth` deep. ``lanes`` banks side by side are one port,
    whose words have an element of each: a packed argument, of which `LOAD` and `STORE` access words. ``contents`` are the
    words of a table of constants, in row-major order. ``outside``: it is in memory that lets the kernel wait.
    """

    name: str
    width: int
    shape: tuple[int, ...]
    splits: tuple[Split, ...]
    memory: Memory
    argument: bool
    access: str = "inout"
    lanes: int = 1
    contents: tuple[int, ...] = ()
    outside: bool = False

    @property
    def word(self) -> int:
        """Bits of what an access of a port reads or writes."""
        return self.width * self.lanes

    @property
    def banks(self) -> int:
        """Number of banks."""
        total = 1
        for split in self.splits:
            total *= split.factor
        return total

    @property
    def extents(self) -> tuple[int, ...]:
        """Elements of a bank in each dimension."""
        return tuple(s.words(n) for n, s in zip(self.shape, self.splits, strict=True))

    @property
    def depth(self) -> int:
        """Elements of a bank."""
        return words_a_bank(self.shape, self.splits)

    def bank(self, indices: tuple[Affine, ...]) -> Affine:
        """The bank of an element, dimension 0 most significant."""
        total = Affine()
        for i, s, extent in zip(indices, self.splits, self.shape, strict=True):
            total = total * s.factor + (s.bank(i, extent) if s.factor > 1 else Affine())
        return total

    def offset(self, indices: tuple[Affine, ...]) -> Affine:
        """The element of the bank, dimension 0 most significant."""
        total = Affine()
        for i, s, extent in zip(indices, self.splits, self.shape, strict=True):
            words = s.words(extent)
            total = total * words + (s.offset(i, extent) if words > 1 else Affine())
        return total


def places(array: Array) -> Iterator[tuple[int, int]]:
    """Bank and offset of each element of an array, in row-major order."""
    choices = (
        [(split.bank(i, extent), split.offset(i, extent)) for i in range(extent)]
        for extent, split in zip(array.shape, array.splits, strict=True)
    )
    for place in product(*choices):
        bank = offset = 0
        for (b, o), split, extent in zip(place, array.splits, array.extents, strict=True):
            bank, offset = bank * split.factor + b, offset * extent + o
        yield bank, offset


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar argument: an input that holds still from start to done."""

    name: str
    width: int


@dataclass(frozen=True, slots=True)
class Graph:
    """A kernel, ready to be scheduled."""

    name: str
    arrays: tuple[Array, ...]
    scalars: tuple[Scalar, ...]
    body: tuple[Region, ...] = field(default=())

    def array(self, name: str) -> Array:
        """The array of that name; KeyError if there is none."""
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)


def walk(regions: tuple[Region, ...]) -> Iterator[Region]:
    """Every region in execution order, parents first."""
    for region in regions:
        yield region
        if isinstance(region, Loop | Guarded):
            yield from walk(region.body)


def join_lanes(array: Array, banks: list[list[int]]) -> list[list[int]]:
    """The words of each port, of the elements of each bank: a packed argument has one port."""
    if array.lanes == 1:
        return banks
    low = range(array.lanes)
    return [[sum(banks[n][at] << (array.width * n) for n in low) for at in range(array.depth)]]


def part_lanes(array: Array, ports: list[list[int]]) -> list[list[int]]:
    """The elements of each bank, of the words of each port."""
    if array.lanes == 1:
        return ports
    mask = (1 << array.width) - 1
    return [[(word >> (array.width * n)) & mask for word in ports[0]] for n in range(array.lanes)]
