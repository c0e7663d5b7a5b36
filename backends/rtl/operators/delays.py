"""A model of what an expression takes on an ECP5 of speed grade 6: ns with routing, and LUTs.

Only the proportions matter for where a pipeline is cut; `measured` brings them to what was
measured after routing.
"""

from __future__ import annotations

from backends.rtl.ir import nodes as ir
from backends.rtl.ir.expr import ArithOp, BitOp, CompareOp, Expr

LEVEL = 0.95  # one LUT4 and the wire to it
GATE = 0.5  # a two-input gate: some share a LUT
MUX = 0.85
CARRY, CARRY_BIT = 1.7, 0.036  # onto a carry chain and off it; a bit of it
DSP = 5.8  # MULT18X18D without registers, and the wires to and from it


def levels(inputs: int) -> int:
    """Levels of LUT4 for a function of so many inputs."""
    count, reach = 0, 1
    while reach < inputs:
        count, reach = count + 1, reach * 4
    return count


def delay(e: Expr) -> float:
    """From the operands of one node to its result, in ns."""
    match e:
        case ir.Binary(op=BitOp()):
            return GATE
        case ir.Binary(op=ArithOp.MUL):
            return DSP
        case ir.Binary():
            return CARRY + CARRY_BIT * e.width
        case ir.Compare():
            if e.op in (CompareOp.EQ, CompareOp.NE):
                constant = isinstance(e.lhs, ir.Lit) or isinstance(e.rhs, ir.Lit)
                return LEVEL * levels(e.lhs.width * (1 if constant else 2))
            return CARRY + CARRY_BIT * e.lhs.width
        case ir.Reduce():
            return LEVEL * levels(e.arg.width)
        case ir.Shift():
            return MUX * min(e.amount.width, e.width.bit_length())
        case ir.Mux():
            return MUX
        case _:
            return 0.0


def luts(e: Expr) -> float:
    """Roughly, in LUT4 (a carry cell is two)."""
    match e:
        case ir.Binary(op=BitOp()):
            return 0.5 * e.width
        case ir.Binary(op=ArithOp.MUL):
            return 0.0
        case ir.Binary():
            return e.width + 2.0
        case ir.Compare():
            narrow = e.op in (CompareOp.EQ, CompareOp.NE)
            return e.lhs.width * (0.67 if narrow else 1.0) + 1
        case ir.Reduce():
            return e.arg.width / 3
        case ir.Shift():
            return e.width * min(e.amount.width, e.width.bit_length())
        case ir.Mux():
            return float(e.width)
        case _:
            return 0.0


def dsps(e: Expr) -> int:
    """Multipliers of 18 × 18 bits."""
    return int(isinstance(e, ir.Binary) and e.op is ArithOp.MUL)
