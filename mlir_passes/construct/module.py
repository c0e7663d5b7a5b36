"""From a `LoopTree` to level 3: annotated affine MLIR as docs/level3.md describes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, assert_never

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.expr import Scatter, loads, stored_value
from dsl.programs.program import Array, Loop, Program, Stmt, Storage
from dsl.schedules.loop_requests import PipelineStyle
from dsl.schedules.pragma_steps import Reshape
from dsl.schedules.steps import Partition as PartitionStep
from mlir_passes.affine_maps import to_map, to_map_of, to_set
from mlir_passes.construct.arithmetic import plain
from mlir_passes.construct.expressions import ExprBuilder
from mlir_passes.construct.types import Types
from mlir_passes.dialect.access import SCRATCH, Access
from mlir_passes.dialect.attributes import (
    ArrayInfo,
    BindOp,
    Interface,
    LoopInfo,
    Partition,
    StmtInfo,
    TripCount,
    array_attributes,
    context,
    loop_attributes,
    stmt_attributes,
)
from mlir_passes.dialect.attributes import Storage as MemoryInfo
from mlir_passes.dialect.auto_partition import auto_partition_attributes
from mlir_passes.dialect.axi import Axi
from mlir_passes.dialect.copies import fitted
from mlir_passes.dialect.processes import function_attributes
from mlir_passes.provider import ir
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode
from polyhedral.requests.outside import RETURN
from polyhedral.requests.packed import packed_lanes


def build_module(tree: LoopTree) -> Any:
    """The level 3 module (an MLIR ``Module``) of a scheduled program.

    It is not verified yet, nor simplified: see `verify` and `pipeline`.
    """
    with context(), ir.Location.unknown():
        return _Builder(tree, accesses(tree.program), Types()).module()


def build_statements(program: Program) -> tuple[Any, dict[Any, str], dict[Any, str]]:
    """A module of the program's statements alone, one after the other, as `build_module` writes them.

    Returns:
        The module; its arguments that are arrays or scalars, by name, all of the program's; and
        those that are loop variables.
    """
    with context(), ir.Location.unknown():
        return _Builder(LoopTree(program, ()), {}, Types()).statements()


def accesses(program: Program) -> dict[str, Access]:
    """How the kernel uses each array that it touches."""
    found: dict[str, Access] = {}
    for stmt in program.statements():
        for read in loads(stmt.value):
            found[read.array] = "inout" if found.get(read.array, "in") != "in" else "in"
        name = stmt.target.array
        found[name] = "out" if found.get(name, "out") == "out" else "inout"
    return found


@dataclass(slots=True)
class _Builder:
    """Walks the tree with the values in scope: memory by array, induction variables by name."""

    tree: LoopTree
    accesses: dict[str, Access]
    types: Types
    memory: dict[str, Any] = field(default_factory=dict)
    ivs: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self.variables = {
            node.name: tuple(loop.var for loop in around if isinstance(loop, Loop))
            for node, around in self.tree.program.walk()
            if isinstance(node, Stmt)
        }

    def module(self) -> Any:
        program = self.tree.program
        arrays = (*program.arguments, *program.scratch)
        infos = [self._info(a) for a in arrays]
        types = [self._type(a) for a in arrays]
        module = ir.Module.create()
        attributes = {
            "sym_name": ir.StringAttr.get(program.name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            "arg_attrs": ir.ArrayAttr.get([ir.DictAttr.get(array_attributes(i)) for i in infos]),
            **function_attributes(self.tree.processes, self._control(), self._pipeline()),
            **auto_partition_attributes(self.tree.auto_partitions),
        }
        with ir.InsertionPoint(module.body), _location(program.span):
            function = ir.Operation.create("func.func", attributes=attributes, regions=1)
            entry = function.regions[0].blocks.append(*types)
        for array, value in zip(arrays, entry.arguments, strict=True):
            self.memory[array.name] = value
        with ir.InsertionPoint(entry):
            self._locals(None)
            self._nodes(self.tree.body)
            ir.Operation.create("func.return")
        return module

    def statements(self) -> tuple[Any, dict[Any, str], dict[Any, str]]:
        program = self.tree.program
        loops = (node for node, _ in program.walk() if isinstance(node, Loop))
        variables = list(dict.fromkeys(loop.var for loop in loops))
        types = [self._type(a) for a in program.arrays] + [ir.IndexType.get()] * len(variables)
        module = ir.Module.create()
        attributes = {
            "sym_name": ir.StringAttr.get(program.name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
        }
        with ir.InsertionPoint(module.body):
            function = ir.Operation.create("func.func", attributes=attributes, regions=1)
            entry = function.regions[0].blocks.append(*types)
        values = list(entry.arguments)
        self.memory = dict(zip([a.name for a in program.arrays], values, strict=False))
        self.ivs = dict(zip(variables, values[len(program.arrays) :], strict=True))
        with ir.InsertionPoint(entry):
            for stmt in program.statements():
                self._instance(Instance(stmt, ()))
            ir.Operation.create("func.return")
        return (
            module,
            {value: name for name, value in self.memory.items()},
            {value: name for name, value in self.ivs.items()},
        )

    # ---------------------------------------------------------------------------- arrays

    def _type(self, array: Array) -> Any:
        element = self.types.mlir(array.dtype)
        if array.storage is Storage.ARGUMENT and not array.shape:
            return element
        return ir.MemRefType.get(array.shape, element)

    def _info(self, array: Array) -> ArrayInfo:
        name, tree = array.name, self.tree
        info = ArrayInfo(
            name,
            plain(array.dtype),
            array.shape,
            partitions=_splits(name, tree.partitions),
            reshapes=_splits(name, tree.reshapes),
        )
        for s in tree.storage:
            if s.array == name:
                info = replace(info, storage=MemoryInfo(s.type, s.impl, s.latency))
        if array.storage is Storage.TABLE:
            return replace(info, contents=array.contents)
        if array.storage is Storage.LOCAL:
            depths = [s.depth for s in tree.streams if s.array == name]
            return replace(info, stream=depths[0]) if depths else info
        for i in tree.interfaces:
            if i.argument == name:
                lanes = packed_lanes(tree.packs, array)
                axi = Axi(
                    i.width,
                    i.burst,
                    i.outstanding,
                    i.latency,
                    i.offset,
                    i.bank,
                    lanes,
                    i.reads,
                    " ".join(i.also),
                )
                info = replace(info, interface=Interface(i.mode, i.bundle), axi=axi)
        caches = [(c.lines, c.depth) for c in tree.caches if c.argument == name]
        stable = any(s.argument == name for s in tree.stables)
        info = replace(info, stable=stable, cache=caches[0] if caches else None)
        access = SCRATCH if array.storage is Storage.SCRATCH else self.accesses.get(name, "in")
        return replace(info, const=array.const, access=access)

    def _control(self) -> str:
        """How the function is started, where a step says it."""
        return next((i.mode for i in self.tree.interfaces if i.argument == RETURN), "")

    def _pipeline(self) -> tuple[int, PipelineStyle] | None:
        """Of the function: interval and style."""
        asked = self.tree.pipeline
        return None if asked is None else (asked.ii, asked.style)

    def _locals(self, iv: str | None) -> None:
        """Declare the locals that live at this level."""
        placed = {p.array: p.iv for p in self.tree.placements}
        tables = [a for a in self.tree.program.tables if iv is None and a.name in self.accesses]
        for array in (*tables, *self.tree.program.locals):
            if placed.get(array.name) != iv:
                continue
            sizes = ir.DenseI32ArrayAttr.get([0, 0])  # neither dynamic sizes nor symbols
            attributes = array_attributes(self._info(array))
            with _location(array.span):
                self.memory[array.name] = ir.Operation.create(
                    "memref.alloc" if array.shape else "memref.alloca",
                    results=[self._type(array)],
                    attributes={**attributes, "operandSegmentSizes": sizes},
                ).results[0]

    # ----------------------------------------------------------------------------- nodes

    def _nodes(self, nodes: tuple[TreeNode, ...]) -> None:
        for node in nodes:
            match node:
                case TreeLoop():
                    self._loop(node)
                case TreeGuard(constraints, body):
                    self._guard(constraints, body)
                case Instance():
                    self._instance(node)
                case _:
                    assert_never(node)

    def _loop(self, loop: TreeLoop) -> None:
        lower, lower_operands = to_map(loop.lowers, self.ivs)
        upper, upper_operands = to_map(loop.uppers, self.ivs)
        index = ir.IndexType.get()
        attributes = {
            "lowerBoundMap": ir.AffineMapAttr.get(lower),
            "upperBoundMap": ir.AffineMapAttr.get(upper),
            "step": ir.IntegerAttr.get(index, loop.step),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get(
                [len(lower_operands), len(upper_operands), 0]
            ),
            **loop_attributes(self._loop_info(loop)),
        }
        with _location(loop.span):
            op = ir.Operation.create(
                "affine.for",
                operands=[*lower_operands, *upper_operands],
                attributes=attributes,
                regions=1,
            )
            body = op.regions[0].blocks.append(index)
        self.ivs[loop.iv] = body.arguments[0]
        with ir.InsertionPoint(body):
            self._locals(loop.iv)
            self._nodes(loop.body)
            ir.Operation.create("affine.yield")
        del self.ivs[loop.iv]

    def _loop_info(self, loop: TreeLoop) -> LoopInfo:
        trip = loop.trip
        counts = TripCount(trip.minimum, trip.maximum, round(trip.average)) if trip else None
        independent = tuple(array for array, iv in self.tree.independent if iv == loop.iv)
        ii, unroll, flatten = loop.pipeline_ii, loop.unroll, loop.flatten
        distances = tuple((array, d) for array, iv, d in self.tree.distances if iv == loop.iv)
        info = LoopInfo(
            loop.name, ii, unroll, flatten, counts, independent, distances, loop.processes,
            loop.sequential, loop.requests,
        )  # fmt: skip
        return fitted(info, Bounds(loop.lowers, loop.uppers, loop.step).trip_count)

    def _guard(self, constraints: tuple[Constraint, ...], body: tuple[TreeNode, ...]) -> None:
        if not constraints:
            self._nodes(body)
            return
        condition, operands = to_set(constraints, self.ivs)
        op = ir.Operation.create(
            "affine.if",
            operands=operands,
            attributes={"condition": ir.IntegerSetAttr.get(condition)},
            regions=2,
        )
        with ir.InsertionPoint(op.regions[0].blocks.append()):
            self._nodes(body)
            ir.Operation.create("affine.yield")

    def _instance(self, instance: Instance) -> None:
        stmt = instance.stmt
        bindings = dict(instance.bindings)
        with _location(stmt.span):
            builder = ExprBuilder(self.types, self.memory, self.ivs, bindings)
            dtype = self.tree.program.array(stmt.target.array).dtype
            attributes = {
                **self._iteration(stmt, bindings),
                **stmt_attributes(self._stmt_info(stmt)),
            }
            if isinstance(stmt.value, Scatter):
                name = "memref.store"
                operands = builder.scattered(stmt.target, stmt.value.data)
            else:
                name = "affine.store"
                affine_map, operands = builder.subscripts(stmt.target)
                attributes["map"] = ir.AffineMapAttr.get(affine_map)
            value = builder.as_type(stored_value(stmt.value), dtype)
            memory = self.memory[stmt.target.array]
            ir.Operation.create(name, operands=[value, memory, *operands], attributes=attributes)

    def _iteration(self, stmt: Stmt, bindings: Mapping[str, Affine]) -> dict[str, Any]:
        """Which iteration of the program's statement this is, over all loops around."""
        if stmt.name not in self.variables:
            return {}
        own = [bindings.get(v, Affine.of(v)) for v in self.variables[stmt.name]]
        return {"hls.iteration": ir.AffineMapAttr.get(to_map_of(own, tuple(self.ivs)))}

    def _stmt_info(self, stmt: Stmt) -> StmtInfo:
        binds = tuple(
            BindOp(b.op, b.impl, b.latency) for b in self.tree.operators if b.stmt == stmt.name
        )
        span = stmt.span
        line = f"{_name(span.file)}:{span.line}" if span else ""
        return StmtInfo(stmt.name, stmt.source, line, binds)


def _splits(array: str, steps: Iterable[PartitionStep | Reshape]) -> tuple[Partition, ...]:
    return tuple(Partition(p.scheme, p.factor, p.dim) for p in steps if p.array == array)


@cache
def _name(file: str) -> str:
    """A file without its folder: statements of one file ask for it again and again."""
    return Path(file).name


def _location(span: Span | None) -> Any:
    if span is None or span.text is not None:  # no file that a message may open and quote
        return ir.Location.unknown()
    return ir.Location.file(span.file, span.line, span.col)
