"""The kernels of ``nests.json`` as programs of the language.

A loop's variable is its label (``L0``), so directives address it by that name. An argument ``A``
that the kernel copies on chip has a local ``A_local``; the copies are loops ``in_A_0``, ``in_A_1``
(one a dimension) around a statement ``in_A``, and ``out_A`` likewise.

Three things differ from the source, and `Converted` lists them: a local that the source reads
before it writes is copied in (``added``); one that it indexes beyond its end has the extent that
is indexed (``widened``); the base of a ``pow`` has a statement of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dsl.errors.errors import InputError, LanguageError
from dsl.expressions import typing as t
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, BinaryOp, CompareOp, Expr, Load, UnaryOp, loads
from dsl.expressions.types import DType, boolean
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage
from dsl.programs.scopes import ordered_locals
from polyhedral.dependences.direct import unwritten_reads
from polyhedral.legality.program import check_program
from polyhedral.looptree.tree import TripCount
from polyhedral.scop.scop import build_scop
from qor_gnn.fit.labelled.u200 import Facts
from qor_gnn.fit.labelled.u200_terms import (
    C_TYPES,
    Inexpressible,
    Names,
    access,
    affine,
    condition,
    parse,
    root,
    value,
)

_ASSIGN = {"+=": "+", "-=": "-", "*=": "*", "/=": "/", "&=": "&", "|=": "|", "^=": "^"}


@dataclass(frozen=True, slots=True)
class Converted:
    """A kernel as a program.

    Attributes:
        program: free of accesses out of bounds and of undefined reads.
        trips: of the loops whose trip count varies, by label.
        added: statements that the source does not have: their copies are in no label.
        widened: locals with a larger extent than in the source.
        declared: the extents that these have there.
        powers: statements whose product stands for a ``pow`` of the source. The tool makes a
            ``pow`` of it: in the labels each such unit has 5 BRAM18 (correlation, 120 rows).
    """

    program: Program
    trips: Mapping[str, TripCount] = field(compare=False)
    added: tuple[str, ...] = ()
    widened: tuple[str, ...] = ()
    powers: tuple[str, ...] = ()
    declared: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """A kernel that the language cannot express, and why."""

    kernel: str
    reason: str


def convert(facts: Facts) -> Converted | Refused:
    """The kernel as a program, or why there is none.

    Raises:
        InputError: W511: the description is not one of a kernel.
    """
    try:
        found = _built(facts)
        scop = build_scop(found.program)
        undefined = tuple(
            a.name
            for a in found.program.locals
            if a.shape and not unwritten_reads(scop, a.name).is_empty()
        )
        if undefined:
            found = _Builder(facts, undefined).build()
        check_program(found.program)
    except Inexpressible as e:
        return Refused(facts.kernel, str(e))
    except LanguageError as e:
        return Refused(facts.kernel, f"{e.code}: {e.message}")
    return found


def _built(facts: Facts) -> Converted:
    """The kernel with its undefined reads.

    Raises:
        InputError: W511: something that a description has is not there, or of another kind.
    """
    try:
        return _Builder(facts, ()).build()
    except (KeyError, TypeError, IndexError, AttributeError, StopIteration) as e:
        message = f"nests.json does not describe the kernel '{facts.kernel}': {e!r}"
        raise InputError("W511", message) from e


@dataclass(slots=True)
class _Place:
    """Where a node is: the loops around, and the C variables that they are."""

    loops: tuple[Loop, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    def inside(self, loop: Loop, variable: str) -> _Place:
        return _Place((*self.loops, loop), {**self.variables, variable: loop.var})


class _Builder:
    """One kernel under construction; the locals ``undefined`` are copied in as well."""

    def __init__(self, facts: Facts, undefined: tuple[str, ...]) -> None:
        self.facts = facts
        self.undefined = undefined
        self.data = facts.data
        self.types: dict[str, DType] = {}
        self.names: dict[str, str] = {}
        self.arguments: list[Array] = []
        self.locals: dict[str, Array] = {}
        self.trips: dict[str, TripCount] = {}
        self.added: tuple[str, ...] = ()
        self.declared: dict[str, tuple[int, ...]] = {}  # of the locals that are widened
        self.powers: list[str] = []
        self.conditions = 0

    def build(self) -> Converted:
        self._declare()
        nodes: Sequence[Mapping[str, Any]] = self.data["body"]
        extra = [_copy_in(a) for a in self.data["args"] if self.names[a["name"]] in self.undefined]
        first = next((k for k, n in enumerate(nodes) if n.get("copy") != "in"), len(nodes))
        body = self._nodes([*nodes[:first], *extra, *nodes[first:]], _Place())
        self.added = tuple(f"in_{n['array']}" for n in extra)
        self._widen(body)
        arrays = (*self.arguments, *self.locals.values())
        program = ordered_locals(Program(_identifier(self.facts.kernel), arrays, body))
        lists = (self.added, tuple(self.declared), tuple(self.powers))
        return Converted(program, self.trips, *lists, self.declared)

    # --------------------------------------------------------------------------- declarations

    def _declare(self) -> None:
        for a in self.data["args"]:
            name, dtype, dims = a["name"], _dtype(a["type"]), tuple(a["dims"])
            self.arguments.append(Array(name, dtype, dims))
            self.types[name] = dtype
            self.names[name] = name
            if a.get("local_copy"):
                self.names[name] = f"{name}_local"
                self._local(self.names[name], dtype, dims)
        for a in self.data["local_arrays"]:
            self.types[a["name"]], self.names[a["name"]] = _dtype(a["type"]), a["name"]
            self._local(a["name"], _dtype(a["type"]), tuple(a["dims"]))
        for s in self.data["scalars"]:
            self.types[s["name"]], self.names[s["name"]] = _dtype(s["type"]), s["name"]
            self._local(s["name"], _dtype(s["type"]), ())

    def _local(self, name: str, dtype: DType, shape: tuple[int, ...], depth: int = 0) -> None:
        self.locals[name] = Array(name, dtype, shape, Storage.LOCAL, scope_depth=depth)

    # ---------------------------------------------------------------------------------- nodes

    def _nodes(self, nodes: Sequence[Mapping[str, Any]], at: _Place) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            if "copy" in node:
                found.append(self._copy(node))
            elif "loop" in node:
                found.append(self._loop(node, at))
            elif "stmt" in node:
                found += self._statement(node, at)
            elif "if" in node and node["kind"] == "affine":
                names = self._scope(at)
                then = self._nodes(node["then"], at)
                orelse = self._nodes(node.get("else") or (), at)
                found.append(If(condition(parse(node["if"]), names), then, orelse))
            elif "if" in node:
                found += self._choice(node, at)
            else:
                raise Inexpressible(f"a node of the kind '{next(iter(node))}'")
        return tuple(found)

    def _scope(self, at: _Place, fresh: str = "") -> Names:
        return Names(self.types, self.names, at.variables, fresh)

    def _copy(self, node: Mapping[str, Any]) -> Node:
        name = node["array"]
        argument = next(a for a in self.arguments if a.name == name)
        extents = _extents(argument.shape, node["elems"])
        label = f"{node['copy']}_{name}"
        loops = tuple(f"{label}_{d}" for d in range(len(extents)))
        indices = tuple(Affine.of(v) for v in loops)
        outside, inside = Access(name, indices), Access(self.names[name], indices)
        source, target = (outside, inside) if node["copy"] == "in" else (inside, outside)
        result: Node = Stmt(label, target, Load(source, argument.dtype))
        for var, extent in zip(reversed(loops), reversed(extents), strict=True):
            result = Loop(var, (Affine(),), (Affine((), extent),), 1, (result,))
        return result

    def _loop(self, node: Mapping[str, Any], at: _Place) -> Loop:
        label, trip = node["loop"], node["trip"]
        if trip is None:
            raise Inexpressible(
                f"the bounds of loop {label}, {node['lo']} to {node['hi']}, depend on data"
            )
        if type(node["step"]) is not int or node["step"] <= 0:
            raise Inexpressible(f"the step {node['step']} of loop {label}")
        names = self._scope(at)
        low, high = affine(parse(node["lo"]), names), affine(parse(node["hi"]), names)
        loop = Loop(label, (low,), (high,), node["step"], ())
        if isinstance(trip, dict):
            self.trips[label] = TripCount(trip["min"], trip["max"], trip["avg"])
        inner = at.inside(loop, node["var"])
        return replace(loop, body=self._nodes(node["body"], inner))

    def _statement(self, node: Mapping[str, Any], at: _Place) -> list[Node]:
        names = self._scope(at, node["stmt"])
        if "decl" in node:
            name = node["lhs"]
            self.locals[name] = replace(self.locals[name], scope_depth=len(at.loops))
        target = access(parse(node["lhs"]), names)
        dtype = self.types[root(parse(node["lhs"]))]
        result = value(parse(node["rhs"]), names)
        if node["op"] != "=":
            result = self._updated(node["op"], Load(target, dtype), result)
        if not t.assignable(result.dtype, dtype):
            result = t.cast(dtype, result)
        source = f"{node['lhs']} {node['op']} {node['rhs']}"
        found: list[Node] = []
        for scalar, base in names.powers:
            self._local(scalar, base.dtype, (), len(at.loops))
            found.append(Stmt(scalar, Access(scalar, ()), base))
        if names.powers:
            self.powers.append(node["stmt"])
        found.append(Stmt(node["stmt"], target, result, source=source))
        return found

    def _updated(self, op: str, old: Expr, new: Expr) -> Expr:
        if op not in _ASSIGN:
            raise Inexpressible(f"the assignment '{op}'")
        return t.binary(BinaryOp(_ASSIGN[op]), old, new)

    # ------------------------------------------------------------------------- data conditions

    def _choice(self, node: Mapping[str, Any], at: _Place) -> list[Node]:
        """``if`` on data: the condition into a scalar, its statements as selects."""
        names = self._scope(at)
        truth = value(parse(node["if"]), names)
        if truth.dtype != boolean:
            truth = t.compare(CompareOp.NE, truth, 0)
        scalar = f"cond{self.conditions}"
        self.conditions += 1
        self._local(scalar, boolean, (), len(at.loops))
        test = Load(Access(scalar, ()), boolean)
        then = self._nodes(node["then"], at)
        orelse = self._nodes(node.get("else") or (), at)
        found: list[Node] = [Stmt(scalar, test.access, truth)]
        if len(then) == len(orelse) == 1:
            (a,), (b,) = then, orelse
            if isinstance(a, Stmt) and isinstance(b, Stmt) and a.target == b.target:
                return [*found, replace(a, value=self._select(test, a, b.value))]
        other = t.unary(UnaryOp.NOT, test)
        found += [self._selected(test, n) for n in then]
        return found + [self._selected(other, n) for n in orelse]

    def _selected(self, test: Expr, node: Node) -> Node:
        if not isinstance(node, Stmt):
            raise Inexpressible("a loop inside of a condition on data")
        old = Load(node.target, self._dtype(node.target))
        return replace(node, value=self._select(test, node, old))

    def _select(self, test: Expr, then: Stmt, orelse: Expr) -> Expr:
        dtype = self._dtype(then.target)
        chosen = t.select(test, t.cast(dtype, then.value), t.cast(dtype, orelse))
        assert not isinstance(chosen, int | float)
        return chosen

    def _dtype(self, target: Access) -> DType:
        declared = {**{a.name: a for a in self.arguments}, **self.locals}
        return declared[target.array].dtype

    # ---------------------------------------------------------------------------------- bounds

    def _widen(self, body: tuple[Node, ...]) -> None:
        """Give locals of one dimension the extent that unguarded statements index."""
        for stmt, loops in _unguarded(body, ()):
            box = _box(loops)
            for found in (stmt.target, *loads(stmt.value)):
                array = self.locals.get(found.array)
                if box is None or array is None or len(array.shape) != 1:
                    continue
                most = _maximum(found.indices[0], box)
                if most >= array.shape[0]:
                    self.locals[array.name] = replace(array, shape=(most + 1,))
                    self.declared.setdefault(array.name, array.shape)


def _copy_in(argument: Mapping[str, Any]) -> Mapping[str, Any]:
    elems = 1
    for extent in argument["dims"]:
        elems *= extent
    return {"copy": "in", "array": argument["name"], "elems": elems}


def _dtype(name: str) -> DType:
    if name not in C_TYPES:
        raise Inexpressible(f"the type '{name}'")
    return C_TYPES[name]


def _identifier(name: str) -> str:
    text = "".join(c if c.isalnum() else "_" for c in name)
    return text if text[0].isalpha() else f"k{text}"


def _extents(shape: tuple[int, ...], elems: int) -> tuple[int, ...]:
    total = 1
    for extent in shape:
        total *= extent
    if elems == total:
        return shape
    if len(shape) == 1:
        return (elems,)
    raise Inexpressible(f"a copy of {elems} elements of an array of {total}")


def _unguarded(
    nodes: tuple[Node, ...], loops: tuple[Loop, ...]
) -> list[tuple[Stmt, tuple[Loop, ...]]]:
    found: list[tuple[Stmt, tuple[Loop, ...]]] = []
    for node in nodes:
        match node:
            case Stmt():
                found.append((node, loops))
            case Loop(body=body):
                found += _unguarded(body, (*loops, node))
            case If():
                pass
    return found


def _box(loops: tuple[Loop, ...]) -> dict[str, tuple[int, int]] | None:
    """First and last value of each variable; None where one depends on another, or runs never."""
    box: dict[str, tuple[int, int]] = {}
    for loop in loops:
        (low,), (high,) = loop.lowers, loop.uppers
        if not low.is_const or not high.is_const or high.const <= low.const:
            return None
        last = high.const - 1 - (high.const - 1 - low.const) % loop.step
        box[loop.var] = (low.const, last)
    return box


def _maximum(index: Affine, box: Mapping[str, tuple[int, int]]) -> int:
    total = index.const
    for atom, c in index.terms:
        assert isinstance(atom, str)
        total += c * box[atom][1 if c > 0 else 0]
    return total
