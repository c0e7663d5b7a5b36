"""The region tree: what the model reads of a design, free of MLIR and of isl.

Read from the level 3 module (`qor_gnn.design.from_module`), or, where the points of a search are ranked, from the
`LoopTree` that it is built from (`qor_gnn.design.from_tree`); both give the same tree. Everything is frozen, so that any part of it can be the key of a cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.types import DType
from dsl.schedules.loop_requests import NO_REQUESTS, LoopRequests
from polyhedral.banks.splits import Split, in_registers
from polyhedral.requests.outside import word_bits
from qor_gnn.design.port import Port
from qor_gnn.design.table_contents import TableContents

READ_FROM_COPIES = "ram_copies"
"""The storage of an array that a tool keeps several times to read it as often at once."""
OUTSIDE = "m_axi"
"""The storage of an argument in memory outside."""


@dataclass(frozen=True, slots=True)
class Memory:
    """An array or (no dimensions) a scalar.

    ``splits`` has one entry a dimension; a complete split has the extent as its factor.
    ``storage`` and ``impl`` are what was bound, ``""`` where the tool chooses.
    ``in_order``: copies of a body update it one after the other (`qor_gnn.body.ordered_updates`).
    ``port``: it is an argument in memory outside.
    ``contents``: of a table of constants.
    ``in_registers``: every bank holds a single element (and so does a scalar).
    ``reshapes``: how dimensions are put into words, until `qor_gnn.design.reshaped` makes a memory of words of it,
    of ``lanes`` elements of type ``element``. ``cached``: a cache is in front of it.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    splits: tuple[Split, ...]
    argument: bool = True
    storage: str = ""
    impl: str = ""
    in_order: bool = False
    port: Port | None = None
    reshapes: tuple[Split, ...] = ()
    lanes: int = 1
    cached: bool = False
    element: DType | None = None
    contents: TableContents | None = None
    in_registers: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "in_registers", in_registers(self.shape, self.splits))

    @property
    def word_bits(self) -> int:
        """Bits of what one access of a port reads or writes."""
        return getattr(self.dtype, "width", 32)

    @property
    def banks(self) -> int:
        """Number of memories that it is spread over."""
        total = 1
        for split in self.splits:
            total *= split.factor
        return total


def outside(memory: Memory, port: Port) -> Memory:
    """The argument in memory outside; a port of width 0 is as wide as its elements, or its words."""
    width = port.width or max(1, port.lanes) * word_bits(memory.dtype)
    return replace(memory, storage=OUTSIDE, port=replace(port, width=width))


@dataclass(frozen=True, slots=True)
class Access:
    """An element of a memory: one subscript a dimension over the loop variables in scope; of a memory of words
    (`qor_gnn.design.reshaped`) the word's, and the number of the lane. ``late``: the dimensions along which it is
    one of the copies that a tool makes unasked, after it has split arrays (`Banks.splits_first`).
    """

    memory: str
    indices: tuple[Affine, ...]
    lane: Affine | None = None
    late: tuple[int, ...] = ()

    @property
    def place(self) -> tuple[Affine, ...]:
        """What tells its element apart: the subscripts, and the lane where it is in a word."""
        return self.indices if self.lane is None else (*self.indices, self.lane)

    def __str__(self) -> str:
        return f"{self.memory}{''.join(f'[{i}]' for i in self.indices)}"


NO_FACTORS = (0, 0)
WIRES = 0
"""Bits of a factor that takes no logic: no variable has as few."""
ONE_SUM = 1
"""Bits of a factor that is a bit, or a number of two signed digits: a mask, or one sum of shifted copies."""
_READ = frozenset({"load", "input", "const", "index"})


@dataclass(frozen=True, slots=True)
class Op:
    """One operation of a statement.

    ``kind`` is ``load`` (with ``access``), ``input`` (a scalar argument, named by ``access``),
    ``const``, ``index`` (a loop variable as data) or an operator of the personality's library.
    ``operands`` are positions in the statement's ``ops``, of a load those of its subscripts that are
    values (`data_index` in its access: ``?0``, ``?1``, … in order); ``width`` is that of the result in bits.
    ``value`` is that of a number, and tells operators of one kind apart, as the predicate of a comparison does; ``impl`` is
    the implementation that a schedule asks for (``fabric``, ``dsp``), empty for the tool's own choice.
    ``factors`` are the widths of the factors of a product of integers, the longer one first, before they are extended to that
    of the result, or of a dividend and the number that divides it; `WIRES` for a factor that is a power of two, a shift by a constant, or what masks an integer. Else `NO_FACTORS`.
    ``positive``: a number of which the first bit is no sign.
    """

    kind: str
    type: str
    width: int
    operands: tuple[int, ...] = ()
    access: Access | None = None
    value: str = ""
    impl: str = ""
    factors: tuple[int, int] = NO_FACTORS
    positive: bool = False

    @property
    def computes(self) -> bool:
        """An operator makes its value; it is not read from anywhere."""
        return self.kind not in _READ

    @property
    def gathers(self) -> bool:
        """A load of which the element is known at run time only."""
        return self.kind == "load" and bool(self.operands)

    @property
    def number(self) -> int:
        """Of a constant that is an integer."""
        low = int(self.value)  # its low bits
        return low - (1 << self.width) if low >> (self.width - 1) and not self.positive else low


_PREFIXES = {"f16": "h", "f32": "f", "f64": "d"}


def bind_name(type_: str, kind: str) -> str:
    """The name that ``bind_op`` has for an operator on floats: ``fadd``."""
    return _PREFIXES.get(type_, "") + kind


def bound(ops: Sequence[Op], binds: Mapping[str, str]) -> tuple[Op, ...]:
    """The operations with the implementations asked for.

    Args:
        ops: of a statement.
        binds: the name that ``bind_op`` has for an operator (``fadd``) to an implementation.
    """
    if not binds:
        return tuple(ops)
    names = [bind_name(op.type, op.kind) for op in ops]
    return tuple(replace(op, impl=binds.get(name, "")) for op, name in zip(ops, names, strict=True))


@dataclass(frozen=True, slots=True)
class Statement:
    """``target = the last of ops``, operands before what uses them.

    ``subscripts`` are the positions in ``ops`` of the target's subscripts that are values (`data_index`
    in its access), in order.
    """

    name: str
    ops: tuple[Op, ...]
    target: Access
    source: str = ""
    subscripts: tuple[int, ...] = ()

    @property
    def scatters(self) -> bool:
        """The element that is stored is known at run time only."""
        return bool(self.subscripts)


@dataclass(frozen=True, slots=True)
class Trips:
    """Trip counts of a loop over all its executions."""

    minimum: int
    maximum: int
    average: float


@dataclass(frozen=True, slots=True)
class Loop:
    """``for iv = max(lowers); iv < min(uppers); iv += step`` and what was asked of it.

    ``ii`` is None where it is not pipelined; ``unroll`` is 1 where it is not unrolled, 0 for
    completely; ``flatten`` is None where nothing was said. ``automatic`` is False where the tool must
    not pipeline it by itself. ``processes`` are the statements of each process where the body is a
    dataflow region.
    """

    iv: str
    name: str
    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    step: int
    trips: Trips
    body: tuple[Node, ...]
    ii: int | None = None
    unroll: int = 1
    flatten: bool | None = None
    independent: tuple[str, ...] = ()
    automatic: bool = True
    processes: tuple[tuple[str, ...], ...] = ()
    requests: LoopRequests = NO_REQUESTS

    @property
    def constant_trips(self) -> int | None:
        """The trip count where both bounds are constant, and no data end the loop early."""
        if self.requests.leaving is None and all(b.is_const for b in (*self.lowers, *self.uppers)):
            return self.trips.maximum
        return None

    @property
    def factor(self) -> int:
        """Copies of the body: the unroll factor, the trip count if it is unrolled completely."""
        most = max(1, self.trips.maximum)
        return most if self.unroll == 0 else min(self.unroll, most)


@dataclass(frozen=True, slots=True)
class Guard:
    """``if all constraints: body``."""

    constraints: tuple[Constraint, ...]
    body: tuple[Node, ...]


Node = Loop | Guard | Statement


@dataclass(frozen=True, slots=True)
class Function:
    """A hierarchy of its own in the tool: scheduled alone, called by the top.

    ``symbols`` are integer arguments: variables whose value is not known to the tool.
    """

    name: str
    body: tuple[Node, ...]
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """A local memory that one process of a dataflow region writes and a later one reads.

    ``producer`` and ``consumer`` are positions in the kernel's functions. ``depth``: words a bank of
    a FIFO; None for a memory of two halves.
    """

    memory: str
    producer: int
    consumer: int
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A design: functions called one after the other, and the memories that they share.

    ``outlined`` says that the functions are modules of their own (no inlining); otherwise there
    is one, which is the top itself. In a ``dataflow`` region the functions are processes that run at
    the same time, with ``channels`` between them.
    """

    name: str
    memories: tuple[Memory, ...]
    functions: tuple[Function, ...]
    outlined: bool = False
    dataflow: bool = False
    channels: tuple[Channel, ...] = ()

    def memory(self, name: str) -> Memory:
        """The memory of that name; KeyError if there is none."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise KeyError(name)


Mode = Literal["average", "minimum", "maximum"]


def trips_of(loop: Loop, mode: Mode) -> float:
    """The trip count in one sense."""
    match mode:
        case "average":
            return loop.trips.average
        case "minimum":
            return loop.trips.minimum
        case "maximum":
            return loop.trips.maximum


def walk(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Every node in execution order, parents first."""
    for node in nodes:
        yield node
        if not isinstance(node, Statement):
            yield from walk(node.body)


def loops_in(nodes: tuple[Node, ...]) -> tuple[Loop, ...]:
    """Every loop below, in execution order."""
    return tuple(n for n in walk(nodes) if isinstance(n, Loop))


def accesses_in(nodes: tuple[Node, ...]) -> Iterator[Access]:
    """Every element that a statement below loads or stores, in execution order."""
    for node in walk(nodes):
        if isinstance(node, Statement):
            yield from (o.access for o in node.ops if o.kind == "load" and o.access is not None)
            yield node.target


def split_functions(kernel: Kernel, groups: tuple[tuple[int, ...], ...]) -> Kernel:
    """Make functions of groups of top-level nests, named ``KERNEL_1``, ``KERNEL_2``, …

    Args:
        kernel: a kernel of one function.
        groups: positions in the function's body; every node is in one group, in order.

    Raises:
        ValueError: the groups are no division of the body.
    """
    (whole,) = kernel.functions
    if [n for group in groups for n in group] != list(range(len(whole.body))):
        raise ValueError(f"{groups} does not divide the {len(whole.body)} nests of {kernel.name}")
    parts = tuple(
        Function(f"{whole.name}_{n}", tuple(whole.body[k] for k in group), whole.symbols)
        for n, group in enumerate(groups, 1)
    )
    return replace(kernel, functions=parts, outlined=True)


def body_as_kernel(kernel: Kernel, loop: str) -> Kernel:
    """The body of one loop as a design of its own; the loop variables around become arguments.

    Raises:
        KeyError: there is no such loop.
    """
    for function in kernel.functions:
        for nodes, around in _bodies(function.body, function.symbols):
            if nodes[0] == loop:
                part = Function(f"{function.name}_{loop}", nodes[1], around)
                return replace(kernel, functions=(part,), outlined=True)
    raise KeyError(loop)


def _bodies(
    nodes: tuple[Node, ...], around: tuple[str, ...]
) -> Iterator[tuple[tuple[str, tuple[Node, ...]], tuple[str, ...]]]:
    for node in nodes:
        match node:
            case Loop():
                inner = (*around, node.iv)
                yield (node.name, node.body), inner
                yield from _bodies(node.body, inner)
            case Guard():
                yield from _bodies(node.body, around)
            case Statement():
                pass
