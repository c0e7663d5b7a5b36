"""Expressions of kernels with their values in exact arithmetic, which every level must agree with.

``x`` and ``n`` are of type ``u8``, ``s`` is ``i8``, ``i`` the loop variable; the value is then wrapped
to the type of the target. ``N`` is 4, ``TAPS`` is ``(1, 2, 3)``.
"""

from __future__ import annotations

X = [0, 1, 2, 7, 100, 128, 200, 255]
N = [0, 1, 5, 7, 8, 31, 32, 40]
S = [0, -1, 5, -7, 127, -128, 31, 64]


def wrapped(value: int, dtype: str) -> int:
    width = int(dtype[1:])
    value &= (1 << width) - 1
    return value - (1 << width) if dtype[0] == "i" and value >> (width - 1) else value


CASES = [
    ("1 << i", "i32", lambda x, n, s, i: 1 << i),
    ("1 << n[i]", "i32", lambda x, n, s, i: 1 << n),
    ("1 << n[i]", "i64", lambda x, n, s, i: 1 << n),
    ("3 << n[i]", "u8", lambda x, n, s, i: 3 << n),
    ("-1 << n[i]", "i64", lambda x, n, s, i: -1 << n),
    ("(x[i] > s[i]) << 4", "i32", lambda x, n, s, i: (x > s) << 4),
    ("(x[i] > s[i]) << n[i]", "i32", lambda x, n, s, i: (x > s) << n),
    ("x[i] << 8", "i32", lambda x, n, s, i: x << 8),
    ("x[i] << 4", "u8", lambda x, n, s, i: x << 4),
    ("s[i] << 40", "i64", lambda x, n, s, i: s << 40),
    ("x[i] << n[i]", "i64", lambda x, n, s, i: x << n),
    ("x[i] << i", "i32", lambda x, n, s, i: x << i),
    ("i << i", "i32", lambda x, n, s, i: i << i),
    ("i << 3", "i32", lambda x, n, s, i: i << 3),
    ("(i - 4) >> 1", "i32", lambda x, n, s, i: (i - 4) >> 1),
    ("(x[i] << 4) >> 6", "i32", lambda x, n, s, i: (x << 4) >> 6),
    ("(x[i] << (n[i] & 7)) // 3", "i32", lambda x, n, s, i: (x << (n & 7)) // 3),
    ("(x[i] << (n[i] % 16)) % 7", "i32", lambda x, n, s, i: (x << (n % 16)) % 7),
    ("(s[i] << min(n[i], 9)) >> 2", "i32", lambda x, n, s, i: (s << min(n, 9)) >> 2),
    ("(s[i] << weft.u4(n[i])) >> 2", "i32", lambda x, n, s, i: (s << n % 16) >> 2),
    ("(1 << n[i]) - 1", "i64", lambda x, n, s, i: (1 << n) - 1),
    ("x[i] & ~(1 << n[i])", "i32", lambda x, n, s, i: x & ~(1 << n)),
    ("x[i] & (1 << n[i])", "i32", lambda x, n, s, i: x & (1 << n)),
    ("(x[i] & (1 << n[i])) != 0", "i32", lambda x, n, s, i: (x & (1 << n)) != 0),
    ("s[i] | (1 << n[i])", "i64", lambda x, n, s, i: s | (1 << n)),
    ("-(x[i] << n[i]) * 3 ^ s[i]", "i64", lambda x, n, s, i: -(x << n) * 3 ^ s),
    ("(x[i] << n[i]) << 2", "i64", lambda x, n, s, i: (x << n) << 2),
    ("(1 << n[i]) if x[i] > 5 else -1", "i64", lambda x, n, s, i: (1 << n) if x > 5 else -1),
    ("weft.i16(1 << n[i]) + 1", "i64", lambda x, n, s, i: wrapped(1 << n, "i16") + 1),
    ("weft.i16(x[i] << n[i]) > s[i]", "i32", lambda x, n, s, i: wrapped(x << n, "i16") > s),
    ("x[i] >> n[i]", "i32", lambda x, n, s, i: x >> n),
    ("s[i] >> n[i]", "i32", lambda x, n, s, i: s >> n),
    ("s[i] >> 100", "i32", lambda x, n, s, i: s >> 100),
    ("1000 >> i", "i32", lambda x, n, s, i: 1000 >> i),
    ("(x[i] > s[i]) + (x[i] > n[i])", "i32", lambda x, n, s, i: (x > s) + (x > n)),
    ("-(x[i] > s[i])", "i32", lambda x, n, s, i: -(x > s)),
    ("True + (x[i] > 3) + True", "i32", lambda x, n, s, i: 2 + (x > 3)),
    ("~(N > 3) + ~(x[i] > 3)", "i32", lambda x, n, s, i: 0 + (not x > 3)),
    ("x[i] - n[i] < s[i]", "i32", lambda x, n, s, i: x - n < s),
    ("min(x[i], -300)", "i32", lambda x, n, s, i: min(x, -300)),
    ("max(s[i], 300) if x[i] > 3 else -1", "i32", lambda x, n, s, i: max(s, 300) if x > 3 else -1),
    ("abs(s[i]) + abs(-300)", "i32", lambda x, n, s, i: abs(s) + 300),
    ("x[i] ** 5", "i64", lambda x, n, s, i: x**5),
    (
        "(x[i] - 300) // s[i] if False else (x[i] - 300) // 7",
        "i32",
        lambda x, n, s, i: (x - 300) // 7,
    ),
    ("(s[i] - 1) % -7", "i32", lambda x, n, s, i: (s - 1) % -7),
    ("i * 100000000", "i32", lambda x, n, s, i: i * 100000000),
    ("(i - 5) * x[i]", "i32", lambda x, n, s, i: (i - 5) * x),
    ("x[i] + 2**40", "i64", lambda x, n, s, i: x + 2**40),
    ("x[i] * TAPS[2] << TAPS[1]", "i32", lambda x, n, s, i: x * 3 << 2),
]


FIXED = [
    ("x[i] << 3", lambda x: x * 8),
    ("x[i] >> 3", lambda x: x / 8),
    ("(x[i] >> 9) * 512", lambda x: x),
    ("1 / x[i]", lambda x: int(16 / x) / 16 if x else 0),
    ("-3 / x[i]", lambda x: int(-48 / x) / 16),
    ("0.25 / x[i]", lambda x: int(4 / x) / 16),
    ("x[i] + (x[i] > 1)", lambda x: x + (x > 1)),
    ("-x[i] if x[i] < 1 else min(x[i] - 1, 0.5)", lambda x: -x if x < 1 else min(x - 1, 0.5)),
]
