"""What a kernel has to do whatever its schedule, after all that a tool does by itself.

A tool unrolls, leaves out what is not needed, keeps elements in registers, computes the same value
once, folds constants, and does integer sums (under ``reassociate`` those of floats too) in any
order, as partial sums do extremes of all types. So an operation counts once for each of its values
that are proven to differ (`dse.bounds.distinct`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, log2

from dse.bounds.accumulating import accumulates, extremes_in
from dse.bounds.alike import Counted, different, repeated, shapes_of
from dse.bounds.counted import counted, kind_of
from dse.bounds.critical import longest_chain
from dse.bounds.distinct import Facts, Row, Tag, facts_of, folds, is_constant, row_of
from dse.bounds.quotients import EITHER, as_product, maybe_products
from dse.bounds.roofline import Operations
from dse.bounds.two_passes import two_passes
from dse.bounds.value_graph import LARGE, MOST, ValueGraph
from dsl.expressions.expr import Access as Read
from dsl.programs.program import Program, Storage
from polyhedral.dependences.chains import chains
from polyhedral.scop.scheduled import build
from qor_gnn.body.quicker_sums import most_closing
from qor_gnn.body.reassociation import REAL_SUMS
from qor_gnn.design.region import Access, Op, Statement
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.personality import Personality

_SLICE = 100  # LUTs, of those that devices have for a slice
_INTEGERS = {**REAL_SUMS, "and": "and", "or": "or", "xor": "xor", "min": "min", "max": "max"}


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel has to do, whatever its schedule.

    Attributes:
        operations: by core.
        reads, writes: array to the least number of elements that pass its ports.
        chains: of operators that run one after the other: least cycles and a description.
    """

    program: Program
    operations: Mapping[str, Operations]
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    chains: tuple[tuple[int, str], ...]


@lru_cache(maxsize=4)  # of large programs it takes seconds, and figures on a board ask again
def work_of(program: Program, tool: Personality, reassociate: bool = False) -> Work:
    """Count a kernel's work once; `dse.bounds.bounds.bounds` then answers for any budget.

    Args:
        program: the kernel.
        tool: whose operators are counted.
        reassociate: reductions may be done in any order.

    Raises:
        ToolError: W451 the personality has no such operator.
    """
    if reassociate:
        # In one pass all of that is done too, and more: each iteration rescales what it adds to.
        program = two_passes(build(program), (), floats=True)[0].scop.program
    facts = facts_of(program)
    products = maybe_products(program, facts.statements) if reassociate else frozenset()
    counter = _Counter(facts, tool, reassociate, products)
    counter.count()
    chains = [*_recurrences(facts, tool, reassociate, products)]
    operations = counter.operations
    graph = _graph(facts, counter.knows_most())
    if graph is not None:
        known = counted(graph, tool, reassociate, products)
        operations = _most(operations, known, counter.floats | {EITHER})
        longest = longest_chain(graph, tool, reassociate, facts.composed, products)
        chains.append((longest.cycles, str(longest)))
    return Work(
        program,
        dict(sorted(operations.items())),
        counter.reads,
        counter.writes,
        tuple(sorted(chains, key=lambda c: -c[0])),
    )


def _graph(facts: Facts, known: bool) -> ValueGraph | None:
    """The values that are gone through: of a large program, of which most is known, none."""
    if facts.operations is None or (known and facts.operations > MOST):
        return None
    return facts.graph(LARGE)


def _most(
    proven: Mapping[str, Operations], graph: Mapping[str, Operations], floats: set[str]
) -> Mapping[str, Operations]:
    """Of two counts of operations the higher one.

    Of floats that is by core; of integers, whose sums have one of several cores, all of the count that takes more logic.
    """
    found = {
        core: max((each[core] for each in (proven, graph) if core in each), key=lambda o: o.times)
        for core in floats & {*proven, *graph}
    }
    integers = [{c: o for c, o in each.items() if c not in floats} for each in (graph, proven)]
    return found | max(integers, key=_logic)


def _logic(operations: Mapping[str, Operations]) -> int:
    """LUTs of a unit for each operation, where a slice is worth a hundred."""
    return sum(o.times * o.price((_SLICE, 1)) for o in operations.values())


def _cheapest(tool: Personality, op: Op) -> Operator:
    """The operator with the least DSP and the least delay of all implementations there are."""
    every = tool.operators_of(op)
    return replace(every[0], dsp=min(o.dsp for o in every), distance=min(o.distance for o in every))


def _may_be_guard(stmt: Statement, n: int) -> bool:
    """A selection of integers, of which the guard of a store may be left."""
    return stmt.ops[n].kind == "select" and stmt.ops[n].type == "int"


def _always(stmt: Statement, tables: Set[str]) -> set[int]:
    """The operations that every iteration needs: not those of a choice that loop variables decide."""
    found: set[int] = set()
    pending = [len(stmt.ops) - 1, *stmt.subscripts]
    while pending:
        n = pending.pop()
        if n not in found:
            found.add(n)
            op = stmt.ops[n]
            decided = op.kind == "select" and is_constant(stmt, op.operands[0], tables)
            pending += () if decided else op.operands
    return found


def _operator(stmt: Statement, n: int, tool: Personality, tables: Set[str]) -> Operator | None:
    """The operator of an operation; None where there may be none."""
    if not stmt.ops[n].computes or folds(stmt, n, tables):
        return None
    return _cheapest(tool, stmt.ops[n])


# ----------------------------------------------------------------------------------------- counting


@dataclass(slots=True)
class _Counter:
    """Sums up the least work."""

    facts: Facts
    tool: Personality
    free: bool
    products: frozenset[int] = frozenset()  # quotients that may be products
    totals: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, Operations] = field(default_factory=dict)  # by core, not yet counted
    floats: set[str] = field(default_factory=set)  # cores on floats
    reads: dict[str, int] = field(default_factory=dict)
    writes: dict[str, int] = field(default_factory=dict)

    @property
    def operations(self) -> Mapping[str, Operations]:
        """Those that were counted, by core."""
        return {core: replace(self.kinds[core], times=n) for core, n in self.totals.items() if n}

    def count(self) -> None:
        """Count operations, and elements that pass ports."""
        alike: dict[tuple[str, int], list[Counted]] = {}
        known: dict[tuple[object, ...], int] = {}
        for name, stmt in self.facts.statements.items():
            self._elements(name, stmt)
            shapes = shapes_of(stmt, known)
            for n in sorted(_always(stmt, self.facts.tables)):
                if id(stmt.ops[n]) in self.products:
                    continue
                operator = _operator(stmt, n, self.tool, self.facts.tables)
                kind = None if operator is None else kind_of(stmt.ops[n], self.tool)
                if operator is None or kind is None or _may_be_guard(stmt, n):
                    continue
                self.kinds.setdefault(operator.core, kind)
                if stmt.ops[n].type != "int":
                    self.floats.add(operator.core)
                rows, growing = self._told(name, n)
                less = self.facts.untouched(name, n) if growing else 0
                times = self.facts.least(name, (row for row, _, _ in rows), growing, less)
                if not growing:
                    times -= min(times, self.facts.begun(name, n))
                times = -(-times // repeated(self.facts, name, n, shapes))
                own = alike.setdefault((operator.core, shapes[n]), [])
                own.append(Counted(name, n, shapes, times, rows))
        for (core, _), found in alike.items():
            self.totals[core] = self.totals.get(core, 0) + different(self.facts, found)

    def knows_most(self) -> bool:
        """Whether at least half of the operators in all iterations are counted, of floats of each kind."""
        every: dict[str, int] = {}
        known: dict[str, int] = {}
        for name, stmt in self.facts.statements.items():
            for n in range(len(stmt.ops)):
                operator = _operator(stmt, n, self.tool, self.facts.tables)
                if operator is not None and id(stmt.ops[n]) not in self.products:
                    core = operator.core if operator.core in self.floats else ""
                    every[core] = every.get(core, 0) + (self.facts.counted[name] or 0)
        for core, times in self.totals.items():
            own = core if core in self.floats else ""
            known[own] = known.get(own, 0) + times
        return all(2 * known.get(core, 0) >= times for core, times in every.items())

    def _told(self, name: str, n: int) -> tuple[list[tuple[Row, int, Tag]], frozenset[str]]:
        """What the values of an operation tell of their iterations.

        Of one that sums up in any order only its terms do: terms that are the same may be summed up
        once, for all sums, and each other one is a term of some operation.
        """
        growing = self.facts.grows(name, n)
        stmt = self.facts.statements[name]
        op = stmt.ops[n]
        anyway = op.type == "int" or n in extremes_in(stmt)
        free = anyway or (self.free and op.kind in REAL_SUMS)
        if not growing or not free or not accumulates(self.facts, name, n):
            return self.facts.rows(name, n), growing
        return self.facts.terms(name, n), frozenset()

    def _elements(self, name: str, stmt: Statement) -> None:
        """Elements that no statement has written are loaded; those of arguments are stored."""
        for op in stmt.ops:
            if op.kind != "load" or op.access is None or not self._argument(op.access):
                continue
            if op.gathers:
                continue  # it may be one element in all iterations
            memory = op.access.memory
            if not self.facts.values.sources(name, memory):
                self._most(self.reads, name, op.access)
        if self._argument(stmt.target):
            self._most(self.writes, name, stmt.target)

    def _argument(self, access: Access) -> bool:
        array = self.facts.program.array(access.memory)
        return bool(access.indices) and array.storage is Storage.ARGUMENT

    def _most(self, found: dict[str, int], name: str, access: Access) -> None:
        rows = [row for index in access.indices if (row := row_of(index)) is not None]
        times = self.facts.least(name, rows)
        found[access.memory] = max(found.get(access.memory, 0), times)


# -------------------------------------------------------------------------------------- recurrences


def _recurrences(
    facts: Facts, tool: Personality, free: bool, products: frozenset[int]
) -> Iterator[tuple[int, str]]:
    """Least cycles and a description of each chain of dependences."""

    def path(stmt: str, accesses: tuple[Read, ...]) -> list[Group]:
        known = facts.statements.get(stmt)  # none of one that is folded to a constant
        return [] if known is None else _path(facts, known, accesses, tool, free, products)

    found = chains(facts.values, facts.counts, lambda s, a: tuple(path(s.name, (a,))))
    for chain in found:
        steps = [path(s, a) for s, a in zip(chain.statements, chain.accesses, strict=True)]
        along = " -> ".join(dict.fromkeys(chain.statements))
        through = ", ".join(dict.fromkeys(chain.arrays))
        groups = _groups([group for step in steps for group in step])
        alone = len(groups) == 1 and groups[0][0] != ""
        delay = sum(states for _, states in groups)
        if sum(len(step) for step in steps) == 1:
            delay = max(0, delay - _closing(facts.statements[chain.statements[0]], tool))
        if alone:
            levels = ceil(log2(chain.repeats + 1))
            yield levels * delay, f"a tree of {levels} levels of {along}, {delay} cycles each"
        else:
            times = f"{chain.repeats:,} times {delay} cycles"
            yield chain.repeats * delay, f"{times} along {along} through {through}"


def _closing(statement: Statement, tool: Personality) -> int:
    """States that a recurrence of one operator of a statement may be short of."""
    every = (most_closing(tool, op) for op in statement.ops if op.computes)
    return max(every, default=tool.recurrences.closing)


Group = tuple[str, int]
"""Operators that may be done in any order (a class, ``""`` where they may not), and the states of
one of them."""


def _groups(found: list[Group]) -> list[Group]:
    """Neighbours of one class joined, the last and the first too: one operator does for all."""
    joined: list[Group] = []
    for name, states in found:
        if joined and name and joined[-1][0] == name:
            joined[-1] = name, min(joined[-1][1], states)
        else:
            joined.append((name, states))
    if len(joined) > 1 and joined[0][0] and joined[0][0] == joined[-1][0]:
        name, states = joined.pop()
        joined[0] = name, min(joined[0][1], states)
    return joined


def _path(
    facts: Facts,
    stmt: Statement,
    accesses: tuple[Read, ...],
    tool: Personality,
    free: bool,
    products: frozenset[int],
) -> list[Group]:
    """The operators between a load and the statement's result, the fewest states that one of the
    loads has. What is divided by what a loop keeps may pass a product.
    """
    read = {(a.array, a.indices) for a in accesses}
    best: list[Group] | None = None
    for start, op in enumerate(stmt.ops):
        if op.access is None or (op.access.memory, op.access.indices) not in read:
            continue
        longest: dict[int, list[Group]] = {start: []}
        for n in range(start + 1, len(stmt.ops)):
            operands = stmt.ops[n].operands
            passed = operands[:1] if id(stmt.ops[n]) in products else ()
            into = [longest[k] for k in operands if k in longest and k not in passed]
            ways = [
                _groups_along(longest[k], _product(stmt.ops[n], tool))
                for k in passed
                if k in longest
            ]
            if into:
                ways.append(
                    _groups_along(max(into, key=_states), _group(facts, stmt, n, tool, free))
                )
            if ways:
                longest[n] = max(ways, key=_states)
        found = longest.get(len(stmt.ops) - 1)
        if found is not None and (best is None or _states(found) < _states(best)):
            best = found
    return best or []


def _groups_along(before: list[Group], group: Group | None) -> list[Group]:
    if group is None:
        return before
    if before and group[0] and before[-1][0] == group[0]:
        return [*before[:-1], (group[0], min(before[-1][1], group[1]))]
    return [*before, group]


def _product(op: Op, tool: Personality) -> Group:
    """The product in the place of a quotient, which others that are beside it may be reordered with."""
    states = min(_cheapest(tool, as_product(op)).distance, _cheapest(tool, op).distance)
    return f"{op.type} {REAL_SUMS['mul']}", max(0, states - tool.sums.saved)


def _states(groups: list[Group]) -> int:
    return sum(states for _, states in groups)


def _group(facts: Facts, stmt: Statement, n: int, tool: Personality, free: bool) -> Group | None:
    op, operator = stmt.ops[n], _operator(stmt, n, tool, facts.tables)
    if operator is None:
        return None
    saved = tool.sums.saved if op.kind == "mul" else 0
    if op.type == "int":
        return _INTEGERS.get(op.kind, ""), max(0, operator.distance - saved)
    extremes = extremes_in(stmt)
    if n in extremes:
        test = _operator(stmt, op.operands[0], tool, facts.tables)
        states = operator.distance + (test.distance if test is not None else 0)
        return (f"{op.type} extreme", states) if op.kind == "select" else None
    if free and op.kind in REAL_SUMS:
        return f"{op.type} {REAL_SUMS[op.kind]}", max(0, operator.distance - tool.sums.saved)
    return "", max(0, operator.distance - saved)
