"""Subscripts and bounds whose parts are larger than an ``int``: C++ computes them without an overflow."""

import random
import subprocess

import weft
from mlir_passes.emit.affine import Lin, Ranges
from weft import i32

CASES = 120
_LARGE = 2**31 - 1


@weft.kernel
def shifted(a: i32[4, 8], b: i32[4, 8]):
    for i in range(4):
        for j in range(8):
            b[i, j] = a[i, j] + 1


@shifted.schedule
def skewed(s):
    s.skew("i", "j", 1_000_000_000)


def test_loops_that_count_further_than_an_int():
    text = weft.compile(shifted, "skewed").hls_cpp
    assert "1000000000LL * i" in text
    assert weft.verify(shifted, "skewed").ok


def _case(rng: random.Random) -> tuple[Ranges, dict[str, int], Lin]:
    ranges, values = Ranges(), {}
    expression = Lin((), rng.choice((0, 3, -7, _LARGE, -_LARGE)))
    for name in ("i", "j", "k")[: rng.randint(1, 3)]:
        low = rng.choice((0, -5, 1 - 2**31, -(2**31) - 9))
        high = low + rng.choice((1, 9, 2**31))
        ranges.enter(name, (Lin((), low),), (Lin((), high),), rng.choice((1, 4)))
        values[name] = rng.choice((low, high, (low + high) // 2))
        factor = rng.choice((1, -1, 3, 1000, 2**20, -(2**29)))
        term = Lin.of(name) * factor
        if rng.random() < 0.3:
            term = ranges.quotient(term, rng.choice((2, 7, 4096)))
        expression = expression + term
    return ranges, values, expression


def _value(expression: Lin, values: dict[str, int]) -> int:
    total = expression.const
    for atom, c in expression.terms:
        if isinstance(atom, str):
            total += c * values[atom]
        else:
            of = _value(atom.of, values)
            total += c * (of // atom.by if atom.kind == "/" else of % atom.by)
    return total


def test_no_part_of_an_expression_overflows(tmp_path):
    blocks, rng = [], random.Random(0)
    for number in range(CASES):
        ranges, values, expression = _case(rng)
        kinds = {name: "long long" if b.is_long else "int" for name, b in ranges.bounds.items()}
        declared = "".join(f"volatile {kinds[v]} {v} = {x}LL; " for v, x in values.items())
        largest = ranges.extreme([expression, Lin.of("i") + 1], largest=True)
        expected = max(_value(expression, values), values["i"] + 1)
        blocks.append(f"{{ {declared}if ({ranges.cpp(expression).text} != "
                      f"{_value(expression, values)}LL) return {number + 1}; }}")  # fmt: skip
        plain = declared.replace("volatile ", "")
        blocks.append(f"{{ {plain}if ({largest.text} != {expected}LL) return {number + 1}; }}")
    source = tmp_path / "large.cpp"
    source.write_text(
        '#include <algorithm>\n#include "weft_math.h"\nint main() {\n' + "\n".join(blocks) + "\n}\n"
    )
    checks = ["-fsanitize=signed-integer-overflow", "-fno-sanitize-recover=all"]
    command = [
        "g++",
        "-std=c++14",
        *checks,
        "-Imlir_passes/include",
        str(source),
        "-o",
        str(tmp_path / "large"),
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    done = subprocess.run([tmp_path / "large"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
