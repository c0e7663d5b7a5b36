"""Lower bounds on the latency of any schedule of a kernel: work, memory ports, recurrences.

They hold for what the schedule space can do with the operators of a personality, and say how far a
design is from what is possible:

- DSP roofline: every operation takes a unit for a cycle, so ``cycles`` must satisfy
  ``sum over cores (ceil(operations / cycles) * DSP of a unit) <= budget``.
- Memory ports: every element that is touched passes a port of its array once, and an array has at
  most ``MAX_BANKS`` banks. An array of no more elements than that can be all registers.
- Recurrence: the operators on a chain of flow dependences run one after the other. A reduction that
  the user allows to be reassociated is a tree, elsewhere a chain.

An operation counts once for all iterations of a loop in which none of its operands can change: a
tool may move it out of that loop, and no further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, log2, prod
from typing import Literal

from dsl.program import Array, Program, Storage
from dsl.schedule import Schedule
from polyhedral.chains import chains
from polyhedral.codegen import loop_tree
from polyhedral.counts import instance_counts
from polyhedral.schedule import apply
from polyhedral.scop import Scop
from qor_gnn.from_tree import kernel_of_tree
from qor_gnn.personality import Operator, Personality
from qor_gnn.region import Access, Guard, Loop, Node, Op, Statement

# Banks of one array that a design may ask for. More make multiplexers that no clock survives.
MAX_BANKS = 1024

BoundKind = Literal["dsp", "ports", "recurrence"]


@dataclass(frozen=True, slots=True)
class Bound:
    """No schedule takes fewer ``cycles``; ``reason`` says what stands in the way, in words."""

    kind: BoundKind
    cycles: int
    reason: str


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel has to do, whatever its schedule.

    Attributes:
        operations: core to the least number of operations on it and the DSP of one unit.
        reads, writes: array to the least number of elements that pass its ports.
        chains: of operators that run one after the other: least cycles and a description.
    """

    program: Program
    operations: Mapping[str, tuple[int, int]]
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    chains: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The strongest bound of each kind, under a DSP budget."""

    dsp: Bound
    ports: Bound
    recurrence: Bound

    @property
    def all(self) -> tuple[Bound, Bound, Bound]:
        """The three, in a fixed order."""
        return self.dsp, self.ports, self.recurrence

    @property
    def tightest(self) -> Bound:
        """The one that asks for the most cycles."""
        return max(self.all, key=lambda b: b.cycles)

    @property
    def cycles(self) -> int:
        """No design is faster than this."""
        return self.tightest.cycles


def work_of(program: Program, tool: Personality, reassociate: bool = False) -> Work:
    """Count a kernel's work once; `bounds` then answers for any budget.

    Args:
        program: the kernel.
        tool: whose operators are counted.
        reassociate: reductions may be done in any order.

    Raises:
        ToolError: W451 the personality has no such operator.
    """
    state = apply(program, Schedule())
    tree = loop_tree(state)
    counter = _Counter(program, state.scop, tool, instance_counts(tree))
    counter.visit(kernel_of_tree(tree).functions[0].body, ())
    return Work(
        program,
        {core: (n, counter.dsp[core]) for core, n in sorted(counter.totals.items())},
        counter.reads,
        counter.writes,
        tuple(sorted(counter.recurrences(reassociate), key=lambda c: -c[0])),
    )


def bounds(work: Work, tool: Personality, dsp: int) -> Bounds:
    """The bounds for a budget of DSP slices.

    Args:
        work: of the kernel, from `work_of` with the same personality.
        tool: whose memories are counted.
        dsp: slices that a design may use.
    """
    cycles, detail = _roofline(work.operations, dsp)
    chain = work.chains[0] if work.chains else (0, "no recurrence")
    return Bounds(
        Bound("dsp", cycles, f"{detail} on {dsp} DSP"),
        _ports(work, tool),
        Bound("recurrence", *chain),
    )


def _roofline(operations: Mapping[str, tuple[int, int]], budget: int) -> tuple[int, str]:
    """The least cycles in which units within the budget get through the operations."""
    costly = {core: (n, dsp) for core, (n, dsp) in operations.items() if dsp and n}
    text = ", ".join(f"{n:,} {core}" for core, (n, _) in costly.items()) or "no DSP operators"

    def needed(cycles: int) -> int:
        return sum(ceil(n / cycles) * dsp for n, dsp in costly.values())

    low, high = 1, max((n for n, _ in costly.values()), default=1)
    # With one unit of each the longest sequence is the answer, even if the budget has not that.
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if needed(middle) <= budget else (middle + 1, high)
    return high if costly else 0, text


def _ports(work: Work, tool: Personality) -> Bound:
    best = Bound("ports", 0, "every array fits in registers")
    for array in work.program.arrays:
        elements = prod(array.shape)
        if elements <= MAX_BANKS:
            continue
        ports = tool.ports[_memory(array, tool)]
        reads, writes = work.reads.get(array.name, 0), work.writes.get(array.name, 0)
        cycles = max(
            ceil(reads / (ports.read * MAX_BANKS)) if ports.read else 0,
            ceil(writes / (ports.write * MAX_BANKS)) if ports.write else 0,
            ceil((reads + writes) / (ports.both * MAX_BANKS)),
        )
        if cycles > best.cycles:
            what = f"{reads:,} reads and {writes:,} writes"
            best = Bound("ports", cycles, f"{what} of {array.name} over {MAX_BANKS} banks")
    return best


def _memory(array: Array, tool: Personality) -> str:
    argument = array.storage is Storage.ARGUMENT
    return tool.argument_memory if argument else tool.local_memory


# ---------------------------------------------------------------------------------------- counting


class _Counter:
    """Walks the unscheduled program's regions and sums up the least work."""

    def __init__(
        self, program: Program, scop: Scop, tool: Personality, counts: Mapping[str, int | None]
    ) -> None:
        self.program, self.scop, self.tool = program, scop, tool
        self.counts = {name: n or 0 for name, n in counts.items()}
        self.totals: dict[str, int] = {}
        self.dsp: dict[str, int] = {}
        self.reads: dict[str, int] = {}
        self.writes: dict[str, int] = {}
        self.statements: dict[str, Statement] = {}
        self.seen: dict[tuple[str, str], int] = {}
        self.changing = _changing_loops(scop)

    def visit(self, nodes: Iterable[Node], around: tuple[Loop, ...]) -> None:
        """Statements of a nest; the copies of one that isl made are counted together."""
        for node in nodes:
            match node:
                case Loop(body=body):
                    self.visit(body, (*around, node))
                case Guard(_, body):
                    self.visit(body, around)
                case Statement():
                    if node.name not in self.statements:
                        self.statements[node.name] = node
                        self.statement(node, around)

    def statement(self, stmt: Statement, around: tuple[Loop, ...]) -> None:
        """Add one statement's operations and accesses."""
        trips = {loop.iv: loop.trips.maximum for loop in around}
        names = {loop.iv: loop.name for loop in around}
        depends = self._depends(stmt, names)
        for n, op in enumerate(stmt.ops):
            if op.kind == "load" and op.access is not None and op.access.indices:
                read = self._least(stmt.name, _variables(op.access), trips)
                self.reads[op.access.memory] = max(self.reads.get(op.access.memory, 0), read)
            operator = self._operator(stmt, op)
            if operator is None or not operator.shared:
                continue
            text = _text(stmt, n)
            times = self._least(stmt.name, depends[n], trips)
            before = self.seen.get((operator.core, text), 0)
            if times > before:  # the same expression in two statements may be computed once
                self.seen[operator.core, text] = times
                self.totals[operator.core] = self.totals.get(operator.core, 0) + times - before
                self.dsp[operator.core] = operator.dsp
        if stmt.target.indices:
            memory = stmt.target.memory
            written = self._least(stmt.name, _variables(stmt.target), trips)
            self.writes[memory] = max(self.writes.get(memory, 0), written)

    def _depends(self, stmt: Statement, names: Mapping[str, str]) -> list[frozenset[str]]:
        """Per operation: the loops in whose iterations its operands can change."""
        found: list[frozenset[str]] = []
        for op in stmt.ops:
            depends: set[str] = set()
            for operand in op.operands:
                depends |= found[operand]
            if op.access is not None:
                depends |= _variables(op.access)
                changing = self.changing.get((stmt.name, op.access.memory), frozenset())
                depends |= {iv for iv, name in names.items() if name in changing}
            found.append(frozenset(depends))
        return found

    def _least(self, name: str, depends: frozenset[str], trips: Mapping[str, int]) -> int:
        """At least so many different iterations of the loops that matter."""
        free = prod(max(1, n) for iv, n in trips.items() if iv not in depends)
        return -(-self.counts[name] // free)

    def _operator(self, stmt: Statement, op: Op) -> Operator | None:
        if op.kind in ("load", "input", "const", "index"):
            return None
        constant = any(stmt.ops[k].kind == "const" for k in op.operands)
        if constant and op.type == "int":
            return None  # shifts and additions, if it is anything
        return _cheapest(self.tool, op)

    # ---------------------------------------------------------------------------------- recurrences

    def recurrences(self, free: bool) -> Iterable[tuple[int, str]]:
        """Least cycles and a description of each chain of dependences."""
        for chain in chains(self.scop, self.counts):
            turns = chain.turns
            delays = [
                self._delay(s, a) for s, a in zip(chain.statements, chain.arrays, strict=True)
            ]
            delay = max(0, sum(delays) - (self.tool.rules.closing if len(delays) == 1 else 0))
            path = " -> ".join(dict.fromkeys(chain.statements))
            through = ", ".join(dict.fromkeys(chain.arrays))
            if chain.reduction and free:
                levels = ceil(log2(turns + 1))
                yield levels * delay, f"a tree of {levels} levels of {path}, {delay} cycles each"
            else:
                where = f"{path} through {through}"
                yield turns * delay, f"{turns:,} times {delay} cycles along {where}"

    def _delay(self, name: str, array: str) -> int:
        """Least cycles of operators between a load of the array and the statement's result."""
        stmt = self.statements.get(name)
        if stmt is None:
            return 0
        longest: dict[int, int] = {}
        last = len(stmt.ops) - 1
        starts = [
            n
            for n, op in enumerate(stmt.ops)
            if op.access is not None and op.access.memory == array
        ]
        best: int | None = None
        for start in starts:
            longest = {start: 0}
            for n in range(start + 1, len(stmt.ops)):
                into = [longest[k] for k in stmt.ops[n].operands if k in longest]
                if into:
                    operator = self._operator(stmt, stmt.ops[n])
                    longest[n] = max(into) + (operator.distance if operator else 0)
            if last in longest:
                best = longest[last] if best is None else min(best, longest[last])
        return best or 0


def _cheapest(tool: Personality, op: Op) -> Operator:
    """The operator with the least DSP and the least delay of all implementations there are."""
    usual = tool.operator(op.kind, op.type, op.width)
    others = [tool.operator(op.kind, op.type, op.width, impl) for impl in tool.implementations]
    return replace(
        usual,
        dsp=min(o.dsp for o in (usual, *others)),
        distance=min(o.distance for o in (usual, *others)),
    )


def _variables(access: Access) -> frozenset[str]:
    return frozenset(v for index in access.indices for v in index.variables())


def _changing_loops(scop: Scop) -> dict[tuple[str, str], frozenset[str]]:
    """Statement and array that it reads: the loops around both it and a write of the array."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for reader in scop.statements:
        for array in {a.array for a in reader.reads}:
            loops: set[str] = set()
            for writer in scop.statements:
                if writer.stmt.target.array != array:
                    continue
                for mine, theirs, var in zip(
                    reader.loop_ids, writer.loop_ids, reader.variables, strict=False
                ):
                    if mine != theirs:
                        break
                    loops.add(var)
            found[reader.name, array] = frozenset(loops)
    return found


def _text(stmt: Statement, n: int) -> str:
    """An operation as text, loop variables named in the order in which they occur."""
    names: dict[str, str] = {}

    def of(k: int) -> str:
        op = stmt.ops[k]
        head = op.kind
        if op.access is not None:
            for index in op.access.indices:
                for v in sorted(index.variables()):
                    names.setdefault(v, f"v{len(names)}")
            renamed = (
                str(i.rename({v: names[v] for v in i.variables()})) for i in op.access.indices
            )
            head = f"{op.kind} {op.access.memory}[{', '.join(renamed)}]"
        inside = ", ".join(of(k) for k in op.operands)
        return f"{head}{op.value}({inside})" if inside else f"{head}{op.value}"

    return of(n)
