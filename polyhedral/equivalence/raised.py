"""A level 3 module as plain data: what `mlir_passes.raising` reads and `check` compares.

Nothing here is believed. A store names a statement and says which iteration of it it is; that is
how the proof is found, and each of its claims is checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine, Cond
from dsl.expressions.expr import Access
from dsl.expressions.types import DType
from dsl.schedules.steps import PartitionKind


@dataclass(frozen=True, slots=True)
class RaisedLoop:
    """``for iv = max(lowers); iv < min(uppers); iv += step``; ``iv`` is unique in the module."""

    iv: str
    name: str
    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    step: int


@dataclass(frozen=True, slots=True)
class Value:
    """An operation of an expression.

    Attributes:
        op: its name, e.g. ``arith.addf``.
        type: of the result, as MLIR writes it.
        attributes: name and text of all but the affine map.
        operands: positions in the `Expression`.
        access: of a load, the element; of a number computed of loop variables, no array and it.
    """

    op: str
    type: str
    attributes: tuple[tuple[str, str], ...] = ()
    operands: tuple[int, ...] = ()
    access: Access | None = None


Expression = tuple[Value, ...]
"""Operands before those who use them; the last one is the value of the expression."""


@dataclass(frozen=True, slots=True)
class RaisedStore:
    """An assignment, with what is around it.

    Attributes:
        stmt: the statement that it says it is of; empty where it says nothing.
        iteration: the statement's loop variables, over those of ``loops``; None where not said.
        loops: outermost first.
        guards: over the variables of the loops.
        place: positions in the body of the function and of each loop, which order all stores (Kelly
            and Pugh's 2d+1 form); two stores share a loop where their places agree up to its.
        target: the element that is assigned.
        value: what it is assigned.
        unordered: why its loads cannot be taken to happen when it does; empty where they can.
    """

    stmt: str
    iteration: tuple[Affine, ...] | None
    loops: tuple[RaisedLoop, ...]
    guards: tuple[Cond, ...]
    place: tuple[int, ...]
    target: Access
    value: Expression
    unordered: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RaisedArray:
    """An argument or a local.

    Attributes:
        depth: how many loops are around its declaration.
        is_stream: it is a FIFO between two processes, or one for each of its ``banks``.
        banks: kind, factor (0: its extent) and dimension of each partition.
        contents: the raw words of a table of constants.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    is_argument: bool
    depth: int = 0
    is_stream: bool = False
    banks: tuple[tuple[PartitionKind, int, int], ...] = ()
    contents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RaisedModule:
    """A function: its arguments in calling order, then its locals, and its stores in order."""

    arrays: tuple[RaisedArray, ...]
    stores: tuple[RaisedStore, ...]


@dataclass(frozen=True, slots=True)
class NotProven:
    """Why a module is neither proven nor refuted."""

    reason: str
