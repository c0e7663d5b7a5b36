"""Random kernels that search: extrema and their places, first and last matches, under conditions and jumps."""

from __future__ import annotations

import random

HEAD = """@weft.kernel
def k(x: {t}[8, 8], y: i32[8, 8], key: i32[2], out: i32[4], s: {t}[4]):
"""
CONDITIONS = (
    "x[{at}] > 0",
    "y[{at}] == key[0]",
    "x[{at}] < y[{at}]",
    "y[{at}] != key[1] and x[{at}] < 2",
)
VALUES = ("{i}", "{j}", "7 * {i} + {j}", "key[1]", "3", "{i} // 2 - key[0]", "y[{at}]", "out[3]")
COMPARES = ("<", ">", "<=", ">=")


def random_choices(seed: int) -> str:
    """The source of a kernel; what is random in it follows from the seed."""
    rng = random.Random(seed)
    lines, indent, around = [], "    ", []
    for var in ("i", "j")[: rng.randint(1, 2)]:
        low, high, step = rng.randint(0, 2), rng.randint(3, 8), rng.choice((1, 1, 1, 2, -1, -3))
        span = f"{low}, {high}, {step}" if step > 0 else f"{high - 1}, {low - 1}, {step}"
        lines.append(f"{indent}for {var} in range({span}):")
        indent += "    "
        around.append(var)
        if rng.random() < 0.2:
            lines.append(
                f"{indent}if {var} % 2 == 0:" if rng.random() < 0.5 else f"{indent}if {var} > 1:"
            )
            indent += "    "
    at = ", ".join(around if len(around) == 2 else (around[0], str(rng.randint(0, 7))))
    words = {"at": at, "i": around[0], "j": around[-1]}
    for _ in range(rng.randint(1, 2)):
        lines += [indent + line for line in _search(rng, words)]
    kind = rng.choice(("i32", "i32", "i16", "f32", "u8"))
    start = ["    out[0] = key[0]"] if rng.random() < 0.3 else []
    return "\n".join((HEAD.format(t=kind) + "\n".join(start), *lines, ""))


def _search(rng: random.Random, words: dict[str, str]) -> list[str]:
    """Statements of the innermost loop."""

    def pick(texts: tuple[str, ...]) -> str:
        return rng.choice(texts).format(**words)

    target, n, x = f"out[{rng.randint(0, 2)}]", rng.randint(0, 1), f"x[{words['at']}]"
    match rng.randint(0, 4):
        case 0:
            return [f"if {pick(CONDITIONS)}:", f"    {target} = {pick(VALUES)}"]
        case 1:
            return [f"if {pick(CONDITIONS)}:", f"    {target} = {pick(VALUES)}", "    break"]
        case 2:
            lines = [f"    s[{n}] = {x}", f"    {target} = {pick(VALUES)}"]
            rng.shuffle(lines)
            also = f" and {pick(CONDITIONS)}" if rng.random() < 0.4 else ""
            return [f"if {x} {rng.choice(COMPARES)} s[{n}]{also}:", *lines]
        case 3:
            lines = [f"if {pick(CONDITIONS)}:", "    continue"]
            return [
                *lines,
                f"if {x} {rng.choice(COMPARES)} s[{n}]:",
                f"    s[{n}] = {x}",
                f"    {target} = {pick(VALUES)}",
            ]
        case _:
            return [
                f"v = {x} + 1",
                f"if v {rng.choice(COMPARES)} s[{n}]:",
                f"    s[{n}] = {rng.choice(('v', x))}",
                f"    {target} = {pick(VALUES)}",
            ]
