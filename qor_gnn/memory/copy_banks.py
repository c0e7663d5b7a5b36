"""Banks of local arrays for the copies of an iteration (`Banks.splits_for_copies`).

Vitis HLS 2023.2 splits a dimension of a local array that nobody has split (docs/lab/schedule.md, Loops of accelerators):
completely where somebody asked for copies that access half of its elements or more, as 2025.1 does. Copies that it makes
unasked, and that move values, get half as many banks, since a bank has two ports. What unasked copies compute with is left in
one piece: so it is in reports of 2022.2, and none of 2023.2 has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from dsl.expressions.affine import Affine
from polyhedral.banks.splits import Split
from qor_gnn.design.region import Access, Guard, Kernel, Loop, Memory, Node, Statement
from qor_gnn.memory.automatic_pipelines import Pipe, pipes
from qor_gnn.memory.bank_counts import for_ports
from qor_gnn.tools.personality import Personality

_PORTS = 2  # of a bank
_MOVES = frozenset({"load", "const", "index", "input", "cast"})
"""Kinds of operations of a statement that stores what it has loaded."""


def split_for_copies(
    kernel: Kernel, tool: Personality, kept: frozenset[str] = frozenset()
) -> Kernel:
    """The design with the banks that the tool adds; as it is where the tool adds none.

    Args:
        kernel: with its directives. Arrays that somebody has split or bound, words, FIFOs and arguments are left alone.
        tool: whose policy says whether it does so.
        kept: as in `pipes`.
    """
    if not tool.banks.splits_for_copies:
        return kernel
    fifos = {c.memory for c in kernel.channels if c.depth is not None}
    own = {
        m.name: m
        for m in kernel.memories
        if m.shape
        and m.lanes == 1
        and not (m.argument or m.port or m.cached or m.storage or m.impl)
        and m.name not in fifos
    }
    factors: dict[str, dict[int, int]] = defaultdict(dict)
    for pipe in pipes(kernel, tool.directives.short, kept):
        for memory, dims in _wanted(pipe, own).items():
            for d, n in dims.items():
                factors[memory][d] = max(n, factors[memory].get(d, 1))
    if not factors:
        return kernel
    memories = tuple(_split(m, factors.get(m.name, {})) for m in kernel.memories)
    return replace(kernel, memories=memories)


def _split(memory: Memory, factors: Mapping[int, int]) -> Memory:
    if not factors:
        return memory
    splits = (
        Split("cyclic", min(extent, factors[d])) if d in factors else split
        for d, (split, extent) in enumerate(zip(memory.splits, memory.shape, strict=True))
    )
    return replace(memory, splits=tuple(splits))


def _wanted(pipe: Pipe, own: Mapping[str, Memory]) -> dict[str, dict[int, int]]:
    """Banks of dimensions that a pipeline wants."""
    asked: dict[tuple[str, int], set[int]] = defaultdict(set)
    moved: dict[tuple[str, int], set[int]] = defaultdict(set)
    ways: dict[str, set[bool]] = defaultdict(set)
    unasked = _unasked(pipe)
    for access, write, moves in _accesses(pipe.loop.body):
        if access.memory not in own:
            continue
        ways[access.memory].add(write)
        for d, index in enumerate(access.indices):
            offsets = _offsets(index, pipe.copies, pipe.loop.iv)
            if own[access.memory].splits[d].factor > 1 or offsets is None:
                continue
            late = d in access.late or not unasked.isdisjoint(index.variables())
            if not late:
                asked[access.memory, d] |= offsets
            elif moves:
                moved[access.memory, d] |= offsets
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for (memory, d), offsets in moved.items():
        if len(offsets) > _PORTS and len(ways[memory]) == 1 and _power_of_two(len(offsets)):
            found[memory][d] = for_ports(len(offsets), len(offsets))
    for (memory, d), offsets in asked.items():
        extent = own[memory].shape[d]
        if len(offsets) > _PORTS and 2 * len(offsets) >= extent:
            found[memory][d] = extent
    return found


def _offsets(index: Affine, copies: Mapping[str, int], own: str) -> set[int] | None:
    """What the copies of an access add to a subscript; None where data tell the place."""
    found = {index.const}
    for atom, c in index.terms:
        if not isinstance(atom, str):
            return None
        found = {o + c * n for o in found for n in range(copies.get(atom, 1) if atom != own else 1)}
    return found


def _unasked(pipe: Pipe) -> frozenset[str]:
    """The counters of loops that the tool unrolls without anybody's asking."""
    if pipe.loop.ii is not None:
        return frozenset()
    return frozenset(x.iv for x in pipe.inner if x.unroll != 0 and x.trips.maximum > 1)


def _accesses(nodes: tuple[Node, ...]) -> Iterator[tuple[Access, bool, bool]]:
    """Each access, whether it stores, and whether its statement only moves a value."""
    for node in nodes:
        match node:
            case Statement():
                moves = all(op.kind in _MOVES for op in node.ops)
                for op in node.ops:
                    if op.kind == "load" and op.access is not None:
                        yield op.access, False, moves
                yield node.target, True, moves
            case Loop() | Guard():
                yield from _accesses(node.body)


def _power_of_two(n: int) -> bool:
    """Of other numbers of banks remainders would have to be computed; no report shows any."""
    return n & (n - 1) == 0
