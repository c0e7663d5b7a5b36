"""gemm on arrays in memory outside: tiles of all three on the chip, a tile of C finished at a time."""

import weft
from weft import f32

SIZES = {
    "mini": {"NI": 20, "NJ": 22, "NK": 24},
    "small": {"NI": 60, "NJ": 70, "NK": 80},
    "medium": {"NI": 200, "NJ": 220, "NK": 240},
    "large": {"NI": 1000, "NJ": 1100, "NK": 1200},
}
NI, NJ, NK = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def gemm_tiles(A: f32[NI, NK], B: f32[NK, NJ], C: f32[NI, NJ]):
    for i in range(NI):
        for j in range(NJ):
            C[i, j] = 0.0
            for k in range(NK):
                C[i, j] += A[i, k] * B[k, j]


def ports(s):
    # Each array has a port of its own, 16 words wide.
    s.interface("A", "m_axi", "gmem0", width=512, burst=64, bank="HBM[0]")
    s.interface("B", "m_axi", "gmem1", width=512, burst=64, bank="HBM[1]")
    s.interface("C", "m_axi", "gmem2", width=512, burst=64, bank="HBM[2]")


@gemm_tiles.schedule
def whole(s):
    # Small enough for the chip: everything in, everything out.
    ports(s)
    for array in ("A", "B", "C"):
        s.buffer(array)
        s.pipeline(f"load_{array}_1" if array != "C" else "store_C_1")


def in_tiles(s):
    # C is written before it is read, so its tile is only copied out. Tiles at the border are smaller.
    ports(s)
    s.tile(["i", "j"], [32, 16], tail="guard")
    s.buffer("C", "j_0")
    s.distribute(["S1"], 2)
    s.split("k", 16, tail="guard")
    s.reorder(["k_0", "k_1", "S1.i_1", "S1.j_1"])
    s.buffer("A", "k_0")
    s.buffer("B", "k_0")
    # 16 multiply-adds a cycle, of a column of A with a row of B.
    s.pipeline("S1.i_1")
    s.partition("B_buf", 1, "complete")
    s.partition("C_buf", 1, "complete")
    for loop in ("load_A_1", "load_B_1", "store_C_1"):
        s.pipeline(loop)


@gemm_tiles.schedule
def tiled(s):
    in_tiles(s)


@gemm_tiles.schedule
def overlapped(s):
    # While a tile of C is worked on, the next tiles of A and B are read.
    in_tiles(s)
    s.dataflow(at="k_0")


def reference(A, B, C):
    C[:] = A @ B
