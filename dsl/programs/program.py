"""A `Program`: loops, affine conditions and statements over declared arrays. Immutable.

This is what both front doors (`dsl.frontend`, `dsl.builder.program`) produce, what `dsl.interp` runs as
the reference semantics, and what `polyhedral` turns into a scop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine, Cond
from dsl.expressions.expr import Access, Expr
from dsl.expressions.types import ArrayType, DType

MAX_EXTENT = 2**31 - 1
"""Of a dimension, and of a bound of a loop: loop variables count as ``i32``."""

MAX_STATEMENTS = 20_000
"""Statements of one program, inlined ones included."""


class Storage(Enum):
    """Where an array lives."""

    ARGUMENT = "argument"  # passed by the caller; a scalar argument is passed by value
    LOCAL = "local"  # on chip, undefined until written
    TABLE = "table"  # on chip, of constants: a ROM
    SCRATCH = "scratch"  # a local of the outermost scope that a schedule puts into memory outside


@dataclass(frozen=True, slots=True)
class Array:
    """An array or (empty shape) a scalar.

    A local that is declared inside loops belongs to one iteration of them: ``scope_depth`` is the
    number of loops around its declaration. Each iteration has a fresh, undefined copy.
    ``const`` marks an argument declared with ``weft.const[...]``. Scalar arguments are read only.
    ``contents`` are the raw words of a table, row by row: of an integer its value, of fixed point the integer of its
    bits, of a float its bits as an unsigned integer. The type of a local that is ``by_value`` was not written: it is that of
    the first value (see `dsl.programs.narrowed`).
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    storage: Storage = Storage.ARGUMENT
    const: bool = False
    scope_depth: int = 0
    span: Span | None = field(default=None, compare=False, repr=False)
    contents: tuple[int, ...] = field(default=(), repr=False)
    by_value: bool = field(default=False, compare=False, repr=False)

    @property
    def type(self) -> ArrayType:
        """Element type and shape."""
        return ArrayType(self.dtype, self.shape)


@dataclass(frozen=True, slots=True)
class Stmt:
    """``target = value``: one assignment of an array element or scalar.

    The value is converted to the target's element type as a C++ assignment of the HLS types
    would do it.
    """

    name: str
    target: Access
    value: Expr
    span: Span | None = field(default=None, compare=False, repr=False)
    source: str = field(default="", compare=False)  # the line(s) of the DSL, for comments


@dataclass(frozen=True, slots=True)
class Loop:
    """``for var in [max(lowers), min(uppers))`` by ``step``, in order.

    ``step`` > 0 counts up from the lower bound; ``step`` < 0 runs the same interval downwards,
    starting at ``upper - 1``. With ``abs(step) != 1`` the bound that it counts from is single.
    """

    var: str
    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    step: int
    body: tuple[Node, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    """``if cond: then else: orelse`` with an affine condition on loop variables."""

    cond: Cond
    then: tuple[Node, ...]
    orelse: tuple[Node, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


Node = Loop | If | Stmt


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel: ``arrays`` lists the arguments in calling order, then the locals.

    Within one path of nested loops all variable names differ; siblings may reuse names.
    Statement names are unique.
    """

    name: str
    arrays: tuple[Array, ...]
    body: tuple[Node, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def arguments(self) -> tuple[Array, ...]:
        """The arguments in calling order."""
        return tuple(a for a in self.arrays if a.storage is Storage.ARGUMENT)

    @property
    def locals(self) -> tuple[Array, ...]:
        """The local arrays and scalars on the chip."""
        return tuple(a for a in self.arrays if a.storage is Storage.LOCAL)

    @property
    def tables(self) -> tuple[Array, ...]:
        """The arrays of constants on the chip."""
        return tuple(a for a in self.arrays if a.storage is Storage.TABLE)

    @property
    def scratch(self) -> tuple[Array, ...]:
        """The arrays in memory outside that the caller provides, neither filled nor read by it."""
        return tuple(a for a in self.arrays if a.storage is Storage.SCRATCH)

    def array(self, name: str) -> Array:
        """The array of that name; KeyError if there is none."""
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)

    def statements(self) -> tuple[Stmt, ...]:
        """All statements in program order."""
        return tuple(node for node, _ in self.walk() if isinstance(node, Stmt))

    def walk(self) -> Iterator[tuple[Node, tuple[Loop | If, ...]]]:
        """Every node in program order with the loops and conditions around it."""
        yield from _walk(self.body, ())


def _walk(
    nodes: tuple[Node, ...], around: tuple[Loop | If, ...]
) -> Iterator[tuple[Node, tuple[Loop | If, ...]]]:
    for node in nodes:
        yield node, around
        match node:
            case Loop(body=body):
                yield from _walk(body, (*around, node))
            case If(then=then, orelse=orelse):
                yield from _walk(then, (*around, node))
                yield from _walk(orelse, (*around, node))
            case Stmt():
                pass


def variables_in(program: Program) -> frozenset[str]:
    """The variables of all loops of a program."""
    return frozenset(n.var for n, _ in program.walk() if isinstance(n, Loop))


def statements_in(node: Node) -> Iterator[Stmt]:
    """The statements of a node, in order."""
    if isinstance(node, Stmt):
        yield node
        return
    for inner in node.body if isinstance(node, Loop) else (*node.then, *node.orelse):
        yield from statements_in(inner)


def has_statement(node: Node, name: str) -> bool:
    """Whether a statement of that name is in a node, or is it."""
    return any(stmt.name == name for stmt in statements_in(node))


def map_statements(node: Node, new: Callable[[Stmt], Node]) -> Node:
    """The node with each of its statements replaced, in program order."""
    match node:
        case Loop(body=body):
            return replace(node, body=tuple(map_statements(n, new) for n in body))
        case If(then=then, orelse=orelse):
            sides = (tuple(map_statements(n, new) for n in side) for side in (then, orelse))
            first, second = sides
            return replace(node, then=first, orelse=second)
        case Stmt():
            return new(node)


def replaced(nodes: tuple[Node, ...], old: Sequence[Node], new: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes with others in the place of some that follow each other in one body, which are known by their identity."""

    def inside(node: Node) -> Node:
        match node:
            case Loop(body=body):
                return replace(node, body=replaced(body, old, new))
            case If(then=then, orelse=orelse):
                sides = replaced(then, old, new), replaced(orelse, old, new)
                return replace(node, then=sides[0], orelse=sides[1])
            case Stmt():
                return node

    found: list[Node] = []
    for node in nodes:
        if node is old[0]:
            found += new
        elif not any(node is one for one in old):
            found.append(inside(node))
    return tuple(found)
