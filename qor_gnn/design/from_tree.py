"""The region tree of a scheduled program, straight from its `LoopTree`: no MLIR is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from dsl.programs.program import Array, Program, Stmt, Storage
from dsl.schedules.steps import BindOp
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode
from qor_gnn.design.canonical import canonical, canonical_statement
from qor_gnn.design.from_expr import Lowering
from qor_gnn.design.processes import in_processes
from qor_gnn.design.region import (
    Access,
    Function,
    Guard,
    Kernel,
    Loop,
    Memory,
    Node,
    Split,
    Statement,
    Trips,
    bound,
)


def kernel_of_tree(tree: LoopTree) -> Kernel:
    """The design as one function, or one for each process of a dataflow region."""
    program = tree.program
    reader = _Reader(tree)
    memories = tuple(
        reader.memory(a) for a in program.arrays if a.shape or a.storage is Storage.LOCAL
    )
    body = reader.nodes(tree.body)
    whole = canonical(Kernel(program.name, memories, (Function(program.name, body),)))
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
    return canonical_statement(_statement(program, instance, operators), dtype)


@dataclass(slots=True)
class _Reader:
    tree: LoopTree

    def memory(self, array: Array) -> Memory:
        splits = [Split()] * len(array.shape)
        for p in self.tree.partitions:
            if p.array == array.name:
                factor = p.factor or array.shape[p.dim]
                splits[p.dim] = Split(p.scheme, min(factor, array.shape[p.dim]))
        storage, impl = "", ""
        for s in self.tree.storage:
            if s.array == array.name:
                storage, impl = s.type, s.impl
        argument = array.storage is Storage.ARGUMENT
        return Memory(array.name, array.dtype, array.shape, tuple(splits), argument, storage, impl)

    def nodes(self, nodes: tuple[TreeNode, ...]) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            match node:
                case TreeLoop():
                    found.append(self.loop(node))
                case TreeGuard(constraints, body):
                    inner = self.nodes(body)
                    found += (Guard(constraints, inner),) if constraints else inner
                case Instance():
                    found.append(self.statement(node))
                case _:
                    assert_never(node)
        return tuple(found)

    def loop(self, loop: TreeLoop) -> Loop:
        count = loop.constant_trip
        if count is not None:
            trips = Trips(count, count, count)
        elif loop.trip is not None:
            trips = Trips(loop.trip.minimum, loop.trip.maximum, loop.trip.average)
        else:
            trips = Trips(0, 0, 0)
        return Loop(
            loop.iv,
            loop.name,
            loop.lowers,
            loop.uppers,
            loop.step,
            trips,
            self.nodes(loop.body),
            loop.pipeline_ii,
            1 if loop.unroll is None else loop.unroll,
            loop.flatten,
            tuple(array for array, iv in self.tree.independent if iv == loop.iv),
        )

    def statement(self, instance: Instance) -> Statement:
        return _statement(self.tree.program, instance, self.tree.operators)


def _scalars(program: Program) -> frozenset[str]:
    return frozenset(a.name for a in program.arguments if not a.shape)


def _statement(program: Program, instance: Instance, operators: Sequence[BindOp]) -> Statement:
    stmt: Stmt = instance.stmt
    lowering = Lowering(dict(instance.bindings), _scalars(program))
    dtype = program.array(stmt.target.array).dtype
    last = lowering.convert(stmt.value, dtype)
    target: Access = lowering.access(stmt.target)
    ops = tuple(lowering.ops)
    # The value of the statement is its last operation: a bare copy of an earlier one is that.
    binds = {b.op: b.impl for b in operators if b.stmt == stmt.name}
    return Statement(stmt.name, bound(ops[: last + 1], binds), target, stmt.source)
