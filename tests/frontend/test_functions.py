"""Functions without a decorator, nested ones and lambdas: what Python computes, and what is said of others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.frontend.conftest import Load

FUNCTIONS = """\
def clipped(v, low=0, high=20):
    '''An expression.'''
    return min(max(v, low), high)

square = lambda v: v * v

def power(v, n):
    return 1 if n == 0 else v * power(v, n - 1)

def mac(a, b, acc):
    p = a * b
    if p > 50:
        p = 50
    return acc + p

def fill(dst, v):
    for i in range(len(dst)):
        dst[i] = v + i

def both(a, b):
    s = a + b
    return s, a - b

def smooth(x):
    y = np.zeros(len(x), np.int32)
    for i in range(1, len(x) - 1):
        y[i] = (x[i - 1] + x[i + 1]) & 1023
    return y

def sign(v):
    if v > 3:
        return 1
    if v < 2:
        return -1
    return 0

def tree(x, first, n):
    if n == 1:
        return x[first]
    half = n // 2
    return tree(x, first, half) + tree(x, first + half, half)

def ones(v):
    v &= 255
    n = 0
    while v > 0:
        n += v & 1
        v >>= 1
    return n

def root(n):
    r = 0
    bit = 1 << 8
    while bit != 0:
        if n >= r + bit:
            n -= r + bit
            r += 2 * bit
        r >>= 1
        bit >>= 2
    return r

def digits(v):
    v = (v & 7) * 1000
    n = 0
    while v > 0:
        v //= 2
        n += 1
    return n

def doubled(v):
    v <<= 1
    if v & 256:
        v ^= 283
    return v

def distance(a, b):
    return sum(abs(t - q) for t, q in zip(a, b))

"""
HEAD = f"{FUNCTIONS}@weft.kernel\ndef k(x: i32[8], m: i8[3, 8], y: i32[8], z: i32[8]):\n    "
BODIES = {
    "expressions": "for i in range(8):\n    y[i] = clipped(x[i], high=9) + square(x[i] & 7) - clipped(i)",
    "recursion": "for i in range(8):\n    y[i] = power(x[i] & 3, 3)",
    "statements": "for i in range(8):\n    y[i] = mac(x[i] & 63, 2, 1) + sign(x[i])",
    "writes": "fill(z, 3)\nfill(y[::2], x[1])",
    "several": "for i in range(8):\n    p, q = both(x[i] & 1023, i)\n    y[i] = p * q",
    "arrays": "t = smooth(x)\ny[:] = t + smooth(z)\nz[:] = smooth(x - 1)",
    "tree": "y[0] = tree(x, 0, 8)",
    "generators": "t: i32 = 3\nfor i in range(3):\n    y[i] = distance(m[i], m[0]) + t",
    "of arrays": "y[:] = square(x & 63) + square(m[1])\nz[0] = square(m[2] - 1).sum()",
    "nested": "n = 3\ndef f(v, w=2):\n    t = v * n\n    for j in range(n):\n        t += w\n    return t\ng = lambda i: x[i] if i < n else z[i]\nfor i in range(8):\n    y[i] = f(x[i]) + g(i) + f(i, w=x[0])",
    "closure": "for i in range(8):\n    v = x[i] & 15\n    add = lambda w: w + v + i\n    y[i] = add(1) * add(v)",
    "own arguments": "def next(v):\n    v = v * 2 + w\n    return v\nw = 3\nfor i in range(8):\n    y[i] = ones(x[i]) + root(x[i] & 255) * 10 + next(i)\n    z[i] = doubled(m[1, i]) + digits(m[0, i])",
    "shadowed": "v: i32 = 5\nlow = 7\nfor i in range(8):\n    y[i] = clipped(x[i]) + v + low",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


def test_sizes_of_a_module_reach_them(kernel: Load) -> None:
    made = kernel(
        "def last(x):\n    n = x[N - 1]\n    return n + N\n\n"
        "@weft.kernel\ndef k(x: i32[N], y: i32[1]):\n    y[0] = last(x)\n"
    )
    assert made.program.array("x").shape == (4,)
    assert made.at(N=7).program.array("x").shape == (7,)


REFUSED = {
    "def f(n):\n    return f(n)": "error[W152]: 'f' calls itself more than 32 deep",
    "def f(n):\n    m = f(n)\n    return m": "error[W152]: the kernel 'f' calls itself",
    "def f(*n):\n    return 1": "error[W150]: f(x[0]) does not fit",
    "def f(n, m=25):\n    return n if m < 2 else f(n, m - 1) + f(n, m - 2)": "error[W108]: more than 10,000 calls",
    "def f(n, m):\n    return n": "error[W150]: f(x[0]) does not fit 'f(n, m)'",
    "def f(n):\n    return unknown + n": "error[W130]: unknown name 'unknown' in 'f'",
    "def f(n):\n    for i in n:\n        pass": "error[W109]",
    "def f(n):\n    m = n": "error[W153]: 'f' has no result",
    "def f(n):\n    if n > 0:\n        return 1": "error[W102]: 'f' has a result, and can end without",
    "from statistics import mean as f": "error[W111]: f(...) is not supported in a kernel",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_others_are_refused(error: Callable[[str], str], text: str, message: str) -> None:
    found = error(f"{text}\n\n@weft.kernel\ndef k(x: i32[8], y: i32[8]):\n    y[0] = f(x[0])\n")
    assert message in found


def test_a_nested_one_is_passed_what_it_needs(error: Callable[[str], str]) -> None:
    found = error(
        "@weft.kernel\ndef k(x: i32[8], y: i32[8]):\n    s = x[0]\n    def f(v):\n        t = v + s\n        return t\n"
        "    y[0] = f(1)\n"
    )
    assert found.endswith("help: 's' is a local of the kernel: pass it to 'f' as an argument")
