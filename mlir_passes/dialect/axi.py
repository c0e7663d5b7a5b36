"""Options of an ``m_axi`` port as a value, and as the attribute that holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_passes.dialect import hls
from mlir_passes.provider import ir


@dataclass(frozen=True, slots=True)
class Axi:
    """Options of an ``m_axi`` port; what is not given is as the tool does by itself.

    Attributes:
        width: bits to which accesses may be widened.
        burst: beats of its longest burst.
        outstanding: requests on their way, of reads and of writes.
        latency: cycles in which memory is expected to answer.
        offset: ``slave``, ``direct`` or ``off``: where the address comes from.
        bank: what it is connected to outside.
        lanes: elements of a word, where the argument is packed: rows are of whole words.
        reads: the bundle of a second pointer, through which it is read.
        also: the bundles of further pointers, with blanks between them: loops that are spread go through these.
    """

    width: int = 0
    burst: int = 0
    outstanding: int = 0
    latency: int = -1
    offset: str = ""
    bank: str = ""
    lanes: int = 0
    reads: str = ""
    also: str = ""

    @property
    def further(self) -> tuple[str, ...]:
        """The bundles of further pointers."""
        return tuple(self.also.split())

    def words(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The extents of an argument in words, the last of a row padded; those in elements if it is not packed."""
        return (*shape[:-1], -(-shape[-1] // self.lanes)) if self.lanes else shape


def axi_attribute(axi: Axi) -> Any:
    """``#hls.axi`` of the options."""
    i64 = ir.IntegerType.get_signless(64)
    numbers = (axi.width, axi.burst, axi.outstanding, axi.latency)
    words = (axi.offset, axi.bank)
    return hls.Axi.get(
        *(ir.IntegerAttr.get(i64, n) for n in numbers),
        *map(ir.StringAttr.get, words),
        ir.IntegerAttr.get(i64, axi.lanes),
        ir.StringAttr.get(axi.reads),
        ir.StringAttr.get(axi.also),
    )
