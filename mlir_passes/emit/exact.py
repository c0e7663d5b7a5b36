"""Integers and fixed point: SSA values as C++ expressions of a known exact value.

An SSA integer of N bits is a residue modulo ``2**N``. Its C++ expression has an exact value (the
arithmetic of ``ap_int`` and ``ap_fixed`` loses nothing) that is congruent to it, and is known to lie
between two bounds. So extensions and truncations mostly vanish; a cast appears only where the
meaning as a signed or unsigned number is needed and the bounds do not already give it.

Some operators of the ``ap_int`` headers are wrong for operands of different signedness; those here
are given operands for which every version of the headers is right.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from dsl.expressions.expr import BinaryOp, UnaryOp
from dsl.expressions.numeric import bounds, frac_of, limit, quantize, wrap
from dsl.expressions.result_types import binary_type, unary_type
from dsl.expressions.types import MAX_WIDTH, FixedType, IndexType, IntType, Overflow, Quant
from mlir_passes.emit.cpp import Cpp, call, infix, member, name, negative_literal, prefix
from mlir_passes.emit.number import INT, CType, Exact, ap_type, constant, fits_int, is_c, result
from mlir_passes.emit.types import Needs, dyadic_decimal, no_form


@dataclass(slots=True)
class ExactOps:
    """The operators, as functions of `Exact` values. ``needs`` collects headers."""

    needs: Needs = field(default_factory=Needs)

    # ------------------------------------------------------------------------------ printing

    def code(self, x: Exact) -> tuple[Cpp, CType]:
        """The expression and its static type; a constant as a literal."""
        if x.cpp is not None:
            return x.cpp, x.type
        assert x.const is not None
        value = Fraction(x.const) / Fraction(2) ** x.scale
        if value.denominator == 1:
            return self._integer_literal(value.numerator)
        return self._fixed_literal(value, x)

    def pair(self, a: Exact, b: Exact) -> tuple[tuple[Cpp, CType], tuple[Cpp, CType]]:
        """The expressions of two operands of one operator.

        A literal of 64 bits next to an ``int`` would be arithmetic of C++ in 64 bits: it is made an
        ``ap_int``, as its type says.
        """
        x, y = self.code(a), self.code(b)
        if a.const is not None and not is_c(x[1]) and is_c(y[1]):
            x = (call(self.needs.type(ap_type(x[1])), x[0]), x[1])
        if b.const is not None and not is_c(y[1]) and is_c(x[1]):
            y = (call(self.needs.type(ap_type(y[1])), y[0]), y[1])
        return x, y

    def _integer_literal(self, value: int) -> tuple[Cpp, CType]:
        digits = str(abs(value))
        if fits_int(value - 1, value):  # -2147483648 is the negation of a long
            return (negative_literal(digits) if value < 0 else name(digits)), INT
        if -(2**63) < value < 2**63:
            text = f"{digits}LL"
            return (negative_literal(text) if value < 0 else name(text)), IntType(64)
        if 0 <= value < 2**64:
            return name(f"{digits}ULL"), IntType(64, signed=False)
        dtype = IntType(value.bit_length() + (value < 0), value < 0)
        return self._of_bits(value, dtype), dtype

    def _of_bits(self, raw: int, dtype: IntType | FixedType) -> Cpp:
        """A number of the type from its bits in hexadecimal."""
        plain = IntType(dtype.width, signed=False)
        digits = name(f'"{raw & ((1 << dtype.width) - 1):x}"')
        bits = call(self.needs.type(plain), digits, name("16"))
        if isinstance(dtype, FixedType):
            self.needs.headers.add("weft_math.h")
            return call(f"weft::from_raw<{self.needs.type(dtype)}>", bits)
        return call(self.needs.type(dtype), bits) if dtype.signed else bits

    def _fixed_literal(self, value: Fraction, x: Exact) -> tuple[Cpp, CType]:
        dtype = x.type
        low, high = bounds(dtype) if isinstance(dtype, FixedType) else (0, -1)
        if not isinstance(dtype, FixedType) or dtype.frac != x.scale or not low <= x.low <= high:
            frac = value.denominator.bit_length() - 1
            width = (value.numerator if value > 0 else ~value.numerator).bit_length()
            dtype = FixedType(width + (value < 0), width + (value < 0) - frac, value < 0)
        text = dyadic_decimal(value)
        if text is None:
            raw = value * Fraction(2) ** dtype.frac
            return self._of_bits(int(raw), dtype), dtype
        literal = negative_literal(text) if value < 0 else name(text)
        return call(self.needs.type(dtype), literal), dtype

    def assigned(self, x: Exact, dtype: IntType | FixedType) -> Cpp:
        """What to write right of the ``=`` so that an lvalue of the type gets the residue."""
        x = self.with_scale(x, frac_of(dtype))
        low, high = bounds(dtype)
        if x.const is not None:
            return self._assigned_constant(wrap(x.const, dtype.width, dtype.signed), dtype)
        if x.type == dtype:
            return x.bare or self.code(x)[0]
        if isinstance(dtype, FixedType) and dtype.overflow is not Overflow.WRAP:
            low += dtype.overflow is Overflow.SAT_SYM
            if not low <= x.low <= x.high <= high:
                x = self.cast(x, FixedType(dtype.width, dtype.integer, dtype.signed))
        return self.code(x)[0]

    def _assigned_constant(self, raw: int, dtype: IntType | FixedType) -> Cpp:
        value = Fraction(raw) / Fraction(2) ** frac_of(dtype)
        if value.denominator > 1 and (text := dyadic_decimal(value)) is not None:
            return negative_literal(text) if value < 0 else name(text)
        return self.code(constant(raw, frac_of(dtype), dtype))[0]

    # --------------------------------------------------------------------------- conversions

    def cast(self, x: Exact, dtype: IntType | FixedType) -> Exact:
        """A conversion to a type of the value's own scale, which wraps what does not fit."""
        cpp = self.code(x)[0]
        low, high = bounds(dtype)
        if low <= x.low and x.high <= high:
            low, high = x.low, x.high
        return Exact(call(self.needs.type(dtype), cpp), dtype, low, high, x.scale, bare=cpp)

    def meant(self, x: Exact, width: int, signed: bool) -> Exact:
        """The residue of ``width`` bits as a signed or unsigned number: its very value."""
        low, high = bounds(IntType(width, signed))
        if low <= x.low and x.high <= high:
            return x
        if x.const is not None:
            return replace(x, low=(raw := wrap(x.const, width, signed)), high=raw)
        if x.scale == 0:
            return self.cast(x, IntType(width, signed))
        return self.cast(x, FixedType(width, width - x.scale, signed))

    def raw(self, x: Exact) -> Exact:
        """The integer ``value * 2**scale`` itself."""
        if x.scale == 0:
            return x
        if x.const is not None:
            return constant(x.const)
        if not (isinstance(x.type, FixedType) and x.type.frac == x.scale):
            width = x.bits + 1
            x = self.cast(x, FixedType(width, width - x.scale))
        assert isinstance(x.type, FixedType)
        assert x.cpp is not None
        dtype = IntType(x.type.width, x.type.signed)
        return Exact(call(self.needs.type(dtype), member(x.cpp, "range()")), dtype, x.low, x.high)

    def whole(self, x: Exact) -> Exact:
        """`raw` with a static type that has the operators of integers: an ``ap_int`` or ``int``."""
        x = self.raw(x)
        _, static = self.code(x)
        if not isinstance(static, FixedType):
            return x
        if static.integer < 1:
            x = self._with_bits(x, static, static.width + 1 - static.integer)
        return self.cast(x, IntType(max(static.integer, 1), static.signed))

    def with_scale(self, x: Exact, scale: int) -> Exact:
        """The same raw integer, read as a number of another fraction."""
        if x.scale == scale:
            return x
        if x.const is not None:
            return constant(x.const, scale, x.type)
        x = self.raw(x)
        if scale == 0:
            return x
        cpp, dtype = self.code(x)
        width, signed = ap_type(dtype).width, _signed(dtype)
        self.needs.headers.add("weft_math.h")
        fixed = FixedType(width, width - scale, signed)
        bits = cpp if isinstance(dtype, IntType) else call(self.needs.type(ap_type(dtype)), cpp)
        made = call(f"weft::from_raw<{self.needs.type(fixed)}>", bits)
        return Exact(made, fixed, x.low, x.high, scale)

    def aligned(self, a: Exact, b: Exact) -> tuple[Exact, Exact]:
        """Both with the same scale, as the SSA operation sees them."""
        if a.scale == b.scale:
            return a, b
        if a.const is not None:
            return self.with_scale(a, b.scale), b
        if b.const is not None:
            return a, self.with_scale(b, a.scale)
        return self.raw(a), self.raw(b)

    def fixed_cast(self, x: Exact, src: FixedType, dst: FixedType) -> Exact:
        """``hls.fixed_cast``: vanishes where it is exact."""
        x = self.with_scale(self.meant(x, src.width, src.signed), src.frac)
        if x.const is not None:
            return constant(limit(quantize(x.const, src.frac - dst.frac, dst.quant), dst), dst.frac)
        shift = dst.frac - src.frac
        low, high = bounds(dst)
        low += dst.overflow is Overflow.SAT_SYM and dst.signed
        if shift >= 0 and low <= x.low << shift and x.high << shift <= high:
            return replace(x, low=x.low << shift, high=x.high << shift, scale=dst.frac)
        return self.converted(x, dst)

    def converted(self, x: Exact, dst: FixedType) -> Exact:
        """An explicit conversion that quantises and overflows by the modes of ``dst``."""
        _, static = self.code(x)
        if static == dst and dst.overflow is Overflow.SAT_SYM:  # a copy would keep -2**(width - 1)
            x = self.cast(x, FixedType(dst.width, dst.integer, dst.signed))
            _, static = self.code(x)
        cuts = x.scale > dst.frac
        whole = dst.frac == 0 and dst.overflow is Overflow.WRAP
        target: IntType | FixedType = dst
        if whole and (not cuts or dst.quant is Quant.TRN_ZERO):
            target = IntType(dst.width, dst.signed)
            if isinstance(static, FixedType) and static.integer < 1:  # else the headers are wrong
                x = self._with_bits(x, static, static.width + 1 - static.integer)
        else:
            held = ap_type(static)
            if isinstance(held, IntType):
                held = FixedType(held.width, held.width, held.signed)
            if held.frac - dst.frac > held.width:
                x = self._with_bits(x, held, held.frac - dst.frac + 1)  # else they assert
        low, high = bounds(dst)
        drop = x.scale - dst.frac
        least, most = quantize(x.low, drop, dst.quant), quantize(x.high, drop, dst.quant)
        if low <= least and most <= high:
            low, high = least, most
        cpp = self.code(x)[0]
        return Exact(call(self.needs.type(target), cpp), target, low, high, dst.frac, bare=cpp)

    def _with_bits(self, x: Exact, static: FixedType, width: int) -> Exact:
        """The same value in a type of more bits left of the point."""
        wide = FixedType(width, width - static.frac, static.signed)
        return Exact(call(self.needs.type(wide), self.code(x)[0]), wide, x.low, x.high, x.scale)

    # ---------------------------------------------------------------------------- arithmetic

    def add(self, a: Exact, b: Exact) -> Exact:
        """``a + b``."""
        return self._sum(a, b, subtract=False)

    def subtract(self, a: Exact, b: Exact) -> Exact:
        """``a - b``."""
        return self._sum(a, b, subtract=True)

    def _sum(self, a: Exact, b: Exact, subtract: bool) -> Exact:
        a, b = self.aligned(a, b)
        low = a.low - b.high if subtract else a.low + b.low
        high = a.high - b.low if subtract else a.high + b.high
        if a.const is not None and b.const is not None:
            return constant(low, a.scale)
        if b.const == 0:
            return a
        if a.const == 0:
            return self.negated(b) if subtract else b
        if b.const is not None and b.const < 0:
            b, subtract = constant(-b.const, b.scale, ap_type(b.type)), not subtract
        return self._binary("-" if subtract else "+", a, b, low, high, a.scale)

    def multiply(self, a: Exact, b: Exact) -> Exact:
        """``a * b``; the scales add up."""
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        low, high, scale = min(corners), max(corners), a.scale + b.scale
        if a.const is not None and b.const is not None:
            return constant(low, scale)
        if b.const == 1 and b.scale == 0:
            return a
        if a.const == 1 and a.scale == 0:
            return b
        return self._binary("*", a, b, low, high, scale)

    def _binary(self, op: str, a: Exact, b: Exact, low: int, high: int, scale: int) -> Exact:
        (x, tx), (y, ty) = self.pair(a, b)
        if is_c(tx) and is_c(ty):
            if fits_int(low, high):
                return Exact(infix(op, x, y), INT, low, high, scale)
            tx = IntType(32)
            x = call(self.needs.type(tx), x)
        if _width(op, tx, ty) > MAX_WIDTH:  # an int literal counts 32 bits
            (x, tx), (y, ty) = self._narrow(a, x, tx), self._narrow(b, y, ty)
        if (width := _width(op, tx, ty)) > MAX_WIDTH:
            raise no_form(f"an operation of {width} bits")
        dtype = binary_type(BinaryOp(op), ap_type(tx), ap_type(ty))
        assert isinstance(dtype, IntType | FixedType)
        self.needs.width = max(self.needs.width, dtype.width)
        return result(infix(op, x, y), dtype, low, high, scale)

    def _narrow(self, x: Exact, cpp: Cpp, static: CType) -> tuple[Cpp, CType]:
        """An ``int`` in the fewest bits."""
        if not is_c(static):
            return cpp, static
        dtype = IntType(max(x.bits, 1) + (x.low < 0), x.low < 0)
        return call(self.needs.type(dtype), cpp), dtype

    def negated(self, x: Exact) -> Exact:
        """``-x``."""
        if x.const is not None:
            return constant(-x.const, x.scale)
        cpp, dtype = self.code(x)
        if is_c(dtype):
            return Exact(prefix("-", cpp), INT, -x.high, -x.low, x.scale)
        wider = unary_type(UnaryOp.NEG, ap_type(dtype))
        assert isinstance(wider, IntType | FixedType)
        return result(prefix("-", cpp), wider, -x.high, -x.low, x.scale)

    def absolute(self, x: Exact, width: int) -> Exact:
        """``|x|`` of a signed number of ``width`` bits."""
        x = self.meant(x, width, signed=True)
        if x.low >= 0:
            return x
        cpp, dtype = self.code(x)
        self.needs.headers.add("weft_math.h")
        wider = INT if is_c(dtype) else unary_type(UnaryOp.NEG, ap_type(dtype))
        assert isinstance(wider, IntType | FixedType | IndexType)
        high = max(abs(x.low), abs(x.high))
        return result(call("weft::abs", cpp), wider, 0, high, x.scale)


def _signed(dtype: CType) -> bool:
    return ap_type(dtype).signed


def _width(op: str, a: CType, b: CType) -> int:
    """Bits of the result of ``+ - *``, also where no type has as many."""
    x, y = ap_type(a), ap_type(b)
    if op == "*":
        return x.width + y.width
    integer = max(
        x.width - frac_of(x) + (y.signed and not x.signed),
        y.width - frac_of(y) + (x.signed and not y.signed),
    )
    return integer + max(frac_of(x), frac_of(y)) + 1
