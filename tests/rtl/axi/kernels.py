"""Kernels whose arrays are in memory outside, each for a way to read them."""

import weft
from weft import fixed, i1, i17, i32, i40, i100, u3, u8


@weft.kernel
def vadd(A: i32[4096], B: i32[4096], C: i32[4096]):
    for i in range(4096):
        C[i] = A[i] + B[i]


@vadd.schedule
def apart(s):
    for n, array in enumerate("ABC"):
        s.interface(array, "m_axi", f"gmem{n}")
    s.pipeline("i")


@vadd.schedule
def together(s):
    for array in "ABC":
        s.interface(array, "m_axi", "gmem")
    s.pipeline("i")


@weft.kernel
def updates(A: i17[20, 7], B: u8[50], acc: i32[1], P: i17[60], k: i17):
    for i in range(20):
        for j in range(7):
            A[i, j] = A[i, j] * 3 + B[j]
    for i in range(20):
        for j in range(7):
            A[i, j] = A[19 - i, j] + 1
    for i in range(50):
        acc[0] += B[49 - i]
    for i in range(1, 60):
        P[i] = P[i - 1] * 3 + P[i] + k


@updates.schedule
def mixed(s):
    # A is read and written in the same block, which sees what it wrote in the second nest; acc is in the beats
    # of A's port; P needs the element before.
    s.interface("A", "m_axi", "g", width=128, burst=4, outstanding=2)
    s.interface("acc", "m_axi", "g", width=128, burst=4, outstanding=2)
    s.interface("B", "m_axi", "in", width=64)
    s.interface("P", "m_axi", "in", width=64)
    s.pipeline("S0.j")
    s.pipeline("S3.i")


@weft.kernel
def types(
    k: i40,
    z: i100,
    A: i1[33],
    B: u3[33],
    C: i40[9],
    D: fixed[6, 2][33],
    E: i100[5],
    F: i32[6],
    never: i32[4],
):
    for i in range(33):
        D[i] = D[i] + B[i]
        if i < 9:
            C[i] = C[i] * k
    for i in range(5):
        E[4 - i] = E[i] + z
    for i in range(33):
        A[i] = A[32 - i]
    for i in range(6):
        F[i] += 2


@types.schedule
def narrow(s):
    # Names that Verilog's tools do not like; an address at pins, one at 0, and banks on the chip.
    for n, array in enumerate(["A", "B", "C", "D", "E", "never"]):
        s.interface(
            array,
            "m_axi",
            "unused" if n % 2 else "a__b",
            width=128,
            offset={"A": "off", "B": "direct"}.get(array, ""),
        )
    s.partition("F", 0, "cyclic", 2)
    for loop in ("S0.i", "S2.i", "S3.i"):
        s.pipeline(loop)


@weft.kernel
def rows(A: u8[9, 13], B: u8[9, 13]):
    for i in range(9):
        for j in range(13):
            B[i, j] = A[i, j] + 7


@weft.kernel
def product(A: i32[9, 10], B: i32[10, 8], C: i32[9, 8]):
    for i in range(9):
        for j in range(8):
            for k in range(10):
                C[i, j] += A[i, k] * B[k, j]


@product.schedule
def nested(s):
    # A tile of C is copied beside the tiles of A and B that are copied beside the products of it.
    for array in "AB":
        s.interface(array, "m_axi", array, width=64)
    s.interface("C", "m_axi", "C", reads="C", width=64)
    s.tile(["i", "k"], [4, 4], tail="guard")
    s.buffer("C", "i_0", apart=True)
    s.buffer("A", "k_0")
    s.buffer("B", "k_0")
    s.dataflow(at="k_0")
    s.dataflow([["take_C", "load_A", "load_B", "S0"]], at="i_0")
    s.pipeline("S0.k_1")
