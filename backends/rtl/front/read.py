"""Reads a level 3 module (docs/level3.md) into a `tree.Kernel`.

Ops are only looked at through `mlir_passes`' readers and by name: MLIR itself is not imported.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import Any

from backends.rtl.front.tree import Expr, For, If, Kernel, Local, Node, Statement
from backends.rtl.front.unsupported import unsupported
from dsl.expressions.affine import Affine, with_data
from dsl.expressions.types import FloatType
from mlir_passes.affine_maps import from_map
from mlir_passes.construct.arithmetic import plain
from mlir_passes.dialect.attributes import (
    ArrayInfo,
    argument_infos,
    local_info,
    loop_info,
    op_type,
    span_of,
    stmt_info,
    top_function,
)
from mlir_passes.loop_bounds import Names, bounds_of, condition_of

MAX_WIDTH = 256
"""Bits of the widest number that there are operators for."""

_SKIPPED = frozenset({"affine.yield", "func.return", "memref.dealloc"})
_ARITH = frozenset(
    {
        *(f"arith.{k}f" for k in ("add", "sub", "mul", "div", "neg", "cmp")),
        *(f"arith.{k}i" for k in ("add", "sub", "mul", "and", "or", "xor", "cmp")),
        *(f"arith.{k}" for k in ("shli", "shrsi", "shrui", "select", "extsi", "extui", "trunci")),
        *(f"arith.{k}" for k in ("floordivsi", "divui", "divsi", "remsi", "remui")),
        *(f"arith.{k}" for k in ("sitofp", "uitofp", "fptosi", "fptoui")),
        *(f"math.{k}" for k in ("absf", "sqrt", "exp")),
        *(f"hls.fixed_{k}" for k in ("cast", "div", "from_float", "to_float")),
    }
)


def read_module(module: Any) -> Kernel:
    """The kernel of a module.

    Raises:
        ToolError: W460, a type or an operation that there is no hardware for.
    """
    with module.context:
        return _Reader().kernel(top_function(module))


@dataclass(frozen=True, slots=True)
class _Value:
    """A value, the values that it takes, and how many stores, loops and branches came before."""

    expr: Expr
    operands: tuple[_Value, ...]
    number: int
    epoch: int


@dataclass(slots=True)
class _Kept:
    """Where a load stands: if its value is used after another store, a local keeps it from here."""

    value: _Value
    local: ArrayInfo | None = None

    def nodes(self) -> tuple[Node, ...]:
        """The local and the statement that writes it, if it is needed."""
        if self.local is None:
            return ()
        return Local(self.local), Statement("", (self.value.expr,), self.local.name, ())


@dataclass(slots=True)
class _Reader:
    names: Names = field(default_factory=Names)
    by_value: dict[Any, ArrayInfo] = field(default_factory=dict)
    values: dict[Any, _Value] = field(default_factory=dict)
    indices: dict[Any, Affine] = field(default_factory=dict)
    epoch: int = 0
    taken: set[str] = field(default_factory=set)
    kept: dict[int, _Kept] = field(default_factory=dict)

    def kernel(self, function: Any) -> Kernel:
        name = str(function.operation.attributes["sym_name"].value)
        entry = function.operation.regions[0].blocks[0]
        infos = tuple(argument_infos(function))
        for n, (info, value) in enumerate(zip(infos, entry.arguments, strict=True)):
            _check(info)
            self.taken.add(info.name)
            if info.shape:
                self.by_value[value] = info
            else:
                width, is_float = plain(info.dtype).width, isinstance(info.dtype, FloatType)
                self._define(value, Expr("input", width, is_float, value=n), ())
        return Kernel(name, infos, self._block(entry))

    def _block(self, block: Any) -> tuple[Node, ...]:
        found: list[Node | _Kept] = []
        for view in block.operations:
            op = view.operation
            match op.name:
                case "affine.for":
                    self.epoch += 1
                    found.append(self._loop(op))
                    self.epoch += 1
                case "affine.if":
                    self.epoch += 1
                    if len(op.regions) > 1 and len(op.regions[1].blocks):
                        raise unsupported("affine.if with an else", span_of(op))
                    inner = self._block(op.regions[0].blocks[0])
                    found.append(If(condition_of(op, self.names), inner))
                    self.epoch += 1
                case "affine.store" | "memref.store":
                    found.append(self._store(op))
                    self.epoch += 1
                case "memref.alloc" | "memref.alloca":
                    found.append(self._local(op))
                case "affine.load":
                    self._value(op)
                    value = self.values[op.results[0]]
                    kept = self.kept[value.number] = _Kept(value)
                    found.append(kept)
                case name if name not in _SKIPPED:
                    self._value(op)
        nodes: list[Node] = []
        for node in found:
            nodes += node.nodes() if isinstance(node, _Kept) else (node,)
        return tuple(nodes)

    def _local(self, op: Any) -> Local:
        info = local_info(op)
        _check(info, op)
        info = self.by_value[op.results[0]] = replace(info, name=self._free(info.name))
        return Local(info)

    def _free(self, wanted: str) -> str:
        """A name that no other array has."""
        name, count = wanted, 1
        while name in self.taken:
            count += 1
            name = f"{wanted}_{count}"
        self.taken.add(name)
        return name

    def _loop(self, op: Any) -> For:
        bounds, info = bounds_of(op, self.names), loop_info(op)
        source = op.regions[0].blocks[0]
        iv = self.names.of(source.arguments[0])
        return For(
            iv,
            info.name,
            bounds.lowers,
            bounds.uppers,
            bounds.step,
            self._block(source),
            info.ii,
            1 if info.unroll is None else info.unroll,
            info.flatten,
        )

    # -------------------------------------------------------------------------- statements

    def _define(self, value: Any, expr: Expr, operands: tuple[_Value, ...]) -> None:
        self.values[value] = _Value(expr, operands, len(self.values), self.epoch)

    def _subscripts(self, op: Any, operands: list[Any]) -> tuple[Affine, ...]:
        names = [self.names.of(x) for x in operands]
        return from_map(op.attributes["map"].value, names)

    def _store(self, op: Any) -> Statement:
        value, *place = op.operands
        data: tuple[_Value, ...] = ()
        if op.name == "memref.store":
            info, indices, data = self._at_data(op, place)
        else:
            info, indices = self.by_value[place[0]], self._subscripts(op, place[1:])
        needed = self._below(self.values[value], data)
        places = {v.number: n for n, v in reversed(list(enumerate(needed)))}
        ops = tuple(
            replace(v.expr, operands=tuple(places[o.number] for o in v.operands)) for v in needed
        )
        subscripts = tuple(places[v.number] for v in data)
        return Statement(stmt_info(op).name, ops, info.name, indices, subscripts)

    def _below(self, value: _Value, more: tuple[_Value, ...]) -> list[_Value]:
        """Values and all that they need, each once, operands first; the first one comes last, again
        where another one takes it.
        """
        found: dict[int, _Value] = {}
        pending = [value, *more]
        while pending:
            v = pending.pop()
            if v.number in found:
                continue
            if v.expr.name == "affine.load" and v.epoch != self.epoch:
                v = self._from_local(v)
            if v.expr.name == "memref.load" and v.epoch != self.epoch:
                raise unsupported("a value at a subscript that is data, kept behind a store")
            found[v.number] = v
            pending.extend(v.operands)
        # Nothing that a value needs has a higher number than its own.
        needed = sorted(found.values(), key=lambda v: v.number)
        return needed if needed[-1].number == value.number else [*needed, found[value.number]]

    def _from_local(self, value: _Value) -> _Value:
        """The value of a load that stands before another store, kept in a local until here."""
        kept = self.kept[value.number]
        if kept.local is None:
            array = next(i for i in self.by_value.values() if i.name == value.expr.array)
            name = self._free(f"{array.name}$v")
            kept.local = ArrayInfo(name, array.dtype)
        return replace(value, expr=replace(value.expr, array=kept.local.name, indices=()))

    def _value(self, op: Any) -> None:
        (result,) = list(op.results)
        operands = list(op.operands)
        if op.name == "affine.apply":
            (self.indices[result],) = self._subscripts(op, operands)
            return
        if op.name == "arith.index_cast" and operands[0] in self.values:
            self.values[result] = self.values[operands[0]]
            return
        width, is_float = _type(result.type, op)
        expr = Expr(op.name, width, is_float)
        taken: tuple[_Value, ...] = ()
        match op.name:
            case "arith.index_cast":
                expr = replace(expr, index=self.indices[operands[0]])
            case "memref.load":
                info, indices, taken = self._at_data(op, operands)
                expr = replace(expr, array=info.name, indices=indices)
            case "affine.load":
                array = self.by_value[operands[0]].name
                expr = replace(expr, array=array, indices=self._subscripts(op, operands[1:]))
            case "arith.constant":
                expr = replace(expr, value=_bits(op.attributes["value"], width, is_float))
            case name if name in _ARITH:
                expr = _with_attributes(expr, op)
                taken = tuple(self.values[x] for x in operands)
            case name:
                raise unsupported(name, span_of(op))
        self._define(result, expr, taken)

    def _at_data(
        self, op: Any, operands: list[Any]
    ) -> tuple[ArrayInfo, tuple[Affine, ...], tuple[_Value, ...]]:
        """The array, the first operand, the subscripts, and those of them that are data, in order."""
        info = self.by_value[operands[0]]
        if info.interface is not None and info.interface.mode == "m_axi":
            way = "reads" if op.name == "memref.load" else "writes"
            what = f"{way} of '{info.name}', in memory outside, at subscripts that are data"
            raise unsupported(what, span_of(op))
        indices, data = with_data((self.indices.get(x), x) for x in operands[1:])
        return info, indices, tuple(self.values[x] for x in data)


def _with_attributes(expr: Expr, op: Any) -> Expr:
    match op.name:
        case "arith.cmpi" | "arith.cmpf":
            return replace(expr, value=int(op.attributes["predicate"].value))
        case "hls.fixed_cast":
            return replace(expr, src=op_type(op, "src"), dst=op_type(op, "dst"))
        case "hls.fixed_from_float":
            return replace(expr, dst=op_type(op, "dst"))
        case "hls.fixed_to_float":
            return replace(expr, src=op_type(op, "src"))
        case "hls.fixed_div":
            types = (op_type(op, "lhs_type"), op_type(op, "rhs_type"), op_type(op, "dst"))
            return replace(expr, src=types[0], rhs=types[1], dst=types[2])
    return expr


def _bits(attribute: Any, width: int, is_float: bool) -> int:
    if is_float:
        return int(struct.unpack("<I", struct.pack("<f", attribute.value))[0])
    # The bindings give out 64 bits; the text, ``-5 : i80``, has them all.
    number = int(attribute.value) if width <= 64 else int(str(attribute).split()[0])
    return number & ((1 << width) - 1)


def _check(info: ArrayInfo, op: Any = None) -> None:
    """Refuse element types without operators."""
    dtype = info.dtype
    span = None if op is None else span_of(op)
    if isinstance(dtype, FloatType) and dtype.name != "f32":
        raise unsupported(f"'{info.name}' of type {dtype}", span)
    if plain(dtype).width > MAX_WIDTH:
        raise unsupported(f"'{info.name}' of type {dtype}", span)


def _type(type_: Any, op: Any) -> tuple[int, bool]:
    """Width of an MLIR scalar type and whether it is a float, by its text: ``f32``, ``i8``."""
    text = str(type_)
    if text == "f32":
        return 32, True
    if not text.startswith("i") or text == "index":
        raise unsupported(f"{op.name} of type {text}", span_of(op))
    width = int(text[1:])
    if width > MAX_WIDTH:
        raise unsupported(f"{op.name} of {width} bits", span_of(op))
    return width, False
