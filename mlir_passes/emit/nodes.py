"""What `emit_read` makes of a level 3 module and `emit_stmts` prints: plain Python, no MLIR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mlir_passes.dialect.attributes import ArrayInfo, BindOp, LoopInfo, StmtInfo
from mlir_passes.emit.affine import Lin
from mlir_passes.emit.cpp import Cpp
from mlir_passes.emit.names import Names


@dataclass(slots=True, eq=False)
class Memory:
    """An argument or a local.

    ``reads`` is the second pointer to an argument, through which it is read, if it has one. ``also`` are further pointers,
    one for each copy but the first of a loop that is spread, and ``also_reads`` those behind ``reads``.
    """

    name: str
    info: ArrayInfo
    is_argument: bool
    is_array: bool
    read: bool = False
    written: bool = False
    reads: str = ""
    also: tuple[str, ...] = ()
    also_reads: tuple[str, ...] = ()

    def named(self, written: bool, port: int = 0) -> str:
        """The name that it is read by, or written, in the copy of that number of a loop that is spread."""
        ways = self.ways(written)
        return ways[port if len(ways) > 1 else 0]

    def ways(self, written: bool) -> tuple[str, ...]:
        """All names that it is read by, or written."""
        if written or not self.reads:
            return (self.name, *self.also)
        return (self.reads, *self.also_reads)

    @property
    def names(self) -> tuple[str, ...]:
        """One, and those of other pointers."""
        return tuple(dict.fromkeys((*self.ways(True), *self.ways(False))))


@dataclass(slots=True, eq=False)
class Value:
    """An SSA value: the op that makes it and the values it takes.

    Exactly one of ``width`` (an integer of that many bits), ``real`` (the name of a float type) and
    neither (an index) describes its type. ``data`` is what the op needs besides: the number of a
    constant, a predicate, fixed-point types, of a ``gather`` the subscripts, None where it is an operand.
    """

    op: str
    operands: tuple[Value, ...]
    width: int
    real: str
    block: Block
    data: Any = None
    memory: Memory | None = None
    subscripts: tuple[Lin, ...] = ()
    place: Cpp | None = None  # the element that a load reads
    binds: tuple[BindOp, ...] = ()
    uses: int = 0
    crosses: bool = False  # used in another block than its own


@dataclass(slots=True, eq=False)
class Declare:
    """A local comes to life."""

    memory: Memory


@dataclass(slots=True, eq=False)
class Store:
    """``place = value``. Some subscripts may be data: then ``at`` takes these, as a ``gather``, and is no node."""

    memory: Memory
    subscripts: tuple[Lin, ...]
    place: Cpp | None
    value: Value
    info: StmtInfo
    at: Value | None = None

    @property
    def operands(self) -> tuple[Value, ...]:
        """The value, and the subscripts that are data."""
        return (self.value, *(self.at.operands if self.at is not None else ()))


@dataclass(slots=True, eq=False)
class Carried:
    """A value that a loop hands from iteration to iteration, or that both branches set."""

    variable: Value
    result: Value
    start: Value | None = None


@dataclass(slots=True, eq=False)
class Word:
    """A word of a packed argument in a variable: read in front of the loop over its lanes, or written behind it;
    where there are ``conditions``, if all of them hold.
    """

    name: str
    memory: Memory
    place: Cpp
    written: bool
    conditions: tuple[Cpp, ...] = ()


@dataclass(slots=True, eq=False)
class Loop:
    """``for (int var = lower; var test upper; var += step)``; ``test`` is ``<`` or ``<=``. ``words``
    are those whose lanes it goes over.
    """

    var: str
    type: str
    lower: Cpp
    test: str
    upper: Cpp
    step: int
    info: LoopInfo
    body: Block
    carried: tuple[Carried, ...] = ()
    words: tuple[Word, ...] = ()


@dataclass(slots=True, eq=False)
class If:
    """``if (condition) then else orelse``."""

    condition: Cpp
    then: Block
    orelse: Block | None
    carried: tuple[Carried, ...] = ()

    def joins(self, condition: Cpp, has_more: bool) -> bool:
        """Whether a next ``if`` of this condition can be part of this one."""
        plain = self.orelse is None and not self.carried and not has_more
        return plain and self.condition.text == condition.text


Node = Value | Declare | Store | Loop | If


@dataclass(slots=True, eq=False)
class Block:
    """Nodes in order, and the values that the block's terminator hands on. ``apart``: it is a dataflow region,
    so that nodes of several processes do not become one.
    """

    nodes: list[Node] = field(default_factory=list)
    yields: tuple[Value, ...] = ()
    stores: set[Memory] = field(default_factory=set)  # below as well
    apart: bool = False

    def walk(self) -> Iterator[tuple[Node, Block]]:
        """Every node below with its block, in order."""
        for node in self.nodes:
            yield node, self
            match node:
                case Loop(body=body):
                    yield from body.walk()
                case If(then=then, orelse=orelse):
                    yield from then.walk()
                    if orelse is not None:
                        yield from orelse.walk()
                case _:
                    pass


@dataclass(slots=True, eq=False)
class Kernel:
    """A top function: its name, its memory, its body, the names in use, the headers so far, the
    statements of each process if it is a dataflow region, and how it is started if that is said;
    interval and style of the pipeline that it is, if it is one.
    """

    name: str
    user_name: str
    arguments: tuple[Memory, ...]
    body: Block
    names: Names
    headers: set[str]
    processes: tuple[tuple[str, ...], ...] = ()
    control: str = ""
    pipeline: tuple[int, str] | None = None


def count_uses(body: Block) -> None:
    """Find the values that something with an effect needs: how often, where, what they read."""
    for node, block in body.walk():
        match node:
            case Store():
                for value in node.operands:
                    _use(value, block)
            case Loop(carried=carried):
                for c in carried:
                    assert c.start is not None
                    _use(c.start, block)
                _use_all(node.body)
            case If():
                _use_all(node.then)
                if node.orelse is not None:
                    _use_all(node.orelse)
            case _:
                pass
    _use_all(body)


def _use_all(block: Block) -> None:
    for value in block.yields:
        _use(value, block)


def _use(value: Value, block: Block) -> None:
    pending = [(value, block)]
    while pending:
        v, user = pending.pop()
        v.uses += 1
        v.crosses = v.crosses or v.block is not user
        if v.uses == 1:
            if v.memory is not None:
                v.memory.read = True
            pending.extend((operand, v.block) for operand in v.operands)
