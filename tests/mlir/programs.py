"""Small programs made without the front end."""

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, BinaryOp, Load
from dsl.expressions.types import DType, f32
from dsl.expressions.typing import assigned, binary
from dsl.programs.program import Array, Loop, Program, Stmt


def loop(var: str, stop: int, *body) -> Loop:
    return Loop(var, (Affine.of(0),), (Affine.of(stop),), 1, body)


def load(array: Array, *indices) -> Load:
    return Load(Access(array.name, tuple(map(Affine.of, indices))), array.dtype)


def gemm(n: int, dtype: DType = f32) -> Program:
    """``C = alpha * A @ B + beta * C``."""
    alpha, beta = Array("alpha", dtype, ()), Array("beta", dtype, ())
    a, b, c = (Array(name, dtype, (n, n)) for name in "ABC")
    target = load(c, "i", "j").access
    scaled = binary(BinaryOp.MUL, load(c, "i", "j"), load(beta))
    product = binary(
        BinaryOp.MUL, binary(BinaryOp.MUL, load(alpha), load(a, "i", "k")), load(b, "k", "j")
    )
    summed = binary(BinaryOp.ADD, load(c, "i", "j"), product)
    scale = Stmt("S0", target, assigned(scaled, dtype))
    update = Stmt(
        "S1", target, assigned(summed, dtype), source="C[i, j] += alpha * A[i, k] * B[k, j]"
    )
    return Program(
        "gemm",
        (alpha, beta, a, b, c),
        (loop("i", n, loop("j", n, scale)), loop("i", n, loop("j", n, loop("k", n, update)))),
    )
