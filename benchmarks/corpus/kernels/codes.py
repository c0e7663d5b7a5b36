"""Checksums and codes: what is computed of a stream of bytes or bits."""

import weft
from weft import i32, u1, u3, u4, u5, u7, u8, u16, u32

N = 1024

GROUPS = {
    "crc32": ["crc32_bitwise", "crc32_byte_steps"],
}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "adler_like": "blocks whose sums do not wait for the block before",
}


@weft.kernel
def crc32_bitwise(data: u8[N], out: u32[1]):
    c: u32 = 4294967295
    for i in range(N):
        c = c ^ data[i]
        for _ in range(8):
            c = ((c >> 1) ^ 3988292384) if (c & 1) == 1 else (c >> 1)
    out[0] = c ^ 4294967295


@crc32_bitwise.schedule
def expert(s):
    s.pipeline("i")


@weft.kernel
def crc32_byte_steps(data: u8[N], table: weft.const[u32[8]], out: u32[1]):
    c: u32 = 4294967295
    for i in range(N):
        low: u8 = u8(c) ^ data[i]
        step: u32 = c >> 8
        for b in range(8):
            step = step ^ (table[b] if ((low >> b) & 1) == 1 else 0)
        c = step
    out[0] = c ^ 4294967295


@crc32_byte_steps.schedule
def expert(s):
    s.pipeline("i")
    s.partition("table", 0, "complete")


@weft.kernel
def hamming_7_4(data: u4[N], code: u7[N]):
    for i in range(N):
        d0: u1 = data[i] & 1
        d1: u1 = (data[i] >> 1) & 1
        d2: u1 = (data[i] >> 2) & 1
        d3: u1 = (data[i] >> 3) & 1
        p0: u1 = d0 ^ d1 ^ d3
        p1: u1 = d0 ^ d2 ^ d3
        p2: u1 = d1 ^ d2 ^ d3
        code[i] = p0 | (p1 << 1) | (d0 << 2) | (p2 << 3) | (d1 << 4) | (d2 << 5) | (d3 << 6)


@hamming_7_4.schedule
def expert(s):
    s.split("i", 128)
    s.pipeline("i_0")
    s.partition("data", 0, "cyclic", 128)
    s.partition("code", 0, "cyclic", 128)


@weft.kernel
def adler_like(data: u8[N], out: u32[1]):
    a: u32 = 1
    b: u32 = 0
    for i in range(N):
        a += data[i]
        b += a
    out[0] = ((b % 65521) << 16) | (a % 65521)


@weft.kernel
def adler_like_expert(data: u8[N], out: u32[1]):
    # A block of 16 adds 16 times what a was, and its own bytes with weights.
    a: u32 = 1
    b: u32 = 0
    for n in range(N // 16):
        plain: u16 = 0
        weighted: u16 = 0
        for i in range(16):
            plain += data[16 * n + i]
            weighted += plain
        b += u32(a << 4) + weighted
        a += plain
    out[0] = ((b % 65521) << 16) | (a % 65521)


@adler_like_expert.schedule
def expert(s):
    s.pipeline("n")
    s.partition("data", 0, "cyclic", 16)


@weft.kernel
def xorshift_streams(state: u32[64], out: u32[16, 64]):
    for t in range(16):
        for s in range(64):
            v: u32 = state[s]
            v = v ^ u32(v << 13)
            v = v ^ (v >> 17)
            v = v ^ u32(v << 5)
            state[s] = v
            out[t, s] = v


@xorshift_streams.schedule
def expert(s):
    s.split("s", 64)
    s.pipeline("t")
    s.partition("state", 0, "complete")
    s.partition("out", 1, "complete")


@weft.kernel
def pack_5_bits(x: u5[4 * 256], y: u32[256]):
    for i in range(256):
        word: u32 = 0
        for k in range(4):
            word = (word << 5) | x[4 * i + k]
        y[i] = word


@pack_5_bits.schedule
def expert(s):
    s.split("i", 64)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 256)
    s.partition("y", 0, "cyclic", 64)


@weft.kernel
def find_pattern(text: u8[N], pattern: u8[16], count: u16[1], first: i32[1]):
    n: u16 = 0
    where: i32 = -1
    for i in range(N - 15):
        same: u1 = 1
        for k in range(16):
            same = same & ((text[i + k] & 3) == (pattern[k] & 3))
        n += same
        where = i if same == 1 and where < 0 else where
    count[0] = n
    first[0] = where


@find_pattern.schedule
def expert(s):
    s.split("i", 16)
    s.pipeline("i_0")
    s.bind_storage("text", "ram_2p")
    s.partition("pattern", 0, "complete")
    s.partition("text", 0, "cyclic", 16)


@weft.kernel
def vote_of_three(a: u32[N], b: u32[N], c: u32[N], out: u32[N], faults: u16[1]):
    n: u16 = 0
    for i in range(N):
        voted: u32 = (a[i] & b[i]) | (a[i] & c[i]) | (b[i] & c[i])
        n += a[i] != voted or b[i] != voted or c[i] != voted
        out[i] = voted
    faults[0] = n


@vote_of_three.schedule
def expert(s):
    s.split("i", 64)
    s.pipeline("i_0")
    for array in ("a", "b", "c", "out"):
        s.partition(array, 0, "cyclic", 64)


@weft.kernel
def parity_rows(x: u1[64, 64], rows: u1[64], columns: u1[64]):
    for i in range(64):
        p: u1 = 0
        for j in range(64):
            p = p ^ x[i, j]
        rows[i] = p
    for j in range(64):
        p2: u1 = 0
        for i in range(64):
            p2 = p2 ^ x[i, j]
        columns[j] = p2


@weft.kernel
def parity_rows_expert(x: u1[64, 64], rows: u1[64], columns: u1[64]):
    # One pass over the rows, with the parities of all columns in registers.
    column: u1[64] = 0
    for i in range(64):
        p: u1 = 0
        for j in range(64):
            p = p ^ x[i, j]
            column[j] = column[j] ^ x[i, j]
        rows[i] = p
    for j in range(64):
        columns[j] = column[j]


@parity_rows_expert.schedule
def expert(s):
    s.unroll("column_i")
    s.pipeline("i")
    s.split("S5.j", 8)
    s.pipeline("j_0")
    s.partition("column", 0, "complete")
    s.partition("x", 1, "complete")
    s.partition("columns", 0, "cyclic", 8)


@weft.kernel
def state_machine(x: u1[N], hits: u16[1]):
    state: u3 = 0
    n: u16 = 0
    for i in range(N):
        grown: u3 = state + 1 if state < 5 else 5
        state = grown if x[i] == 1 else 0
        n += state == 5
    hits[0] = n


@state_machine.schedule
def expert(s):
    s.split("i", 2)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 2)
