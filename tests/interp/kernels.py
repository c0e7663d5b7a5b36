"""Small programs, built from the dataclasses of `dsl.programs.program` directly."""

from __future__ import annotations

from dsl.expressions.affine import Affine, Cond, Constraint
from dsl.expressions.expr import Access, BinaryOp, Expr, Load
from dsl.expressions.types import DType
from dsl.expressions.typing import Operand, assigned, binary
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage

Sub = Affine | int | str
LOCAL = Storage.LOCAL
ADD, SUB, MUL, DIV = BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV


def v(name: Sub) -> Affine:
    """A subscript or bound."""
    return Affine.of(name)


def loop(
    var: str, low: Sub | tuple[Sub, ...], high: Sub | tuple[Sub, ...], *body: Node, step: int = 1
) -> Loop:
    """``for var in range(low, high, step)``."""
    lows = low if isinstance(low, tuple) else (low,)
    highs = high if isinstance(high, tuple) else (high,)
    return Loop(var, tuple(map(v, lows)), tuple(map(v, highs)), step, body)


def at_least_zero(expr: Affine) -> Cond:
    """``expr >= 0``."""
    return Constraint(expr)


class Maker:
    """Arrays by name, and statements that are numbered."""

    def __init__(self, *arrays: Array) -> None:
        self.arrays = {array.name: array for array in arrays}
        self.count = 0

    def __call__(self, name: str, *subscripts: Sub) -> Load:
        """Read an element."""
        return Load(Access(name, tuple(map(v, subscripts))), self.arrays[name].dtype)

    def set(self, name: str, subscripts: tuple[Sub, ...], value: Operand) -> Stmt:
        """Write an element."""
        dtype = self.arrays[name].dtype
        target = Access(name, tuple(map(v, subscripts)))
        stmt = Stmt(f"S{self.count}", target, assigned(value, dtype))
        self.count += 1
        return stmt

    def program(self, *body: Node) -> Program:
        """The finished program."""
        return Program("kernel", tuple(self.arrays.values()), body)


def total(*terms: Expr) -> Expr:
    """The sum from left to right."""
    result = terms[0]
    for term in terms[1:]:
        result = binary(ADD, result, term)
    return result


def gemm(ni: int, nj: int, nk: int, t: DType) -> Program:
    m = Maker(
        Array("alpha", t, ()),
        Array("beta", t, ()),
        Array("A", t, (ni, nk)),
        Array("B", t, (nk, nj)),
        Array("C", t, (ni, nj)),
    )
    scaled = binary(MUL, m("C", "i", "j"), m("beta"))
    term = binary(MUL, binary(MUL, m("alpha"), m("A", "i", "k")), m("B", "k", "j"))
    return m.program(
        loop("i", 0, ni, loop("j", 0, nj, m.set("C", ("i", "j"), scaled))),
        loop(
            "i",
            0,
            ni,
            loop(
                "j",
                0,
                nj,
                loop("k", 0, nk, m.set("C", ("i", "j"), binary(ADD, m("C", "i", "j"), term))),
            ),
        ),
    )


def two_mm(ni: int, nj: int, nk: int, nl: int, t: DType) -> Program:
    """``D = A @ B @ C`` with a scalar accumulator and a local product."""
    m = Maker(
        Array("A", t, (ni, nk)),
        Array("B", t, (nk, nj)),
        Array("C", t, (nj, nl)),
        Array("D", t, (ni, nl)),
        Array("tmp", t, (ni, nj), LOCAL),
        Array("acc", t, (), LOCAL, scope_depth=2),
    )
    product = binary(MUL, m("A", "i", "k"), m("B", "k", "j"))
    term = binary(MUL, m("tmp", "i", "k"), m("C", "k", "j"))
    return m.program(
        loop(
            "i",
            0,
            ni,
            loop(
                "j",
                0,
                nj,
                m.set("acc", (), 0),
                loop("k", 0, nk, m.set("acc", (), binary(ADD, m("acc"), product))),
                m.set("tmp", ("i", "j"), m("acc")),
            ),
        ),
        loop(
            "i",
            0,
            ni,
            loop(
                "j",
                0,
                nl,
                m.set("D", ("i", "j"), 0),
                loop("k", 0, nj, m.set("D", ("i", "j"), binary(ADD, m("D", "i", "j"), term))),
            ),
        ),
    )


def jacobi_2d(steps: int, n: int, t: DType) -> Program:
    m = Maker(Array("A", t, (n, n)), Array("B", t, (n, n)))

    def sweep(into: str, of: str) -> Loop:
        i, j = v("i"), v("j")
        around = total(
            m(of, i, j), m(of, i, j - 1), m(of, i, j + 1), m(of, i + 1, j), m(of, i - 1, j)
        )
        stmt = m.set(into, (i, j), binary(MUL, 0.2, around))
        return loop("i", 1, n - 1, loop("j", 1, n - 1, stmt))

    return m.program(loop("t", 0, steps, sweep("B", "A"), sweep("A", "B")))


def lu(n: int, t: DType) -> Program:
    m = Maker(Array("A", t, (n, n)))
    term = binary(MUL, m("A", "i", "k"), m("A", "k", "j"))

    def update() -> Stmt:
        return m.set("A", ("i", "j"), binary(SUB, m("A", "i", "j"), term))

    divided = binary(DIV, m("A", "i", "j"), m("A", "j", "j"))
    return m.program(
        loop(
            "i",
            0,
            n,
            loop("j", 0, "i", loop("k", 0, "j", update()), m.set("A", ("i", "j"), divided)),
            loop("j", "i", n, loop("k", 0, "i", update())),
        )
    )


def syrk(n: int, m_: int, t: DType) -> Program:
    m = Maker(Array("A", t, (n, m_)), Array("C", t, (n, n)))
    term = binary(MUL, m("A", "i", "k"), m("A", "j", "k"))
    return m.program(
        loop(
            "i",
            0,
            n,
            loop("j", 0, v("i") + 1, m.set("C", ("i", "j"), binary(MUL, m("C", "i", "j"), 2))),
            loop(
                "k",
                0,
                m_,
                loop(
                    "j", 0, v("i") + 1, m.set("C", ("i", "j"), binary(ADD, m("C", "i", "j"), term))
                ),
            ),
        )
    )


def seidel_2d(steps: int, n: int, t: DType) -> Program:
    m = Maker(Array("A", t, (n, n)))
    near = [m("A", v("i") + a, v("j") + b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    stmt = m.set("A", ("i", "j"), binary(DIV, total(*near), 9))
    return m.program(loop("t", 0, steps, loop("i", 1, n - 1, loop("j", 1, n - 1, stmt))))


def atax(rows: int, columns: int, t: DType) -> Program:
    m = Maker(
        Array("A", t, (rows, columns)),
        Array("x", t, (columns,)),
        Array("y", t, (columns,)),
        Array("tmp", t, (rows,), LOCAL),
    )
    product = binary(MUL, m("A", "i", "j"), m("x", "j"))
    back = binary(MUL, m("A", "i", "j"), m("tmp", "i"))
    return m.program(
        loop("i", 0, columns, m.set("y", ("i",), 0)),
        loop(
            "i",
            0,
            rows,
            m.set("tmp", ("i",), 0),
            loop("j", 0, columns, m.set("tmp", ("i",), binary(ADD, m("tmp", "i"), product))),
            loop("j", 0, columns, m.set("y", ("j",), binary(ADD, m("y", "j"), back))),
        ),
    )


def bordered_blur(h: int, w: int, t: DType) -> Program:
    """The mean of a pixel and its left and upper neighbour; borders are copied."""
    m = Maker(Array("src", t, (h, w)), Array("dst", t, (h, w)))
    i, j = v("i"), v("j")
    mean = binary(MUL, total(m("src", i, j), m("src", i - 1, j), m("src", i, j - 1)), 0.25)
    inner = If(
        at_least_zero(j - 1), (m.set("dst", (i, j), mean),), (m.set("dst", (i, j), m("src", i, j)),)
    )
    copy = m.set("dst", (i, j), m("src", i, j))
    return m.program(loop("i", 0, h, loop("j", 0, w, If(at_least_zero(i - 1), (inner,), (copy,)))))
