"""A level 3 module as plain frozen values: loops, guards and statements, nothing unrolled yet."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.types import FixedType
from mlir_passes.dialect.attributes import ArrayInfo


@dataclass(frozen=True, slots=True)
class Expr:
    """One operation of a statement: the name and result type of level 3, operands by position.

    ``array`` and ``indices`` are those of a load, whose operands are the subscripts that are data, ``index`` the loop expression of an
    ``arith.index_cast``, ``value`` the raw bits of a constant, the number of a scalar argument or a
    comparison's predicate, ``src``, ``rhs`` and ``dst`` the types that ops of the dialect name.
    """

    name: str
    width: int
    is_float: bool
    operands: tuple[int, ...] = ()
    array: str = ""
    indices: tuple[Affine, ...] = ()
    index: Affine | None = None
    value: int = 0
    src: FixedType | None = None
    rhs: FixedType | None = None
    dst: FixedType | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """Operations, operands first; the last one's value is stored.

    ``subscripts`` are the operations that give those of the ``indices`` that are data, in order.
    """

    name: str
    ops: tuple[Expr, ...]
    array: str
    indices: tuple[Affine, ...]
    subscripts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Local:
    """An array comes to life: its elements hold nothing yet."""

    info: ArrayInfo


@dataclass(frozen=True, slots=True)
class For:
    """A loop as level 3 has it; ``unroll`` is 1 for not at all, 0 for completely."""

    iv: str
    name: str
    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    step: int
    body: tuple[Node, ...]
    ii: int | None = None
    unroll: int = 1
    flatten: bool | None = None


@dataclass(frozen=True, slots=True)
class If:
    """A body that runs where all constraints hold."""

    constraints: tuple[Constraint, ...]
    body: tuple[Node, ...]


Node = Statement | Local | For | If


@dataclass(frozen=True, slots=True)
class Kernel:
    """A module: its arguments in calling order, arrays and scalars, and what it does."""

    name: str
    arguments: tuple[ArrayInfo, ...]
    body: tuple[Node, ...]
