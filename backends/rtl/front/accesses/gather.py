"""Accesses at subscripts that are data: bank and offset are computed by operations of the block."""

from __future__ import annotations

from collections.abc import Sequence

from backends.rtl.front.accesses.memory import Address, Memory
from backends.rtl.front.accesses.promote import Indices
from backends.rtl.front.values.builder import Builder
from backends.rtl.front.values.val import Guard, Val, constant
from backends.rtl.graph import Array, Kind, Place
from dsl.expressions.affine import Affine

_WIDEST = 64


def gathered(
    memory: Memory, array: str, indices: Indices, data: Sequence[Val], guard: Guard
) -> Val:
    """The element at subscripts of which some are values, each proven to be inside of the array.

    Args:
        memory: the arrays as the block uses them.
        array: that is read.
        indices: over the loops around; `data_index` where they are values.
        data: these, in order.
        guard: where it counts.
    """
    where, address = _located(memory, array, indices, data)
    if address is None:
        return memory.load(array, where, guard)
    return memory.gather(array, where, address, guard)


def scattered(
    memory: Memory, array: str, indices: Indices, data: Sequence[Val], guard: Guard, value: Val
) -> None:
    """Write the element at subscripts of which some are values (see `gathered`)."""
    where, address = _located(memory, array, indices, data)
    memory.store(array, where, guard, value, address)


def _located(
    memory: Memory, array: str, indices: Indices, data: Sequence[Val]
) -> tuple[Indices, Address | None]:
    """The subscripts, those that are values by the names of what computes them; and the computed place,
    if there is any such.
    """
    info, builder = memory.arrays[array], memory.builder
    given = iter(data)
    named: list[Affine] = []
    values: list[Val] = []
    for index, extent in zip(indices, info.shape, strict=True):
        if index.is_data:
            value = builder.unsigned(next(given), max(1, (extent - 1).bit_length()))
            named.append(
                Affine.of(f"?{value.op}") if value.const is None else Affine.of(value.const)
            )
        else:
            value = builder.index(index, memory.scope.low(index), memory.scope.high(index))
            named.append(index)
        values.append(value)
    where = tuple(named)
    if not any(index.is_data for index in where):
        return where, None
    bank, offset = _address(builder, info, values)
    name = Affine.of("?" + ",".join(map(str, where)))
    if bank.const is not None:
        return where, Address(Place(array, name, bank.const), (offset,))
    return where, Address(Place(array, name, None), (offset, bank))


def _address(b: Builder, array: Array, subscripts: Sequence[Val]) -> tuple[Val, Val]:
    """Bank and offset, as `Array.bank` and `Array.offset` have them."""
    bank, offset = constant(0), constant(0)
    for value, split, extent in zip(subscripts, array.splits, array.extents, strict=True):
        one, within = constant(0), value
        if split.factor > 1:
            divisor = constant(split.factor if split.kind == "cyclic" else extent)
            quotient = b.divide(Kind.FLOORDIV, value, divisor, _WIDEST)
            rest = b.divide(Kind.REM, value, divisor, _WIDEST)
            one, within = (rest, quotient) if split.kind == "cyclic" else (quotient, rest)
        bank = b.add(b.mul(bank, constant(split.factor)), one)
        offset = b.add(b.mul(offset, constant(extent)), within if extent > 1 else constant(0))
    return bank, offset
