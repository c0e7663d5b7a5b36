"""Every operator of arith on signless integers, as another front end might write it: wrapping
arithmetic, mixed signs, nothing annotated. Held to arithmetic modulo 2**n in Python.
"""

import itertools
import math

import numpy as np
import pytest

from tests.emit.running import body, emitted, run, run_all

WIDTH = 6
MASK = (1 << WIDTH) - 1
LOW, HIGH = -(1 << WIDTH - 1), (1 << WIDTH - 1) - 1


def s(x: int) -> int:
    """The residue as a signed number."""
    x &= MASK
    return x - (1 << WIDTH) if x >> (WIDTH - 1) else x


def u(x: int) -> int:
    return x & MASK


def cut(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def never(a, b):
    return False


def by_zero(a, b):
    return b == 0


def overflows(a, b):
    return b == 0 or (a == LOW and b == -1)


def too_far(a, b):
    return u(b) >= WIDTH


BINARY = {
    "addi": (lambda a, b: a + b, never),
    "subi": (lambda a, b: a - b, never),
    "muli": (lambda a, b: a * b, never),
    "divsi": (cut, overflows),
    "divui": (lambda a, b: u(a) // u(b), by_zero),
    "remsi": (lambda a, b: a - b * cut(a, b), overflows),
    "remui": (lambda a, b: u(a) % u(b), by_zero),
    "floordivsi": (lambda a, b: a // b, overflows),
    "ceildivsi": (lambda a, b: -(-a // b), overflows),
    "ceildivui": (lambda a, b: -(-u(a) // u(b)), by_zero),
    "andi": (lambda a, b: a & b, never),
    "ori": (lambda a, b: a | b, never),
    "xori": (lambda a, b: a ^ b, never),
    "shli": (lambda a, b: a << u(b), too_far),
    "shrsi": (lambda a, b: a >> u(b), too_far),
    "shrui": (lambda a, b: u(a) >> u(b), too_far),
    "maxsi": (max, never),
    "minsi": (min, never),
    "maxui": (lambda a, b: max(u(a), u(b)), never),
    "minui": (lambda a, b: min(u(a), u(b)), never),
}
PREDICATES = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
    "ult": lambda a, b: u(a) < u(b),
    "ule": lambda a, b: u(a) <= u(b),
    "ugt": lambda a, b: u(a) > u(b),
    "uge": lambda a, b: u(a) >= u(b),
}


def kernel(name: str, lines: str, n: int, result: str = f"i{WIDTH}") -> str:
    return f"""
    func.func @{name}(%x: memref<{n}xi{WIDTH}>, %y: memref<{n}xi{WIDTH}>,
                      %out: memref<{n}x{result}>) {{
      affine.for %i = 0 to {n} {{
        %a = affine.load %x[%i] : memref<{n}xi{WIDTH}>
        %b = affine.load %y[%i] : memref<{n}xi{WIDTH}>
        {lines}
        affine.store %r, %out[%i] : memref<{n}x{result}>
      }}
      return
    }}"""


def check(cases: list[tuple[str, str, list, list]]) -> None:
    """Cases are (name, MLIR lines that make %r, pairs, expected residues)."""
    sources, inputs = [], []
    for name, lines, pairs, _ in cases:
        sources.append(emitted(kernel(name, lines, len(pairs))))
        x, y = (np.array(v, np.int8) for v in zip(*pairs, strict=True))
        inputs.append({"arg0": x, "arg1": y, "arg2": np.zeros(len(pairs), np.int8)})
    for (name, _, pairs, want), got in zip(cases, run_all(sources, inputs), strict=True):
        wrong = [
            (p, g, s(w)) for p, g, w in zip(pairs, got["arg2"].tolist(), want, strict=True)
            if g != s(w)
        ]  # fmt: skip
        assert not wrong, (name, wrong[:4])


PAIRS = list(itertools.product(range(LOW, HIGH + 1), range(LOW, HIGH + 1, 3)))


def test_binary_operators_wrap():
    check(
        [
            (
                op,
                f"%r = arith.{op} %a, %b : i{WIDTH}",
                [p for p in PAIRS if not undefined(*p)],
                [f(*p) for p in PAIRS if not undefined(*p)],
            )
            for op, (f, undefined) in BINARY.items()
        ]
    )


def test_operators_on_results_that_wrapped():
    """The operand is ``a * a + b`` modulo 2**n, read as signed and as unsigned."""
    cases = []
    for op in ("divsi", "remui", "shrsi", "maxui", "floordivsi"):
        f, undefined = BINARY[op]
        lines = f"""%m = arith.muli %a, %a : i{WIDTH}
        %s = arith.addi %m, %b : i{WIDTH}
        %r = arith.{op} %s, %b : i{WIDTH}"""
        pairs = [(a, b) for a, b in PAIRS if not undefined(s(a * a + b), b)]
        cases.append((op, lines, pairs, [f(s(a * a + b), b) for a, b in pairs]))
    check(cases)


def test_comparisons():
    check(
        [
            (
                predicate,
                f"""%s = arith.addi %a, %a : i{WIDTH}
        %c = arith.cmpi {predicate}, %s, %b : i{WIDTH}
        %r = arith.extui %c : i1 to i{WIDTH}""",
                PAIRS,
                [int(f(s(2 * a), b)) for a, b in PAIRS],
            )
            for predicate, f in PREDICATES.items()
        ]
    )


@pytest.mark.parametrize("more", [8, 40])
def test_extensions_and_truncations(more):
    check(
        [
            (
                f"{extend}{more}",
                f"""%s = arith.addi %a, %b : i{WIDTH}
        %w = arith.{extend} %s : i{WIDTH} to i{more}
        %c = arith.constant 5 : i{more}
        %q = arith.{divide} %w, %c : i{more}
        %r = arith.trunci %q : i{more} to i{WIDTH}""",
                PAIRS,
                [f(a + b) for a, b in PAIRS],
            )
            for extend, divide, f in (
                ("extsi", "divsi", lambda x: cut(s(x), 5)),
                ("extui", "divui", lambda x: u(x) // 5),
            )
        ]
    )


def test_logic_of_truth_values():
    lines = f"""%c = arith.cmpi slt, %a, %b : i{WIDTH}
        %z = arith.constant 0 : i{WIDTH}
        %d = arith.cmpi eq, %b, %z : i{WIDTH}
        %t = arith.constant true
        %n = arith.xori %d, %t : i1
        %e = arith.andi %c, %n : i1
        %f = arith.ori %e, %d : i1
        %g = arith.xori %f, %c : i1
        %m = arith.extsi %g : i1 to i{WIDTH}
        %r = arith.select %f, %m, %a : i{WIDTH}"""
    assert "!" in body(kernel("logic", lines, 4))

    def want(a, b):
        c, d = a < b, b == 0
        f = (c and not d) or d
        return -(f != c) if f else a

    check([("logic", lines, PAIRS, [want(a, b) for a, b in PAIRS])])


def test_patterns_of_select():
    zero = f"%z = arith.constant 0 : i{WIDTH}\n"
    absolute = (
        zero
        + f"""%c = arith.cmpi slt, %a, %z : i{WIDTH}
        %n = arith.subi %z, %a : i{WIDTH}
        %r = arith.select %c, %n, %a : i{WIDTH}"""
    )
    modulo = (
        zero
        + f"""%m = arith.remsi %a, %b : i{WIDTH}
        %p = arith.cmpi slt, %m, %z : i{WIDTH}
        %q = arith.cmpi slt, %b, %z : i{WIDTH}
        %d = arith.xori %p, %q : i1
        %e = arith.cmpi ne, %m, %z : i{WIDTH}
        %f = arith.andi %d, %e : i1
        %g = arith.addi %m, %b : i{WIDTH}
        %r = arith.select %f, %g, %m : i{WIDTH}"""
    )
    smallest = f"""%c = arith.cmpi slt, %b, %a : i{WIDTH}
        %r = arith.select %c, %b, %a : i{WIDTH}"""
    assert "weft::abs(arg0[i])" in body(kernel("f", absolute, 4))
    assert "weft::floor_mod(arg0[i], arg1[i])" in body(kernel("f", modulo, 4))
    assert "std::min<ap_int<6>>(arg0[i], arg1[i])" in body(kernel("f", smallest, 4))
    defined = [p for p in PAIRS if not overflows(*p)]
    check(
        [
            ("absolute", absolute, PAIRS, [abs(a) for a, _ in PAIRS]),
            ("modulo", modulo, defined, [a % b for a, b in defined]),
            ("smallest", smallest, PAIRS, [min(a, b) for a, b in PAIRS]),
        ]
    )


def test_the_same_shape_with_other_operands_is_no_pattern():
    lines = f"""%z = arith.constant 0 : i{WIDTH}
        %c = arith.cmpi slt, %b, %z : i{WIDTH}
        %n = arith.subi %z, %a : i{WIDTH}
        %r = arith.select %c, %n, %a : i{WIDTH}"""
    assert "abs" not in body(kernel("f", lines, 4))
    check([("f", lines, PAIRS, [-a if b < 0 else a for a, b in PAIRS])])


# --------------------------------------------------------------------------------------- floats

X = np.array([0.0, -0.0, 1.5, -2.25, 1e30, math.inf, -math.inf, math.nan, 3.0], np.float32)


def float_kernel(name: str, lines: str, n: int, result: str = "f32") -> str:
    return f"""
    func.func @{name}(%x: memref<{n}xf32> {{hls.name = "x"}}, %y: memref<{n}xf32> {{hls.name = "y"}},
                      %out: memref<{n}x{result}> {{hls.name = "z"}}) {{
      affine.for %i = 0 to {n} {{
        %a = affine.load %x[%i] : memref<{n}xf32>
        %b = affine.load %y[%i] : memref<{n}xf32>
        {lines}
        affine.store %r, %out[%i] : memref<{n}x{result}>
      }}
      return
    }}"""


def test_comparisons_of_floats():
    a, b = (v.ravel() for v in np.meshgrid(X, X))
    either_nan = np.isnan(a) | np.isnan(b)
    ordered = {
        "oeq": a == b,
        "ogt": a > b,
        "oge": a >= b,
        "olt": a < b,
        "ole": a <= b,
        "one": (a != b) & ~either_nan,
        "ord": ~either_nan,
        "false": np.zeros_like(either_nan),
    }
    want = dict(ordered)
    for name in ("eq", "gt", "ge", "lt", "le", "ne"):
        want[f"u{name}"] = ordered[f"o{name}"] | either_nan
    want |= {"uno": either_nan, "true": np.ones_like(either_nan)}
    sources = [
        emitted(
            float_kernel(
                f"f_{p}", f"%c = arith.cmpf {p}, %a, %b : f32\n%r = arith.uitofp %c : i1 to f32",
                len(a),
            )
        )
        for p in want
    ]  # fmt: skip
    inputs = [{"x": a, "y": b, "z": np.zeros_like(a)}] * len(sources)
    for (predicate, expected), got in zip(want.items(), run_all(sources, inputs), strict=True):
        assert got["z"].tolist() == expected.astype(np.float32).tolist(), predicate


FLOAT_OPS = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
}


def test_operators_of_floats():
    a, b = (v.ravel() for v in np.meshgrid(X, X))
    sources = [
        emitted(float_kernel(f"f_{op}", f"%r = arith.{op} %a, %b : f32", len(a)))
        for op in FLOAT_OPS
    ]
    inputs = [{"x": a, "y": b, "z": np.zeros_like(a)}] * len(sources)
    with np.errstate(all="ignore"):
        for (op, f), got in zip(FLOAT_OPS.items(), run_all(sources, inputs), strict=True):
            want = f(a, b)
            assert np.array_equal(np.isnan(got["z"]), np.isnan(want)), op
            assert np.array_equal(np.nan_to_num(got["z"]), np.nan_to_num(want)), op


def test_conversions_between_floats_and_bits():
    lines = """%k = arith.fptosi %a : f32 to i32
        %f = arith.sitofp %k : i32 to f32
        %t = arith.bitcast %b : f32 to i32
        %one = arith.constant 1 : i32
        %v = arith.addi %t, %one : i32
        %w = arith.bitcast %v : i32 to f32
        %r = arith.addf %f, %w : f32"""
    x = np.array([0.25, -0.25, -1.75, 2.5, -7.0], np.float32)
    y = np.array([1.0, -1.0, 0.5, 3.0, 1e-3], np.float32)
    got = run(float_kernel("f", lines, 5), x=x, y=y, z=np.zeros(5, np.float32))["z"]
    following = (y.view(np.int32) + 1).view(np.float32)
    assert got.tolist() == (np.trunc(x) + following).tolist()


@pytest.mark.parametrize(
    "name",
    ["absf", "ceil", "cos", "exp", "floor", "log1p", "rsqrt", "sin", "sqrt", "tanh", "trunc"],
)
def test_functions(name):
    assert "x[i]" in body(float_kernel("f", f"%r = math.{name} %a : f32", 4))


def test_functions_compute_what_they_say():
    names = {
        "absf": np.abs,
        "ceil": np.ceil,
        "exp": np.exp,
        "floor": np.floor,
        "log": np.log,
        "round": lambda x: np.trunc(x + 0.5),
        "roundeven": np.rint,
        "rsqrt": lambda x: 1 / np.sqrt(x),
        "sqrt": np.sqrt,
        "tanh": np.tanh,
        "atan": np.arctan,
        "cbrt": np.cbrt,
    }
    x = np.array([0.5, 1.0, 2.5, 3.49, 0.01], np.float32)
    sources = [emitted(float_kernel(f"f_{f}", f"%r = math.{f} %a : f32", 5)) for f in names]
    results = run_all(sources, [{"x": x, "y": x, "z": np.zeros(5, np.float32)}] * len(sources))
    for (name, f), got in zip(names.items(), results, strict=True):
        np.testing.assert_allclose(got["z"], f(x), rtol=3e-7, err_msg=name)
