"""Features of a design by which it may leave what the labelled designs of a tool show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dsl.schedules.loop_requests import LoopRequests
from qor_gnn.design.region import OUTSIDE, Guard, Kernel, Loop, Node, Op, Statement, loops_in, walk
from qor_gnn.result.qor_estimate import LoopEstimate, QorEstimate
from qor_gnn.tools.personality import Personality

SIZES = ("operations", "ports", "banks", "copies", "fabric_adders", "terms", "lut")
"""What is counted, of the region or array that has most; ``lut`` of the design."""

STRUCTURES = {
    "uneven": "unroll factors that do not divide",
    "conditions": "conditions in unrolled loops",
    "variable": "unrolled loops whose trip count varies",
    "tasks": "tasks at the same time",
    "outside": "memory outside",
    "words": "arrays reshaped to words of several elements",
    "told": "pragmas whose effect is not estimated",
    "assumed": "operators that no report shows",
    "fabric": "sums all in fabric at a short interval",
    "shared": "units shared over a long interval",
}
"""Structures, for people."""

_ADDITIONS = frozenset({"add", "sub"})
_SMALLEST = 8
"""Operations of a core from which on it says something that their units are shared."""


@dataclass(frozen=True, slots=True)
class Features:
    """What there is to hold against labels.

    Attributes:
        sizes: by name in `SIZES`. ``operations``: of one iteration of a region that take a unit of their own.
            ``ports``: banks' ports that it accesses. ``banks``: of an array. ``copies``: of a statement in a
            region. ``fabric_adders``: units of a region that add floats without DSP slices. ``terms``: of an
            unrolled sum. ``lut``: of the design; 0 where it was not estimated.
        structures: keys of `STRUCTURES`, but for what goes by an interval.
        fabric_interval: the shortest interval of a region whose sums of floats are all in fabric; None: there
            is none.
        shared_interval: the longest interval of a region whose operations share units; 0: there is none.
    """

    sizes: Mapping[str, float]
    structures: frozenset[str]
    fabric_interval: int | None
    shared_interval: int


def features(kernel: Kernel, tool: Personality, found: QorEstimate) -> Features:
    """The features of a design.

    Args:
        kernel: the design, with what the tool does by itself (`automatic`).
        tool: that it is estimated for.
        found: the estimate.
    """
    regions = list(_regions(kernel, tool, found))
    sizes: dict[str, float] = dict.fromkeys(SIZES, 0)
    for region in regions:
        for name, value in region.sizes.items():
            sizes[name] = max(sizes[name], value)
    sizes["banks"] = max((m.banks for m in kernel.memories if not m.in_registers), default=1)
    sizes["lut"] = found.lut or 0
    in_fabric = [r.interval for r in regions if r.all_in_fabric]
    shared = [r.interval for r in regions if r.shares]
    return Features(
        sizes,
        frozenset(_structures(kernel, tool)),
        min(in_fabric, default=None),
        max(shared, default=0),
    )


@dataclass(frozen=True, slots=True)
class _Copied:
    """A statement of a region, and the loops around it there with the copies that they make."""

    statement: Statement
    loops: tuple[tuple[Loop, int], ...]

    def copies(self, named: frozenset[str] | None = None, *, others: bool = False) -> int:
        """Copies over the loops whose variable is named; over those that are not with ``others``."""
        total = 1
        for loop, copies in self.loops:
            if named is None or (loop.iv in named) != others:
                total *= copies
        return total


@dataclass(frozen=True, slots=True)
class _Region:
    """What a region has in one iteration."""

    sizes: Mapping[str, float]
    interval: int
    all_in_fabric: bool
    shares: bool


def _regions(kernel: Kernel, tool: Personality, found: QorEstimate) -> Iterator[_Region]:
    loops = {(f.name, loop.name): loop for f in kernel.functions for loop in loops_in(f.body)}
    banks = {m.name: m.banks for m in kernel.memories if not m.in_registers}
    for row in found.loops:
        inner = loops.get((row.function, row.loops[-1]))
        if row.kind != "nest" and inner is not None:
            found_in = list(_copied(inner.body, ((inner, inner.factor),)))
            yield _region(found_in, tool, row, banks)


def _copied(nodes: tuple[Node, ...], around: tuple[tuple[Loop, int], ...]) -> Iterator[_Copied]:
    """The statements inside; loops in a region are unrolled completely."""
    for node in nodes:
        match node:
            case Loop():
                yield from _copied(node.body, (*around, (node, max(1, node.trips.maximum))))
            case Guard():
                yield from _copied(node.body, around)
            case Statement():
                yield _Copied(node, around)


def _region(
    found: list[_Copied], tool: Personality, row: LoopEstimate, banks: Mapping[str, int]
) -> _Region:
    operations: Counter[str] = Counter()
    adders: dict[str, bool] = {}  # cores that add floats: whether without DSP slices
    for one in found:
        for op in one.statement.ops:
            if op.computes and (operator := tool.operator_of(op)).shared:
                operations[operator.core] += one.copies()
                if op.kind in _ADDITIONS and not operator.integer:
                    adders[operator.core] = not operator.dsp
    units = dict(row.units)
    in_fabric = sum(units.get(core, 0) for core, fabric in adders.items() if fabric)
    sizes = {
        "operations": operations.total(),
        "ports": _ports(found, banks),
        "copies": max((one.copies() for one in found), default=1),
        "fabric_adders": in_fabric,
        "terms": max((_terms(one) for one in found), default=1),
    }
    return _Region(
        sizes,
        round(row.ii) if row.kind == "pipeline" else 0,
        row.kind == "pipeline" and in_fabric > 1 and all(adders.values()),
        row.kind == "pipeline"
        and row.ii > 1
        and any(units.get(core, n) < n for core, n in operations.items() if n >= _SMALLEST),
    )


def _ports(found: list[_Copied], banks: Mapping[str, int]) -> int:
    """Ports of banks that an iteration accesses: as many as different elements, two of a bank at most."""
    elements: dict[str, set[tuple[object, int]]] = {}
    for one in found:
        loads = [op.access for op in one.statement.ops if op.kind == "load"]
        for access in (*loads, one.statement.target):
            if access is not None and access.memory in banks:
                named = frozenset(name for index in access.indices for name in index.variables())
                seen = elements.setdefault(access.memory, set())
                seen.add((access.indices, one.copies(named)))
    return sum(min(sum(n for _, n in seen), 2 * banks[memory]) for memory, seen in elements.items())


def _terms(one: _Copied) -> int:
    """Terms that an iteration adds to one element."""
    statement = one.statement
    adds = any(op.kind in _ADDITIONS for op in statement.ops)
    if not adds or not any(_reads(op, statement) for op in statement.ops):
        return 1
    named = frozenset(name for index in statement.target.indices for name in index.variables())
    return one.copies(named, others=True)


def _reads(op: Op, statement: Statement) -> bool:
    return op.kind == "load" and op.access == statement.target


def _structures(kernel: Kernel, tool: Personality) -> Iterator[str]:
    """Structures that go by no interval."""
    if kernel.dataflow:
        yield "tasks"
    if any(memory.storage == OUTSIDE for memory in kernel.memories):
        yield "outside"
    if any(memory.cached for memory in kernel.memories):
        yield "told"
    if any(memory.lanes > 1 for memory in kernel.memories):
        yield "words"
    for function in kernel.functions:
        yield from _in_loops(function.body, within=False, unrolled=False)
        for node in walk(function.body):
            if isinstance(node, Statement) and any(_assumed(op, tool) for op in node.ops):
                yield "assumed"


def _assumed(op: Op, tool: Personality) -> bool:
    if not op.computes:
        return False
    operator = tool.operator_of(op)
    return operator.assumed


def _is_told(asked: LoopRequests) -> bool:
    """Something is asked of a loop of which the model does not know what it costs."""
    told = asked.style in ("flp", "frp") or asked.rewind or bool(asked.target_ti)
    return told or asked.leaving is not None


def _in_loops(nodes: tuple[Node, ...], *, within: bool, unrolled: bool) -> Iterator[str]:
    """Structures of nodes ``within`` a pipelined loop or not, with loops ``unrolled`` around."""
    for node in nodes:
        match node:
            case Loop():
                if _is_told(node.requests):
                    yield "told"
                copied = node.trips.maximum > 1 if within else node.factor > 1
                trips = node.constant_trips
                if copied and trips is None:
                    yield "variable"
                elif copied and trips is not None and not within and trips % node.factor:
                    yield "uneven"
                inside = within or node.ii is not None
                yield from _in_loops(node.body, within=inside, unrolled=unrolled or copied)
            case Guard():
                if unrolled:
                    yield "conditions"
                yield from _in_loops(node.body, within=within, unrolled=unrolled)
            case Statement():
                pass
