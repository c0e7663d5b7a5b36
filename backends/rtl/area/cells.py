"""What a module is made of after synthesis, counted by the kinds of `costs.KINDS`."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import ceil

from backends.rtl.area.cover import Table
from backends.rtl.area.mapped import Mapped, mapped
from backends.rtl.area.memory import block_rams, choices, distributed, multipliers
from backends.rtl.area.needed import Needed
from backends.rtl.area.net import Gate
from backends.rtl.area.netlist import (
    Adder,
    Comparator,
    Dropped,
    Fixed,
    Flop,
    Hard,
    Multiplier,
    Part,
    Port,
)
from backends.rtl.area.sums import length
from backends.rtl.ir.module import Memory, Module, Style


@lru_cache(maxsize=1024)
def cells(module: Module, fixed: Fixed = (), dropped: Dropped = frozenset()) -> Counter[str]:
    """How many of each kind a module has, with all that it instantiates.

    Args:
        module: As built.
        fixed: Bits of its inputs that are constant where it is used.
        dropped: Bits of its outputs that nothing needs there.
    """
    whole = mapped(module, fixed, dropped)
    used = whole.used
    third = _third_choices(whole)
    found = Counter(
        "third_choices" if node in third else _kind(table) for node, table in whole.tables.items()
    )
    reads: Counter[Memory] = Counter()
    for hard in used.hard.values():
        found.update(_cells(hard, used))
        if isinstance(hard, Port) and hard.word:
            reads[hard.memory] += 1
    for memory, count in reads.items():
        found.update(_memory(memory, count))
    return found


def _third_choices(whole: Mapped) -> set[int]:
    """One of each three choices that are one of four words, from the last choice on."""
    net, tables = whole.netlist.net, whole.tables
    third: set[int] = set()
    taken: set[int] = set()
    for node in reversed(tables):
        if node in taken or net.gates[node] is not Gate.MUX:
            continue
        pair = [bit >> 1 for bit in net.inputs[node][1:]]
        if pair[0] == pair[1] or any(n not in tables or not tables[n].chained for n in pair):
            continue
        if any(net.gates[n] is not Gate.MUX for n in pair):
            continue
        if net.inputs[pair[0]][0] >> 1 == net.inputs[pair[1]][0] >> 1:
            taken.update(pair)
            third.add(pair[0])
    return third


def _kind(table: Table) -> str:
    match table.gate:
        case Gate.MUX:
            return "chained_choices" if table.chained else "choices"
        case _ if table.chained:
            return "chained_gates"
        case Gate.XOR:
            return "parities"
        case _:
            return "pairs" if len(table.inputs) <= 2 else "gates"


def _cells(hard: Hard, used: Needed) -> Counter[str]:
    match hard:
        case Adder():
            width = used.widths[id(hard)]
            return Counter(carry=ceil(length(hard.lhs[:width], hard.rhs[:width]) / 2), chains=1)
        case Comparator():
            return Counter(carry=len(hard.lhs) // 2, chains=1, gates=1)
        case Multiplier():
            return Counter(multipliers=multipliers(hard, used.widths[id(hard)]))
        case Part():
            return cells(hard.module, hard.fixed, used.dropped(hard))
        case Flop():
            return Counter(flops=1)
        case Port():
            return Counter()


def _memory(memory: Memory, reads: int) -> Counter[str]:
    if memory.style is Style.BLOCK:
        return Counter(block_rams=reads * block_rams(memory.width, memory.depth))
    found = Counter(row_choices=reads * choices(memory))
    if memory.style is Style.DISTRIBUTED:
        found.update(rows=reads * distributed(memory), flops=memory.width)
    else:
        found.update(flops=memory.width * memory.depth)
    return found
