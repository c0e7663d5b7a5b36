"""The body of a stored program: a flat list of nodes, read with the loops and arrays in scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine, And, Cond, Constraint, Or, data_index
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
)
from dsl.expressions.nesting import MAX_DEPTH, admit, admit_value
from dsl.expressions.result_types import (
    binary_type,
    common_float,
    common_type,
    require_truth,
    unary_type,
)
from dsl.expressions.types import DType, FloatType, IndexType, IntType, boolean
from dsl.expressions.typing import assignable
from dsl.expressions.values import MAX_COEFFICIENT
from dsl.programs.program import Array, If, Loop, Node, Stmt, Storage
from dsl.stored.parts import (
    Malformed,
    affine_of,
    const_of,
    dtype_of,
    element_type_of,
    integer_of,
    list_of,
    name_of,
    text_of,
)

MAX_LEVELS = 2 * MAX_DEPTH
"""Of loops and branches, and of a condition: what is one level where it is written may be two here."""

_LENGTHS = {"for": 6, "if": 3, "else": 1, "end": 1, "set": 6}
_OPERANDS = {"cast": 1, "unary": 1, "binary": 2, "compare": 2, "select": 3}
MAX_VALUES = 1000
"""Subscripts of one element that are data."""
UNARY = {op.value: op for op in UnaryOp}
BINARY = {op.value: op for op in BinaryOp}
COMPARE = {op.value: op for op in CompareOp}

Operator = TypeVar("Operator", UnaryOp, BinaryOp, CompareOp)


@dataclass(slots=True)
class _Open:
    """A loop or a branch that has not ended; ``then`` is there from its ``else`` on."""

    head: Loop | If | None
    nodes: list[Node] = field(default_factory=list)
    then: tuple[Node, ...] | None = None

    def closed(self) -> Node:
        nodes = tuple(self.nodes)
        match self.head:
            case Loop(var, lowers, uppers, step, _, span):
                return Loop(var, lowers, uppers, step, nodes, span)
            case If(cond, _, _, span):
                branches = (nodes, ()) if self.then is None else (self.then, nodes)
                return If(cond, *branches, span)
            case None:
                raise Malformed("an 'end' without a beginning")


class BodyReader:
    """Reads nodes; keeps which loops are around, and which scope each local belongs to."""

    def __init__(self, arrays: Mapping[str, Array], span: Callable[[object], Span | None]) -> None:
        self._arrays = arrays
        self._span = span
        self._open = [_Open(None)]
        self._loops: list[tuple[str, int]] = []  # the variables around, and which loop each is of
        self._count = 0
        self._names: set[str] = set()
        self._homes: dict[str, tuple[int, ...]] = {}

    def read(self, data: Iterable[object]) -> tuple[Node, ...]:
        """The nodes of the body.

        Raises:
            Malformed: They are none.
            LanguageError: The types of an operator do not fit.
        """
        for node in data:
            row = list_of(node, "a node")
            kind = row[0] if row and isinstance(row[0], str) else None
            if _LENGTHS.get(str(kind)) != len(row):
                raise Malformed(f"there is no node {str(kind)[:20]!r} of {len(row)} parts")
            match kind:
                case "for":
                    self._begin(self._loop(*row[1:]))
                case "if":
                    self._begin(If(self._condition(row[1]), (), (), self._span(row[2])))
                case "else":
                    self._otherwise()
                case "end":
                    self._end()
                case _:
                    self._open[-1].nodes.append(self._statement(*row[1:]))
        if len(self._open) != 1:
            raise Malformed("a loop or branch does not end")
        return tuple(self._open[0].nodes)

    # ------------------------------------------------------------------------- loops, branches

    def _begin(self, head: Loop | If) -> None:
        if len(self._open) > MAX_LEVELS:
            raise Malformed(f"more than {MAX_LEVELS} loops and branches are inside of one another")
        admit(min(len(self._open), MAX_DEPTH), None)
        if isinstance(head, Loop):
            self._count += 1
            self._loops.append((head.var, self._count))
        self._open.append(_Open(head))

    def _otherwise(self) -> None:
        top = self._open[-1]
        if not isinstance(top.head, If) or top.then is not None:
            raise Malformed("an 'else' that is of no branch")
        top.then, top.nodes = tuple(top.nodes), []

    def _end(self) -> None:
        ended = self._open.pop()
        node = ended.closed()
        if ended.then is not None and not ended.nodes:
            raise Malformed("an 'else' with nothing in it")
        if isinstance(node, Loop):
            self._loops.pop()
        self._open[-1].nodes.append(node)

    def _loop(
        self, var: object, lowers: object, uppers: object, step: object, span: object
    ) -> Loop:
        name = name_of(var, "a loop's variable")
        if name in self._arrays or any(name == other for other, _ in self._loops):
            raise Malformed(f"the loop '{name}' has the name of an array, or of a loop around it")
        ends = [
            tuple(self._affine(b, f"a bound of '{name}'") for b in list_of(bounds, "bounds"))
            for bounds in (lowers, uppers)
        ]
        size = integer_of(step, f"the step of '{name}'", -MAX_COEFFICIENT, MAX_COEFFICIENT)
        first = ends[0] if size > 0 else ends[1]
        if size == 0 or not all(ends) or (abs(size) > 1 and len(first) > 1):
            raise Malformed(f"the loop '{name}' has no step, no bound, or begins at several")
        return Loop(name, ends[0], ends[1], size, (), self._span(span))

    def _condition(self, data: object) -> Cond:
        stack: list[tuple[Cond, int]] = []
        for part in list_of(data, "a condition"):
            kind, value = list_of(part, "a part of a condition", 2)
            match kind:
                case ">=" | "==":
                    stack.append((Constraint(self._affine(value, "a condition"), kind), 1))
                case "and" | "or":
                    count = integer_of(value, "the parts of a condition", 0, len(stack))
                    parts = stack[len(stack) - count :]
                    del stack[len(stack) - count :]
                    depth = 1 + max((d for _, d in parts), default=0)
                    if depth > MAX_LEVELS:
                        raise Malformed(f"a condition has more than {MAX_LEVELS} levels")
                    joined = tuple(c for c, _ in parts)
                    stack.append((And(joined) if kind == "and" else Or(joined), depth))
                case _:
                    raise Malformed(f"there is no condition {str(kind)[:20]!r}")
        if len(stack) != 1:
            raise Malformed("a condition is not one")
        return stack[0][0]

    # ------------------------------------------------------------------------------ statements

    def _statement(
        self, name: object, target: object, value: object, source: object, span: object
    ) -> Stmt:
        own = name_of(name, "a statement's name")
        if own in self._names:
            raise Malformed(f"two statements are called '{own}'")
        self._names.add(own)
        expr = self._expression(value, own)
        count = len(expr.data) if isinstance(expr, Scatter) else 0
        access = self._access(list_of(target, f"what {own} writes", 3), count)
        if isinstance(expr, Scatter) and expr.access != access:
            raise Malformed(f"{own} writes two elements")
        array = self._arrays[access.array]
        if array.const or (array.storage is Storage.ARGUMENT and not array.shape):
            raise Malformed(f"{own} writes '{array.name}', which is only read")
        if not assignable(expr.dtype, array.dtype):
            raise Malformed(f"{own} writes {expr.dtype} into {array.dtype}")
        return Stmt(own, access, expr, self._span(span), text_of(source, f"the text of {own}"))

    def _access(self, data: list[Any], values: int = 0) -> Access:
        """An element; ``values`` of its subscripts, written as null, are data."""
        name, indices, span = data
        array = self._arrays.get(name) if isinstance(name, str) else None
        if array is None:
            raise Malformed(f"there is no array {str(name)[:40]!r}")
        subscripts = list_of(indices, f"the subscripts of '{name}'")
        if len(subscripts) != len(array.shape):
            raise Malformed(f"'{name}' has {len(array.shape)} dimensions, not {len(subscripts)}")
        if array.storage is Storage.LOCAL:
            home = tuple(number for _, number in self._loops[: array.scope_depth])
            known = self._homes.setdefault(array.name, home)
            if len(home) != array.scope_depth or home != known:
                raise Malformed(f"the local '{name}' is used outside of its scope")
        places = iter([data_index(n) for n in range(values)])
        if sum(i is None for i in subscripts) != values:
            raise Malformed(f"a subscript of '{name}' has no value")
        found = tuple(
            next(places) if i is None else self._affine(i, f"a subscript of '{name}'")
            for i in subscripts
        )
        return Access(array.name, found, self._span(span))

    def _affine(self, data: object, what: str) -> Affine:
        found = affine_of(data, what)
        missing = found.variables() - {name for name, _ in self._loops}
        if missing:
            raise Malformed(f"{what} uses '{min(missing)}', which is no loop around")
        return found

    # ----------------------------------------------------------------------------- expressions

    def _expression(self, data: object, own: str) -> Expr:
        stack: list[Expr] = []
        for node in list_of(data, f"the value of {own}"):
            row = list_of(node, f"a part of the value of {own}")
            count = _OPERANDS.get(row[0], 0) if row and isinstance(row[0], str) else 0
            if row and row[0] in ("gather", "scatter"):
                count = integer_of(row[-1], f"the values of {own}", 1, MAX_VALUES)
            if count > len(stack):
                raise Malformed(f"an operator of {own} lacks operands")
            operands = stack[len(stack) - count :]
            del stack[len(stack) - count :]
            if any(isinstance(x, Scatter) for x in operands):
                raise Malformed(f"an operand of {own} is written")
            stack.append(self._node(row, operands, own))
        if len(stack) != 1:
            raise Malformed(f"the value of {own} is not one")
        admit_value(stack[0], None)
        return stack[0]

    def _gather(self, data: list[Any], operands: list[Expr], own: str) -> Gather:
        made = self._access(data, len(operands))
        if not all(isinstance(x.dtype, IntType | IndexType) for x in operands):
            raise Malformed(f"a subscript of {own} is no integer")
        return Gather(made, tuple(operands), self._arrays[made.array].dtype)

    def _node(self, row: list[Any], operands: list[Expr], own: str) -> Expr:
        match row:
            case ["const", dtype, value]:
                return const_of(value, element_type_of(dtype))
            case ["load", *access] if len(access) == 3:
                made = self._access(access)
                return Load(made, self._arrays[made.array].dtype)
            case ["gather", name, indices, span, int()]:
                return self._gather([name, indices, span], operands, own)
            case ["scatter", name, indices, span, int()]:
                *places, stored = operands
                goal = self._gather([name, indices, span], places, own)
                return Scatter(goal.access, goal.data, stored)
            case ["index", affine]:
                return Index(self._affine(affine, f"a value of {own}"))
            case ["cast", dtype, span]:
                return Cast(operands[0], element_type_of(dtype), self._span(span))
            case ["select", dtype, span]:
                cond, then, orelse = operands
                require_truth(cond.dtype, None, f"a condition of {own}")
                kind = common_type(then.dtype, orelse.dtype)
                _check_types(dtype, kind, (then, orelse), own)
                return Select(cond, then, orelse, kind, self._span(span))
            case ["unary", str(op), dtype, span]:
                kind = unary_type(_operator(UNARY, op), operands[0].dtype)
                _check_types(dtype, kind, operands, own)
                return Unary(UNARY[op], operands[0], kind, self._span(span))
            case ["binary", str(op), dtype, span]:
                a, b = operands
                kind = binary_type(_operator(BINARY, op), a.dtype, b.dtype)
                _check_types(dtype, kind, operands, own)
                return Binary(BINARY[op], a, b, kind, self._span(span))
            case ["compare", str(op), dtype, span]:
                a, b = operands
                _operator(COMPARE, op)
                if isinstance(a.dtype, FloatType) or isinstance(b.dtype, FloatType):
                    _check_types(str(a.dtype), common_float(a.dtype, b.dtype), operands, own)
                _check_types(dtype, boolean, (), own)
                return Compare(COMPARE[op], a, b, boolean, self._span(span))
            case _:
                raise Malformed(f"there is no expression {str(row[:1])[:40]}")


def _operator(known: Mapping[str, Operator], name: str) -> Operator:
    if name not in known:
        raise Malformed(f"there is no operator {name[:20]!r}")
    return known[name]


def _check_types(stored: object, kind: DType, operands: Sequence[Expr], own: str) -> None:
    """That an operator has the type that its operands give it; with a float, they have it too."""
    same = not isinstance(kind, FloatType) or all(x.dtype == kind for x in operands)
    if not same or dtype_of(stored) != kind:
        raise Malformed(f"an operator of {own} has another type than its operands give it")
