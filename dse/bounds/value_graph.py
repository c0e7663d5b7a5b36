"""A program's values as a graph: each expression that its iterations compute, once.

The iterations are gone through one by one, in the order of the program, and what each
operation computes is numbered: an operation on the same values is the same value, wherever it stands. That is what
is left of a program after a tool has unrolled all loops, kept all elements in registers, and computed the same
value once. So each value that a result needs is an operation of any design, and follows what it is computed from: through
arrays and scalars, over statements, at any distance, and under any guard on loop variables.

Of a program that has too many only the first are. What comes later computes other values, or the same once more, so that
each of these that is needed counts all the same; needed are, then, the values of statements of which that is proven of every iteration.

A read at a subscript that is data takes any element. It waits for its subscripts alone, and keeps all values that the
array holds there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from dse.bounds.statement_plans import Place, Plan, Step, plan_of
from dsl.expressions.affine import cond_holds
from dsl.expressions.expr import Scatter
from dsl.programs.program import If, Loop, Node, Program, Stmt
from polyhedral.legality.associative import order_is_free
from qor_gnn.design.operations import factor_of, known_element
from qor_gnn.design.region import Op, Statement
from qor_gnn.design.table_contents import TableContents, contents_of

MOST = 150_000
"""Operations that are gone through, in about a second."""
LARGE = 400_000
"""Operations that are, where less than half of them is proven otherwise: the first of a larger program."""

_KEPT = 200_000  # values that reads at subscripts that are data keep, all together
_COMMUTE = frozenset({"add", "mul", "and", "or", "xor"})
_BITS: Mapping[str, Callable[[int, int], int]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    # by the number of MLIR's predicate, of those with a sign
    f"arith.cmpi {n}": decide
    for n, decide in enumerate(
        (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
    )
}
_BITS_TOLD = 64  # of constants
_DECIDES: Mapping[str, tuple[int, ...]] = {"mul": (0,), "and": (0,), "div": (0,), "mod": (0, 1, -1)}
"""Numbers that leave nothing of the other operand."""
_NEUTRAL_FLOATS = (0.0, 1.0, -1.0)

ELEMENT = "element"
"""The kind of what nothing need compute: elements that nobody has written, scalar arguments, what a number decides."""
NUMBER = "number"
"""The kind of constants, and of loop variables, whose values unrolling tells."""
GATHER = "gather"
"""The kind of a read at subscripts that are data."""
WIRES = "wires"
"""The kind of an operation that may cost nothing: on a number that leaves no operator."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value.

    Attributes:
        kind: one of the above; else empty, and ``op`` computes it.
        operands: the numbers of what it is computed from.
        op: the operation.
        keeps: values that are needed where this one is, though it is not computed from them.
    """

    kind: str
    operands: tuple[int, ...] = ()
    op: Op | None = None
    keeps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueGraph:
    """The values of a program, operands before what is computed from them.

    Attributes:
        values: all of them.
        needed: the numbers of those that a result is computed from, ascending.
        results: those that arguments hold at the end, and what is stored to elements that data tell.
        whole: all iterations were gone through; where others follow, they may take any value once more.
        fixed: selections whose condition is computed from all that iterations hand to what they choose among.
        handed: values that are computed directly from what a statement has stored.
        guards: selections between a value and what the element holds that it is stored to: guards of stores.
    """

    values: tuple[Value, ...]
    needed: tuple[int, ...]
    results: frozenset[int]
    whole: bool
    fixed: frozenset[int]
    handed: frozenset[int]
    guards: frozenset[int]


def value_graph(
    program: Program, statements: Mapping[str, Statement], needed: frozenset[str], most: int
) -> ValueGraph:
    """The values of a program, or the first of them.

    Args:
        program: the program.
        statements: its operations, by statement; none of a statement whose value is known to the compiler.
        needed: statements of which the value of every iteration reaches a result.
        most: how many operations may be gone through.
    """
    maker = _Maker(program, statements, needed, most, 2 * most)
    try:
        maker.run(program.body, {})
    except _EnoughError:
        return maker.first()
    return maker.graph()


class _EnoughError(Exception):
    """As many operations were gone through as may be, or iterations that have none: their guards hold nowhere."""


@dataclass(slots=True)
class _Maker:
    """Goes through a program."""

    program: Program
    statements: Mapping[str, Statement]
    needed: frozenset[str]
    operations: int  # that are left
    left: int  # iterations
    values: list[Value] = field(default_factory=list)
    keys: dict[tuple[object, ...], int] = field(default_factory=dict)
    numbers: dict[int, tuple[int, ...]] = field(
        default_factory=dict
    )  # what unrolling tells: one of these
    held: dict[str, dict[int, int]] = field(default_factory=dict)
    scattered: set[str] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)  # to elements that data tell
    certain: set[int] = field(default_factory=set)  # the values of statements that are needed
    kept: int = 0
    fixed: set[int] = field(default_factory=set)
    loose: set[int] = field(default_factory=set)
    handed: set[int] = field(default_factory=set)
    guards: set[int] = field(default_factory=set)
    tables: dict[str, TableContents | None] = field(default_factory=dict)
    scoped: dict[int, list[str]] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    exact: frozenset[str] = (
        frozenset()
    )  # statements whose order is free in the type that they store

    def __post_init__(self) -> None:
        self.exact = frozenset(
            s.name
            for s in self.program.statements()
            if isinstance(s.value, Scatter) or order_is_free(self.program, s)
        )
        self.tables = {a.name: contents_of(a.dtype, a.contents) for a in self.program.tables}
        for array in self.program.arrays:
            self.held[array.name] = {}
            if array.scope_depth:
                self.scoped.setdefault(array.scope_depth, []).append(array.name)

    # --------------------------------------------------------------------------------- iterations

    def run(self, nodes: Iterable[Node], env: dict[str, int], depth: int = 0) -> None:
        """Go through nodes where the loops around have these values."""
        for node in nodes:
            match node:
                case Stmt():
                    statement = self.statements.get(node.name)
                    if statement is not None:
                        self._statement(statement, env)
                case If():
                    self.run(node.then if cond_holds(node.cond, env) else node.orelse, env, depth)
                case Loop():
                    for value in _iterations(node, env):
                        self.left -= 1
                        if self.left < 0:
                            raise _EnoughError
                        env[node.var] = value
                        for name in self.scoped.get(depth + 1, ()):
                            self.held[name] = {}
                        self.run(node.body, env, depth + 1)
                    env.pop(node.var, None)

    def _statement(self, statement: Statement, env: Mapping[str, int]) -> None:
        self.operations -= len(statement.ops)
        if self.operations < 0:
            raise _EnoughError
        plan = self.plans.get(statement.name)
        if plan is None:
            exact = statement.name in self.exact
            plan = self.plans[statement.name] = plan_of(self.program, statement, exact)
        if plan.kept:
            at = plan.target.at(env)
            if any(place.at(env) == at for place in plan.kept):
                return
        found: list[int] = []
        for step in plan.steps:
            if step.place is not None:
                number = self._load(step, found, env)
            elif step.head is not None:
                number = self._computed(step, found)
            else:
                number = self._known(step.op, env)
            found.append(number)
        if plan.guard:
            self.guards.add(found[-1])
        if statement.name in self.needed:
            self.certain.add(found[-1])
        self._store(statement, plan.target, found, env)

    # -------------------------------------------------------------------------------------- values

    def _new(self, key: tuple[object, ...], value: Value) -> int:
        number = self.keys[key] = len(self.values)
        self.values.append(value)
        return number

    def _leaf(self, kind: str, *what: object) -> int:
        key = (kind, *what)
        number = self.keys.get(key)
        return self._new(key, Value(kind)) if number is None else number

    def _known(self, op: Op, env: Mapping[str, int]) -> int:
        """What nothing computes: a scalar argument, a loop variable, a number."""
        if op.kind == "input":
            return self._leaf(ELEMENT, op.access)
        if op.kind == "index" and op.access is not None:
            return self._number(op.access.indices[0].evaluate(env))
        key = (NUMBER, op.type, op.value)
        number = self.keys.get(key)
        if number is None:
            number = self._new(key, Value(NUMBER, op=op))
            if op.type == "int" and op.width <= _BITS_TOLD:
                # Its low bits are known, and not whether the first of them is a sign.
                bits, count = int(op.value), 1 << op.width
                self.numbers[number] = (bits,) if 2 * bits < count else (bits, bits - count)
        return number

    def _number(self, value: int) -> int:
        """An integer that unrolling tells."""
        number = self._leaf(NUMBER, "index", value)
        self.numbers[number] = (value,)
        return number

    def _computed(self, step: Step, found: list[int]) -> int:
        op = step.op
        operands = [found[k] for k in step.operands]
        if (decided := self._decided(op, operands)) is not None:
            return decided
        if op.kind in _COMMUTE:
            operands.sort()
        key = (step.head, *operands)
        number = self.keys.get(key)
        if number is None:
            number = self._new(key, self._made(op, operands))
        values = self.values
        handed = step.direct and number not in self.handed
        if handed and any(not values[found[k]].kind for k in step.direct):
            self.handed.add(number)
        if step.chosen and number not in self.loose:
            self._tied(number, step, found)
        return number

    def _decided(self, op: Op, operands: list[int]) -> int | None:
        """What an operation comes to that loop variables decide: a choice by one, and the condition of it."""
        known = [self.numbers.get(k, ()) for k in operands]
        if op.kind == "select":
            return None if len(known[0]) != 1 else operands[1] if known[0][0] else operands[2]
        decide = _COMPARED.get(op.value) if op.kind == "cmp" else _BITS.get(op.kind)
        if decide is None or not all(known):
            return None
        found = {int(decide(one, other)) for one, other in product(*known)}
        return self._number(found.pop()) if len(found) == 1 else None

    def _tied(self, number: int, step: Step, found: list[int]) -> None:
        """Whether the condition of a selection is computed from all that iterations hand to what it chooses among."""
        chosen = {k for n in step.chosen if not self.values[k := found[n]].kind}
        tied = bool(chosen) and chosen <= {found[n] for n in step.tested}
        (self.fixed if tied else self.loose).add(number)

    def _made(self, op: Op, operands: list[int]) -> Value:
        """The value of an operation, which a number among its operands may leave nothing of."""
        numbers = [v for k in operands if (v := self.values[k]).kind == NUMBER]
        if len(numbers) == len(operands):
            return Value(NUMBER)
        if not numbers or not self._folds(op, operands, numbers):
            return Value("", tuple(operands), op)
        # Of a number that decides all, as in `0 * x`, none of the others need be computed.
        if op.kind == "select":
            decides = self.values[operands[0]].kind == NUMBER
        else:
            alone = _DECIDES.get(op.kind, ())
            decides = bool(alone) and any(
                v.op is None or float(v.op.value) in alone for v in numbers
            )
        return Value(ELEMENT) if decides else Value(WIRES, tuple(operands), op)

    def _folds(self, op: Op, operands: list[int], numbers: list[Value]) -> bool:
        """An operator on a number may be none: on a loop variable, which unrolling tells, a shift, what is neutral."""
        if op.kind in ("div", "mod"):
            return True
        if op.type != "int":
            return any(v.op is None or float(v.op.value) in _NEUTRAL_FLOATS for v in numbers)
        if op.kind == "select":
            return self.values[operands[0]].kind == NUMBER
        if op.kind in ("shl", "shr", "and") or (op.kind == "mul" and op.factors[1:] == (0,)):
            return True
        if op.kind == "mul":  # by a shorter number than the operator was read for, too
            return any(v.op is None or factor_of(v.op) < op.factors[1] for v in numbers)
        return any(v.op is None or int(v.op.value) == 0 for v in numbers)

    def _load(self, step: Step, found: list[int], env: Mapping[str, int]) -> int:
        place = step.place
        assert place is not None
        name, at = place.array, place.at(env)
        held = self.held[name]
        if step.operands:
            operands = tuple([found[k] for k in step.operands])
            key = (GATHER, name, at, *operands)
            number = self.keys.get(key)
            if number is None:
                keeps = tuple(held.values()) if self.kept < _KEPT else ()
                self.kept += len(keeps)
                number = self._new(key, Value(GATHER, operands, keeps=keeps))
            return number
        number = held.get(at)
        if number is None:
            number = held[at] = self._element(step, name, at)
        return number

    def _element(self, step: Step, name: str, at: int) -> int:
        """What no statement has written; of a table of constants equal elements are one value."""
        contents = self.tables.get(name)
        if contents is not None:
            return self._known(known_element(step.op, contents.value(at)), {})
        known = name in self.scattered or name in self.tables
        return self._leaf(NUMBER if known else ELEMENT, name, at)

    def _store(
        self, statement: Statement, place: Place, found: list[int], env: Mapping[str, int]
    ) -> None:
        if statement.subscripts:
            # It may be any element: what the array holds now is one of two values, of which nothing is known.
            self.scattered.add(place.array)
            self.held[place.array] = {}
            self.stored.update((found[-1], *(found[k] for k in statement.subscripts)))
        else:
            self.held[place.array][place.at(env)] = found[-1]

    # --------------------------------------------------------------------------------------- graph

    def graph(self) -> ValueGraph:
        """What was found."""
        arguments = [a.name for a in self.program.arguments if a.shape]
        results = set(self.stored)
        for name in arguments:
            results.update(self.held[name].values())
        return self._graph(frozenset(results), True, frozenset(self.fixed - self.loose))

    def first(self) -> ValueGraph:
        """What was found, where other iterations follow.

        They may choose in other ways among those that are chosen among here.
        """
        return self._graph(frozenset(self.certain), False, frozenset())

    def _graph(self, results: frozenset[int], whole: bool, fixed: frozenset[int]) -> ValueGraph:
        needed = tuple(sorted(self._needed(results)))
        values, handed, guards = tuple(self.values), frozenset(self.handed), frozenset(self.guards)
        return ValueGraph(values, needed, results, whole, fixed, handed, guards)

    def _needed(self, results: Iterable[int]) -> set[int]:
        found: set[int] = set()
        open_ = list(results)
        while open_:
            number = open_.pop()
            if number not in found:
                found.add(number)
                value = self.values[number]
                open_ += value.operands
                open_ += value.keeps
        return found


def _iterations(loop: Loop, env: Mapping[str, int]) -> Iterator[int]:
    low = max(a.evaluate(env) for a in loop.lowers)
    high = min(a.evaluate(env) for a in loop.uppers)
    return iter(
        range(low, high, loop.step) if loop.step > 0 else range(high - 1, low - 1, loop.step)
    )
