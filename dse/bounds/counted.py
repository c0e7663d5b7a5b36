"""How many operations of each core a program has at least, of the graph of its values.

Each value is computed by an operation. Of what may be summed up in any order other values than these may be computed in
between, but every term passes an operator: operators of two operands that join ``n`` terms to ``m`` results of which none
share a term are at least ``n - m``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from dse.bounds.critical import CLASS_OF, extremes_of
from dse.bounds.quotients import EITHER, as_product, either
from dse.bounds.roofline import Operations
from dse.bounds.value_graph import NUMBER, ValueGraph
from qor_gnn.design.region import Op
from qor_gnn.tools.personality import Personality


def kind_of(op: Op, tool: Personality) -> Operations | None:
    """The units that may do an operation, by which nothing is counted yet; None where they cost nothing that is known.

    A unit of integers may be had without slices in ways that no report shows.
    """
    operator = tool.operator_of(op)
    ways = tuple(dict.fromkeys((o.dsp, o.lut) for o in tool.operators_of(op)))
    logic = operator.integer and not operator.measured
    if logic and op.kind == "mul" and not (op.factors[1] > 0 and tool.library.dsp_side > 0):
        return None  # the law of multipliers tells nothing of it
    if not operator.shared and not all(lut for _, lut in ways):
        return None
    with_sum = op.kind == "mul" and operator.slice
    ways = tuple(dict.fromkeys((*ways, (1, 0)))) if with_sum else ways
    is_sum = op.kind in ("add", "sub") and operator.integer
    if is_sum and operator.width and not tool.is_open:  # two may be one adder of three operands
        ways = (*ways, (operator.dsp, tool.operator("ternary", "int", operator.width).lut))
    return Operations(0, ways, logic, with_sum, is_sum)


def counted(
    graph: ValueGraph, tool: Personality, free: bool, products: frozenset[int] = frozenset()
) -> Mapping[str, Operations]:
    """The least number of operations, by core.

    Args:
        graph: of the program.
        tool: whose operators are counted.
        free: sums and products of floats may be done in any order.
        products: quotients that may be products, by their identity.
    """
    found = _Sum(tool)
    either_way: list[int] = []
    extremes = extremes_of(graph)
    tests = set(extremes.values())
    joined: dict[tuple[str, str], list[int]] = {}
    key_of: dict[int, tuple[str, str]] = {}
    used = set(graph.results) if graph.whole else set()
    for number in graph.needed:
        value = graph.values[number]
        op = value.op
        key = None
        if op is not None and not value.kind:
            in_class = "extreme" if number in extremes else CLASS_OF.get(op.kind, "")
            if in_class and (in_class == "extreme" or op.type == "int" or free):
                key = key_of[number] = in_class, op.type
                joined.setdefault(key, []).append(number)
            if (
                number not in tests
                and number not in graph.guards
                and (key is None or number in extremes)
            ):
                if id(op) in products:
                    either_way.append(number)
                else:
                    found.add(op)
        if number not in tests:
            used.update(k for k in (*value.operands, *value.keeps) if key_of.get(k) != key)
    for numbers in joined.values():
        for times, op in _least(graph, numbers, (extremes, used), tool):
            found.add(op, times)
    return {**found.cores(), **_either(graph, either_way, joined, tool)}


def _either(
    graph: ValueGraph,
    numbers: list[int],
    joined: Mapping[tuple[str, str], list[int]],
    tool: Personality,
) -> Mapping[str, Operations]:
    """Quotients that may be products, but for those beside products: these may be done in another order then, and be fewer.

    Args:
        graph: of the program.
        numbers: of the quotients.
        joined: other values by the class of the operator that makes them.
        tool: whose operators are counted.
    """
    members = {n for (in_class, _), some in joined.items() if in_class == "product" for n in some}
    members.update(numbers)
    beside = {k for n in members for k in graph.values[n].operands}
    kind: Operations | None = None
    times = 0
    for number in numbers:
        value = graph.values[number]
        if number in beside or value.operands[0] in members or value.op is None:
            continue
        own = either(kind_of(value.op, tool), kind_of(as_product(value.op), tool))
        if own is not None:
            times += 1
            ways = own.ways if kind is None else (*kind.ways, *own.ways)
            kind = Operations(0, tuple(dict.fromkeys(ways)))
    return {} if kind is None else {EITHER: replace(kind, times=times)}


@dataclass(slots=True)
class _Sum:
    """Operations by what they are, of which there are few kinds, and each of many values."""

    tool: Personality
    times: dict[int, int] = field(default_factory=dict)
    ops: dict[int, Op] = field(default_factory=dict)

    def add(self, op: Op, times: int = 1) -> None:
        """Count an operation."""
        self.ops[id(op)] = op
        self.times[id(op)] = self.times.get(id(op), 0) + times

    def cores(self) -> Mapping[str, Operations]:
        """By core."""
        found: dict[str, Operations] = {}
        for number, op in self.ops.items():
            kind, times = kind_of(op, self.tool), self.times[number]
            if kind is not None and times:
                core = self.tool.operator_of(op).core
                held = found.get(core, kind)
                found[core] = replace(held, times=held.times + times)
        return found


def _least(
    graph: ValueGraph,
    numbers: list[int],
    what: tuple[Mapping[int, int], set[int]],
    tool: Personality,
) -> Iterator[tuple[int, Op]]:
    """Of operators of one class, how many each group of values takes that share terms, and the least of them.

    Args:
        graph: of the program.
        numbers: all values that an operator of the class makes.
        what: extremes with their comparisons, and the values that something else uses.
        tool: whose operators are counted.
    """
    extremes, used = what
    members = set(numbers)
    # Members come after what they are computed from, so that each is joined to groups that there are.
    group_of: dict[int, int] = {}
    groups: dict[int, set[int]] = {}
    for number in numbers:
        operands = graph.values[number].operands
        own = operands[1:] if number in extremes else operands
        near = {group_of[k] for k in own if k in group_of}
        home = max(near, key=lambda g: len(groups[g]), default=number)
        group = groups.setdefault(home, set())
        for other in near - {home}:
            moved = groups.pop(other)
            group |= moved
            group_of.update(dict.fromkeys(moved, home))
        for k in (number, *own):
            if k not in group_of and graph.values[k].kind != NUMBER:
                group_of[k] = home
                group.add(k)
    for group in groups.values():
        own_members = group & members
        ops = {id(op): op for n in own_members if (op := _op(graph, n, extremes)) is not None}
        least = min(ops.values(), key=lambda op: _cost(op, tool))
        yield max(len(group) - len(own_members) - 1, len(own_members & used)), least


def _op(graph: ValueGraph, number: int, extremes: Mapping[int, int]) -> Op | None:
    """The operation that makes a value; of an extreme the comparison."""
    return graph.values[extremes.get(number, number)].op


def _cost(op: Op, tool: Personality) -> tuple[int, int]:
    every = tool.operators_of(op)
    return min(o.dsp for o in every), min(o.lut for o in every)
