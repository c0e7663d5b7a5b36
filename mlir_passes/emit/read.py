"""Reads a level 3 module for the emitter: each op is touched once, names and subscripts are made.

Any affine module of one function is read, whether it has ``hls`` attributes or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dsl.expressions.types import FixedType, IndexType, IntType
from mlir_passes.dialect.attributes import (
    ArrayInfo,
    argument_infos,
    array_info,
    loop_info,
    stmt_info,
    top_function,
)
from mlir_passes.dialect.processes import control_of, pipeline_of, processes_of
from mlir_passes.emit.affine import Lin
from mlir_passes.emit.bound_operators import bind
from mlir_passes.emit.cpp import Cpp, conjunction, subscript
from mlir_passes.emit.exits import trips_of
from mlir_passes.emit.names import C_FUNCTIONS, RESERVED, spelled
from mlir_passes.emit.nodes import (
    Block,
    Carried,
    Declare,
    If,
    Kernel,
    Loop,
    Memory,
    Store,
    Value,
    count_uses,
)
from mlir_passes.emit.read_affine import read_map, read_set
from mlir_passes.emit.scope import Scope, unsupported
from mlir_passes.emit.words import at_first, lane, with_padding
from mlir_passes.provider import ir

_ITERATORS = ("i", "j", "k", "l", "m", "n")
_IGNORED = frozenset({"memref.dealloc", "memref.assume_alignment"})


def read_kernel(module: Any, top: str | None = None) -> Kernel:
    """The kernel of a module.

    Args:
        module: a level 3 module of one function (or with one marked ``hls.top``).
        top: the name for the function in C++; by default its own.

    Raises:
        IRError: W320, something that has no form in C++.
    """
    return _Reader().kernel(top_function(module), top)


@dataclass(slots=True)
class _Reader(Scope):
    """Reads ops one after the other; each has a handler or is arithmetic."""

    # -------------------------------------------------------------------------- the function

    def kernel(self, function: Any, top: str | None) -> Kernel:
        user_name = str(function.operation.attributes["sym_name"].value)
        name = spelled(top or user_name, RESERVED | C_FUNCTIONS)
        self.names.taken.add(name)
        entry = function.operation.regions[0].blocks[0]
        body = Block(apart=bool(processes_of(function)))
        arguments = []
        for n, (info, value) in enumerate(
            zip(argument_infos(function), entry.arguments, strict=True)
        ):
            arguments.append(self._argument(info, value, function, n, body))
        self._reserve_locals(entry)
        self._block(entry, body)
        count_uses(body)
        return Kernel(
            name, user_name, tuple(arguments), body, self.names, self.ranges.helpers,
            processes_of(function), control_of(function), pipeline_of(function),
        )  # fmt: skip

    def _argument(self, info: ArrayInfo, value: Any, function: Any, n: int, body: Block) -> Memory:
        is_array = isinstance(value.type, ir.MemRefType)
        info = self._completed(info, value.type, function.operation)
        memory = Memory(self.names.fresh(info.name or f"arg{n}"), info, True, is_array)
        if info.axi.reads:
            memory.reads = self.names.fresh(f"{memory.name}_in")
        further = info.axi.further
        memory.also = tuple(
            self.names.fresh(f"{memory.name}_{n}") for n, _ in enumerate(further, 1)
        )
        if info.axi.reads:
            memory.also_reads = tuple(
                self.names.fresh(f"{memory.reads}_{n}") for n, _ in enumerate(further, 1)
            )
        if is_array:
            self.memories[value] = memory
            self.packed = self.packed or info.axi.lanes > 0
        elif isinstance(value.type, ir.IndexType):
            self.indices[value] = Lin.of(memory.name)
            self.parameters[value] = memory
        else:
            width, real = self.kind(value.type)
            self.values[value] = Value("argument", (), width, real, body, memory=memory)
        return memory

    def _completed(self, info: ArrayInfo, type_: Any, op: Any) -> ArrayInfo:
        """The element type where ``hls.type`` does not say it: signless integers are signed."""
        element = type_
        if isinstance(type_, ir.MemRefType):
            element = type_.element_type
            if not type_.has_static_shape:
                raise unsupported(op, f"the shape of {type_} is not constant")
        if isinstance(info.dtype, IntType) or not isinstance(
            element, ir.IntegerType | ir.IndexType
        ):
            return info
        if isinstance(element, ir.IndexType):
            return replace(info, dtype=IndexType())
        if isinstance(info.dtype, FixedType):
            return info
        return replace(info, dtype=IntType(element.width, not element.is_unsigned))

    def _reserve_locals(self, entry: Any) -> None:
        """Locals at the top have the first choice of names, before loop variables."""
        for op in entry.operations:
            if op.operation.name in ("memref.alloc", "memref.alloca"):
                self._allocate(op.operation)

    # -------------------------------------------------------------------------------- blocks

    def _block(self, source: Any, block: Block) -> None:
        for view in source.operations:
            op = view.operation
            name = op.name
            if name in _IGNORED:
                continue
            handler = _HANDLERS.get(name)
            if handler is not None:
                handler(self, op, block)
            elif name.startswith(("arith.", "math.", "hls.")):
                self.compute(op, name, block)
            else:
                raise unsupported(op, "it is not part of level 3")

    def _inner(self, region: Any) -> Block:
        block = Block()
        self._block(region.blocks[0], block)
        return block

    def _terminator(self, op: Any, block: Block) -> None:
        block.yields = tuple(self.value(v, op) for v in op.operands)

    def _apply(self, op: Any, block: Block) -> None:
        affine_map = op.attributes["map"].value
        lins = read_map(affine_map, self.lins(op.operands, op), self.ranges)
        self.indices[op.results[0]] = lins[0]

    def _extreme(self, op: Any, block: Block) -> None:
        """``affine.min`` and ``affine.max``: a variable of its own."""
        lins = read_map(op.attributes["map"].value, self.lins(op.operands, op), self.ranges)
        largest = op.name == "affine.max"
        kept = self.ranges.extremes_only(lins, largest)
        if len(kept) == 1:
            self.indices[op.results[0]] = kept[0]
            return
        var = self.names.numbered("n")
        text = self.ranges.extreme(kept, largest)
        block.nodes.append(Value("extreme", (), 0, "", block, (var, text), uses=1))
        if largest:
            self.ranges.enter(var, tuple(kept), ())
        else:
            self.ranges.enter(var, (), tuple(kept))
        self.indices[op.results[0]] = Lin.of(var)

    # --------------------------------------------------------------------------------- memory

    def _allocate(self, op: Any, block: Block | None = None) -> None:
        result = op.results[0]
        if result not in self.memories:
            info = self._completed(array_info(op.attributes, result.type), result.type, op)
            name = self.names.fresh(info.name or "local")
            self.memories[result] = Memory(name, info, False, bool(info.shape))
        if block is not None:
            block.nodes.append(Declare(self.memories[result]))

    def _element(self, op: Any, operands: list[Any]) -> tuple[Memory, tuple[Lin, ...], Cpp]:
        memory = self.memories.get(operands[0])
        if memory is None:
            raise unsupported(op, "its memory is neither an argument nor a local")
        indices = self.lins(operands[1:], op)
        if "map" in op.attributes:
            subscripts = read_map(op.attributes["map"].value, indices, self.ranges)
        else:
            subscripts = tuple(indices)
        texts = tuple(self.ranges.cpp(s) for s in subscripts)
        if memory.is_argument and not texts:
            texts = (Cpp("0"),)
        written = op.name.endswith(".store")
        if memory.info.axi.lanes:
            return memory, subscripts, lane(self, memory, subscripts, texts[:-1], written)
        return memory, subscripts, subscript(memory.named(written, self.port), texts)

    def _load(self, op: Any, block: Block) -> None:
        if any(x in self.subscripts for x in op.operands):
            self.gather(op, block)
            return
        memory, subscripts, place = self._element(op, list(op.operands))
        result = op.results[0]
        width, real = self.kind(result.type)
        if not width and not real:
            raise unsupported(op, "an index that is loaded is not affine")
        value = Value("load", (), width, real, block, None, memory, subscripts, place)
        self.values[result] = value
        block.nodes.append(value)

    def _store(self, op: Any, block: Block) -> None:
        operands = list(op.operands)
        value = self.value(operands[0], op)
        at: Value | None = None
        place, subscripts = None, tuple[Lin, ...]()
        if any(x in self.subscripts for x in operands):
            at = self.at_data(op, operands[1:], value.width, value.real, block)
            assert at.memory is not None
            memory = at.memory
        else:
            memory, subscripts, place = self._element(op, operands[1:])
        memory.written = True
        info = stmt_info(op)
        if info.bind_ops:
            bind(value, info.bind_ops, block)
        block.nodes.append(Store(memory, subscripts, place, value, info, at))
        block.stores.add(memory)

    # -------------------------------------------------------------------------------- control

    def _for(self, op: Any, block: Block) -> None:
        bounds = self._bounds(op)
        if not loop_info(op).requests.spread:
            self._loop(op, block, *bounds)
            return
        if len(op.results):
            raise unsupported(op, "it is spread over ports, and carries values")
        # Each copy names the pointers that it goes through, so that it stands by itself.
        first, end = max(b.const for b in bounds[0]), min(b.const for b in bounds[1])
        for self.port, n in enumerate(range(first, end)):
            self._loop(op, block, (Lin((), n),), (Lin((), n + 1),))
        self.port = 0

    def _bounds(self, op: Any) -> tuple[tuple[Lin, ...], tuple[Lin, ...]]:
        attributes = op.attributes
        operands = list(op.operands)
        n_lower, n_upper, _ = attributes["operandSegmentSizes"]
        lowers = read_map(
            attributes["lowerBoundMap"].value, self.lins(operands[:n_lower], op), self.ranges
        )
        uppers = read_map(
            attributes["upperBoundMap"].value,
            self.lins(operands[n_lower : n_lower + n_upper], op),
            self.ranges,
        )
        return lowers, uppers

    def _loop(
        self, op: Any, block: Block, lowers: tuple[Lin, ...], uppers: tuple[Lin, ...]
    ) -> None:
        operands = list(op.operands)
        n_lower, n_upper, _ = op.attributes["operandSegmentSizes"]
        info = loop_info(op)
        step = int(op.attributes["step"].value)
        default = _ITERATORS[min(len(self.loops), len(_ITERATORS) - 1)]
        var = self.names.scoped(info.name or default, self.loops)
        source = op.regions[0].blocks[0]
        lower = self.ranges.extreme(lowers, True)
        test, upper = self._upper(uppers)
        self.ranges.enter(var, lowers, tuple(u + -1 for u in uppers), step)
        bounds = self.ranges.bounds[var]
        if bounds.low is not None and bounds.high is not None and bounds.low > bounds.high:
            self._never_runs(op, operands[n_lower + n_upper :], var)
            return
        around, self.tests = (
            self.tests,
            at_first(self.ranges, var, [(u + -1, False) for u in uppers]) if self.packed else [],
        )
        self.loops.append(var)
        self.indices[source.arguments[0]] = Lin.of(var)
        body = Block(apart=bool(info.processes))
        starts = [self.value(v, op) for v in operands[n_lower + n_upper :]]
        carried = self._carry(starts, source.arguments, op.results, body, block)
        self._block(source, body)
        words, self.tests = tuple(self.words.pop(var, ())), around
        self.loops.pop()
        self.ranges.leave(var)
        info = replace(info, name=info.name or default, trip_count=trips_of(info, bounds))
        counted = "long long" if bounds.is_long else "int"
        new = Loop(var, counted, lower, test, upper, step, info, body, carried, words)
        block.nodes.append(new)
        block.stores |= body.stores

    def _upper(self, uppers: tuple[Lin, ...]) -> tuple[str, Cpp]:
        """``< e``, or ``<= e - 1`` where that is shorter."""
        kept = self.ranges.extremes_only(uppers, False)
        if len(kept) == 1 and kept[0].terms and kept[0].const == 1:
            return "<=", self.ranges.cpp(kept[0] + -1)
        return "<", self.ranges.extreme(kept, False)

    def _never_runs(self, op: Any, starts: list[Any], var: str) -> None:
        self.ranges.leave(var)
        for start, result in zip(starts, op.results, strict=True):
            self.values[result] = self.value(start, op)

    def _carry(
        self, starts: list[Value], arguments: Any, results: Any, body: Block, block: Block
    ) -> tuple[Carried, ...]:
        carried = []
        for n, start in enumerate(starts):
            name = self.names.numbered("r")
            inside = Value("variable", (), start.width, start.real, body, name)
            after = Value("variable", (), start.width, start.real, block, name)
            self.values[arguments[n + 1]], self.values[results[n]] = inside, after
            carried.append(Carried(inside, after, start))
        return tuple(carried)

    def _if(self, op: Any, block: Block) -> None:
        lins = self.lins(op.operands, op)
        constraints = read_set(op.attributes["condition"], lins, self.ranges)
        if self.packed:
            constraints = with_padding(self, op.regions[0], constraints)
        tests = [self.ranges.condition(e, is_eq) for e, is_eq in constraints]
        regions = list(op.regions)
        has_else = len(regions) > 1 and len(regions[1].blocks) > 0
        needed = list(dict.fromkeys(t for t in tests if not isinstance(t, bool)))
        if False in tests or not needed:
            self._decided(op, regions[1] if False in tests else regions[0], block)
            return
        condition, known = conjunction(needed), len(self.tests)
        if self.packed and self.loops:
            self.tests += at_first(self.ranges, self.loops[-1], constraints)
        before = self.ranges.assume(constraints)
        last = block.nodes[-1] if block.nodes else None
        alone = block.apart or has_else or len(op.results) > 0
        if isinstance(last, If) and last.joins(condition, alone):
            self._block(regions[0].blocks[0], last.then)
            block.stores |= last.then.stores
            self.ranges.forget(before)
            del self.tests[known:]
            return
        then = self._inner(regions[0])
        self.ranges.forget(before)
        del self.tests[known:]
        orelse = self._inner(regions[1]) if has_else else None
        if orelse is not None and not orelse.nodes and not orelse.yields:
            orelse = None
        carried = []
        for n, result in enumerate(op.results):
            value = then.yields[n]
            variable = Value(
                "variable", (), value.width, value.real, block, self.names.numbered("r")
            )
            self.values[result] = variable
            carried.append(Carried(variable, variable))
        block.nodes.append(If(condition, then, orelse, tuple(carried)))
        block.stores |= then.stores | (orelse.stores if orelse is not None else set())

    def _decided(self, op: Any, region: Any, block: Block) -> None:
        """The condition is always true, or never: one branch takes the place of the ``if``."""
        if len(region.blocks) == 0:
            return
        outer = block.yields
        self._block(region.blocks[0], block)
        for result, value in zip(op.results, block.yields, strict=True):
            self.values[result] = value
        block.yields = outer


_HANDLERS = {
    "affine.for": _Reader._for,
    "affine.if": _Reader._if,
    "affine.load": _Reader._load,
    "affine.store": _Reader._store,
    "memref.load": _Reader._load,
    "memref.store": _Reader._store,
    "affine.apply": _Reader._apply,
    "affine.min": _Reader._extreme,
    "affine.max": _Reader._extreme,
    "memref.alloc": _Reader._allocate,
    "memref.alloca": _Reader._allocate,
    "affine.yield": _Reader._terminator,
    "func.return": _Reader._terminator,
}
