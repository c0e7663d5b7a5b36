"""Operations cut to the bits that something needs of them."""

from __future__ import annotations

from dataclasses import replace

from backends.rtl.front.blocks.block import Draft, moved
from backends.rtl.front.values.val import signed_range
from backends.rtl.graph import Kind, Op, Use

MODULAR = frozenset({Kind.ADD, Kind.SUB, Kind.MUL, Kind.AND, Kind.OR, Kind.XOR, Kind.RESIZE})
"""The low bits of the result come from the low bits of the operands alone."""


def narrowed(found: Draft) -> Draft:
    """The same block with results that are no wider than what is used of them."""
    ops = found.ops
    need = _needed(ops)
    alias: list[Use | None] = [None] * len(ops)
    result: list[Op] = []
    ranges = list(found.ranges)
    for op in ops:
        operands = tuple(_resolved(u, alias) for u in op.operands)
        width = op.width
        if op.kind in MODULAR or op.kind in (Kind.SELECT, Kind.SHL, Kind.CONST):
            width = min(width, need[op.id])
        if width < op.width:
            ranges[op.id] = signed_range(width)
        value = op.value & ((1 << width) - 1) if op.kind is Kind.CONST else op.value
        if op.kind is Kind.CONST and width < op.width:
            ranges[op.id] = (value, value)
        if width != op.width:
            op = replace(op, width=width, value=value)
        new = moved(op, op.id, operands)
        if new.kind is Kind.RESIZE and result[operands[0].op].width == width:
            alias[op.id] = operands[0]
        result.append(new)
    return Draft(tuple(result), tuple(ranges), found.accesses, found.registers, found.held)


def _resolved(use: Use, alias: list[Use | None]) -> Use:
    """What an operand is once resizings to the same width are gone."""
    found = alias[use.op]
    return use if found is None else Use(found.op, use.signed)


def _needed(ops: tuple[Op, ...]) -> list[int]:
    """How many low bits of each result matter."""
    need = [0] * len(ops)
    for op in reversed(ops):
        wanted = min(op.width, need[op.id]) if op.kind is not Kind.STORE else op.width
        for n, use in enumerate(op.operands):
            width = ops[use.op].width
            if use in op.address:
                bits = width
            elif op.kind in MODULAR or op.kind is Kind.STORE or (op.kind is Kind.SELECT and n):
                bits = min(width, wanted)
            elif op.kind is Kind.SHL and n == 0:
                bits = min(width, max(1, wanted - _amount(ops[op.operands[1].op])))
            else:
                bits = width
            need[use.op] = max(need[use.op], bits)
    return need


def _amount(op: Op) -> int:
    """At least how far is shifted."""
    return op.value if op.kind is Kind.CONST else 0
