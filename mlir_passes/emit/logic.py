"""Comparisons, choices, divisions, bits and shifts of exact values (see `emit_exact`)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

from dsl.expressions.expr import BinaryOp
from dsl.expressions.numeric import bounds, frac_of
from dsl.expressions.result_types import binary_type, common_type
from dsl.expressions.types import FixedType, IndexType, IntType
from mlir_passes.emit.cpp import Cpp, call, infix, name, prefix, ternary
from mlir_passes.emit.exact import ExactOps
from mlir_passes.emit.number import (
    BOOL,
    INT,
    CType,
    Exact,
    ap_type,
    constant,
    fits_int,
    is_c,
    result,
)

Code = tuple[Cpp, CType]
_WIDEST_LITERAL = 64
_INT_SHIFT = 31
"""The most by which C++ shifts an ``int``, and that leaves its sign only."""
_FOLDED: dict[str, Callable[[int, int], int]] = {
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_TESTS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def truth(text: Cpp) -> Exact:
    """A C++ ``bool``."""
    return Exact(text, BOOL, 0, 1)


def compare(ops: ExactOps, op: str, a: Exact, b: Exact) -> Exact:
    """``a op b`` by value, for the C++ comparison ``op``."""
    a, b = ops.aligned(a, b)
    if a.const is not None and b.const is not None:
        return constant(int(_TESTS[op](a.const, b.const)))
    (x, _), (y, _) = same_signedness(ops, a, b, strictly=False)
    return truth(infix(op, x, y))


def same_signedness(ops: ExactOps, a: Exact, b: Exact, strictly: bool = True) -> tuple[Code, Code]:
    """Both operands as C++ of one signedness.

    Only for those are the comparisons, ``/`` and ``%`` of the ``ap_int`` headers right; comparisons
    also for an unsigned operand that is narrower than the signed one (then not ``strictly``).
    """
    x, y = ops.pair(a, b)
    mine, theirs = ap_type(x[1]), ap_type(y[1])
    if mine.signed == theirs.signed or (is_c(x[1]) and is_c(y[1])):
        return x, y
    if mine.signed:
        return _reconciled(ops, a, x, b, y, strictly)
    y, x = _reconciled(ops, b, y, a, x, strictly)
    return x, y


def _reconciled(
    ops: ExactOps, s: Exact, x: Code, u: Exact, y: Code, strictly: bool
) -> tuple[Code, Code]:
    """A signed and an unsigned operand: a literal becomes unsigned, else the other one signed."""
    if s.const is not None and s.const >= 0 and x[1] == INT:
        return (name(f"{x[0].text}U"), IntType(32, signed=False)), y
    mine, theirs = ap_type(x[1]), ap_type(y[1])
    wide: IntType | FixedType
    if isinstance(theirs, IntType):
        if not strictly and isinstance(mine, IntType) and theirs.width < mine.width:
            return x, y
        wide = IntType(theirs.width + 1)
    else:
        wide = FixedType(theirs.width + 1, theirs.integer + 1)
        if u.const is not None:
            return x, ops.code(replace(u, type=wide))
    return x, (call(ops.needs.type(wide), y[0]), wide)


# ------------------------------------------------------------------------------------- choices


def select(ops: ExactOps, condition: Cpp, a: Exact, b: Exact) -> Exact:
    """``condition ? a : b`` with one type for both, which C++ asks for.

    The result of an operator next to an element is converted: an element that is constant does not
    become the base class that operators make.
    """
    a, b = ops.aligned(a, b)
    dtype = covering(ops, a, b)
    x, y = (as_type(ops, v, dtype) for v in (a, b))
    results = [v.is_result and c is v.cpp for v, c in ((a, x), (b, y))]
    if any(results) and (_is_object(a, x) or _is_object(b, y)):
        x, y = (
            call(type_name(ops, dtype), c) if r else c for c, r in zip((x, y), results, strict=True)
        )
        results = [False, False]
    low, high = min(a.low, b.low), max(a.high, b.high)
    return Exact(ternary(condition, x, y), dtype, low, high, a.scale, is_result=any(results))


def _is_object(x: Exact, code: Cpp) -> bool:
    """Whether the code is that of an element or variable, which may be constant."""
    return code is x.cpp and x.bare is None and not x.is_result and not is_c(x.type)


def extreme(ops: ExactOps, largest: bool, a: Exact, b: Exact) -> Exact:
    """``std::max`` or ``std::min``."""
    a, b = ops.aligned(a, b)
    dtype = covering(ops, a, b)
    ops.needs.headers.add("<algorithm>")
    function = "std::max" if largest else "std::min"
    (x, tx), (y, ty) = ops.code(a), ops.code(b)
    if not (dtype == INT and tx == ty == INT):
        function = f"{function}<{type_name(ops, dtype)}>"
    pick = max if largest else min
    return Exact(call(function, x, y), dtype, pick(a.low, b.low), pick(a.high, b.high), a.scale)


def covering(ops: ExactOps, a: Exact, b: Exact) -> CType:
    """A type that holds both: that of one of them if it can be."""
    (_, ta), (_, tb) = ops.code(a), ops.code(b)
    if ta == tb == BOOL:
        return BOOL
    if is_c(ta) and is_c(tb):
        return INT
    for dtype, other in ((ta, b), (tb, a)):
        if isinstance(dtype, IntType | FixedType) and frac_of(dtype) >= other.scale:
            low, high = bounds(dtype)
            shift = frac_of(dtype) - other.scale
            if low <= other.low << shift and other.high << shift <= high:
                return ap_type(dtype)
    common = common_type(ap_type(ta), ap_type(tb))
    assert isinstance(common, IntType | FixedType)
    return common


def as_type(ops: ExactOps, x: Exact, dtype: CType) -> Cpp:
    """The expression with exactly this static type, which holds its value."""
    if isinstance(dtype, FixedType) and x.const is not None and x.scale == dtype.frac:
        x = replace(x, type=dtype)
    cpp, static = ops.code(x)
    is_literal = x.const is not None and isinstance(dtype, IntType)  # of a type of C++
    return cpp if static == dtype and not is_literal else call(type_name(ops, dtype), cpp)


def type_name(ops: ExactOps, dtype: CType) -> str:
    """The C++ name of a type."""
    if isinstance(dtype, IntType | FixedType):
        return ops.needs.type(dtype)
    return "int" if isinstance(dtype, IndexType) else "bool"


# ----------------------------------------------------------------------------------- divisions


def truncated(ops: ExactOps, op: str, a: Exact, b: Exact) -> Exact:
    """``a / b`` or ``a % b`` as C++ has it: towards zero, the sign of the dividend."""
    if a.const is not None and b.const:
        quotient = abs(a.const) // abs(b.const) * (1 if (a.const < 0) == (b.const < 0) else -1)
        return constant(quotient if op == "/" else a.const - quotient * b.const)
    (x, tx), (y, ty) = division_operands(ops, a, b)
    most = max(abs(a.low), abs(a.high))
    low, high = (-most if a.low < 0 or b.low < 0 else 0), most
    if op == "%":
        most = min(most, max(abs(b.low), abs(b.high), 1) - (op == "%"))
        low, high = (-most if a.low < 0 else 0), most
    elif b.const is not None and b.const > 0:
        low, high = -(-a.low // b.const) if a.low < 0 else a.low // b.const, a.high // b.const
    if is_c(tx) and is_c(ty):
        return Exact(infix(op, x, y), INT, low, high)
    return result(infix(op, x, y), _division_type(op, tx, ty), low, high)


def division_operands(ops: ExactOps, a: Exact, b: Exact) -> tuple[Code, Code]:
    """Both operands of ``/`` or ``%``, of one signedness.

    A number of C's own types over an ``ap_int`` becomes one, too: the headers mistake which one is
    divided.
    """
    (x, tx), (y, ty) = same_signedness(ops, ops.whole(a), ops.whole(b))
    literal = a.const is not None and ap_type(tx).width <= _WIDEST_LITERAL
    if (is_c(tx) or literal) and not is_c(ty):
        tx = ap_type(tx)
        x = call(ops.needs.type(tx), x)
    return (x, tx), (y, ty)


def _division_type(op: str, a: CType, b: CType) -> IntType:
    mine, theirs = ap_type(a), ap_type(b)
    if op == "/":
        result = binary_type(BinaryOp.FLOORDIV, mine, theirs)
        assert isinstance(result, IntType)
        return result
    return IntType(min(mine.width, theirs.width + (mine.signed and not theirs.signed)), mine.signed)


def floor_divide(ops: ExactOps, a: Exact, b: Exact) -> Exact:
    """``floor(a / b)``."""
    if a.const is not None and b.const:
        return constant(a.const // b.const)
    a, b = ops.whole(a), ops.whole(b)
    if (a.low >= 0 and b.low >= 0) or (a.high <= 0 and b.high <= 0):
        return truncated(ops, "/", a, b)
    if b.const is not None and b.const > 0 and b.const & (b.const - 1) == 0:
        return shift_right(ops, a, constant(b.const.bit_length() - 1))
    quotient = _by_helper(ops, "weft::floor_div", a, b)
    if b.const is not None and b.const > 0:
        return replace(quotient, low=a.low // b.const, high=a.high // b.const)
    return quotient


def ceil_divide(ops: ExactOps, a: Exact, b: Exact) -> Exact:
    """``ceil(a / b)``."""
    if a.const is not None and b.const:
        return constant(-(-a.const // b.const))
    return _by_helper(ops, "weft::ceil_div", ops.whole(a), ops.whole(b))


def _by_helper(ops: ExactOps, helper: str, a: Exact, b: Exact) -> Exact:
    (x, tx), (y, ty) = division_operands(ops, a, b)
    ops.needs.headers.add("weft_math.h")
    most = max(abs(a.low), abs(a.high))
    is_int = is_c(tx) and is_c(ty)
    dtype = INT if is_int else _division_type("/", tx, ty)
    return result(call(helper, x, y), dtype, -most, most)


def floor_modulo(ops: ExactOps, a: Exact, b: Exact) -> Exact:
    """``a - b * floor(a / b)``: the sign of the divisor."""
    a, b = ops.whole(a), ops.whole(b)
    if b.const in (1, -1):
        return constant(0)
    if a.const is not None and b.const:
        return constant(a.const % b.const)
    low, high = min(b.low + 1, 0), max(b.high - 1, 0)
    if a.low >= 0 and b.low >= 0:
        return truncated(ops, "%", a, b)
    if b.const is not None and b.const > 0 and b.const & (b.const - 1) == 0:
        return bitwise(ops, "&", a, constant(b.const - 1))
    (x, tx), (y, ty) = division_operands(ops, a, b)
    ops.needs.headers.add("weft_math.h")
    cpp = call("weft::floor_mod", x, y)
    if is_c(tx) and is_c(ty):
        return Exact(cpp, INT, low, high)
    rest = _division_type("%", tx, ty)
    dtype = binary_type(BinaryOp.ADD, rest, ap_type(ty))
    assert isinstance(dtype, IntType)
    return result(cpp, dtype, low, high)


def fixed_divide(
    ops: ExactOps, a: Exact, b: Exact, lhs: FixedType, rhs: FixedType, dst: FixedType
) -> Exact:
    """``a / b`` of ``ap_fixed``, whose fraction and wrapping follow from the static types."""
    a = ops.with_scale(ops.meant(a, lhs.width, lhs.signed), lhs.frac)
    b = ops.with_scale(ops.meant(b, rhs.width, rhs.signed), rhs.frac)
    low, high = bounds(dst)
    dtype = binary_type(BinaryOp.DIV, ap_type(lhs), ap_type(rhs))
    assert isinstance(dtype, FixedType)
    return result(
        infix("/", as_fraction(ops, a, lhs), as_fraction(ops, b, rhs)), dtype, low, high, dst.frac
    )


def as_fraction(ops: ExactOps, x: Exact, dtype: FixedType) -> Cpp:
    """The expression in a static type of just this width, fraction and sign."""
    plain = FixedType(dtype.width, dtype.integer, dtype.signed)
    if x.const is not None and x.scale == dtype.frac:
        x = replace(x, type=plain)
    cpp, static = ops.code(x)
    found = ap_type(static)
    if not is_c(static) and (found.width, frac_of(found), found.signed) == (
        plain.width,
        plain.frac,
        plain.signed,
    ):
        return cpp
    return call(ops.needs.type(plain), cpp)


# ------------------------------------------------------------------------------ bits and shifts


def bitwise(ops: ExactOps, op: str, a: Exact, b: Exact) -> Exact:
    """``a & b``, ``a | b``, ``a ^ b`` of two's complement numbers."""
    if a.const is not None and b.const is not None:
        return constant(_FOLDED[op](a.const, b.const))
    a, b = ops.whole(a), ops.whole(b)
    bits = max(v.bit_length() for x in (a, b) for v in (x.low, x.high, ~x.low, ~x.high) if v >= 0)
    if op == "&" and (a.low >= 0 or b.low >= 0):
        low, high = 0, min(x.high for x in (a, b) if x.low >= 0)
    else:
        low, high = (0 if a.low >= 0 and b.low >= 0 else -(1 << bits)), (1 << bits) - 1
    (x, tx), (y, ty) = ops.pair(a, b)
    if is_c(tx) and is_c(ty):
        return Exact(infix(op, x, y), INT, low, high)
    dtype = binary_type(BinaryOp(op), ap_type(tx), ap_type(ty))
    assert isinstance(dtype, IntType)
    return result(infix(op, x, y), dtype, low, high)


def complement(ops: ExactOps, x: Exact, width: int) -> Exact:
    """``~x`` of a residue of ``width`` bits."""
    if x.const is not None:
        return constant(~x.const)
    x = ops.whole(x)
    _, dtype = ops.code(x)
    static = ap_type(dtype)
    if not static.signed and static.width < width:
        x = ops.cast(x, IntType(width, signed=False))
    cpp, dtype = ops.code(x)
    if is_c(dtype):
        return Exact(prefix("~", cpp), INT, ~x.high, ~x.low)
    assert isinstance(dtype, IntType)
    if dtype.signed:
        return result(prefix("~", cpp), dtype, ~x.high, ~x.low)
    ones = (1 << dtype.width) - 1
    return result(prefix("~", cpp), dtype, ones - x.high, ones - x.low)


def shift_left(ops: ExactOps, x: Exact, amount: Exact, width: int) -> Exact:
    """``x << amount``, of which the low ``width`` bits count."""
    if x.const is not None and amount.const is not None:
        return constant(x.const << amount.const)
    x = ops.whole(x)
    cpp, dtype = ops.code(x)
    if amount.const is not None and amount.const <= _INT_SHIFT and is_c(dtype) and x.low >= 0:
        high = x.high << amount.const
        if fits_int(high):
            text = infix("<<", cpp, ops.code(amount)[0])
            return Exact(text, INT, x.low << amount.const, high)
    if not isinstance(dtype, IntType) or dtype.width < width or x.const is not None:
        x = ops.cast(x, IntType(width, signed=x.low < 0))
        cpp, dtype = ops.code(x)
    assert isinstance(dtype, IntType)
    low, high = bounds(dtype)
    return result(infix("<<", cpp, _amount(ops, amount)), dtype, low, high)


def shift_right(ops: ExactOps, x: Exact, amount: Exact) -> Exact:
    """``floor(x / 2**amount)``."""
    if x.const is not None and amount.const is not None:
        return constant(x.const >> amount.const)
    x = ops.whole(x)
    cpp, dtype = ops.code(x)
    if not isinstance(dtype, IntType) and (amount.const is None or dtype == BOOL):
        x = ops.cast(x, IntType(32))
        cpp, dtype = ops.code(x)
    elif x.const is not None and isinstance(dtype, IntType):  # C++ shifts by less than 64 only
        x = ops.cast(x, dtype)
        cpp, dtype = ops.code(x)
    low, high = min(x.low, 0), max(x.high, -1)
    if amount.const is not None and is_c(dtype):
        amount = constant(min(amount.const, _INT_SHIFT))
    if amount.const is not None:
        low, high = x.low >> amount.const, x.high >> amount.const
    return result(infix(">>", cpp, _amount(ops, amount)), dtype, low, high)


def _amount(ops: ExactOps, amount: Exact) -> Cpp:
    return ops.code(ops.whole(amount))[0]
