"""What the tool knows by name: operators, memories, interfaces, and which go together.

The words and the ranges of latencies are those of UG1399 (pragma HLS bind_op, bind_storage,
interface). What the tool does not have it leaves out with a warning, so it is refused here.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.expressions.expr import Binary, BinaryOp, Expr, Unary, UnaryOp, walk
from dsl.expressions.types import FloatType

_INTEGER = {"fabric": 4, "dsp": 4}
# The greatest latency of each implementation of an operator; the least is 0.
OPERATORS: dict[str, dict[str, int]] = {
    "mul": _INTEGER,
    "add": _INTEGER,
    "sub": {"fabric": 4, "dsp": 4},
    "fadd": {"fabric": 13, "fulldsp": 12, "primitivedsp": 3},
    "fsub": {"fabric": 13, "fulldsp": 12, "primitivedsp": 3},
    "fdiv": {"fabric": 29},
    "fexp": {"fabric": 24, "meddsp": 21, "fulldsp": 30},
    "flog": {"fabric": 24, "meddsp": 23, "fulldsp": 29},
    "fmul": {"fabric": 9, "meddsp": 9, "fulldsp": 9, "maxdsp": 7, "primitivedsp": 4},
    "fsqrt": {"fabric": 29},
    "dadd": {"fabric": 13, "fulldsp": 15},
    "dsub": {"fabric": 13, "fulldsp": 15},
    "ddiv": {"fabric": 58},
    "dexp": {"fabric": 40, "meddsp": 45, "fulldsp": 57},
    "dlog": {"fabric": 38, "meddsp": 49, "fulldsp": 65},
    "dmul": {"fabric": 10, "meddsp": 13, "fulldsp": 13, "maxdsp": 14},
    "dsqrt": {"fabric": 58},
    "hadd": {"fabric": 9, "meddsp": 12, "fulldsp": 12},
    "hsub": {"fabric": 9, "meddsp": 12, "fulldsp": 12},
    "hdiv": {"fabric": 16},
    "hmul": {"fabric": 7, "fulldsp": 7, "maxdsp": 9},
    "hsqrt": {"fabric": 16},
}
_RAM = ("bram", "lutram", "uram")
_ROM = ("bram", "lutram")
MEMORIES: dict[str, tuple[str, ...]] = {
    "fifo": ("bram", "lutram", "memory", "srl", "uram"),
    "ram_1p": _RAM,
    "ram_1wnr": _RAM,
    "ram_2p": _RAM,
    "ram_s2p": (*_RAM, "bram_ecc", "uram_ecc"),
    "ram_t2p": ("bram", "uram"),
    "rom_1p": _ROM,
    "rom_2p": _ROM,
    "rom_np": _ROM,
}
# The latencies of a memory that is read by address; a FIFO has none to choose.
MEMORY_LATENCIES = (1, 3)
# Interfaces of a single word, of which an array has none unless each element is in a register.
WORD_MODES = ("ap_none", "ap_vld", "ap_ack", "ap_ovld", "ap_stable")
ARRAY_MODES = ("ap_memory", "bram", "ap_fifo", "m_axi")  # a scalar has none of these
INTERFACE_MODES = (*ARRAY_MODES, *WORD_MODES, "ap_hs", "axis", "s_axilite")
BUNDLED_MODES = ("m_axi", "s_axilite")
MEMORY_MODES = ("ap_memory", "bram")

_PREFIX = {"f16": "h", "bf16": "h", "f32": "f", "f64": "d"}
_BINARY = {BinaryOp.ADD: "add", BinaryOp.SUB: "sub", BinaryOp.MUL: "mul", BinaryOp.DIV: "div"}
_UNARY = {UnaryOp.SQRT: "sqrt", UnaryOp.EXP: "exp", UnaryOp.LOG: "log"}


def operators_of(value: Expr) -> tuple[str, ...]:
    """The operators of a value that can be bound, by the tool's names, each once."""
    return tuple(dict.fromkeys(_operators(value)))


def _operators(value: Expr) -> Iterator[str]:
    for expr in walk(value):
        match expr:
            case Binary(op=op, dtype=FloatType() as dtype) if op in _BINARY:
                name = _PREFIX[dtype.name] + _BINARY[op]
            case Unary(op=op, dtype=FloatType() as dtype) if op in _UNARY:
                name = _PREFIX[dtype.name] + _UNARY[op]
            case Binary(op=op) if op in _BINARY:
                name = _BINARY[op]
            case Unary(op=UnaryOp.NEG, dtype=dtype) if not isinstance(dtype, FloatType):
                name = "sub"  # from 0
            case _:
                continue
        if name in OPERATORS:
            yield name
