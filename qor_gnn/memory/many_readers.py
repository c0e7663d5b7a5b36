"""Local arrays that are written once and read often in an iteration: read from copies (RAM_1WNR).

While it schedules, Vitis HLS gives a local array that pipelines want more than both ports of, and that none of them
writes more than once in an iteration, a memory of one port to write and many to read: "Automatically inferring
RAM_1WNR storage type". Such a memory is as many simple ones as are read in a state, which all are written alike.
Its reports name the type from 2020.2 to 2025.1. There are up to 17 loads in a state: where 64 were to be scheduled, number 17 n
+ 1 failed at an interval of n (docs/lab/storage.md, Arrays of many readers).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import gcd, prod

from qor_gnn.design.processes import channels_of
from qor_gnn.design.region import READ_FROM_COPIES, Kernel, Memory
from qor_gnn.memory.automatic_pipelines import Pipe, Touch, pipes
from qor_gnn.memory.constant_subscripts import promoted
from qor_gnn.memory.footprints import Box, box_of
from qor_gnn.tools.personality import Personality

Form = tuple[tuple[tuple[object, int], ...], ...]

_PORTS = 2  # of a memory that is not read from copies
_COUNTED = 4096  # elements of a box that are looked at one by one


def stored(
    kernel: Kernel, tool: Personality, kept: frozenset[str] = frozenset()
) -> tuple[Kernel, Mapping[str, int]]:
    """The design with its local arrays as the tool stores them, and the copies of each memory.

    Args:
        kernel: with its directives.
        tool: whose policy says what it does by itself (`LocalArrays`).
        kept: as in `pipes`.
    """
    policy = tool.local_arrays
    if not policy.most_copies and not policy.promoted:
        return kernel, {}
    found = list(pipes(kernel, tool.directives.short, kept))
    own = _own(kernel)
    memories = promoted(kernel, found, own, policy.promoted)
    if not policy.most_copies:
        return replace(kernel, memories=memories), {}
    auto = tool.directives.auto_pipeline
    pipelined = [p for p in found if p.loop.ii is not None or (auto and p.loop.automatic)]
    copies = _copies(pipelined, {m.name: m for m in memories}, own, tool)
    bound = (replace(m, storage=READ_FROM_COPIES) if m.name in copies else m for m in memories)
    return replace(kernel, memories=tuple(bound)), copies


def _own(kernel: Kernel) -> frozenset[str]:
    """The local arrays that nobody bound, and that are no channels of processes."""
    channels = {c.memory for c in channels_of(kernel)}
    return frozenset(
        m.name
        for m in kernel.memories
        if m.shape
        and not (m.argument or m.storage or m.impl or m.cached)
        and m.lanes == 1
        and m.name not in channels
    )


def _copies(
    pipelined: Sequence[Pipe],
    memories: Mapping[str, Memory],
    own: frozenset[str],
    tool: Personality,
) -> dict[str, int]:
    """The arrays that are read from copies, and from how many."""
    most = tool.local_arrays.most_copies
    writes: Counter[str] = Counter()
    reads: dict[str, list[tuple[int, int, bool]]] = defaultdict(list)
    for pipe in pipelined:
        uses = _uses(pipe, memories, tool.banks.rotating)
        interval = _interval(pipe, uses, memories, own, tool)
        for name, (loads, stores) in uses.items():
            writes[name] = max(writes[name], stores)
            if name in own:
                reads[name].append((loads, interval, stores > 0))
    found = {}
    for name, uses_of in reads.items():
        if memories[name].in_registers or writes[name] > 1:
            continue
        if not any(loads > 1 and loads + written > _PORTS for loads, _, written in uses_of):
            continue
        wanted = max(-(-loads // at) - (not written) for loads, at, written in uses_of)
        found[name] = max(1, min(most, wanted))
    return found


def _interval(
    pipe: Pipe,
    uses: Mapping[str, tuple[int, int]],
    memories: Mapping[str, Memory],
    own: frozenset[str],
    tool: Personality,
) -> int:
    """What ports let the interval be at least, and what somebody asked for."""
    most = pipe.loop.ii or 1
    for name, (loads, stores) in uses.items():
        memory = memories[name]
        if memory.in_registers or memory.port is not None or memory.lanes > 1:
            continue  # lanes of a word are one access
        copied = name in own and stores <= 1 < loads and loads + stores > _PORTS
        kind = READ_FROM_COPIES if copied else memory.storage
        ports = tool.memories.ports(kind, memory.argument)
        taken = [(loads, ports.read), (stores, ports.write), (loads + stores, ports.both)]
        most = max(most, *(-(-n // at) for n, at in taken if at))
    return most


def _uses(pipe: Pipe, memories: Mapping[str, Memory], apart: bool) -> dict[str, tuple[int, int]]:
    """Loads and stores of an iteration of the busiest bank of each array.

    Loads that do not move are hoisted. Stores that do not may be too, unless other accesses may be of their elements.
    """
    touches: dict[str, list[Touch]] = defaultdict(list)
    still = {x.iv for x in (*pipe.inner, *pipe.outside)} - pipe.variables
    for t in pipe.touches:
        if t.write or t.guarded or t.variables - still:  # what is no counter is data, and moves
            touches[t.memory].append(t)
    return {
        name: (
            _accesses(pipe, [t for t in ts if not t.write], memories[name], apart),
            _accesses(pipe, [t for t in ts if t.write], memories[name], apart),
        )
        for name, ts in touches.items()
    }


def _accesses(pipe: Pipe, touches: Sequence[Touch], memory: Memory, apart: bool) -> int:
    """Of the busiest bank: those at places that data tell are of other elements in each copy, and of any bank."""
    counters = {x.iv for x in (*pipe.inner, *pipe.outside, *pipe.flattened, pipe.loop)}
    told = [t for t in touches if t.variables <= counters]
    data = (len(touches) - len(told)) * prod(pipe.copies.values())
    return data + _busiest({box_of(t, pipe) for t in told}, memory, apart)


def _busiest(boxes: Iterable[Box], memory: Memory, apart: bool) -> int:
    """The most different elements of one bank, as far as accesses are known to be in different ones.

    Args:
        boxes: what the accesses touch.
        memory: the array.
        apart: accesses that move alike are in different banks where their offsets are (`Banks.rotating`).
    """
    elements: dict[Form, set[tuple[int, ...]]] = defaultdict(set)
    large = 0
    for box in boxes:
        size = prod(len(o) for o in box.offsets)
        if size > _COUNTED:
            large += -(-size // memory.banks)
        else:
            elements[box.form].update(product(*box.offsets))
    if not apart:
        return large + sum(_most_alike(form, found, memory) for form, found in elements.items())
    banks: Counter[tuple[int, ...]] = Counter()
    for places in elements.values():
        banks.update(
            tuple(
                s.bank(n, extent)
                for s, n, extent in zip(memory.splits, place, memory.shape, strict=True)
            )
            for place in places
        )
    return large + max(banks.values(), default=0)


def _most_alike(form: Form, places: Iterable[tuple[int, ...]], memory: Memory) -> int:
    """The most elements of one form whose banks nothing tells apart that is known of them in every iteration."""
    known = [
        gcd(s.factor, *(c for _, c in terms)) if s.kind == "cyclic" or not terms else 1
        for s, terms in zip(memory.splits, form, strict=True)
    ]
    found: Counter[tuple[int, ...]] = Counter(
        tuple(
            (s.bank(n, extent) if s.factor == g else n) % g
            for s, g, n, extent in zip(memory.splits, known, place, memory.shape, strict=True)
        )
        for place in places
    )
    return max(found.values(), default=0)
