"""Measure the operators by synthesis and routing: ``python -m backends.rtl.operators.characterise``.

Each point is an operator alone on an ECP5 (25k: the same fabric and speed grade as the larger
ones, in half the time) between shift registers, so that its period is from register to register.
The result goes to ``data/ecp5-6.json``, which `measured` reads. Repeating it is free: results are
kept in ``build/rtl-cache``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from backends.rtl.graph import Kind
from backends.rtl.ir import Expr, Module, ModuleBuilder, concat, mux, to_verilog
from backends.rtl.operators import measured
from backends.rtl.operators.library import Key, at_depth, instantiate, model_cost
from backends.rtl.tools import Cache, Outcome, Tool, find_nextpnr, find_yosys, implement
from dsl.expressions.types import FixedType, Overflow, Quant

DEVICE = "ecp5-25k"
SEEDS = (1,)
COLUMNS = (
    *("kind", "width", "depth", "period_ns", "model_ns"),
    *("lut", "model_lut", "ff", "dsp"),
)

Point = tuple[Key, int]
_FLOAT = (32, False)


def points() -> Iterator[Point]:
    """Everything that is measured."""
    yield from _floats()
    yield from _integers()


def _integers() -> Iterator[Point]:
    for width in (8, 32, 64):
        yield _binary(Kind.ADD, width), 0
    for kind in (Kind.LT, Kind.EQ):
        yield Key(kind, 1, ((32, True),) * 2), 0
    yield _binary(Kind.AND, 32), 0
    for width in (16, 64):
        yield Key(Kind.SELECT, width, ((1, False), (width, True), (width, True))), 0
    yield Key(Kind.SHR, 32, ((32, True), (5, False))), 0
    for width, out, depths in ((16, 32, (0,)), (32, 32, (0, 2)), (32, 64, (3,))):
        for depth in depths:
            yield Key(Kind.MUL, out, ((width, True),) * 2), depth
    yield _binary(Kind.DIV, 8), 4
    yield _binary(Kind.DIV, 16), 8


def _binary(kind: Kind, width: int) -> Key:
    return Key(kind, width, ((width, True),) * 2)


def _floats() -> Iterator[Point]:
    for kind, depths in ((Kind.FADD, (4, 5, 7)), (Kind.FMUL, (3, 4, 5)), (Kind.FDIV, (15,))):
        for depth in depths:
            yield Key(kind, 32, (_FLOAT,) * 2), depth
    yield Key(Kind.FSQRT, 32, (_FLOAT,)), 14
    for depth in (7, 10, 12):
        yield Key(Kind.FEXP, 32, (_FLOAT,)), depth
    for kind in (Kind.FEQ, Kind.FLE):
        yield Key(kind, 1, (_FLOAT,) * 2), 0
    for fixed, depth in (
        (FixedType(16, 8), 1),
        (FixedType(32, 16, True, Quant.RND_CONV, Overflow.SAT), 3),
    ):
        yield Key(Kind.TO_FLOAT, 32, ((fixed.width, fixed.signed),), fixed), depth
        yield Key(Kind.FROM_FLOAT, fixed.width, (_FLOAT,), fixed), depth


def wrapper(key: Key, depth: int) -> tuple[Module, int, int]:
    """An operator between shift registers, and the LUTs and registers that are not its own."""
    b = ModuleBuilder("wrapper")
    given, load = b.input("given"), b.input("load")
    bits = sum(width for width, _ in key.operands)
    chain = b.reg("chain", bits)
    b.drive(chain, concat(chain.low(bits - 1), given) if bits > 1 else given)
    operands: list[Expr] = []
    low = 0
    for width, _ in key.operands:
        operands.append(chain.bits(low + width - 1, low))
        low += width
    y = instantiate(b, key, at_depth(key, depth), tuple(operands), "operator")
    own = bits
    if depth == 0:
        y = b.reg("y", key.width, next=y)
        own += key.width
    out = b.reg("out", key.width)
    b.drive(out, mux(load, y, out.shl(1)))
    b.output("last", out[-1])
    return b.build(), key.width, own + key.width


def measure(tools: tuple[Tool, Tool], point: Point, cache: Cache) -> list[object]:
    """One row of `COLUMNS`.

    Raises:
        RuntimeError: It cannot be routed.
    """
    key, depth = point
    module, lut, ff = wrapper(key, depth)
    with tempfile.TemporaryDirectory() as folder:
        done = implement(
            *(tools, to_verilog(module), module.name, DEVICE, Path(folder)),
            seeds=SEEDS,
            cache=cache,
        )
    if done.outcome is not Outcome.OK:
        raise RuntimeError(f"{key} with {depth} stages: {done}")
    found = done.routings[0].resources
    assert found is not None
    assert done.fmax is not None
    model_ns, model_lut = model_cost(key, depth)
    widest = max(width for width, _ in key.operands)
    return [
        *(key.kind.value, widest, depth, round(1000 / done.fmax, 3), round(model_ns, 3)),
        *(found.lut - lut, round(model_lut, 1), max(0, found.ff - ff), found.dsp),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="characterise", description=__doc__)
    parser.add_argument("--kinds", nargs="*", help="only these kinds, printed and not written")
    parser.add_argument("--out", type=Path, default=measured.DATA)
    parser.add_argument("--cache", type=Path, default=Path("build/rtl-cache"))
    options = parser.parse_args(arguments)
    tools = (find_yosys(), find_nextpnr())
    rows = []
    for point in points():
        if options.kinds and point[0].kind.value not in options.kinds:
            continue
        rows.append(measure(tools, point, Cache(options.cache)))
        sys.stderr.write(" ".join(map(str, rows[-1])) + "\n")
    if options.kinds:
        return 0
    head = {
        "tools": {t.name: t.version for t in tools},
        "device": DEVICE,
        "seeds": list(SEEDS),
        "columns": list(COLUMNS),
    }
    lines = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(head, indent=2).removesuffix("\n}")
    options.out.write_text(f'{text},\n  "rows": [\n{lines}\n  ]\n}}\n', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
