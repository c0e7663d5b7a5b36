"""Which iterations of an operation are proven to compute different values.

- A value is an expression over elements that nothing has written yet, so two iterations that read
  different elements have different values. Which loops tell is a matter of the rank of the
  subscripts: of ``x[i + j]`` one of the two loops.
- An element that a statement has computed stands for its subscripts where the value tells which
  element it is: ``t[i, j] += a[i, k] * b[k, j]`` does.
- A value that is computed from the one before along a loop is a larger expression each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from math import prod

from dse.bounds.composing import composed_types
from dse.bounds.value_graph import ValueGraph, value_graph
from dse.bounds.versions import told_by_versions
from dsl.expressions.affine import Affine, Atom
from dsl.expressions.expr import Access as Read
from dsl.expressions.expr import Const
from dsl.programs.program import Loop, Program
from dsl.schedules.schedule import Schedule
from polyhedral.codegen.generate import loop_tree
from polyhedral.dependences.borders import untouched
from polyhedral.dependences.values import Values, values_of
from polyhedral.looptree.counts import instance_counts
from polyhedral.looptree.tree import Instance, LoopTree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Op, Statement, walk

Row = tuple[tuple[str, int], ...]
"""The linear part of a subscript: loop variables and their coefficients."""

Tag = tuple[str, str]
"""An array, and the statement that has computed its elements (none: nobody has; ``*``: several, and no two values are
the same)."""

_NEUTRAL = ("0.0", "-0.0", "1.0", "-1.0")  # constants that leave no operator


@lru_cache(maxsize=4)  # several tools are asked of one program
def facts_of(program: Program) -> Facts:
    """What is known of a program's values.

    Raises:
        LanguageError: W16x, the program accesses an array out of bounds.
    """
    state = apply(program, Schedule())
    values = values_of(state.scop)
    counted = instance_counts(loop_tree(state))
    return Facts(program, values, counted, _statements(program, values))


def _statements(program: Program, values: Values) -> dict[str, Statement]:
    """The operations of each statement, over the loop variables of the program."""
    instances = tuple(
        Instance(s.stmt, tuple((v, Affine.of(v)) for v in s.variables))
        for s in values.scop.statements
    )
    kernel = kernel_of_tree(LoopTree(program, instances))
    nodes = walk(kernel.functions[0].body)
    return {node.name: node for node in nodes if isinstance(node, Statement)}


@dataclass(frozen=True)
class Facts:
    """A program's values, and which of them tell which iteration they are of."""

    program: Program
    values: Values
    counted: Mapping[str, int | None]
    statements: Mapping[str, Statement]
    borders: dict[tuple[str, frozenset[tuple[str, tuple[Affine, ...]]]], int] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def operations(self) -> int | None:
        """Those of all iterations; None where it is data how many there are."""
        if any(self.counted[name] is None for name in self.statements):
            return None
        return sum(len(s.ops) * (self.counted[name] or 0) for name, s in self.statements.items())

    def graph(self, most: int) -> ValueGraph | None:
        """The values of the first operations, so many of them, one by one; None where it is data how many there are."""
        if self.operations is None:
            return None
        return value_graph(self.program, self.statements, self.values.needed, most)

    @cached_property
    def composed(self) -> frozenset[str]:
        """Types of values whose recurrences can run in blocks."""
        return composed_types(self.values.scop)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Iterations of each statement, of those of which every value is needed."""
        needed = self.values.needed
        return {name: n or 0 if name in needed else 0 for name, n in self.counted.items()}

    @cached_property
    def tables(self) -> frozenset[str]:
        """The arrays of constants."""
        return frozenset(a.name for a in self.program.tables)

    @cached_property
    def written(self) -> frozenset[str]:
        """The arrays that some statement writes."""
        return frozenset(s.target.memory for s in self.statements.values())

    @cached_property
    def telling(self) -> frozenset[str]:
        """Statements of which a value tells the element that it is stored to: no two elements hold
        the same expression.

        All are taken to do so until one of them does not; by induction on the size of expressions
        those that are left do.
        """
        found = frozenset(self.statements)
        while True:
            kept = frozenset(name for name in found if self._tells(name, found))
            if kept == found:
                return found
            found = kept

    @cached_property
    def versions(self) -> frozenset[str]:
        """Arrays updated in place of which no two values are the same expression."""
        return told_by_versions(self.program, self.values.scop, self.statements)

    def _tells(self, name: str, telling: frozenset[str]) -> bool:
        stmt = self.statements[name]
        last = stmt.ops[-1]
        if not last.computes or folds(stmt, len(stmt.ops) - 1, self.tables):
            return False
        targets = [row_of(index) for index in stmt.target.indices]
        rows = [row for row, _, _ in self.rows(name, len(stmt.ops) - 1, telling)]
        known = rank(rows)
        return all(t is not None and rank([*rows, t]) == known for t in targets)

    def rows(
        self, name: str, op: int, telling: frozenset[str] | None = None
    ) -> list[tuple[Row, int, Tag]]:
        """What an operation's value tells: the subscripts of what it is computed from.

        Each with its constant, and where the element comes from.
        """
        stmt = self.statements[name]
        found: list[tuple[Row, int, Tag]] = []
        for n in below(stmt, op, gathers=False):
            access = stmt.ops[n].access
            if stmt.ops[n].kind != "load" or access is None:
                continue
            tag = self.tag(name, access.memory, telling)
            for index in access.indices if tag is not None else ():
                row = row_of(index)
                if row is not None and tag is not None:
                    found.append((row, index.const, tag))
        return found

    def terms(self, name: str, op: int) -> list[tuple[Row, int, Tag]]:
        """`rows` without the elements in which an operation accumulates."""
        rows = self.rows(name, op)
        arrays = {array for _, _, (array, _) in rows} & self.written
        sums = {array for array in arrays if self.values.grows(name, frozenset({array}))}
        return [row for row in rows if row[2][0] not in sums]

    def tag(self, name: str, array: str, telling: frozenset[str] | None = None) -> Tag | None:
        """Where the elements of an array come from that a statement reads; None where they do not tell which they are."""
        if self.program.array(array).scope_depth:
            return None  # another array in each iteration
        if array in self.tables:
            return None  # some elements may be equal, which a compiler knows
        sources = self.values.sources(name, array)
        if not sources:
            return array, ""
        if array in self.versions:
            return array, "*"
        if len(sources) == 1 and sources <= (self.telling if telling is None else telling):
            return array, next(iter(sources))
        return None

    def grows(self, name: str, op: int) -> frozenset[str]:
        """Loops along which the operands of an operation grow."""
        stmt = self.statements[name]
        loads = (stmt.ops[n] for n in below(stmt, op))
        arrays = {o.access.memory for o in loads if o.kind == "load" and o.access is not None}
        return self.values.grows(name, arrays & self.written) if arrays & self.written else _NONE

    def begun(self, name: str, op: int) -> int:
        """At most so many sums begin with 0 in what an operation accumulates: the first term of each needs no operator
        where its order is free.
        """
        growing = self.grows(name, op)
        target = self.statements[name].target.memory
        cleared = any(
            s.target.array == target and isinstance(s.value, Const)
            for s in self.program.statements()
        )
        if not growing or not cleared:
            return 0
        return prod(trips for loop, trips in self.trips(name).items() if loop not in growing)

    def trips(self, name: str) -> dict[str, int]:
        """The most iterations of each loop around a statement, each time that it is entered."""
        s = self.values.scop.statement(name)
        boxes: dict[str, tuple[int, int]] = {}
        return {loop.var: _most(loop, boxes) for loop in s.loops}

    def untouched(self, name: str, op: int) -> int:
        """At most so many iterations have no operand of an operation that a statement writes."""
        stmt = self.statements[name]
        loads = (stmt.ops[n] for n in below(stmt, op, gathers=False))
        read = frozenset(
            (o.access.memory, o.access.indices)
            for o in loads
            if o.kind == "load" and o.access is not None and o.access.memory in self.written
        )
        known = self.borders.get((name, read))
        if known is None:
            found = untouched(
                self.values.scop, name, (Read(*access) for access in sorted(read, key=str))
            )
            known = self.borders[name, read] = found
        return known

    def least(
        self, name: str, rows: Iterable[Row], growing: frozenset[str] = frozenset(), less: int = 0
    ) -> int:
        """At least so many iterations of a statement differ in these rows, or along these loops, of all but ``less``."""
        rows = [*dict.fromkeys(rows)]
        trips = self._confined(name, self.trips(name), rows)
        rest = [v for v in trips if v not in growing]
        own = rank(rows, growing)
        best = prod(trips[v] for v in rest)
        for size in range(1, len(rest) + 1):
            for some in combinations(rest, size):
                if rank(rows, {*some, *growing}) - own == size:
                    best = min(best, prod(trips[v] for v in rest if v not in some))
        return -(-max(0, self.counts[name] - less) // max(1, best))

    def _confined(self, name: str, trips: dict[str, int], rows: list[Row]) -> dict[str, int]:
        """The iterations of each loop that are possible where the rows have one value: of the loop over tiles one,
        where the row inside of the tile is known.
        """
        known = rank(rows)
        told = {v for v in trips if rank([*rows, ((v, 1),)]) == known}
        found = dict(trips)
        loops = self.values.scop.statement(name).loops
        steps = {loop.var: abs(loop.step) for loop in loops}
        for loop in loops:
            if loop.var not in told:
                continue
            for low in loop.lowers:
                extents = [e.const for high in loop.uppers if (e := high - low).is_const]
                free = low.variables() - told
                if not extents or not low.is_linear or len(free) != 1:
                    continue
                # From this loop's value and its extent follows where the other one is.
                (outer,) = free
                step = steps[outer] * abs(low.coefficient(outer))
                found[outer] = min(found[outer], max(1, -(-min(extents) // step)))
        return found


_NONE: frozenset[str] = frozenset()


def _most(loop: Loop, boxes: dict[str, tuple[int, int]]) -> int:
    """The most iterations of a loop; ``boxes`` has the ranges of those around, and gets its own."""
    low = max(min(_range(b, boxes)) for b in loop.lowers)
    high = min(max(_range(b, boxes)) for b in loop.uppers)
    boxes[loop.var] = low, max(low, high - 1)
    extents = [high - low]
    extents += [e.const for a in loop.uppers for b in loop.lowers if (e := a - b).is_const]
    return max(1, -(-min(extents) // abs(loop.step)))


def _range(bound: Affine, boxes: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """The values of a bound where the loops around take theirs."""
    low = high = bound.const
    for atom, c in bound.terms:
        ends = [c * x for x in _atom_range(atom, boxes)]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _atom_range(atom: Atom, boxes: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    if isinstance(atom, str):
        return boxes[atom]
    low, high = _range(atom.numerator, boxes)
    return low // atom.denominator, high // atom.denominator


def below(stmt: Statement, op: int, gathers: bool = True) -> list[int]:
    """An operation and all that it is computed from.

    Args:
        stmt: the statement.
        op: the operation's position.
        gathers: with loads at subscripts that are data, which need not differ where these do, and what
            those are computed from.
    """
    found: dict[int, None] = {}
    open_ = [op]
    while open_:
        n = open_.pop()
        if n not in found and (gathers or not stmt.ops[n].gathers):
            found[n] = None
            open_ += stmt.ops[n].operands
    return sorted(found)


def row_of(index: Affine) -> Row | None:
    """The linear part of a subscript; None where it has another one."""
    if any(not isinstance(atom, str) for atom, _ in index.terms):
        return None
    return tuple((str(atom), c) for atom, c in index.terms)


def rank(rows: Iterable[Row], columns: Iterable[str] | None = None) -> int:
    """The rank of a matrix of rows, of some of its columns."""
    found = [dict(row) for row in rows]
    names = sorted({v for row in found for v in row} if columns is None else columns)
    matrix = [[Fraction(row.get(v, 0)) for v in names] for row in found]
    rank = 0
    for k in range(len(names)):
        pivot = next((n for n in range(rank, len(matrix)) if matrix[n][k]), None)
        if pivot is None:
            continue
        matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
        for n in range(rank + 1, len(matrix)):
            factor = matrix[n][k] / matrix[rank][k]
            matrix[n] = [a - factor * b for a, b in zip(matrix[n], matrix[rank], strict=True)]
        rank += 1
    return rank


def folds(stmt: Statement, n: int, tables: Set[str]) -> bool:
    """An operator of a constant may be none: ``x * 1``, a shift, an index that unrolling fixes."""
    op = stmt.ops[n]
    fixed = [stmt.ops[k] for k in op.operands if is_constant(stmt, k, tables)]
    if not fixed:
        return False
    if op.type == "int" or op.kind in ("div", "mod") or len(fixed) == len(op.operands):
        return True
    return any(f.kind != "const" or f.value in _NEUTRAL for f in fixed)


def is_constant(stmt: Statement, n: int, tables: Set[str]) -> bool:
    """It is known once all loops are unrolled: so are elements of tables of constants where counters tell which they are."""
    return all(_is_known(stmt.ops[k], tables) for k in below(stmt, n))


def _is_known(op: Op, tables: Set[str]) -> bool:
    if op.kind == "load":
        return op.access is not None and op.access.memory in tables
    return op.kind != "input"
