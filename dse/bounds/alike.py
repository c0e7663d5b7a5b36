"""Operations that look alike: how many of their values differ at least.

Values of two operations differ where no iterations of theirs read the same elements in the same places of the
expression. Sums and products are commuted, so that what stands on either side of one may be found on the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from networkx.utils import UnionFind

from dse.bounds.distinct import Facts, Row, Tag, rank, row_of
from dsl.expressions.affine import Affine
from polyhedral.dependences.coinciding import coincide
from qor_gnn.design.region import Statement

_COMMUTE = ("add", "mul")
_TURNS = 3  # sums and products whose sides are compared in either order
_LEAVES = 24  # loads of an expression that is compared
_PAIRS = 60  # of operations that look alike, of which it is asked whether iterations read the same


@dataclass(slots=True)
class Counted:
    """An operation of a statement with the number of its values, and what they tell.

    Attributes:
        name: of the statement.
        op: the operation's position.
        shapes: of the statement, from `shapes_of`.
        times: values that differ.
        rows: of what they are computed from.
    """

    name: str
    op: int
    shapes: Sequence[int]
    times: int
    rows: list[tuple[Row, int, Tag]]


def shapes_of(stmt: Statement, known: dict[tuple[object, ...], int]) -> list[int]:
    """A number for each operation: the same for those that are alike but for subscripts.

    Sums and products are commuted into one order. ``known`` are the numbers so far: an operand that
    is used several times is looked at once, where its text would double with each use.
    """
    found: list[int] = []
    for op in stmt.ops:
        key: tuple[object, ...]
        if op.kind == "load" and op.access is not None:
            key = ("load", op.access.memory)
        else:
            inside = [found[k] for k in op.operands]
            if op.kind in _COMMUTE:
                inside.sort()
            where = "" if op.access is None else op.access.memory
            key = (op.kind, str(op.value), where, *inside)
        found.append(known.setdefault(key, len(known)))
    return found


def repeated(facts: Facts, name: str, op: int, shapes: Sequence[int]) -> int:
    """How many iterations may have one value at the most because their operands are commuted; 1 where none are.

    Args:
        facts: of the program.
        name: of the statement.
        op: the operation's position.
        shapes: of the statement.
    """
    stmt = facts.statements[name]
    turns = _turns(stmt, op, shapes)
    if not turns:
        return 1
    every = 1 << len(turns)
    plain = _read(facts, name, op, shapes, frozenset())
    own = facts.values.scop.statement(name)
    if plain is not None and rank(_summed(plain)) == len(own.variables):
        return 1
    if len(turns) > _TURNS or plain is None:
        return every
    count = 1
    for turned in _subsets(turns):
        other = _read(facts, name, op, shapes, turned) if turned else None
        count += other is not None and coincide(own, _flat(plain), own, _flat(other))
    return count


def different(facts: Facts, found: list[Counted]) -> int:
    """At least so many values of operations that look alike differ.

    Those that may be the same count once, as often as one of them: they are one component.
    """
    components = UnionFind(range(len(found)))
    asked = _PAIRS
    for a, b in combinations(range(len(found)), 2):
        if components[a] == components[b] or _offset(found[a], found[b]):
            continue
        asked -= 1
        if asked < 0 or not _apart(facts, found[a], found[b]):
            components.union(a, b)
    return sum(max(found[n].times for n in members) for members in components.to_sets())


def _offset(one: Counted, other: Counted) -> bool:
    """No value of one is a value of the other: their subscripts are at a distance that no iterations have."""
    if [(row, tag) for row, _, tag in one.rows] != [(row, tag) for row, _, tag in other.rows]:
        return False
    offsets = [b - a for (_, a, _), (_, b, _) in zip(one.rows, other.rows, strict=True)]
    rows = [row for row, _, _ in one.rows]
    widened = [(*row, ("", c)) if c else row for row, c in zip(rows, offsets, strict=True)]
    return rank(widened) > rank(rows)


def _apart(facts: Facts, one: Counted, other: Counted) -> bool:
    """No value of one is a value of the other: no iterations read the same elements."""
    mine = _read(facts, one.name, one.op, one.shapes, frozenset())
    turns = _turns(facts.statements[other.name], other.op, other.shapes)
    if mine is None or one.name == other.name or len(turns) > _TURNS:
        return False
    first, second = (facts.values.scop.statement(name) for name in (one.name, other.name))
    for turned in _subsets(turns):
        its = _read(facts, other.name, other.op, other.shapes, turned)
        if its is None or [tag for tag, _ in mine] != [tag for tag, _ in its]:
            return False
        if coincide(first, _flat(mine), second, _flat(its)):
            return False
    return True


_Leaf = tuple[Tag, tuple[Affine, ...]]


def _read(
    facts: Facts, name: str, op: int, shapes: Sequence[int], turned: frozenset[int]
) -> list[_Leaf] | None:
    """The elements that tell an operation's value, in the order of the expression; None where there are none, or many.

    Args:
        facts: of the program.
        name: of the statement.
        op: the operation's position.
        shapes: of the statement.
        turned: sums and products of which the second operand is looked at first.
    """
    stmt = facts.statements[name]
    found: list[_Leaf] = []
    open_ = [op]
    left = 4 * _LEAVES
    while open_ and left:
        left -= 1
        n = open_.pop()
        one = stmt.ops[n]
        if one.kind == "load":
            tag = None if one.access is None or one.gathers else facts.tag(name, one.access.memory)
            if tag is not None and one.access is not None:
                found.append((tag, one.access.indices))
            continue
        inside = list(one.operands)
        if one.kind in _COMMUTE:
            inside.sort(key=lambda k: shapes[k])
        open_ += inside if n in turned else reversed(inside)
    return found if found and not open_ and len(found) <= _LEAVES else None


def _summed(leaves: Sequence[_Leaf]) -> list[Row]:
    """The sums of the subscripts of each array, by dimension: the same in whatever order its elements are read."""
    sums: dict[tuple[Tag, int], Affine] = {}
    for tag, indices in leaves:
        for d, index in enumerate(indices):
            sums[tag, d] = sums.get((tag, d), Affine.of(0)) + index
    return [row for index in sums.values() if (row := row_of(index)) is not None]


def _turns(stmt: Statement, op: int, shapes: Sequence[int]) -> list[int]:
    """The sums and products below an operation, and this one, whose operands look alike and are not the same."""
    found: dict[int, None] = {}
    seen: set[int] = set()
    open_ = [op]
    while open_:
        n = open_.pop()
        if n in seen:
            continue
        seen.add(n)
        one = stmt.ops[n]
        open_ += one.operands
        if one.kind in _COMMUTE and len(one.operands) == 2:
            first, second = one.operands
            if first != second and shapes[first] == shapes[second]:
                found[n] = None
    return list(found)


def _subsets(turns: Sequence[int]) -> Iterator[frozenset[int]]:
    for count in range(len(turns) + 1):
        yield from map(frozenset, combinations(turns, count))


def _flat(leaves: Sequence[_Leaf]) -> list[Affine]:
    return [index for _, indices in leaves for index in indices]
