"""Loops of C++ designs as designs of the QoR model: the nest around one loop, its arrays with their banks, its FIFOs.

A nest is a function of its own, whose integer arguments are symbols. Words of several floats are accessed whole: lanes
are wires. Partitions are looked up through calls, since the same array has other names in other functions. A FIFO
is a memory with one port to read and one to write.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks._cxx_names import Bound, Names, Unsupported, affine, number, walk
from benchmarks._cxx_syntax import (
    Assign,
    Declared,
    Directive,
    Do,
    Expr,
    For,
    If,
    Return,
    Routine,
    Stmt,
    Type,
)
from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.types import FloatType, IntType
from polyhedral.banks.splits import Split
from qor_gnn.design.loops import dissolved
from qor_gnn.design.operations import Operations, Value, operations_of
from qor_gnn.design.port import Port
from qor_gnn.design.region import (
    Access,
    Function,
    Guard,
    Kernel,
    Loop,
    Memory,
    Node,
    Statement,
    Trips,
    outside,
)

_FLOAT, _DOUBLE = ("f32", 32), ("f64", 64)
_ARITHMETIC = {"+": "arith.addf", "-": "arith.subf", "*": "arith.mulf", "/": "arith.divf"}
_INSIDE = {">=": (1, 0), "<": (-1, -1), ">": (1, -1), "<=": (-1, 0)}
"""Of a comparison a ∘ b: the sign of a − b in the constraint ``… ≥ 0``, and what is added."""

# ------------------------------------------------------------------------------------- nests


@dataclass(slots=True)
class Reader:
    """Makes the region of one nest."""

    routine: Routine
    names: Names
    memories: dict[str, Memory] = field(default_factory=dict)
    make: Operations = field(default_factory=Operations)
    counters: list[tuple[str, int]] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)  # scalars that a deeper loop sets
    statements: int = 0
    late: set[str] = field(default_factory=set)  # counters of lanes that the tool unrolls unasked
    left: set[str] = field(default_factory=set)  # counters of lanes of loops that stay loops
    tests: dict[str, Expr] = field(default_factory=dict)  # comparisons with a name
    asked: int = 0  # loops around that somebody asked a pipeline of

    def kernel(self, nest: For, ports: frozenset[str]) -> Kernel:
        """The design of a nest.

        Args:
            nest: an outermost loop of the function.
            ports: of the arguments those in memory outside.
        """
        env: dict[str, Bound] = {}
        for one in (*self.routine.arguments, *self._local()):
            self._declare(one, env, ports)
        self.kept = _set_deeper(self.routine.body)
        (node,) = self._nodes((nest,), env)
        symbols = tuple(n for n, v in env.items() if isinstance(v, Affine) and not v.is_const)
        function = Function(self.routine.name, (node,), symbols)
        return Kernel(self.routine.name, tuple(self.memories.values()), (function,), outlined=True)

    def _local(self) -> Iterator[Declared]:
        return (d for d in self.routine.body if isinstance(d, Declared))

    def _declare(self, one: Declared, env: dict[str, Bound], ports: frozenset[str]) -> None:
        shape = tuple(number(e) for e in one.extents)
        words = IntType(32 * one.type.lanes, signed=False) if one.type.lanes else FloatType("f32")
        if one.type.base == "int":
            env[one.name] = Affine.of(one.name)
        elif one.type.base == "stream":
            made = Memory(one.name, words, (1 << 20,), (Split(),), False, "ram_s2p")
            self.memories[one.name] = made
        elif shape:
            splits = self.names.of((self.routine.name, one.name), shape)
            memory = Memory(one.name, words, shape, splits, one.name in ports)
            if one.name in ports:
                memory = outside(memory, Port(one.name, max(1, one.type.lanes) * 32))
            self.memories[one.name] = memory
        else:
            env[one.name] = self.make.argument(one.name, _FLOAT)

    def _leave(self, nest: For) -> None:
        """Find out whether the tool leaves the loop over the lanes of a word as it is: it makes one loop with the only one
        around, which takes the word, where the lanes go to an array that nobody has split (all 8 such loops of Allo's
        designs; 33 others, in nests of three or of arrays that are split, are unrolled: docs/lab/schedule.md).
        """
        nodes = [n for n in nest.body if not isinstance(n, Directive)]
        match nodes:
            case [Declared(type=Type(lanes=lanes)) as word, For() as inner] if lanes and word.value:
                targets = [n.target for n in walk(inner.body) if isinstance(n, Assign)]
                split = any(isinstance(n, Directive) for n in (*nest.body, *inner.body))
                for target in targets:
                    memory = self.memories.get(_subscripts(target)[0].text)
                    split |= memory is None or memory.port is not None or memory.banks > 1
                if not split:
                    self.left.add(inner.var)
                    self.kept.add(word.name)

    # -------------------------------------------------------------------------------- nodes

    def _nodes(self, nodes: Sequence[Stmt], env: dict[str, Bound]) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            match node:
                case For():
                    found += self._loop(node, env)
                case If():
                    found += self._guard(node, env)
                case Declared():
                    found += self._declared(node, env)
                case Assign():
                    found += self._assign(node, env)
                case Do(Expr("call", "write", (target, value))):
                    found.append(self._store(self._fifo(target), self._value(value, env)))
                case Do():
                    raise Unsupported(f"a call of {node.value.text}")
                case Directive() | Return():
                    pass
        return tuple(found)

    def _loop(self, node: For, env: dict[str, Bound]) -> list[Node]:
        start, end, step = number(node.start), number(node.end), number(node.step)
        trips = max(0, -(-(end - start) // step))
        asked = {d.word: d for d in node.body if isinstance(d, Directive)}
        left = bool(self.counters) and node.var in self.left
        if _of_lanes(node, env) and not left:
            if "unroll" not in asked and not self.asked:
                self.late.add(node.var)
            found: list[Node] = []
            for n in range(trips):
                found += self._nodes(node.body, _inside(env, node.var, Affine.of(start + n * step)))
            self.late.discard(node.var)
            return found
        if not self.counters:
            self._leave(node)
        iv = f"{node.var}_{node.line}"
        self.counters.append((iv, trips))
        self.asked += "pipeline" in asked
        body = self._nodes(node.body, _inside(env, node.var, Affine.of(iv) + start))
        self.asked -= "pipeline" in asked
        self.counters.pop()
        pipeline, unroll = asked.get("pipeline"), asked.get("unroll")
        ii = None if pipeline is None or not pipeline.get("ii") else int(pipeline.get("ii"))
        if (
            pipeline is not None and ii is None
        ):  # as the tool pipelines a loop by itself: no interval is asked for
            body = dissolved(body)
        return [
            Loop(
                iv, f"{node.label or node.line}", (Affine.of(0),), (Affine.of(end - start),), step,
                Trips(trips, trips, trips), body, ii=ii,
                unroll=1 if unroll is None else int(unroll.get("factor", "0")),
            )
        ]  # fmt: skip

    def _guard(self, node: If, env: dict[str, Bound]) -> list[Node]:
        constraints = []
        tests = [node.test]
        while tests:
            test = tests.pop()
            test = self.tests.get(test.text, test) if test.kind == "name" else test
            if test.text == "&&":
                tests += test.parts
                continue
            ends = [affine(part, env) for part in test.parts]
            if test.text not in _INSIDE or node.other or None in ends:
                raise Unsupported(f"a condition {test.text}")
            sign, more = _INSIDE[test.text]
            left, right = (end for end in ends if end is not None)
            constraints.append(Constraint((left - right) * sign + more))
        return [Guard(tuple(constraints), body) for body in (self._nodes(node.then, env),) if body]

    def _declared(self, node: Declared, env: dict[str, Bound]) -> list[Node]:
        if node.type.base == "int":
            if node.value is not None and node.value.text in _INSIDE:
                self.tests[node.name] = node.value
                return []
            value = affine(node.value, env) if node.value is not None else Affine()
            if value is None:
                raise Unsupported(f"{node.name} is no affine integer")
            env[node.name] = value
        elif node.extents and node.type.base == "float":
            self._declare(node, env, frozenset())
        elif node.name in self.kept:
            lanes = node.type.lanes
            kind = IntType(32 * lanes, signed=False) if lanes else FloatType("f32")
            self.memories.setdefault(node.name, Memory(node.name, kind, (), (), argument=False))
            if node.value is not None:
                made = self._single(self._value(node.value, env))
                return [self._store(Access(node.name, ()), made)]
        else:
            env[node.name] = (
                {} if node.value is None else self._single(self._value(node.value, env))
            )
        return []

    def _assign(self, node: Assign, env: dict[str, Bound]) -> list[Node]:
        target = node.target
        old = env.get(target.text) if target.kind == "name" else None
        if isinstance(old, Affine):
            value = affine(node.value, env)
            if value is None or node.op:
                raise Unsupported(f"{target.text} is no affine integer")
            env[target.text] = value
            return []
        made = self._value(node.value, env)
        if node.op:
            made = self._arithmetic(node.op, self._value(target, env), made)
        made = self._single(made)
        if target.kind == "name" and target.text not in self.memories:
            env[target.text] = made
            return []
        base, subscripts = _subscripts(target)
        lanes = env.get(base.text)
        if base.kind == "name" and base.text not in self.memories and isinstance(lanes, dict):
            lanes[self._lane(subscripts, env)] = made
            return []
        return [self._store(self._place(target, env), made)]

    # ------------------------------------------------------------------------------- values

    def _value(self, expr: Expr, env: dict[str, Bound]) -> Value:
        match expr:
            case Expr("number"):
                return self._number(expr.text)
            case Expr("name"):
                return self._named(expr, env)
            case Expr("call", "read", (target,)):
                return self.make.load(self._fifo(target), ("int", 32))
            case Expr("binary") if expr.text in _ARITHMETIC:
                left, right = (self._value(part, env) for part in expr.parts)
                return self._arithmetic(expr.text, left, right)
            case Expr("index" | "call"):
                base, subscripts = _subscripts(expr)
                if base.kind == "name" and base.text in self.memories:
                    if not self.memories[base.text].shape:  # a lane of a word in a register
                        return self._wires(self.make.load(Access(base.text, ()), ("int", 32)))
                    return self.make.load(self._place(expr, env), _FLOAT)
                found = env.get(base.text)
                lane = self._lane(subscripts, env)
                if isinstance(found, dict):
                    return found[lane]
                if isinstance(found, Value):
                    return self._wires(found)
        raise Unsupported(f"a value {expr.kind} {expr.text}")

    def _named(self, expr: Expr, env: dict[str, Bound]) -> Value:
        found = env.get(expr.text)
        if expr.text in self.memories:
            return self.make.load(Access(expr.text, ()), _FLOAT)
        if isinstance(found, dict):
            return self._wires(*found.values())
        if not isinstance(found, Value):
            raise Unsupported(f"an integer {expr.text} as a float")
        return found

    def _number(self, text: str) -> Value:
        """A number without a suffix is a double; one that a float holds exactly makes no difference, and Clang narrows it."""
        value = float(text.rstrip("f"))
        narrow = text.endswith("f") or struct.unpack("f", struct.pack("f", value))[0] == value
        return self.make.constant(value, _FLOAT if narrow else _DOUBLE)

    def _arithmetic(self, sign: str, left: Value, right: Value) -> Value:
        kind = _DOUBLE if _DOUBLE in (left.type, right.type) else _FLOAT
        pair = [
            self.make.operation("arith.extf", (v,), kind) if kind not in (v.type, _FLOAT) else v
            for v in (left, right)
        ]
        return self.make.operation(_ARITHMETIC[sign], (pair[0], pair[1]), kind)

    def _single(self, value: Value) -> Value:
        """What a variable of type float takes of a value."""
        if value.type != _DOUBLE:
            return value
        return self.make.operation("arith.truncf", (value,), _FLOAT)

    def _wires(self, *taken: Value) -> Value:
        return self.make.operation("hls.fixed_cast", taken, ("int", 32))

    def _lane(self, subscripts: Sequence[Expr], env: dict[str, Bound]) -> int:
        lane = affine(subscripts[-1], env) if subscripts else None
        if lane is None or not lane.is_const:
            raise Unsupported("a lane that moves")
        return lane.const // (32 if len(subscripts) == 2 else 1)

    # ------------------------------------------------------------------------------- places

    def _fifo(self, target: Expr) -> Access:
        moving = [iv for iv, trips in self.counters if trips > 1]
        return Access(target.text, (Affine.of(moving[-1]) if moving else Affine(),))

    def _place(self, expr: Expr, env: dict[str, Bound]) -> Access:
        base, subscripts = _subscripts(expr)
        if base.text not in self.memories:
            raise Unsupported(f"an access to {base.text}")
        indices = [affine(s, env) for s in subscripts]
        if None in indices:
            raise Unsupported(f"a subscript of {base.text}")
        late = tuple(d for d, s in enumerate(subscripts) if _names(s) & self.late)
        return Access(base.text, tuple(i for i in indices if i is not None), late=late)

    def _store(self, target: Access, value: Value) -> Statement:
        self.statements += 1
        if target.memory not in self.memories:
            raise Unsupported(f"an access to {target.memory}")
        return Statement(f"S{self.statements}", operations_of(value)[0], target)


def _subscripts(expr: Expr) -> tuple[Expr, list[Expr]]:
    """What is indexed, and by what; of ``x.range(high, low)`` both ends."""
    found: list[Expr] = []
    while expr.kind == "index":
        found.insert(0, expr.parts[1])
        expr = expr.parts[0]
    if expr.kind == "call" and expr.text == "range":
        return expr.parts[0], list(expr.parts[1:])
    return expr, found


def _inside(env: dict[str, Bound], var: str, value: Affine) -> dict[str, Bound]:
    env[var] = value  # names are not hidden in these files: what is set inside is seen behind
    return env


def _of_lanes(node: For, env: dict[str, Bound]) -> bool:
    """The loop counts the lanes of a word."""
    for inner in walk(node.body):
        for expr in _expressions(inner):
            base, subscripts = _subscripts(expr)
            found = env.get(base.text) if base.kind == "name" else None
            counted = Expr("name", node.var) in subscripts
            if counted and isinstance(found, dict | Value):
                return True
    return False


def _expressions(node: Stmt) -> Iterator[Expr]:
    pending: list[Expr] = []
    if isinstance(node, Assign):
        pending = [node.target, node.value]
    elif isinstance(node, Declared) and node.value is not None:
        pending = [node.value]
    while pending:
        expr = pending.pop()
        yield expr
        pending += expr.parts


def _names(expr: Expr) -> set[str]:
    own = {expr.text} if expr.kind == "name" else set()
    return own.union(*map(_names, expr.parts))


def _set_deeper(nodes: Sequence[Stmt]) -> set[str]:
    """Scalars that are set in a loop inside of the one that declares them."""
    found: set[str] = set()
    own = {
        d.name
        for d in nodes
        if isinstance(d, Declared) and d.type == Type("float") and not d.extents
    }
    for node in nodes:
        if isinstance(node, For):
            found |= own & {n.target.text for n in walk(node.body) if isinstance(n, Assign)}
            found |= _set_deeper(node.body)
        elif isinstance(node, If):
            found |= _set_deeper(node.then) | _set_deeper(node.other)
    return found
