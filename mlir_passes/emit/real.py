"""Floats: operators, comparisons and functions as C++, conversions from exact values."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expressions.types import FixedType, FloatType, IntType
from mlir_passes.emit.cpp import Cpp, call, infix, prefix
from mlir_passes.emit.exact import ExactOps
from mlir_passes.emit.logic import truth
from mlir_passes.emit.number import Exact, constant
from mlir_passes.emit.types import Needs, no_form


@dataclass(frozen=True, slots=True)
class Real:
    """A float expression; ``bare`` is the operand where it is a conversion to its type."""

    cpp: Cpp
    type: str
    bare: Cpp | None = None


REAL_INFIX = {"arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.divf": "/"}
# Predicates of arith.cmpf that are one operator of C++ (false for NaN, but for une).
_REAL_TESTS = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
# Unordered ones: the negation of the opposite ordered one.
_REAL_NEGATED = {9: "<=", 10: "<", 11: ">=", 12: ">"}
# math.<function> and float operators that are functions in weft_math.h, in namespace hls.
_REAL_FUNCTIONS = {
    "arith.remf": "hls::fmod",
    "arith.maximumf": "weft::maximum",
    "arith.minimumf": "weft::minimum",
    "arith.maxnumf": "hls::fmax",
    "arith.minnumf": "hls::fmin",
    "math.absf": "hls::fabs",
    "math.powf": "hls::pow",
    "math.roundeven": "hls::rint",
}
_FUNCTIONS = frozenset(
    [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "floor",
        "fma",
        "log",
        "log10",
        "log1p",
        "log2",
        "round",
        "rsqrt",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "trunc",
    ]
)


FLOAT_TYPES: dict[str, FloatType] = {
    "f16": FloatType("f16"),
    "bf16": FloatType("bf16"),
    "f32": FloatType("f32"),
    "f64": FloatType("f64"),
}


def function_call(needs: Needs, op: str, real: str, operands: tuple[Cpp, ...]) -> Real:
    """A function of ``math`` or of ``arith``: one of hls_math.h, or of ours."""
    dialect, _, base = op.partition(".")
    known = dialect == "math" and base in _FUNCTIONS
    function = _REAL_FUNCTIONS.get(op, f"hls::{base}" if known else "")
    if not real or not function:
        raise no_form(op)
    needs.headers.add("weft_math.h")
    if real in ("f16", "bf16"):
        needs.headers.add("weft_float.h")
    return Real(call(function, *operands), real)


def comparison(predicate: int, a: Cpp, b: Cpp) -> Exact:
    """A predicate of ``arith.cmpf``."""
    if predicate in _REAL_TESTS:
        return truth(infix(_REAL_TESTS[predicate], a, b))
    if predicate in _REAL_NEGATED:
        return truth(prefix("!", infix(_REAL_NEGATED[predicate], a, b)))
    if predicate in (0, 15):
        return constant(int(predicate == 15))
    ordered = infix("&&", infix("==", a, a), infix("==", b, b))
    if predicate in (7, 14):
        return truth(ordered if predicate == 7 else prefix("!", ordered))
    differs = infix("||", infix("<", a, b), infix(">", a, b))
    return truth(differs if predicate == 6 else prefix("!", differs))


def nearest(ops: ExactOps, x: Exact, real: str) -> Real:
    """An exact value as the nearest float, ties to even; infinite where it is too large.

    Raises:
        IRError: W320, values that a double has no room for.
    """
    cpp, static = ops.code(x)
    dtype = FLOAT_TYPES[real]
    if not _held(x, "f64"):
        raise no_form(
            f"a conversion of {x.bits} bits, {max(x.scale, 0)} of them right of the point",
            "it needs larger or smaller exponents than a double has",
        )
    if isinstance(static, IntType) and static.width > 64:  # the headers cut it to 64 bits
        cpp = call(ops.needs.type(FixedType(static.width, static.width, static.signed)), cpp)
    if real == "f64" or (real == "f32" and _held(x, "f32")):
        return Real(call(ops.needs.type(dtype), cpp), real)
    if x.bits < 53:  # all of them fit a float or a double: it is rounded once
        inner = call("float" if x.bits < 24 and _held(x, "f32") else "double", cpp)
    else:
        ops.needs.headers.add("weft_float.h")
        inner = call("weft::round_to_odd", cpp)
    return Real(call(ops.needs.type(dtype), inner), real)


_EXPONENTS = {"f32": 128, "f64": 1024}


def _held(x: Exact, real: str) -> bool:
    """All values are zero or normal numbers of a type, or round to infinity at its end. The headers
    convert no others: they let exponents wrap.
    """
    largest = _EXPONENTS[real]
    return x.bits - x.scale <= largest and x.scale <= largest - 2
