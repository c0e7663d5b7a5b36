"""The region tree of a loop tree: what points of a search are ranked by, without a module.

It is that of the module that is built from the tree: the same rules make the loops plainer
(`polyhedral.looptree.simplify`), the same walk makes the operations of a statement
(`mlir_passes.construct.arithmetic`), and what they are to the model is said once
(`qor_gnn.design.operations`). What is shown to people is read from the module itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import assert_never

from dsl.expressions import expr as dx
from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.expr import loads
from dsl.expressions.types import DType, boolean
from dsl.programs.program import Array, Program, Storage
from dsl.schedules.steps import BindOp
from mlir_passes.construct.arithmetic import Arithmetic
from polyhedral.banks.splits import splits_in, words_of
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.simplify.tree import simplified
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode
from polyhedral.requests.packed import packed_lanes
from qor_gnn.design.compiled import compiled, compiled_alone
from qor_gnn.design.loops import Asked, Names, called, loop_of
from qor_gnn.design.operations import Operations, Value, operations_of, type_of
from qor_gnn.design.port import Port
from qor_gnn.design.processes import in_processes
from qor_gnn.design.region import (
    OUTSIDE,
    Access,
    Function,
    Guard,
    Kernel,
    Loop,
    Memory,
    Node,
    Statement,
    Trips,
    bound,
    outside,
)
from qor_gnn.design.table_contents import contents_of
from qor_gnn.design.table_words import word_type

Values = Mapping[str, Affine]


def kernel_of_tree(tree: LoopTree) -> Kernel:
    """The design as one function, or one for each process of a dataflow region."""
    program = tree.program
    reader = _Reader(simplified(tree), _scalars(program))
    read = {access.array for stmt in program.statements() for access in loads(stmt.value)}
    memories = tuple(
        reader.memory(a)
        for a in program.arrays
        if (a.shape or a.storage is Storage.LOCAL)
        and (a.storage is not Storage.TABLE or a.name in read)
    )
    asked = tree.pipeline
    pipeline = None if asked is None else (asked.ii, asked.style)
    body = called(reader.nodes(reader.tree.body, {}, ()), pipeline)
    whole = compiled(Kernel(program.name, memories, (Function(program.name, body),)))
    return in_processes(whole, tree.processes, {s.array: s.depth for s in tree.streams})


def statement_of(
    program: Program, instance: Instance, operators: Sequence[BindOp] = ()
) -> Statement:
    """One statement by itself, as it stands in any design of its program.

    Constants are folded inside it only: what the rest of the program stores is not known here, so
    that even a scalar that is set to a constant stays a statement, unlike in `kernel_of_tree`.

    Args:
        program: that the statement is of, with its arrays.
        instance: the statement, its variables over the loops around it.
        operators: what operations are bound to.
    """
    dtype = program.array(instance.stmt.target.array).dtype
    found = _statement(program, instance, dict(instance.bindings), _scalars(program), operators)
    words = {a.name: word_type(a.dtype, a.contents) for a in program.tables}
    return compiled_alone(found, dtype, words)


@dataclass(slots=True)
class _Reader:
    """Walks a tree; values are what its variables are called in the region tree, where otherwise."""

    tree: LoopTree
    scalars: frozenset[str]
    names: Names = field(default_factory=Names)

    def memory(self, array: Array) -> Memory:
        splits = splits_in(array.name, array.shape, self.tree.partitions)
        storage, impl = "", ""
        for s in self.tree.storage:
            if s.array == array.name:
                storage, impl = s.type, s.impl
        argument = array.storage not in (Storage.LOCAL, Storage.TABLE)
        words = ((r.dim, r.scheme, r.factor) for r in self.tree.reshapes if r.array == array.name)
        found = Memory(
            array.name, word_type(array.dtype, array.contents), array.shape, splits, argument, storage, impl,
            reshapes=words_of(array.shape, words),
            cached=any(c.argument == array.name for c in self.tree.caches),
            contents=contents_of(array.dtype, array.contents),
        )  # fmt: skip
        for i in self.tree.interfaces:
            if i.argument == array.name and i.mode == OUTSIDE:
                lanes = packed_lanes(self.tree.packs, array)
                port = Port(
                    i.bundle,
                    i.width,
                    i.latency,
                    lanes,
                    i.reads,
                    i.burst,
                    i.outstanding,
                    i.bank,
                    also=i.also,
                )
                return outside(found, port)
        return found

    def nodes(
        self, nodes: tuple[TreeNode, ...], values: Values, around: tuple[Loop, ...]
    ) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            match node:
                case TreeLoop():
                    found.append(self.loop(node, values, around))
                case TreeGuard(constraints, body):
                    held = tuple(Constraint(c.expr.substitute(values), c.kind) for c in constraints)
                    found.append(Guard(held, self.nodes(body, values, around)))
                case Instance():
                    found.append(self.statement(node, values))
                case _:
                    assert_never(node)
        return tuple(found)

    def loop(self, loop: TreeLoop, values: Values, around: tuple[Loop, ...]) -> Loop:
        lowers, uppers = loop.lowers, loop.uppers
        if values:
            lowers = tuple(b.substitute(values) for b in lowers)
            uppers = tuple(b.substitute(values) for b in uppers)
        iv = self.names.fresh(loop.name)
        independent = tuple(array for array, iv in self.tree.independent if iv == loop.iv)
        asked = Asked(loop.pipeline_ii, loop.unroll, loop.flatten, independent, loop.processes,
                      loop.sequential, loop.requests)  # fmt: skip
        trip = loop.trip
        told = None if trip is None else Trips(trip.minimum, trip.maximum, trip.average)
        new = loop_of(iv, loop.name, Bounds(lowers, uppers, loop.step), asked, told, around)
        inside = values if iv == loop.iv else {**values, loop.iv: Affine.of(iv)}
        return replace(new, body=self.nodes(loop.body, inside, (*around, new)))

    def statement(self, instance: Instance, values: Values) -> Statement:
        own = dict(instance.bindings)
        if values:
            own = {v: e.substitute(values) for v, e in own.items()}
        program = self.tree.program
        return _statement(program, instance, own, self.scalars, self.tree.operators)


class _Lowering(Arithmetic[Value]):
    """Writes down the operations that level 3 has for a statement."""

    __slots__ = ("operations", "scalars")

    def __init__(self, bindings: Values, scalars: frozenset[str]) -> None:
        super().__init__(bindings)
        self.operations, self.scalars = Operations(), scalars

    def access(self, access: dx.Access) -> Access:
        return Access(access.array, self.placed(access.indices))

    def _op(
        self,
        name: str,
        operands: Sequence[Value],
        dtype: DType,
        types: Mapping[str, DType] | None = None,
    ) -> Value:
        return self.operations.operation(name, tuple(operands), type_of(dtype))

    def _test(self, name: str, predicate: int, x: Value, y: Value) -> Value:
        return self.operations.operation(name, (x, y), type_of(boolean), predicate)

    def _number(self, value: float | Fraction, dtype: DType) -> Value:
        return self.operations.constant(value, type_of(dtype))

    def _load(self, access: dx.Access, dtype: DType) -> Value:
        if access.array in self.scalars:
            return self.operations.argument(access.array, type_of(dtype))
        return self.operations.load(Access(access.array, access.indices), type_of(dtype))

    def _gather(self, access: dx.Access, data: Sequence[Value], dtype: DType) -> Value:
        found = Access(access.array, access.indices)
        return self.operations.load(found, type_of(dtype), tuple(data))

    def _index(self, affine: Affine) -> Value:
        return self.operations.index(affine)


def _scalars(program: Program) -> frozenset[str]:
    return frozenset(a.name for a in program.arguments if not a.shape)


def _statement(
    program: Program,
    instance: Instance,
    bindings: Values,
    scalars: frozenset[str],
    operators: Sequence[BindOp],
) -> Statement:
    stmt = instance.stmt
    lowering = _Lowering(bindings, scalars)
    data = lowering.data(stmt.value.data) if isinstance(stmt.value, dx.Scatter) else []
    dtype = program.array(stmt.target.array).dtype
    ops, subscripts = operations_of(lowering.as_type(dx.stored_value(stmt.value), dtype), data)
    binds = {b.op: b.impl for b in operators if b.stmt == stmt.name}
    target = lowering.access(stmt.target)
    return Statement(stmt.name, bound(ops, binds), target, stmt.source, subscripts)
