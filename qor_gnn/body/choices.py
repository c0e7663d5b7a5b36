"""Choices that are decided where copies of a loop are compiled.

In a copy of an unrolled loop its counter is a number. So is what is compared with it, and of ``a if k < 2 else b``, or of
the entries of a small table (`dsl.frontend.arrays.tables`), one value is left: what the others are computed from is not
there, and a product by an entry is one by a constant. An element of a table that is a memory is a constant as well, where
such numbers are its subscripts: no port is asked for it. Compilers do so whatever the tool's version.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import prod

from dsl.expressions.affine import Affine
from qor_gnn.design.operations import factor_of, known_element
from qor_gnn.design.region import Access, Memory, Op, Statement

Env = Mapping[str, Affine]
Tables = Mapping[str, Memory]

_COMPARED: dict[int, Callable[[int, int], bool]] = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    2: lambda a, b: a < b,
    3: lambda a, b: a <= b,
    4: lambda a, b: a > b,
    5: lambda a, b: a >= b,
}
"""By the predicate of ``arith.cmpi``; those behind are of numbers without a sign."""
_UNSIGNED = 4  # from a signed predicate to that
_ULT = 6
_OPERANDS = 2

_COMPUTED: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


@dataclass(slots=True)
class Choices:
    """Of one statement.

    Attributes:
        statement: as it is written.
        variables: what decides the choices.
        env: variables of loops that are not unrolled, as expressions of counters.
        tables: the memories that are tables of constants, by name.
        placed: every copy knows which elements it accesses at subscripts that are values.
    """

    statement: Statement
    variables: tuple[str, ...]
    env: Env
    tables: Tables = field(default_factory=dict)
    placed: bool = False
    _left: dict[tuple[object, ...], Statement] = field(default_factory=dict)  # by decisions
    _known: dict[tuple[int | None, ...], Statement] = field(default_factory=dict)  # by variables

    def at(self, copies: Mapping[str, int]) -> Statement:
        """What is left of the statement in a copy: always the same object for the same decisions.

        Args:
            copies: the values of variables of loops that are unrolled.
        """
        key = tuple([copies.get(v) for v in self.variables])
        found = self._known.get(key)
        if found is None:
            values = {v: Affine((), c) for v, c in copies.items()}
            ops = self.statement.ops
            at = _Known(values, self.env, self.tables)
            numbers = at.numbers(ops)
            tests = [numbers[op.operands[0]] for op in ops if _decides(op)]
            elements = {n: e for n, e in enumerate(at.elements) if e is not None}
            taken = (*tests, *elements.items(), *self._places(numbers))
            if taken not in self._left:
                known = placed(self.statement, numbers) if self.placed else self.statement
                self._left[taken] = _left(known, numbers, elements)
            found = self._known[key] = self._left[taken]
        return found

    def _places(self, numbers: Sequence[int | None]) -> Iterator[int | None]:
        """What tells copies apart that know which elements they access."""
        if self.placed:
            yield from (numbers[k] for k in _subscripts(self.statement))


def _subscripts(statement: Statement) -> Iterator[int]:
    """The positions of all subscripts that are values."""
    for op in statement.ops:
        if op.gathers:
            yield from op.operands
    yield from statement.subscripts


def placed(statement: Statement, numbers: Sequence[int | None]) -> Statement:
    """The statement with numbers for its subscripts that are values.

    Args:
        statement: any.
        numbers: that its operations give, None of what no iteration computes: any element stands for it.
    """

    def at(access: Access, data: Sequence[int]) -> Access:
        known = iter([numbers[k] or 0 for k in data])
        indices = (Affine((), next(known)) if i.is_data else i for i in access.indices)
        return replace(access, indices=tuple(indices))

    ops = tuple(
        replace(op, access=at(op.access, op.operands), operands=())
        if op.gathers and op.access is not None
        else op
        for op in statement.ops
    )
    return replace(
        statement, ops=ops, target=at(statement.target, statement.subscripts), subscripts=()
    )


_TOLD = frozenset({"const", "index", "load", "select", "cmp"})
"""What a subscript that is a value is made of where all copies know it: what may wrap is not among them."""


def choices_of(statement: Statement, env: Env, tables: Tables, copied: Set[str]) -> Choices | None:
    """The choices of a statement that counters may decide, elements of tables among them; None where it has none.

    Args:
        statement: any.
        env, tables: see `Choices`.
        copied: variables of loops that are unrolled.
    """
    if not any(_decides(op) or _of_table(op, tables) for op in statement.ops):
        return None
    variables: set[str] = set()
    of: list[frozenset[str] | None] = []  # None of what counters alone do not tell
    for op in statement.ops:
        known: frozenset[str] | None = None
        if op.type == "int":
            if op.kind == "const":
                known = frozenset()
            elif op.kind == "index" and op.access is not None:
                known = frozenset(op.access.indices[0].variables())
            elif op.kind in _COMPUTED or op.kind in ("cmp", "select"):
                every = [of[k] for k in op.operands]
                if all(each is not None for each in every):
                    known = frozenset().union(*(each for each in every if each is not None))
        if _of_table(op, tables) and op.access is not None:
            every = [of[k] for k in op.operands]
            every += [i.variables() for i in op.access.indices if not i.is_data]
            if all(each is not None for each in every):
                known = frozenset().union(*(each for each in every if each is not None))
                variables |= known
        if _decides(op) and (by := of[op.operands[0]]):
            variables |= by
        of.append(known if op.type == "int" else None)
    if not variables:
        return None
    data = list(_subscripts(statement))
    told = all(_is_told(statement.ops, of, k, copied) for k in data)
    return Choices(statement, tuple(sorted(variables)), env, tables, bool(data) and told)


def _is_told(
    ops: Sequence[Op], of: Sequence[frozenset[str] | None], n: int, copied: Set[str]
) -> bool:
    """Whether each copy knows what an operation gives."""
    by = of[n]
    if by is None or not by <= copied or ops[n].kind not in _TOLD:
        return False
    return all(_is_told(ops, of, k, copied) for k in ops[n].operands)


def tables_among(memories: Iterable[Memory]) -> dict[str, Memory]:
    """The tables of constants whose elements are where their subscripts say: not those of words of several elements."""
    return {
        m.name: m
        for m in memories
        if m.contents is not None and m.lanes == 1 and prod(m.shape) == len(m.contents.words)
    }


def _decides(op: Op) -> bool:
    return op.kind == "select"


def _of_table(op: Op, tables: Tables) -> bool:
    """Whether an operation reads an element whose place in a table of constants may be known."""
    return op.kind == "load" and op.access is not None and op.access.memory in tables


@dataclass(slots=True)
class _Known:
    """What is known of operations in a copy.

    Attributes:
        values, env, tables: of variables of loops that are unrolled, and of others; as in `Choices`.
        elements: what loads of tables read, of the operations in `numbers`; None of all others.
    """

    values: Mapping[str, Affine]
    env: Env
    tables: Tables
    elements: list[float | None] = field(default_factory=list)

    def numbers(self, ops: Sequence[Op]) -> list[int | None]:
        """The integers that operations give; None where that is not known."""
        found: list[int | None] = []
        for op in ops:
            element = self._element(op, found) if _of_table(op, self.tables) else None
            self.elements.append(element)
            found.append(self._number(op, found, element) if op.type == "int" else None)
        return found

    def _number(self, op: Op, found: Sequence[int | None], element: float | None) -> int | None:
        if element is not None:
            return int(element)
        if op.kind == "const":
            return op.number
        if op.kind == "index" and op.access is not None:
            return self._subscript(op.access.indices[0])
        if op.kind == "select" and (test := found[op.operands[0]]) is not None:
            return found[op.operands[1 if test else 2]]
        if op.kind == "cmp" or op.kind in _COMPUTED:
            return _computed(op, [found[k] for k in op.operands])
        return None

    def _subscript(self, index: Affine) -> int | None:
        at = index.substitute(self.values).substitute(self.env)
        return at.const if at.is_const else None

    def _element(self, op: Op, found: Sequence[int | None]) -> float | None:
        """What a load of a table reads, where all of its subscripts are known."""
        assert op.access is not None
        table, data = self.tables[op.access.memory], iter(op.operands)
        assert table.contents is not None
        place = 0
        for index, extent in zip(op.access.indices, table.shape, strict=True):
            at = found[next(data)] if index.is_data else self._subscript(index)
            if at is None or not 0 <= at < extent:
                return None
            place = place * extent + at
        return table.contents.value(place)


def _computed(op: Op, taken: Sequence[int | None]) -> int | None:
    """What an operation on two numbers gives; None where not all of their bits are in it, or one is not known."""
    known = [n for n in taken if n is not None]
    limit = 1 << op.width
    if (
        len(known) != _OPERANDS
        or len(taken) != _OPERANDS
        or not all(-limit < n < limit for n in known)
    ):
        return None
    a, b = known
    if op.kind != "cmp":
        number = _COMPUTED[op.kind](a, b)
        return number if -limit < number < limit else None
    predicate = int(op.value.split()[-1])
    if predicate >= _ULT:
        if min(a, b) < 0:
            return None
        predicate -= _UNSIGNED
    return int(_COMPARED[predicate](a, b))


def _left(
    statement: Statement, numbers: Sequence[int | None], elements: Mapping[int, float]
) -> Statement:
    """The operations that are left where choices are decided by numbers, and elements of tables are these."""
    ops = tuple(
        known_element(op, elements[n]) if n in elements else op
        for n, op in enumerate(statement.ops)
    )
    stands: list[int] = []  # for each operation, the one whose value it has
    for n, op in enumerate(ops):
        stands.append(_value_of(n, op, ops, stands, numbers, elements))
    last = stands[-1]
    pending = [last, *(stands[k] for k in statement.subscripts)]
    needed: set[int] = set()
    while pending:
        n = pending.pop()
        if n not in needed:
            needed.add(n)
            pending += (stands[k] for k in ops[n].operands)
    kept = sorted(needed)
    if kept[-1] != last:
        kept.append(last)  # a subscript takes it, too (`qor_gnn.design.operations.operations_of`)
    place = {n: k for k, n in reversed(list(enumerate(kept)))}
    left: list[Op] = []
    for n in kept:
        written = ops[n].operands
        operands = [stands[k] for k in written]
        pairs = zip(operands, written, strict=True)
        chosen = [ops[k] for k, before in pairs if k != before or k in elements]
        op = _by_constant(ops[n], chosen)
        left.append(replace(op, operands=tuple(place[k] for k in operands)) if operands else op)
    subscripts = tuple(place[stands[k]] for k in statement.subscripts)
    return replace(statement, ops=tuple(left), subscripts=subscripts)


def _value_of(
    n: int,
    op: Op,
    ops: Sequence[Op],
    stands: Sequence[int],
    numbers: Sequence[int | None],
    elements: Container[int],
) -> int:
    """The operation whose value another one has: of a choice what is chosen, of ``0 * x``, ``1 * x`` and ``x + 0`` a factor or
    a term.
    """
    if _decides(op):
        test = numbers[op.operands[0]]
        return n if test is None else stands[op.operands[1 if test else 2]]
    if op.kind not in ("mul", "add"):
        return n
    taken = [stands[k] for k in op.operands]
    for k, (written, other) in enumerate(zip(op.operands, reversed(taken), strict=True)):
        one = ops[taken[k]]
        by_choice = taken[k] != written or written in elements
        if not by_choice or one.kind != "const":
            continue  # what is written as a number was folded before
        number = one.number if one.type == "int" else float(one.value)
        zero = one.type == "int" and number == 0
        if (op.kind == "add" and zero) or (op.kind == "mul" and number == 1):
            return other
        if op.kind == "mul" and one.type == "int" and number == -1 and _only_added(n, ops):
            return other  # it is subtracted there
        if op.kind == "mul" and zero:
            return taken[k]
    return n


def _only_added(n: int, ops: Sequence[Op]) -> bool:
    """Whether nothing but sums and differences takes an operation."""
    takers = [op.kind for op in ops[n + 1 :] if n in op.operands]
    return bool(takers) and all(kind in ("add", "sub") for kind in takers)


def _by_constant(op: Op, chosen: Sequence[Op]) -> Op:
    """A product of integers of which a choice leaves one factor that is a number."""
    numbers = [other for other in chosen if other.kind == "const"]
    if op.kind != "mul" or op.type != "int" or len(numbers) != 1:
        return op
    wide = max(op.factors)
    short, long = sorted((factor_of(numbers[0]), wide))
    return replace(op, factors=(long, short))
