"""Operators in Verilator: a new vector of operands every cycle, results read back as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backends.process import Limits
from backends.rtl.ir import Expr, ModuleBuilder, concat, lit, to_verilog
from backends.rtl.operators.library import Key, at_depth, instantiate
from backends.rtl.tools import Outcome, build, find_verilator

LANES = 4  # random words of 64 bits a cycle

MAIN = """#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "Vdesign.h"
int main(int argc, char** argv) {{
    const std::size_t steps = std::strtoul(argv[1], nullptr, 10);
    std::FILE* in = std::fopen("in.bin", "rb");
    std::FILE* out = std::fopen("out.bin", "wb");
    if (argc != 2 || !in || !out) return 2;
    VerilatedContext context;
    Vdesign design(&context);
    std::uint64_t given[{lanes}], got[{outputs}];
    for (std::size_t i = 0; i < steps; i++) {{
        if (std::fread(given, sizeof given, 1, in) != 1) return 3;
        {put}
        design.clk = 0;
        design.eval();
        {take}
        if (std::fwrite(got, sizeof got, 1, out) != 1) return 4;
        design.clk = 1;
        design.eval();
    }}
    return std::fclose(out);
}}
"""


@dataclass(frozen=True)
class Case:
    """An operator with a number of stages."""

    key: Key
    depth: int


def lanes_of(key: Key) -> list[list[int]]:
    """Which random words make each operand, the low one first."""
    wide = [[0, 2], [1, 3], [3, 0]]
    return [wide[i][: 1 if w <= 64 else 2] for i, (w, _) in enumerate(key.operands)]


def operands(key: Key, words: np.ndarray) -> list[list[int]]:
    """The operands' bits for each row of ``words`` (steps, `LANES`)."""
    found = []
    for (width, _), lanes in zip(key.operands, lanes_of(key), strict=True):
        if width <= 64:
            found.append((words[:, lanes[0]] & np.uint64((1 << width) - 1)).tolist())
        else:
            low, high = (words[:, lane].tolist() for lane in lanes)
            found.append(
                [(h << 64 | x) & ((1 << width) - 1) for x, h in zip(low, high, strict=True)]
            )
    return found


def run(folder: Path, runtime: Path, cases: list[Case], words: np.ndarray) -> list[np.ndarray]:
    """The low 64 bits of each case's results, in step with ``words``.

    The first rows of a case with stages are those of the last rows of ``words``: they are cut off
    by running on, so give a few rows more than are looked at.
    """
    text, outputs = design(cases)
    put = " ".join(f"design.w{i} = given[{i}];" for i in range(LANES))
    take = " ".join(f"got[{i}] = design.y{i};" for i in range(outputs))
    main = MAIN.format(lanes=LANES, outputs=outputs, put=put, take=take)
    made = build(find_verilator(), text, "operators", main, folder, runtime=runtime)
    assert made.outcome is Outcome.OK, made.message
    (folder / "in.bin").write_bytes(np.ascontiguousarray(words, dtype="<u8").tobytes())
    done = made.run((str(len(words)),), Limits(seconds=600))
    assert done.ok, done
    got = np.fromfile(folder / "out.bin", dtype="<u8").reshape(len(words), outputs)
    return [np.roll(got[:, i], -case.depth) for i, case in enumerate(cases)]


def design(cases: list[Case]) -> tuple[str, int]:
    """One module with all the cases, and the number of its outputs."""
    b = ModuleBuilder("operators")
    words: list[Expr] = [b.input(f"w{i}", 64) for i in range(LANES)]
    clocked = b.reg("clocked", 1, next=words[0][0])
    for i, case in enumerate(cases):
        given = tuple(
            concat(*(words[lane] for lane in reversed(lanes))).low(width)
            for (width, _), lanes in zip(case.key.operands, lanes_of(case.key), strict=True)
        )
        made = instantiate(b, case.key, at_depth(case.key, case.depth), given, f"op{i}")
        y = made.resize(64, signed=False)
        b.output(f"y{i}", y)
    b.output("clocked_out", clocked | lit(0, 1))
    return to_verilog(b.build()), len(cases)
