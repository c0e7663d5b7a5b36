"""What one iteration loads and a later one needs again stays in registers.

    pipelined for j:                        w2 = A[0]; w1 = A[1]
        B[j] = A[j] + A[j+1] + A[j+2]       pipelined for j:
                                                B[j] = w2 + w1 + A[j+2]
                                                w2 = w1; w1 = A[j+2]

A row of a stencil then takes one port of the array instead of one for each of its points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from backends.rtl.front.accesses.promote import Indices
from backends.rtl.front.blocks.block import Context, touches
from backends.rtl.front.flat import FlatLoop, Leaf
from backends.rtl.front.registers.hold import Key, Rewrite, copy
from backends.rtl.front.values.scope import Scope
from backends.rtl.graph import Array, Counter, Memory
from dsl.expressions.affine import Affine

LONGEST = 16
"""Registers of one row of a window."""


@dataclass(frozen=True, slots=True)
class Windowed:
    """What is loaded before a loop, the loop, and the registers with the array of each."""

    before: tuple[Leaf, ...]
    loop: FlatLoop
    registers: tuple[tuple[Array, str], ...]


_Class = tuple[str, tuple[int, ...], Indices]
"""An array, how far the subscripts move in an iteration, and where they would start."""


@dataclass(frozen=True, slots=True)
class _Row:
    """Loads of an array that follow one another: ``behind`` the leader by so many iterations."""

    array: str
    leader: Indices
    stride: tuple[int, ...]
    behind: Mapping[Indices, int]


def windowed(node: FlatLoop, inside: Scope, context: Context, taken: int) -> Windowed | None:
    """A pipelined loop without loops in it, with its windows; None where it has none.

    Args:
        node: the loop.
        inside: the scope of its body.
        context: arrays.
        taken: how many registers have names already.
    """
    leaves = [n for n in node.body if isinstance(n, Leaf)]
    counter = node.counter
    if len(leaves) != len(node.body) or len(counter.lowers) != 1:
        return None
    rows = _rows(leaves, inside, context, counter)
    names: dict[Key, str] = {}
    before: list[Leaf] = []
    shifts: list[Leaf] = []
    registers: list[tuple[Array, str]] = []
    for row in rows:
        width = context.arrays[row.array].width
        count = max(row.behind.values())
        base = taken + len(registers)
        own = [f"{row.array}$w{base + n}" for n in range(count)]
        registers += [(Array(n, width, (), (), Memory.REGISTERS, False), row.array) for n in own]
        for indices, behind in row.behind.items():
            if behind:
                names[row.array, indices] = own[behind - 1]
        for n in reversed(range(count)):
            first = tuple(
                (i - (n + 1) * s).substitute({counter.iv: counter.lowers[0]})
                for i, s in zip(row.leader, row.stride, strict=True)
            )
            before.append(copy(width, (row.array, first), (own[n], ())))
            source = (own[n - 1], ()) if n else (row.array, row.leader)
            shifts.append(copy(width, source, (own[n], ())))
    if not registers:
        return None
    rewrite = Rewrite(names)
    body = (*(rewrite.leaf(leaf, inside) for leaf in leaves), *shifts)
    return Windowed(tuple(before), replace(node, body=body), tuple(registers))


def _rows(leaves: Sequence[Leaf], scope: Scope, context: Context, counter: Counter) -> list[_Row]:
    every = [t for leaf in leaves for t in touches(leaf, scope)]
    stored = {t.array for t in every if t.is_store}
    guarded = {t.array for t in every if t.guard}
    classes: dict[_Class, dict[Indices, int]] = defaultdict(dict)
    for t in every:
        if t.array in stored | guarded or context.arrays[t.array].memory is Memory.REGISTERS:
            continue
        stride = _stride(t.indices, counter)
        if stride is None:
            continue
        dim = next(d for d, s in enumerate(stride) if s)
        position = t.indices[dim].const // stride[dim]
        start = tuple(i - position * s for i, s in zip(t.indices, stride, strict=True))
        classes[t.array, stride, start][t.indices] = position
    found: list[_Row] = []
    for (array, stride, _), members in classes.items():
        leader = max(members, key=lambda i: members[i])
        behind = {i: members[leader] - position for i, position in members.items()}
        near = {i: n for i, n in behind.items() if n <= LONGEST}
        if len(near) > 1:
            found.append(_Row(array, leader, stride, near))
    return found


def _stride(indices: Indices, counter: Counter) -> tuple[int, ...] | None:
    """How far the subscripts move in an iteration; None if not always as far, or not at all."""
    if any(i.is_data for i in indices):
        return None
    later = {counter.iv: Affine.of(counter.iv) + counter.step}
    moves = [i.substitute(later) - i for i in indices]
    if not all(m.is_const for m in moves) or not any(m.const for m in moves):
        return None
    return tuple(m.const for m in moves)
