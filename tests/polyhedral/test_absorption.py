"""Values that are an element whatever else they depend on: which are found, and that they are."""

from __future__ import annotations

import numpy as np

import weft
from dsl import interp
from dsl.expressions.absorption import is_element
from weft import i16, u8


@weft.kernel
def absorbed(x: i16[64], y: i16[64], u: u8[64], out: i16[12, 64]):
    for n in range(64):
        out[0, n] = min(x[n], max(y[n], x[n]))
        out[1, n] = min(x[n], min(x[n], y[n]))
        out[2, n] = max(x[n] - u[n], x[n])
        out[3, n] = max(x[n], x[n] - y[n])
        out[4, n] = min(x[n], u[n] + x[n])
        out[5, n] = min(x[n], x[n] + y[n])
        out[6, n] = x[n] & (y[n] | x[n])
        out[7, n] = x[n] & (y[n] & x[n])
        out[8, n] = x[n] | (x[n] if y[n] > 0 else 0)
        out[9, n] = x[n] | (x[n] if y[n] > 0 else 1)
        out[10, n] = max(x[n], x[n] if u[n] == 1 else min(y[n], x[n]))
        out[11, n] = x[n] | (x[n] ^ y[n])


def test_absorption_is_found_and_holds() -> None:
    rng = np.random.default_rng(2)
    small = rng.integers(-8, 8, (2, 64)).astype(np.int16)
    inputs = {"x": small[0], "y": small[1], "u": rng.integers(0, 8, 64).astype(np.uint8)}
    found = interp.run(absorbed.program, {**inputs, "out": np.zeros((12, 64), np.int16)})["out"]
    for n, stmt in enumerate(absorbed.program.statements()):
        is_kept = is_element(stmt.value, lambda access: access.array == "x")
        assert is_kept == (n % 2 == 0), stmt.source
        assert is_kept == (found[n] == inputs["x"]).all(), stmt.source
