"""From level 3 back to plain data (`polyhedral.equivalence.raised`): loops, guards, accesses and
expressions as they stand in the module.

No annotation is believed: ``hls.stmt`` and ``hls.iteration`` are handed on as what a store says of
itself, for the check to prove.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from dsl.expressions.affine import Affine, And, Cond, negate, with_data
from dsl.expressions.expr import Access
from dsl.programs.program import Program
from mlir_passes.affine_maps import from_map
from mlir_passes.construct.module import build_statements
from mlir_passes.dialect.access import SCRATCH
from mlir_passes.dialect.attributes import (
    ArrayInfo,
    argument_infos,
    local_info,
    loop_info,
    span_of,
    stmt_info,
    top_function,
)
from mlir_passes.loop_bounds import Names, bounds_of, condition_of
from mlir_passes.provider import ir
from polyhedral.equivalence.raised import (
    NotProven,
    RaisedArray,
    RaisedLoop,
    RaisedModule,
    RaisedStore,
    Value,
)

_SKIPPED = frozenset({"affine.yield", "func.return", "memref.dealloc"})
_ALLOCATIONS = ("memref.alloc", "memref.alloca")
_PURE = ("arith.", "math.", "hls.")


def raised_module(module: Any) -> RaisedModule | NotProven:
    """The kernel of a level 3 module, or why it has no such form."""
    with module.context:
        function = top_function(module)
        reader = _Reader()
        try:
            reader.arguments(function)
            reader.block(_body(function), _Place())
        except _CannotError as error:
            return NotProven(str(error))
        return RaisedModule(tuple(reader.arrays), tuple(reader.stores))


def raised_statements(program: Program) -> dict[str, RaisedStore]:
    """What level 3 computes for each statement of a program, over the program's loop variables.

    The expressions are made by the same builder as those of every module: that an operator of the
    language becomes the right arithmetic is not what the check of equivalence is about.
    """
    module, arrays, variables = build_statements(program)
    with module.context:
        names = Names(dict(variables))
        reader = _Reader(names, memory=dict(arrays), ivs=set(variables.values()))
        for value, name in arrays.items():
            if not isinstance(value.type, ir.MemRefType):
                reader.scalar(value, name)
        reader.block(_body(top_function(module)), _Place())
        return {store.stmt: store for store in reader.stores}


class _CannotError(Exception):
    """The module has no form as plain data."""


@dataclass(frozen=True, slots=True)
class _Place:
    """What is around an op: loops and guards, and the positions of the loops."""

    loops: tuple[RaisedLoop, ...] = ()
    guards: tuple[Cond, ...] = ()
    place: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    """When a load happens: in which block, after how many ops, and of what memory."""

    block: int
    time: int
    array: str


@dataclass(slots=True)
class _Reader:
    """Walks the ops in order. ``time`` counts them, ``written`` is that of the last store to an array."""

    names: Names = field(default_factory=Names)
    memory: dict[Any, str] = field(default_factory=dict)
    ivs: set[str] = field(default_factory=set)
    arrays: list[RaisedArray] = field(default_factory=list)
    stores: list[RaisedStore] = field(default_factory=list)
    applied: dict[str, Affine] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)
    numbers: dict[Any, int] = field(default_factory=dict)
    reads: dict[int, _Read] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    blocks: int = 0
    time: int = 0

    # ------------------------------------------------------------------------------ memory

    def arguments(self, function: Any) -> None:
        for info, value in zip(argument_infos(function), _body(function).arguments, strict=True):
            is_array = isinstance(value.type, ir.MemRefType)
            self._array(info, value, info.access != SCRATCH, 0)
            if not is_array:
                self.scalar(value, info.name)

    def _array(self, info: ArrayInfo, value: Any, is_argument: bool, depth: int) -> None:
        if any(a.name == info.name for a in self.arrays):
            raise _CannotError(f"two arrays are called '{info.name}'")
        self.memory[value] = info.name
        banks = tuple((p.kind, p.factor, p.dim) for p in info.partitions)
        stream = info.stream is not None
        self.arrays.append(
            RaisedArray(
                info.name, info.dtype, info.shape, is_argument, depth, stream, banks, info.contents
            )
        )

    def scalar(self, value: Any, name: str) -> None:
        """A scalar argument is a value like any other."""
        self._define(value, Value("argument", str(value.type), access=Access(name, ())))

    # ------------------------------------------------------------------------------ control

    def block(self, block: Any, place: _Place) -> int:
        """Read a block's ops; returns how many positions it has in the loop's body."""
        self.blocks += 1
        return self._ops(block, self.blocks, place, 0)

    def _ops(self, block: Any, number: int, place: _Place, first: int) -> int:
        position = first
        for view in block.operations:
            op = view.operation
            self.time += 1
            here = replace(place, place=(*place.place, position))
            match op.name:
                case "affine.for":
                    self._loop(op, here)
                    position += 1
                case "affine.if":
                    position = self._if(op, place, position)
                case "affine.store" | "memref.store":
                    self._store(op, number, here)
                    position += 1
                case name if name in _ALLOCATIONS:
                    self._array(local_info(op), op.results[0], False, len(place.loops))
                case name if name not in _SKIPPED:
                    self._value(op, number)
        return position

    def _if(self, op: Any, place: _Place, position: int) -> int:
        """The branches are at the level of the ``affine.if``: it is no loop."""
        condition = And(condition_of(op, self._known(op)))
        branches = zip(op.regions, (condition, negate(condition)), strict=False)
        for region, met in branches:
            for inner in region.blocks:
                self.blocks += 1
                inside = replace(place, guards=(*place.guards, met))
                position = self._ops(inner, self.blocks, inside, position)
        return position

    def _loop(self, op: Any, here: _Place) -> None:
        if len(op.results):
            raise _CannotError("a loop carries values from one iteration to the next")
        bounds = bounds_of(op, self._known(op))
        body = op.regions[0].blocks[0]
        iv = self.names.of(body.arguments[0])
        self.ivs.add(iv)
        loop = RaisedLoop(
            iv,
            loop_info(op).name or iv,
            tuple(self._applied(e) for e in bounds.lowers),
            tuple(self._applied(e) for e in bounds.uppers),
            bounds.step,
        )
        self.block(body, replace(here, loops=(*here.loops, loop)))

    def _known(self, op: Any) -> Names:
        """The names, once all that the op takes are known to be affine."""
        for operand in op.operands:
            self._index(operand, op)
        return self.names

    def _index(self, value: Any, op: Any) -> str:
        name = self.names.of(value)
        if name not in self.ivs and name not in self.applied:
            raise _CannotError(f"'{op.name}' takes an index that is not affine in the loops")
        return name

    def _applied(self, expr: Affine) -> Affine:
        return expr.substitute(self.applied) if self.applied else expr

    # -------------------------------------------------------------------------- statements

    def _exprs(self, op: Any, operands: list[Any]) -> tuple[Affine, ...]:
        names = [self._index(x, op) for x in operands]
        return tuple(self._applied(e) for e in from_map(op.attributes["map"].value, names))

    def _store(self, op: Any, block: int, here: _Place) -> None:
        value, target, *indices = op.operands
        array = self.memory[target]
        root = self.numbers[value]
        if op.name == "memref.store":
            access, data = self._at_data(array, indices)
            root = self._define(op, Value(op.name, str(value.type), (), (*data, root), access))
        else:
            access = Access(array, self._exprs(op, indices))
        expression, taken = self._expression(root)
        unordered = self._unordered(taken, block)
        self.written[array] = self.time
        iteration = None
        if "hls.iteration" in op.attributes:
            names = [loop.iv for loop in here.loops]
            iteration = self._iteration(op.attributes["hls.iteration"].value, names)
        self.stores.append(
            RaisedStore(
                stmt_info(op).name,
                iteration,
                here.loops,
                here.guards,
                here.place,
                access,
                expression,
                unordered,
                span_of(op),
            )
        )

    def _iteration(self, affine_map: Any, names: list[str]) -> tuple[Affine, ...] | None:
        return from_map(affine_map, names) if affine_map.n_inputs == len(names) else None

    def _expression(self, root: int) -> tuple[tuple[Value, ...], list[int]]:
        """The value and all that it needs, and the numbers of these."""
        needed: set[int] = set()
        pending = [root]
        while pending:
            n = pending.pop()
            if n not in needed:
                needed.add(n)
                pending.extend(self.values[n].operands)
        taken = sorted(needed)
        at = {n: k for k, n in enumerate(taken)}
        found = (self.values[n] for n in taken)
        return tuple(replace(v, operands=tuple(at[n] for n in v.operands)) for v in found), taken

    def _unordered(self, taken: list[int], block: int) -> str:
        """Is each load in the block of the store, with no store to its array between?"""
        for n in taken:
            read = self.reads.get(n)
            if read is None:
                continue
            if read.block != block:
                return f"it reads '{read.array}' outside of the loop or guard that it is in"
            if self.written.get(read.array, 0) > read.time:
                return f"'{read.array}' is stored to between its load and its use"
        return ""

    def _define(self, result: Any, value: Value) -> int:
        number = self.numbers[result] = len(self.values)
        self.values.append(value)
        return number

    def _value(self, op: Any, block: int) -> None:
        if len(op.results) != 1 or len(op.regions):
            raise _CannotError(f"'{op.name}' is not raised")
        (result,) = op.results
        operands = list(op.operands)
        if op.name == "affine.apply":
            (expr,) = self._exprs(op, operands)
            self.applied[self.names.of(result)] = expr
            self._define(result, Value(op.name, "index", access=Access("", (expr,))))
        elif op.name == "affine.load":
            array = self.memory[operands[0]]
            access = Access(array, self._exprs(op, operands[1:]))
            number = self._define(result, Value(op.name, str(result.type), access=access))
            self.reads[number] = _Read(block, self.time, array)
        elif op.name == "memref.load":
            self._gather(op, result, operands, block)
        elif op.name.startswith(_PURE):
            attributes = op.attributes
            texts = tuple((name, str(attributes[name])) for name in attributes)
            taken = tuple(self.numbers[x] for x in operands)
            self._define(result, Value(op.name, str(result.type), texts, taken))
        else:
            raise _CannotError(f"'{op.name}' is not raised")

    def _gather(self, op: Any, result: Any, operands: list[Any], block: int) -> None:
        """A load some of whose subscripts are values: these are its operands, in order."""
        array = self.memory[operands[0]]
        access, taken = self._at_data(array, operands[1:])
        value = Value(op.name, str(result.type), (), taken, access)
        self.reads[self._define(result, value)] = _Read(block, self.time, array)

    def _at_data(self, array: str, subscripts: list[Any]) -> tuple[Access, tuple[int, ...]]:
        """An element some of whose subscripts are values, and the numbers of these."""
        indices, data = with_data((self.applied.get(self.names.of(x)), x) for x in subscripts)
        return Access(array, indices), tuple(self.numbers[x] for x in data)


def _body(function: Any) -> Any:
    return function.operation.regions[0].blocks[0]
