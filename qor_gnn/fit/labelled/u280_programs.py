"""The seven plain-Vitis PolyBench designs of the U280 data as programs: MEDIUM, f32, no pragmas.

The loops are those of the sources that the reports name: ``loop3`` is the loop that the tool calls
``VITIS_LOOP_<line>_3``. Every array is an argument (``ap_memory``): the reports count no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f32
from dsl.programs.program import Program


@cache
def program(kernel: str) -> Program:
    """A kernel by name.

    Raises:
        KeyError: it is none of the seven.
    """
    p = ProgramBuilder(kernel if kernel[0].isalpha() else f"k{kernel}")
    _KERNELS[kernel](p)
    return p.build()


def _gemm(p: ProgramBuilder) -> None:
    alpha, beta = p.placeholder("alpha", f32), p.placeholder("beta", f32)
    a, b = p.placeholder("A", f32, (200, 240)), p.placeholder("B", f32, (240, 220))
    c = p.placeholder("C", f32, (200, 220))
    i, j = p.loops(loop1=200, loop2=220)
    k, h = p.loops(loop3=240, loop4=220)
    p.compute("S0", (i, j), c[i, j], c[i, j] * beta)
    p.compute("S1", (i, k, h), c[i, h], c[i, h] + alpha * a[i, k] * b[k, h], after=("S0", i))


def _2mm(p: ProgramBuilder) -> None:
    alpha, beta = p.placeholder("alpha", f32), p.placeholder("beta", f32)
    tmp, a = p.placeholder("tmp", f32, (180, 190)), p.placeholder("A", f32, (180, 210))
    b, c = p.placeholder("B", f32, (210, 190)), p.placeholder("C", f32, (190, 220))
    d = p.placeholder("D", f32, (180, 220))
    i, j, k = p.loops(loop1=180, loop2=190, loop3=210)
    p.compute("S0", (i, j), tmp[i, j], 0.0)
    value = tmp[i, j] + alpha * a[i, k] * b[k, j]
    p.compute("S1", (i, j, k), tmp[i, j], value, after=("S0", j))
    i, j, k = p.loops(loop4=180, loop5=220, loop6=190)
    p.compute("S2", (i, j), d[i, j], d[i, j] * beta)
    p.compute("S3", (i, j, k), d[i, j], d[i, j] + tmp[i, k] * c[k, j], after=("S2", j))


def _3mm(p: ProgramBuilder) -> None:
    ni, nj, nk, nl, nm = 180, 190, 200, 210, 220
    e, f = p.placeholder("E", f32, (ni, nj)), p.placeholder("F", f32, (nj, nl))
    g = p.placeholder("G", f32, (ni, nl))
    a, b = p.placeholder("A", f32, (ni, nk)), p.placeholder("B", f32, (nk, nj))
    c, d = p.placeholder("C", f32, (nj, nm)), p.placeholder("D", f32, (nm, nl))
    nests = (((ni, nj, nk), e, a, b), ((nj, nl, nm), f, c, d), ((ni, nl, nj), g, e, f))
    for n, (extents, result, left, right) in enumerate(nests):
        i, j, k = (p.loop(f"loop{3 * n + m}", x) for m, x in enumerate(extents, 1))
        p.compute(f"S{2 * n}", (i, j), result[i, j], 0.0)
        value = result[i, j] + left[i, k] * right[k, j]
        p.compute(f"S{2 * n + 1}", (i, j, k), result[i, j], value, after=(f"S{2 * n}", j))


def _atax(p: ProgramBuilder) -> None:
    m, n = 390, 410
    a, x = p.placeholder("A", f32, (m, n)), p.placeholder("x", f32, (n,))
    y, tmp = p.placeholder("y", f32, (n,)), p.placeholder("tmp", f32, (m,))
    (i,) = p.loops(loop1=n)
    p.compute("S0", (i,), y[i], 0.0)
    i, j, k = p.loops(loop2=m, loop3=n, loop4=n)
    p.compute("S1", (i,), tmp[i], 0.0)
    p.compute("S2", (i, j), tmp[i], tmp[i] + a[i, j] * x[j], after=("S1", i))
    p.compute("S3", (i, k), y[k], y[k] + a[i, k] * tmp[i], after=("S2", i))


def _bicg(p: ProgramBuilder) -> None:
    m, n = 390, 410
    a = p.placeholder("A", f32, (n, m))
    s, q = p.placeholder("s", f32, (m,)), p.placeholder("q", f32, (n,))
    x, r = p.placeholder("p", f32, (m,)), p.placeholder("r", f32, (n,))
    (i,) = p.loops(loop1=m)
    p.compute("S0", (i,), s[i], 0.0)
    i, j = p.loops(loop2=n, loop3=m)
    p.compute("S1", (i,), q[i], 0.0)
    p.compute("S2", (i, j), s[j], s[j] + r[i] * a[i, j], after=("S1", i))
    p.compute("S3", (i, j), q[i], q[i] + a[i, j] * x[j], after=("S2", j))


def _gesummv(p: ProgramBuilder) -> None:
    n = 250
    alpha, beta = p.placeholder("alpha", f32), p.placeholder("beta", f32)
    a, b = p.placeholder("A", f32, (n, n)), p.placeholder("B", f32, (n, n))
    tmp, x, y = (p.placeholder(name, f32, (n,)) for name in ("tmp", "x", "y"))
    i, j = p.loops(loop1=n, loop2=n)
    p.compute("S0", (i,), tmp[i], 0.0)
    p.compute("S1", (i,), y[i], 0.0, after=("S0", i))
    p.compute("S2", (i, j), tmp[i], a[i, j] * x[j] + tmp[i], after=("S1", i))
    p.compute("S3", (i, j), y[i], b[i, j] * x[j] + y[i], after=("S2", j))
    p.compute("S4", (i,), y[i], alpha * tmp[i] + beta * y[i], after=("S3", i))


def _mvt(p: ProgramBuilder) -> None:
    n = 400
    names = ("x1", "x2", "y_1", "y_2")
    x1, x2, y1, y2 = (p.placeholder(name, f32, (n,)) for name in names)
    a = p.placeholder("A", f32, (n, n))
    i, j = p.loops(loop1=n, loop2=n)
    p.compute("S0", (i, j), x1[i], x1[i] + a[i, j] * y1[j])
    i, j = p.loops(loop3=n, loop4=n)
    p.compute("S1", (i, j), x2[i], x2[i] + a[j, i] * y2[j])


_KERNELS: dict[str, Callable[[ProgramBuilder], None]] = {
    "2mm": _2mm,
    "3mm": _3mm,
    "atax": _atax,
    "bicg": _bicg,
    "gemm": _gemm,
    "gesummv": _gesummv,
    "mvt": _mvt,
}
KERNELS = tuple(_KERNELS)
