"""The longest chain of dependences through the values of a program, in cycles.

Each value is there some time after what it is computed from, be there as many units and ports as it takes: operators
with registers take whole states, mere logic its delay, and what does not fit behind others in a state begins in the next.

What a schedule may do in another order takes the time of the best order. Operators of one class form a *run*: the values
that enter it may be combined in any tree. Where a recurrence of the program can run in blocks (`polyhedral.legality.scans`),
operators of all classes on its type, and selections among them, are one run. Where the other operators of a run are fed with what lets the rest pass, a circuit for the run still computes a pure
sum, product, limit or pattern of the values that enter by the operators of this one class. In a tree of operators that
take ``d`` a value that enters at ``t`` and has ``k`` levels in front of it is not out before ``t + k * d``, and the sum
of ``2 ** -k`` over all that enter is at most 1 (Kraft's inequality). So the result is not there before
``d * log2(sum of 2 ** (t / d))``, for each class. Values that enter several times may cancel, or count once (``x ^ x``,
``max(x, x)``), so that only those are summed up that no other operator of the run takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp2, floor, inf, log2

from dse.bounds.statement_plans import EXACT
from dse.bounds.value_graph import NUMBER, WIRES, Value, ValueGraph
from qor_gnn.body.quicker_sums import most_closing
from qor_gnn.body.reassociation import REAL_SUMS
from qor_gnn.design.region import Op
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.personality import Personality

_MOVES = frozenset(
    {"shl", "shr", "mul", "div", "mod"}
)  # what bits are moved by, which nothing reorders
_OPERANDS = 2  # of an operator that joins values
CLASS_OF = {
    **REAL_SUMS,
    "and": "bits",
    "or": "bits",
    "xor": "bits",
    "min": "extreme",
    "max": "extreme",
}
_EXACT = 1e-6  # of a state, that rounding errors of logarithms stay below

Levels = Mapping[str, float]
"""For each class the logarithm of the sum in Kraft's inequality, for the values that enter a run."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The longest chain: whole cycles that it takes, and how many operations of it are of each kind, most first."""

    cycles: int
    operations: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        made = ", ".join(f"{count:,} {name}" for name, count in self.operations)
        return f"the longest chain of dependences: {made}"


@dataclass(frozen=True, slots=True)
class _Run:
    """A value that a run of operators that compose has computed.

    Attributes:
        levels: see above.
        entered: when the last value has entered the run, in ns.
        least: the shortest operator of the run, in ns.
        alone: nothing of it is taken twice by operators of such runs.
    """

    levels: Levels
    entered: float
    least: float
    alone: bool = False


def extremes_of(graph: ValueGraph) -> dict[int, int]:
    """Selections that are minima or maxima, of floats or of integers, and the comparison of each."""
    found: dict[int, int] = {}
    for number, value in enumerate(graph.values):
        if value.op is not None and value.op.kind == "select" and not value.kind:
            test = graph.values[value.operands[0]]
            if (
                test.op is not None
                and test.op.kind == "cmp"
                and {*test.operands} == {*value.operands[1:]}
            ):
                found[number] = value.operands[0]
    return found


def operator_of(tool: Personality, op: Op) -> Operator:
    """The quickest operator of all implementations that there are, with the fewest slices and LUTs of any."""
    every = tool.operators_of(op)
    return Operator(
        every[0].core, min(o.distance for o in every), min(o.delay for o in every),
        min(o.dsp for o in every), min(o.lut for o in every), integer=every[0].integer,
        measured=every[0].measured, alone=every[0].alone,
    )  # fmt: skip


def longest_chain(
    graph: ValueGraph,
    tool: Personality,
    free: bool,
    composed: frozenset[str] = frozenset(),
    products: frozenset[int] = frozenset(),
) -> Chain:
    """The longest chain to a result.

    Args:
        graph: of the program.
        tool: whose operators count.
        free: sums and products of floats may be done in any order.
        composed: types of values, of which operators of several classes may be composed.
        products: quotients that may be products, by their identity: what they divide may pass any tree of products.
    """
    timed = _Timed(graph, tool, free, composed)
    timed.products = products
    times = timed.all()
    last = max(graph.results & times.keys(), key=lambda n: times[n], default=None)
    if last is None:
        return Chain(0, ())
    return Chain(floor(times[last] / tool.usable_ns + _EXACT), timed.along(last))


class _Timed:
    """When values are there at the earliest, in ns of which a state has what is usable."""

    def __init__(
        self, graph: ValueGraph, tool: Personality, free: bool, composed: frozenset[str]
    ) -> None:
        self.graph, self.tool, self.free, self.composed = graph, tool, free, composed
        self.state = tool.usable_ns
        self.products: frozenset[int] = frozenset()
        self.extremes = extremes_of(graph)
        self.known: dict[tuple[object, ...], tuple[str, float, int, int]] = {}
        self.times: dict[int, float] = {}
        self.runs: dict[int, tuple[str, _Run]] = {}
        self.steps: dict[int, tuple[str, str, float]] = {}
        self.users = Counter(k for n in graph.needed for k in graph.values[n].operands)
        self.taken: Counter[tuple[str, int]] = Counter()
        self.unit = self._units()

    def all(self) -> Mapping[int, float]:
        """Of each value that is needed."""
        for number in self.graph.needed:
            value = self.graph.values[number]
            if value.op is None or not value.op.computes:
                self.times[number] = max((self.times[k] for k in value.operands), default=0.0)
            elif value.kind == WIRES or value.op.value == EXACT:
                self._passed(number, value)
            else:
                self._computed(number, value, value.op)
        return self.times

    def _passed(self, number: int, value: Value) -> None:
        """What may be wires: a run goes on behind it."""
        last = max(value.operands, key=lambda k: self.times[k])
        self.times[number] = self.times[last]
        moved = value.op is not None and value.op.kind in _MOVES
        if last in self.runs and not moved:
            family, run = self.runs[last]
            self.runs[number] = family, replace(run, alone=False)

    def _computed(self, number: int, value: Value, op: Op) -> None:
        chosen = op.kind == "select"
        known = None if chosen else self.steps.get(id(op))
        if known is None:
            in_class, family = self._class(number, op)
            known = in_class, family, self._step(number, op) if family in self.unit else 0.0
            if not chosen:
                self.steps[id(op)] = known
        in_class, family, delay = known
        if family in self.unit:
            operands = value.operands[1:] if chosen else value.operands
            self._run(number, operands, (in_class, family), delay)
            return
        kind, delay, states, closing = self._operator(op)
        passed = value.operands[:1] if id(op) in self.products else ()
        before = max((self.times[k] for k in value.operands if k not in passed), default=0.0)
        if states:
            if kind == "mul":
                states -= self.tool.sums.saved
            if number in self.graph.handed:
                states -= closing
            time = (floor(before / self.state + _EXACT) + max(0, states)) * self.state
            self.times[number] = max([time, *(self.times[k] for k in passed)])
            return
        begun = before - floor(before / self.state + _EXACT) * self.state
        if begun > _EXACT and begun + delay > self.state:
            before += self.state - begun
        self.times[number] = before + delay

    def _class(self, number: int, op: Op) -> tuple[str, str]:
        """The class of an operator in a run, and what runs it goes on; empty of others."""
        if number in self.extremes:
            return "extreme", self._family("extreme", op)
        if op.kind == "select":
            return "", self._of_choice(number, op)
        in_class = CLASS_OF.get(op.kind, "")
        if not in_class or not self._any_order(op):
            return "", ""
        return in_class, self._family(in_class, op)

    def _family(self, in_class: str, op: Op) -> str:
        # Floats have no composition of sums with products.
        if op.type in self.composed and (op.type == "int" or in_class != "product"):
            return op.type
        return f"{op.type} {in_class}"

    def _of_choice(self, number: int, op: Op) -> str:
        """The runs that a selection goes on: of an update under a condition those of the update, else of selections
        alone, of which the last that holds counts (`locate` finds it in any order).
        """
        if number in self.graph.fixed:
            return ""
        if op.type in self.composed and self._any_order(op):
            return op.type
        one, other = self.graph.values[number].operands[1:]
        for new, old in ((one, other), (other, one)):
            if new in self.runs and old in self.graph.values[new].operands:
                return self.runs[new][0]
        return f"{op.type} choice"

    def _any_order(self, op: Op) -> bool:
        return op.type == "int" or self.free

    def _run(
        self, number: int, operands: tuple[int, ...], what: tuple[str, str], delay: float
    ) -> None:
        """A value of a run, which begins here or goes on; of a selection the condition is no operand."""
        in_class, family = what
        runs = [self._entering(k, family) for k in operands]
        entered, least = max([run.entered for run in runs]), min([run.least for run in runs])
        least = min(delay, least)
        if not in_class:
            entered = max(entered, self.times[self.graph.values[number].operands[0]])
        alone = [
            run.alone and self.taken[family, k] == 1 for run, k in zip(runs, operands, strict=True)
        ]
        levels, time, apart = {}, entered + least, any(alone)
        for name, d in self.unit[family].items():
            every = [run.levels.get(name, -inf) for run in runs]
            level = _joined(every) if apart and name == in_class else max(every)
            levels[name], time = level, max(time, d * level)
        self.runs[number] = family, _Run(levels, entered, least, bool(in_class) and all(alone))
        self.times[number] = time

    def _entering(self, number: int, family: str) -> _Run:
        """The run that an operand goes on, or a run that it begins."""
        known = self.runs.get(number)
        if known is not None and known[0] == family:
            return known[1]
        if self.graph.values[number].kind == NUMBER:
            return _NOTHING
        time = self.times[number]
        # What operators have whole states for may start late in one: logic in front of it takes none.
        whole = floor(time / self.state + _EXACT) * self.state
        units = self.unit[family]
        levels = {n: (whole if d >= self.state else time) / d for n, d in units.items()}
        entered = whole if any(d >= self.state for d in units.values()) else time
        return _Run(levels, entered, inf, self._once(number))

    def _once(self, number: int) -> bool:
        """Whether a value is not there in other bits as well, which something else takes."""
        if not self.graph.whole:
            return False
        value = self.graph.values[number]
        while value.op is not None and (value.kind == WIRES or value.op.value == EXACT):
            if any(self.users[k] > 1 for k in value.operands):
                return False
            value = self.graph.values[value.operands[0]]
        return True

    def _units(self) -> dict[str, dict[str, float]]:
        """The least time of an operator of each class, by what it is a run of."""
        found: dict[str, dict[str, float]] = {}
        seen: set[tuple[int, bool]] = set()
        for number in self.graph.needed:
            value = self.graph.values[number]
            op = value.op
            if op is None or value.kind:
                continue
            in_class, family = self._class(number, op)
            if not family:
                continue
            if in_class:
                data = value.operands[1:] if op.kind == "select" else value.operands
                self.taken.update((family, k) for k in data)
            if (id(op), number in self.extremes) in seen:
                continue
            seen.add((id(op), number in self.extremes))
            own, time = found.setdefault(family, {}), self._step(number, op)
            if in_class and time > 0:
                own[in_class] = min(own.get(in_class, inf), time)
        for number in self.graph.needed:
            op = self.graph.values[number].op
            if op is not None and op.type in self.composed:
                found.setdefault(op.type, {})
        return found

    def _step(self, number: int, op: Op) -> float:
        """The least time of an operator of a run, in ns."""
        kind, delay, states, closing = self._operator(op)
        if (
            number in self.extremes
            and (test := self.graph.values[self.extremes[number]].op) is not None
        ):
            _, more, longer, _ = self._operator(test)
            return delay + more + (states + longer) * self.state
        if states and kind != "select":
            states = max(0, states - self.tool.sums.saved - closing)
        return states * self.state + delay

    def _operator(self, op: Op) -> tuple[str, float, int, int]:
        """The kind, ns and states of an operation, and those that it may be short of on a recurrence of its own."""
        key = (op.kind, op.type, op.width, op.factors, op.value)
        known = self.known.get(key)
        if known is None:
            operator = operator_of(self.tool, op)
            closing = most_closing(self.tool, op)
            known = self.known[key] = op.kind, operator.delay, operator.distance, closing
        return known

    def along(self, number: int) -> tuple[tuple[str, int], ...]:
        """The kinds of operations on the way to a value, each from the operand that comes last."""
        found: dict[str, int] = {}
        while True:
            value = self.graph.values[number]
            if value.op is not None and value.op.computes and not value.kind:
                name = f"{value.op.kind} of {value.op.type}"
                found[name] = found.get(name, 0) + 1
            if not value.operands:
                return tuple(sorted(found.items(), key=lambda item: -item[1]))
            number = max(value.operands, key=lambda k: self.times[k])


_NOTHING = _Run({}, 0.0, inf, True)


def _joined(levels: list[float]) -> float:
    """The logarithm of a sum of powers of two."""
    most, least = max(levels), min(levels)
    if least == -inf or len(levels) < _OPERANDS:
        return most
    return most + log2(1.0 + exp2(least - most))
