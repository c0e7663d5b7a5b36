"""What the reader of level 3 knows at a place: names, ranges, and what SSA values stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dsl.errors.errors import IRError
from mlir_passes.dialect.attributes import element_type, op_type
from mlir_passes.emit.affine import Lin, Ranges
from mlir_passes.emit.cpp import Cpp
from mlir_passes.emit.names import Names
from mlir_passes.emit.nodes import Block, Memory, Value, Word
from mlir_passes.emit.patterns import recognised
from mlir_passes.emit.types import no_form
from mlir_passes.provider import ir

_INDEX_ARITHMETIC = ("arith.addi", "arith.subi", "arith.muli")
_FIXED_OPS: dict[str, tuple[Literal["src", "dst", "lhs_type", "rhs_type"], ...]] = {
    "hls.fixed_cast": ("src", "dst"),
    "hls.fixed_from_float": ("dst",),
    "hls.fixed_to_float": ("src",),
    "hls.fixed_div": ("lhs_type", "rhs_type", "dst"),
}


def unsupported(op: Any, why: str) -> IRError:
    """W320 at an op."""
    return no_form(op.name, why, str(op.location))


@dataclass(slots=True)
class Scope:
    """What is in scope while a function is read; it only grows, but for ``ranges`` and ``loops``.

    An SSA value is data (``values``), an affine expression of indices (``indices``), data that is a
    subscript (``subscripts``), or memory (``memories``). ``parameters`` are the indices that are arguments of the function; ``words`` those that
    an open loop goes over the lanes of, and ``tests`` what holds of some of the innermost loop's iterations;
    neither is asked for unless an argument is ``packed``. ``port`` is the number of the copy of a loop that is spread.
    """

    names: Names = field(default_factory=Names)
    ranges: Ranges = field(default_factory=Ranges)
    values: dict[Any, Value] = field(default_factory=dict)
    indices: dict[Any, Lin] = field(default_factory=dict)
    subscripts: dict[Any, Value] = field(default_factory=dict)
    memories: dict[Any, Memory] = field(default_factory=dict)
    parameters: dict[Any, Memory] = field(default_factory=dict)
    loops: list[str] = field(default_factory=list)
    words: dict[str, list[Word]] = field(default_factory=dict)
    tests: list[Cpp] = field(default_factory=list)
    packed: bool = False
    port: int = 0
    kinds: dict[Any, tuple[int, str]] = field(default_factory=dict)

    def kind(self, type_: Any) -> tuple[int, str]:
        """Width of an integer and name of a float type, one of them; neither for an index."""
        found = self.kinds.get(type_)
        if found is None:
            if isinstance(type_, ir.IntegerType):
                found = (type_.width, "")
            elif isinstance(type_, ir.IndexType):
                found = (0, "")
            else:
                found = (0, str(type_))
            self.kinds[type_] = found
        return found

    def value(self, value: Any, op: Any) -> Value:
        """An operand of an op as data."""
        found = self.values.get(value)
        if found is None:
            if value not in self.indices:
                raise unsupported(op, f"its operand of type {value.type} is not affine")
            found = self._as_data(self.lin(value, op))
        return found

    def _as_data(self, lin: Lin) -> Value:
        """An index expression as a value: its C++ text and its range."""
        data = (self.ranges.cpp(lin), self.ranges.least(lin), self.ranges.greatest(lin))
        return Value("index", (), 64, "", Block(), data)

    def lin(self, value: Any, op: Any) -> Lin:
        """An operand of an op as an affine expression."""
        if value in self.parameters:
            self.parameters[value].read = True
        found = self.indices.get(value)
        if found is None:
            raise unsupported(op, "a subscript or bound is not affine")
        return found

    def lins(self, values: Sequence[Any], op: Any) -> list[Lin]:
        """Operands of an op as affine expressions."""
        return [self.lin(v, op) for v in values]

    def compute(self, op: Any, name: str, block: Block) -> None:
        """Read an op that computes a value from values."""
        results = list(op.results)
        if len(results) != 1:
            raise unsupported(op, "it has several results")
        result = results[0]
        width, real = self.kind(result.type)
        if not width and not real:
            self._index_op(op, name, result)
            return
        operands = tuple(self.value(v, op) for v in op.operands)
        value = Value(name, operands, width, real, block)
        if name == "arith.constant":
            self._constant(op, value)
        elif name in ("arith.cmpi", "arith.cmpf"):
            value.data = int(op.attributes["predicate"].value)
        elif name in _FIXED_OPS:
            value.data = tuple(op_type(op, key) for key in _FIXED_OPS[name])
        elif name == "arith.select":
            value = recognised(value)
        self.values[result] = value
        block.nodes.append(value)

    def gather(self, op: Any, block: Block) -> None:
        """A load some of whose subscripts are data: these are its operands, in order."""
        result = op.results[0]
        value = self.at_data(op, list(op.operands), *self.kind(result.type), block)
        self.values[result] = value
        block.nodes.append(value)

    def at_data(self, op: Any, operands: list[Any], width: int, real: str, block: Block) -> Value:
        """The element of a memory, the first operand, at subscripts of which some are data."""
        memory = self.memories.get(operands[0])
        if memory is None or memory.info.axi.lanes:
            raise unsupported(op, "its memory is packed, or neither an argument nor a local")
        subscripts = tuple(None if x in self.subscripts else self.lin(x, op) for x in operands[1:])
        data = tuple(self.subscripts[x] for x in operands if x in self.subscripts)
        texts = tuple(None if s is None else self.ranges.cpp(s) for s in subscripts)
        return Value("gather", data, width, real, block, texts, memory)

    def _constant(self, op: Any, value: Value) -> None:
        attributes = op.attributes
        number = attributes["value"].value
        if value.real:
            value.data = float(number)
            return
        meaning = element_type(attributes)
        value.data = (int(number), meaning)

    def _index_op(self, op: Any, name: str, result: Any) -> None:
        """Arithmetic on indices stays affine, or it is refused."""
        if name == "arith.constant":
            self.indices[result] = Lin((), int(op.attributes["value"].value))
        elif name in _INDEX_ARITHMETIC:
            a, b = self.lins(op.operands, op)
            if name == "arith.muli":
                if a.terms and b.terms:
                    raise unsupported(op, "a product of two variables is not affine")
                self.indices[result] = a * b.const if not b.terms else b * a.const
            else:
                self.indices[result] = a + b if name == "arith.addi" else a - b
        elif name in ("arith.index_cast", "arith.index_castui"):
            source = self.value(op.operands[0], op)
            if source.op == "arith.constant":
                self.indices[result] = Lin((), source.data[0])
            else:
                self.subscripts[result] = source
        else:
            raise unsupported(op, "it computes an index that is not affine")
