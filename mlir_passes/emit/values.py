"""From SSA values to C++ expressions: one function for each kind of op."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dsl.arrays.tables import float_of_word
from dsl.expressions.numeric import frac_of, wrap
from dsl.expressions.types import DType, FixedType, FloatType, IntType, Quant
from mlir_passes.emit import logic
from mlir_passes.emit.cpp import Cpp, call, infix, member, name, prefix, subscript, ternary
from mlir_passes.emit.exact import ExactOps
from mlir_passes.emit.nodes import Value
from mlir_passes.emit.number import INT, Exact, ap_type, constant, fits_int, is_c, of_type
from mlir_passes.emit.real import (
    FLOAT_TYPES,
    REAL_INFIX,
    Real,
    comparison,
    function_call,
    nearest,
)
from mlir_passes.emit.types import Needs, no_form

Number = Exact | Real

_INT_TESTS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")


@dataclass(slots=True)
class Values:
    """The expressions of values; ``named`` are those that have a variable of their own."""

    needs: Needs = field(default_factory=Needs)
    named: dict[Value, Number] = field(default_factory=dict)
    before: Callable[[Value, Number], Number] | None = None
    ops: ExactOps = field(init=False)
    _inlined: dict[Value, Number] = field(default_factory=dict)  # what asks twice computes once

    def __post_init__(self) -> None:
        self.ops = ExactOps(self.needs)

    def number(self, value: Value) -> Number:
        """The expression of a value; what it needs is inlined unless it is named."""
        found = self.named.get(value) or self._inlined.get(value)
        if found is None:
            found = self._inlined[value] = self._made(value)
        return found

    def _made(self, value: Value) -> Number:
        handler = _HANDLERS.get(value.op)
        if handler is not None:
            result = handler(self, value)
        elif value.op in REAL_INFIX:
            a, b = self._reals(value)
            result = Real(infix(REAL_INFIX[value.op], a, b), value.real)
        elif value.op in _INT_HANDLERS:
            x, y = (self.exact(v) for v in value.operands)
            result = _INT_HANDLERS[value.op](self.ops, x, y)
        else:
            operands = self._reals(value) if value.real else ()
            result = function_call(self.needs, value.op, value.real, operands)
        if value.binds and self.before is not None:
            result = self.before(value, result)
        return result

    def exact(self, value: Value) -> Exact:
        """The expression of an integer or a raw."""
        result = self.number(value)
        assert isinstance(result, Exact)
        return result

    def real(self, value: Value) -> Cpp:
        """The expression of a float."""
        result = self.number(value)
        assert isinstance(result, Real)
        return result.cpp

    def _reals(self, value: Value) -> tuple[Cpp, ...]:
        return tuple(self.real(v) for v in value.operands)

    def meant(self, value: Value, signed: bool) -> Exact:
        """An integer operand as a signed or unsigned number."""
        return self.ops.meant(self.exact(value), value.width, signed)

    # --------------------------------------------------------------------------------- leaves

    def _constant(self, value: Value) -> Number:
        if value.real:
            return Real(self.needs.real(value.data, value.real), value.real)
        raw, meaning = value.data
        if meaning is not None:
            raw = wrap(raw, meaning.width, meaning.signed)
        if isinstance(meaning, FixedType):
            return constant(raw, meaning.frac, meaning)
        return constant(raw)

    def word(self, word: int, dtype: DType) -> str:
        """A raw word of a table as a literal of its type."""
        if isinstance(dtype, FloatType):
            return self.needs.real(float_of_word(word, dtype), dtype.name).text
        assert isinstance(dtype, IntType | FixedType)
        return self.ops.assigned(constant(word, frac_of(dtype), dtype), dtype).text

    def _memory(self, value: Value) -> Number:
        """A load, or a scalar argument."""
        assert value.memory is not None
        cpp = value.place or name(value.memory.name)
        dtype = value.memory.info.dtype
        if value.real:
            return Real(cpp, value.real)
        assert isinstance(dtype, IntType | FixedType)
        return of_type(cpp, dtype)

    def _gather(self, value: Value) -> Number:
        """A load at subscripts that are data, each an ``int``: it is proven to be inside."""
        return self._memory(replace(value, place=self.element(value, False)))

    def element(self, value: Value, written: bool) -> Cpp:
        """The element of a ``gather``."""
        assert value.memory is not None
        data = iter(value.operands)
        texts = tuple(self._subscript(next(data)) if t is None else t for t in value.data)
        return subscript(value.memory.named(written), texts)

    def _subscript(self, value: Value) -> Cpp:
        cpp, static = self.ops.code(self.meant(value, signed=True))
        return cpp if is_c(static) else member(cpp, "to_int()")

    def _variable(self, value: Value) -> Number:
        if value.real:
            return Real(name(value.data), value.real)
        return of_type(name(value.data), variable_type(value))

    def _index(self, value: Value) -> Number:
        cpp, low, high = value.data
        low = -(2**31) if low is None else low
        high = 2**31 - 1 if high is None else high
        if fits_int(low, high):
            return Exact(cpp, INT, low, high)
        wide = IntType(64)
        return Exact(call(self.needs.type(wide), cpp), wide, low, high)

    # --------------------------------------------------------------------------------- floats

    def _negf(self, value: Value) -> Number:
        return Real(prefix("-", self.real(value.operands[0])), value.real)

    def _convert_real(self, value: Value) -> Number:
        """``extf``, ``truncf``: one rounding."""
        bare = self.real(value.operands[0])
        return Real(call(self._type(value.real), bare), value.real, bare)

    def _type(self, real: str) -> str:
        return self.needs.type(FLOAT_TYPES[real])

    def type_of(self, number: Real) -> str:
        """The C++ type of a float expression."""
        return self._type(number.type)

    def _compare_real(self, value: Value) -> Number:
        a, b = self._reals(value)
        return comparison(value.data, a, b)

    # ------------------------------------------------------------------------------- choices

    def _select(self, value: Value) -> Number:
        decided = self.meant(value.operands[0], signed=False).const
        if decided is not None:
            return self.number(value.operands[1 if decided else 2])
        condition = self.truth(value.operands[0])
        if value.real:
            a, b = (self.real(v) for v in value.operands[1:])
            return Real(ternary(condition, a, b), value.real)
        x, y = (self.exact(v) for v in value.operands[1:])
        return logic.select(self.ops, condition, x, y)

    def truth(self, value: Value) -> Cpp:
        """An ``i1`` as a condition."""
        x = self.meant(value, signed=False)
        if x.const is not None:
            return name("true" if x.const else "false")
        return self.ops.code(x)[0]

    def _extreme(self, value: Value) -> Number:
        largest = value.op == "max"
        if value.real:
            self.needs.headers.add("<algorithm>")
            a, b = self._reals(value)
            return Real(call("std::max" if largest else "std::min", a, b), value.real)
        x, y = (self.meant(v, value.data) for v in value.operands)
        return logic.extreme(self.ops, largest, x, y)

    def _integer_extreme(self, value: Value) -> Number:
        base = value.op.partition(".")[2]  # maxsi, minui
        x, y = (self.meant(v, base[3] == "s") for v in value.operands)
        return logic.extreme(self.ops, base.startswith("max"), x, y)

    def _abs(self, value: Value) -> Number:
        return self.ops.absolute(self.exact(value.operands[0]), value.operands[0].width)

    # -------------------------------------------------------------------------- integer ops

    def _compare_int(self, value: Value) -> Number:
        operands, predicate = value.operands, value.data
        if predicate < 2:
            x, y = (self.exact(v) for v in operands)
            width = operands[0].width
            signed = x.low < 0 or y.low < 0
            x, y = self.ops.meant(x, width, signed), self.ops.meant(y, width, signed)
        else:
            x, y = (self.meant(v, predicate < 6) for v in operands)
        return logic.compare(self.ops, _INT_TESTS[predicate], x, y)

    def _extend(self, value: Value) -> Number:
        return self.meant(value.operands[0], signed=not value.op.endswith("extui"))

    def _same(self, value: Value) -> Number:
        """``trunci`` and casts between integers and indices: the low bits stay."""
        x = self.exact(value.operands[0])
        _, static = self.ops.code(x)
        if ap_type(static).width > _WIDE + 2 * value.width:  # before it grows without end
            return self.ops.meant(x, value.width, signed=True)
        return x

    def _bits(self, value: Value) -> Number:
        """``andi``, ``ori``, ``xori``; on truth values the logical operators."""
        op = {"arith.andi": "&", "arith.ori": "|", "arith.xori": "^"}[value.op]
        x, y = (self.exact(v) for v in value.operands)
        width = value.width
        if width == 1:
            return self._logical(op, value)
        if op == "^":
            for one, other in ((x, y), (y, x)):
                if other.const is not None and (other.const + 1) % (1 << width) == 0:
                    return logic.complement(self.ops, one, width)
        return logic.bitwise(self.ops, op, x, y)

    def _logical(self, op: str, value: Value) -> Number:
        a, b = value.operands
        x, y = self.meant(a, signed=False), self.meant(b, signed=False)
        if op == "^":
            for one, other in ((a, y), (b, x)):
                if other.const == 1:
                    return logic.truth(prefix("!", self.truth(one)))
        cpp = {"&": "&&", "|": "||", "^": "!="}[op]
        return logic.truth(infix(cpp, self.truth(a), self.truth(b)))

    def _shift(self, value: Value) -> Number:
        x, amount = self.exact(value.operands[0]), self.meant(value.operands[1], signed=False)
        if value.op == "arith.shli":
            return logic.shift_left(self.ops, x, amount, value.width)
        x = self.meant(value.operands[0], signed=value.op == "arith.shrsi")
        return logic.shift_right(self.ops, x, amount)

    def _divide(self, value: Value) -> Number:
        base = value.op.partition(".")[2]
        a, b = (self.meant(v, not base.endswith("ui")) for v in value.operands)
        if base.startswith("floordiv"):
            return logic.floor_divide(self.ops, a, b)
        if base.startswith("ceildiv"):
            return logic.ceil_divide(self.ops, a, b)
        op = "/" if base.startswith("div") else "%"
        return logic.truncated(self.ops, op, a, b)

    def _floor_mod(self, value: Value) -> Number:
        a, b = (self.meant(v, True) for v in value.operands)
        return logic.floor_modulo(self.ops, a, b)

    # ---------------------------------------------------------- fixed point and conversions

    def _fixed_cast(self, value: Value) -> Number:
        src, dst = value.data
        return self.ops.fixed_cast(self.exact(value.operands[0]), src, dst)

    def _fixed_div(self, value: Value) -> Number:
        a, b = (self.exact(v) for v in value.operands)
        return logic.fixed_divide(self.ops, a, b, *value.data)

    def _to_float(self, value: Value) -> Number:
        """``sitofp``, ``uitofp``, ``hls.fixed_to_float``: the nearest float."""
        operand = value.operands[0]
        if value.op == "hls.fixed_to_float":
            (src,) = value.data
            x = self.ops.with_scale(
                self.ops.meant(self.exact(operand), src.width, src.signed), src.frac
            )
        else:
            x = self.ops.raw(self.meant(operand, value.op == "arith.sitofp"))
        return nearest(self.ops, x, value.real)

    def _from_float(self, value: Value) -> Number:
        """``hls.fixed_from_float``, ``fptosi``, ``fptoui``."""
        operand = value.operands[0]
        if value.op == "hls.fixed_from_float":
            (dst,) = value.data
        else:
            signed = value.op == "arith.fptosi"
            dst = FixedType(value.width, value.width, signed, Quant.TRN_ZERO)
        bare = self.real(operand)
        if operand.real in ("f16", "bf16"):
            bare = call("float", bare)
        # Not ap_int(float): the headers make 1 of -0.25.
        return replace(of_type(call(self.needs.type(dst), bare), dst), bare=bare)

    def _bitcast(self, value: Value) -> Number:
        (operand,) = value.operands
        if value.real == operand.real:
            return self.number(operand)
        real = value.real or operand.real
        if real not in _C_BITS:
            raise no_form(f"{value.op} of {real}")
        self.needs.headers.add("weft_math.h")
        if value.real:
            bits = call(_C_BITS[real], self.ops.code(self.meant(operand, signed=False))[0])
            return Real(call(f"weft::bit_cast<{self._type(real)}>", bits), real)
        dtype = IntType(value.width, signed=False)
        bits = call(f"weft::bit_cast<{_C_BITS[real]}>", self.real(operand))
        return of_type(call(self.needs.type(dtype), bits), dtype)


def variable_type(value: Value) -> IntType:
    """The type of a variable that holds an integer from one iteration to the next."""
    return IntType(value.width or 64, signed=value.width != 1)


_WIDE = 256
_C_BITS = {"f32": "unsigned", "f64": "unsigned long long"}
_INT_HANDLERS: dict[str, Callable[[ExactOps, Exact, Exact], Exact]] = {
    "arith.addi": ExactOps.add,
    "arith.subi": ExactOps.subtract,
    "arith.muli": ExactOps.multiply,
}
_HANDLERS: dict[str, Callable[[Values, Value], Number]] = {
    "argument": Values._memory,
    "load": Values._memory,
    "gather": Values._gather,
    "variable": Values._variable,
    "index": Values._index,
    "min": Values._extreme,
    "max": Values._extreme,
    "abs": Values._abs,
    "floor_mod": Values._floor_mod,
    "arith.constant": Values._constant,
    "arith.negf": Values._negf,
    "arith.extf": Values._convert_real,
    "arith.truncf": Values._convert_real,
    "arith.cmpf": Values._compare_real,
    "arith.cmpi": Values._compare_int,
    "arith.select": Values._select,
    "arith.maxsi": Values._integer_extreme,
    "arith.maxui": Values._integer_extreme,
    "arith.minsi": Values._integer_extreme,
    "arith.minui": Values._integer_extreme,
    "arith.extsi": Values._extend,
    "arith.extui": Values._extend,
    "arith.trunci": Values._same,
    "arith.index_cast": Values._same,
    "arith.index_castui": Values._same,
    "arith.andi": Values._bits,
    "arith.ori": Values._bits,
    "arith.xori": Values._bits,
    "arith.shli": Values._shift,
    "arith.shrsi": Values._shift,
    "arith.shrui": Values._shift,
    "arith.divsi": Values._divide,
    "arith.divui": Values._divide,
    "arith.remsi": Values._divide,
    "arith.remui": Values._divide,
    "arith.floordivsi": Values._divide,
    "arith.ceildivsi": Values._divide,
    "arith.ceildivui": Values._divide,
    "arith.sitofp": Values._to_float,
    "arith.uitofp": Values._to_float,
    "arith.fptosi": Values._from_float,
    "arith.fptoui": Values._from_float,
    "arith.bitcast": Values._bitcast,
    "math.absi": Values._abs,
    "hls.fixed_cast": Values._fixed_cast,
    "hls.fixed_div": Values._fixed_div,
    "hls.fixed_to_float": Values._to_float,
    "hls.fixed_from_float": Values._from_float,
}
