"""Writes the operators of the open backend, as the model sees them, from its operator library.

    python -m qor_gnn.tools.open_ecp5.write

Searches rank structures by it before anything is scheduled; the figures of a design come from the
backend's own scheduler (`qor_gnn.result.open_backend`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backends.rtl.graph import Kind
from backends.rtl.operators.library import Key, Spec, spec
from dsl.expressions.types import FixedType
from qor_gnn.tools.operators.library import BY_NUMBER, UNSIGNED

NAME = "open-ecp5-10ns"
CLOCK = 10.0
WIDTHS = (4, 8, 12, 16, 20, 24, 32, 36, 40, 48, 56, 64, 68, 80, 96, 128, 256)
FACTORS = (4, 8, 12, 16, 18, 20, 24, 32, 36, 40, 48, 64)
FILE = Path(__file__).parent / "operators.json"

_WORD = ((32, False),)
_INTEGER = FixedType(32, 32)
_F32 = {
    "add": (Kind.FADD, 32, _WORD * 2),
    "sub": (Kind.FSUB, 32, _WORD * 2),
    "mul": (Kind.FMUL, 32, _WORD * 2),
    "div": (Kind.FDIV, 32, _WORD * 2),
    "sqrt": (Kind.FSQRT, 32, _WORD),
    "exp": (Kind.FEXP, 32, _WORD),
    "cmp": (Kind.FLT, 1, _WORD * 2),
    "abs": (Kind.FABS, 32, _WORD),
    "neg": (Kind.FNEG, 32, _WORD),
    "select": (Kind.SELECT, 32, ((1, False), *_WORD * 2)),
    "from_int": (Kind.TO_FLOAT, 32, _WORD),
    "to_int": (Kind.FROM_FLOAT, 32, _WORD),
}
_INTEGERS = {
    "add": Kind.ADD,
    "sub": Kind.SUB,
    "neg": Kind.SUB,
    "cmp": Kind.LT,
    "select": Kind.SELECT,
    "and": Kind.AND,
    "or": Kind.OR,
    "xor": Kind.XOR,
    "shl": Kind.SHL,
    "shr": Kind.SHR,
    "cast": Kind.RESIZE,
    "mul": Kind.MUL,
}
_DIVISIONS = {"div": Kind.FLOORDIV, "mod": Kind.REM}

TYPICAL = 7
"""The number that quotients and remainders by numbers are timed with: they are products with its inverse, whose cycles the
number hardly changes.
"""


def document() -> dict[str, Any]:
    """The file."""
    floats = {name: _float(name, *entry) for name, entry in _F32.items()}
    integers = {name: {"steps": _steps(kind)} for name, kind in _INTEGERS.items()}
    integers["mul"]["products"] = _products()
    integers[f"and_{BY_NUMBER}"] = integers["and"]  # a gate for each bit, until LUTs are mapped
    for name, kind in _DIVISIONS.items():
        for signed, own in ((True, name), (False, f"{name}_{UNSIGNED}")):
            integers[own] = {"steps": _steps(kind, signed)}
            integers[f"{own}_{BY_NUMBER}"] = {"steps": _steps(kind, signed, TYPICAL)}
    return {
        "evidence": "the operator library of backends.rtl, which python -m qor_gnn.tools.open_ecp5.write reads",
        "operators": {"f32": floats},
        "integers": integers,
        "implementations": {},
        "dsp_side": 0,
    }


def _products() -> list[dict[str, Any]]:
    """Products by the widths of their factors: as many bits as the longer one has, and all."""
    rows = []
    for long in FACTORS:
        for short in (n for n in FACTORS if n <= long):
            for width in (long, long + short):
                found = spec(Key(Kind.MUL, width, ((long, True), (short, True))), CLOCK)
                delays = {"delay": 0.0, **_delays(found)}
                rows.append(
                    {"width": width, "long": long, "short": short, "distance": found.latency,
                     **delays, "dsp": found.dsp, "lut": found.lut, "ff": found.ff}
                )  # fmt: skip
    return rows


def _float(
    name: str, kind: Kind, width: int, operands: tuple[tuple[int, bool], ...]
) -> dict[str, Any]:
    fixed = _INTEGER if kind in (Kind.TO_FLOAT, Kind.FROM_FLOAT) else None
    found = spec(Key(kind, width, operands, fixed), CLOCK)
    row = {"core": f"f{name}", "distance": found.latency, "dsp": found.dsp}
    return {**row, "lut": found.lut, "ff": found.ff, **_delays(found), "measured": True}


def _delays(found: Spec) -> dict[str, float]:
    """Of a combinational operator all that it takes, else of its first and last stage."""
    if not found.latency:
        return {"delay": round(found.delay_in_ns, 2)}
    return {"first_ns": round(found.delay_in_ns, 2), "last_ns": round(found.delay_out_ns, 2)}


def _steps(kind: Kind, signed: bool = True, number: int | None = None) -> list[dict[str, Any]]:
    steps = []
    for width in WIDTHS:
        found = _integer(kind, width, signed, number)
        delays: dict[str, Any] = _delays(found)
        if "delay" in delays:
            delays["delay"] = [delays["delay"], 0]
        steps.append(
            {"width": width, "distance": found.latency, "dsp": found.dsp, **delays,
             "lut": [found.lut, 0], "ff": found.ff, "measured": True}
        )  # fmt: skip
    last = steps[-1]
    return [*steps, {**last, "width": 100_000}]


def _integer(kind: Kind, width: int, signed: bool = True, number: int | None = None) -> Spec:
    """The operator whose result has so many bits; a product of two halves, a quotient or remainder by a number."""
    whole = (width, signed)
    if number is not None:
        return spec(Key(kind, width, (whole, whole), None, (None, number)), CLOCK)
    match kind:
        case Kind.MUL:
            half = (-(-width // 2), True)
            return spec(Key(kind, width, (half, half)), CLOCK)
        case Kind.SELECT:
            return spec(Key(kind, width, ((1, False), whole, whole)), CLOCK)
        case Kind.SHL | Kind.SHR:
            bits = max(1, (width - 1).bit_length())
            return spec(Key(kind, width, (whole, (bits, False))), CLOCK)
        case Kind.LT:
            return spec(Key(kind, 1, (whole, whole)), CLOCK)
        case Kind.RESIZE:
            return Spec(0, 0.0, 0.0, 0, 0, 0)
        case _:
            return spec(Key(kind, width, (whole, whole)), CLOCK)


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), indent=1) + "\n", encoding="utf-8")
