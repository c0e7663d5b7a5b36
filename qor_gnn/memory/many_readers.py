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
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import gcd, prod

from qor_gnn.design.processes import channels_of
from qor_gnn.design.region import READ_FROM_COPIES, Kernel, Memory
from qor_gnn.memory.automatic_pipelines import Pipe, Touch, pipes
from qor_gnn.memory.constant_subscripts import promoted
from qor_gnn.memory.footprints import Box, box_of
from qor_gnn.tools.personality import Personality

Form = tuple[tuple[tuple[object, int], ...], ...]


@dataclass(frozen=True, slots=True)
class Read:
    """What a pipeline reads of an array: how much of its busiest bank, how often, and whether it stores to it, too."""

    pipe: Pipe
    touches: tuple[Touch, ...]
    loads: int
    interval: int
    written: bool


_PORTS = 2  # of a memory that is not read from copies
_COUNTED = 4096  # elements of a box that are looked at one by one


def stored(
    kernel: Kernel, tool: Personality, kept: frozenset[str] = frozenset()
) -> tuple[Kernel, Mapping[str, Fraction]]:
    """The design with its local arrays as the tool stores them, and the copies of each memory, on average over its banks.

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
) -> dict[str, Fraction]:
    """The arrays that are read from copies, and from how many, on average over their banks."""
    writes: Counter[str] = Counter()
    reads: dict[str, list[Read]] = defaultdict(list)
    for pipe in pipelined:
        touched = _touched(pipe)
        uses = _uses(pipe, touched, memories, tool.banks.rotating)
        interval = _interval(pipe, uses, memories, own, tool)
        for name, (loads, stores) in uses.items():
            writes[name] = max(writes[name], stores)
            if name in own:
                loaded = tuple(t for t in touched[name] if not t.write)
                reads[name].append(Read(pipe, loaded, loads, interval, stores > 0))
    return {
        name: _kept(memories[name], of, tool)
        for name, of in reads.items()
        if not (memories[name].in_registers or writes[name] > 1)
        and any(r.loads > 1 and r.loads + r.written > _PORTS for r in of)
    }


def _kept(memory: Memory, reads: Sequence[Read], tool: Personality) -> Fraction:
    """Copies of a bank, on average: each is kept as often as those that may read it want.

    Where every access tells which bank of a dimension it is of, only these have readers.
    """
    boxes = [[box_of(t, r.pipe) for t in r.touches] for r in reads]
    data = any(_at_data(t, r.pipe) for r in reads for t in r.touches)
    told = [
        d
        for d, split in enumerate(memory.splits)
        if split.factor > 1 and not data and not any(b.form[d] for of in boxes for b in of)
    ]
    wanted: Counter[tuple[int, ...]] = Counter()
    for read, of in zip(reads, boxes, strict=True):
        here: dict[tuple[int, ...], set[Box]] = defaultdict(set)
        for box in of:
            banks = (
                {memory.splits[d].bank(n, memory.shape[d]) for n in box.offsets[d]} for d in told
            )
            for place in product(*banks):
                here[place].add(_within(box, memory, told, place))
        for place, inside in here.items():
            loads = _busiest(inside, memory, tool.banks.rotating) if told else read.loads
            wanted[place] = max(wanted[place], -(-loads // read.interval) - (not read.written))
    most = tool.local_arrays.most_copies
    copies = [max(1, min(most, n)) for n in wanted.values()]
    rows = prod(memory.splits[d].factor for d in told)
    return Fraction(sum(copies) + rows - len(copies), rows)


def _within(box: Box, memory: Memory, told: Sequence[int], place: tuple[int, ...]) -> Box:
    """What of a box is in one bank of some dimensions."""
    if not told:
        return box
    at = dict(zip(told, place, strict=True))
    offsets = tuple(
        frozenset(n for n in of if d not in at or split.bank(n, extent) == at[d])
        for d, (of, split, extent) in enumerate(
            zip(box.offsets, memory.splits, memory.shape, strict=True)
        )
    )
    return replace(box, offsets=offsets)


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


def _touched(pipe: Pipe) -> dict[str, list[Touch]]:
    """The accesses of an iteration to each array.

    Loads that do not move are hoisted. Stores that do not may be too, unless other accesses may be of their elements.
    """
    touches: dict[str, list[Touch]] = defaultdict(list)
    still = {x.iv for x in (*pipe.inner, *pipe.outside)} - pipe.variables
    for t in pipe.touches:
        if t.write or t.guarded or t.variables - still:  # what is no counter is data, and moves
            touches[t.memory].append(t)
    return touches


def _uses(
    pipe: Pipe, touches: Mapping[str, Sequence[Touch]], memories: Mapping[str, Memory], apart: bool
) -> dict[str, tuple[int, int]]:
    """Loads and stores of an iteration of the busiest bank of each array."""
    return {
        name: (
            _accesses(pipe, [t for t in ts if not t.write], memories[name], apart),
            _accesses(pipe, [t for t in ts if t.write], memories[name], apart),
        )
        for name, ts in touches.items()
    }


def _accesses(pipe: Pipe, touches: Sequence[Touch], memory: Memory, apart: bool) -> int:
    """Of the busiest bank: those at places that data tell are of other elements in each copy, and of any bank."""
    told = [t for t in touches if not _at_data(t, pipe)]
    data = (len(touches) - len(told)) * prod(pipe.copies.values())
    return data + _busiest({box_of(t, pipe) for t in told}, memory, apart)


def _at_data(touch: Touch, pipe: Pipe) -> bool:
    """Its place is data: no counters tell it."""
    counters = {x.iv for x in (*pipe.inner, *pipe.outside, *pipe.flattened, pipe.loop)}
    return not touch.variables <= counters


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
