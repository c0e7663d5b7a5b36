"""Random steps for a program under a schedule: many are legal, many are not, some are nonsense."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import loads
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    Align,
    BindOp,
    BindStorage,
    Buffer,
    Distribute,
    Flatten,
    Fuse,
    Interchange,
    Interface,
    Partition,
    Pipeline,
    Reassociate,
    Reorder,
    Reuse,
    Reverse,
    Shift,
    Skew,
    Split,
    Step,
    Tile,
    Unroll,
)
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import ScheduledScop

WEIGHTS = {
    "interchange": 12,
    "reorder": 6,
    "split": 12,
    "tile": 12,
    "skew": 10,
    "reverse": 9,
    "shift": 8,
    "fuse": 12,
    "distribute": 9,
    "reassociate": 6,
    "unroll": 8,
    "pipeline": 7,
    "partition": 5,
    "flatten": 3,
    "bind_storage": 2,
    "bind_op": 2,
    "interface": 2,
}
"""Of designs that are recorded by their seeds: a new step is in `EVERY`."""

EVERY = {**WEIGHTS, "buffer": 8, "align": 12}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A step that was refused, and the schedule that it was to follow."""

    before: Schedule
    step: Step
    error: ScheduleError


@dataclass(slots=True)
class Walk:
    """A random schedule, all of it accepted, and what was refused on the way."""

    program: Program
    schedule: Schedule
    scheduled: ScheduledScop
    refusals: list[Refusal] = field(default_factory=list)


def random_walk(
    rng: random.Random, program: Program, length: int, tries: int | None = None
) -> Walk:
    """Add random steps until ``length`` are accepted or ``tries`` have been made."""
    schedule = Schedule()
    walk = Walk(program, schedule, apply(program, schedule))
    for _ in range(tries or 2 * length):
        if len(walk.schedule) == length:
            break
        step = random_step(rng, walk.scheduled)
        longer = walk.schedule.then(step)
        try:
            scheduled = apply(program, longer)
        except ScheduleError as error:
            walk.refusals.append(Refusal(walk.schedule, step, error))
        else:
            walk.schedule, walk.scheduled = longer, scheduled
    return walk


@dataclass(frozen=True, slots=True)
class Nest:
    """A statement (or a part of it) and how the loops around it can be addressed."""

    stmt: str
    loops: tuple[str, ...]


def nests_of(state: ScheduledScop) -> list[Nest]:
    """The nests of all pieces, in execution order."""
    known = set(state.loop_names())
    found = []
    for piece in state.pieces:
        refs = (d.name if d.name in known else f"{piece.name}.{d.name}" for d in piece.dims)
        found.append(Nest(piece.name, tuple(refs)))
    return found


def random_step(
    rng: random.Random, state: ScheduledScop, weights: Mapping[str, int] = WEIGHTS
) -> Step:
    """One step that names what is there; whether it is legal is another matter."""
    nests = nests_of(state)
    if not nests:
        return _partition(rng, state.scop.program)
    deep = [n for n in nests if n.loops]
    while True:
        kind = rng.choices(list(weights), list(weights.values()))[0]
        step = _step(rng, kind, state, nests, rng.choice(deep) if deep else None)
        if step is not None:
            return step


def _step(
    rng: random.Random, kind: str, state: ScheduledScop, nests: list[Nest], nest: Nest | None
) -> Step | None:
    match kind:
        case "partition":
            return _partition(rng, state.scop.program)
        case "reassociate":
            return Reassociate(_reducing(rng, state))
        case "bind_storage" | "bind_op" | "interface":
            return _binding(rng, kind, state.scop.program)
        case "fuse" | "distribute":
            return _regroup(rng, kind, nests)
        case "buffer":
            return _buffer(rng, state.scop.program, nest)
        case "reuse":
            array = rng.choice(state.scop.program.arrays).name
            return Reuse(array, rng.choice(nest.loops)) if nest is not None else None
        case "align":
            return random_align(rng, state)
    if nest is None:
        return None
    return _loop_step(rng, kind, nest)


def _buffer(rng: random.Random, program: Program, nest: Nest | None) -> Step:
    """Copies in a loop of some nest, or in none; once in a while of a scalar, or elsewhere."""
    arrays = [a for a in program.arrays if a.shape or rng.random() < 0.05] or program.arrays
    loops = nest.loops if nest is not None and rng.random() < 0.85 else ()
    array = rng.choice(arrays).name
    at = rng.choice(loops) if loops else ""
    accesses = [
        str(a)
        for s in program.statements()
        for a in (s.target, *loads(s.value))
        if a.array == array and rng.random() < 0.2
    ]
    return Buffer(array, at, access=accesses[0] if accesses else "")


def _loop_step(rng: random.Random, kind: str, nest: Nest) -> Step | None:
    loops = nest.loops
    loop = rng.choice(loops)
    several = len(loops) > 1
    match kind:
        case "interchange" if several:
            return Interchange(*rng.sample(loops, 2))
        case "reorder" if several:
            count = rng.randint(2, len(loops))
            return Reorder(tuple(rng.sample(loops, count)))
        case "split":
            named = (f"{loop[-1]}o", f"{loop[-1]}i") if rng.random() < 0.2 else (None, None)
            return Split(loop, _factor(rng), *named, tail=_tail(rng))
        case "tile":
            count = rng.randint(1, min(3, len(loops)))
            first = rng.randint(0, len(loops) - count)
            factors = tuple(_factor(rng) for _ in range(count))
            return Tile(loops[first : first + count], factors, tail=_tail(rng))
        case "skew" if several:
            a, b = sorted(rng.sample(range(len(loops)), 2))
            return Skew(loops[a], loops[b], rng.choice((1, 1, 1, 2, -1, -1, 3)))
        case "reverse":
            return Reverse(loop)
        case "shift":
            return Shift(nest.stmt, loop, rng.choice((1, 1, 2, 3, -1, -2)))
        case "unroll":
            return Unroll(loop, rng.choice((0, 2, 2, 3, 4)), tail=_tail(rng))
        case "pipeline":
            return Pipeline(loop, rng.choice((1, 1, 2, 4)))
        case "flatten":
            return Flatten(loop, rng.random() < 0.6)
    return None


def _factor(rng: random.Random) -> int:
    return rng.choice((2, 2, 3, 3, 4, 4, 5, 7, 8, 16, 1))


def _tail(rng: random.Random) -> str:
    return rng.choice(("remainder", "guard"))


def _partition(rng: random.Random, program: Program) -> Step | None:
    arrays = [a for a in program.arrays if a.shape]
    if not arrays:
        return None
    array = rng.choice(arrays)
    scheme = rng.choice(("cyclic", "block", "complete"))
    factor = 0 if scheme == "complete" else rng.choice((2, 3, 4))
    return Partition(array.name, rng.randrange(len(array.shape)), scheme, factor)


def _binding(rng: random.Random, kind: str, program: Program) -> Step | None:
    """Steps that only name a resource."""
    ranked = [a for a in program.arrays if a.shape]
    match kind:
        case "bind_op":
            stmt = rng.choice(program.statements()).name
            return BindOp(stmt, rng.choice(("mul", "add", "fadd")), rng.choice(("dsp", "fabric")))
        case "bind_storage" if ranked:
            words = rng.choice((("ram_2p", "bram"), ("ram_1p", "lutram"), ("ram_t2p", "uram")))
            return BindStorage(rng.choice(ranked).name, *words)
        case "interface":
            mode = rng.choice(("m_axi", "ap_memory", "s_axilite", "bram"))
            return Interface(rng.choice(program.arrays).name, mode)
    return None


def _regroup(rng: random.Random, kind: str, nests: list[Nest]) -> Step | None:
    """Fuse or distribute two or three statements, neighbours most of the time."""
    names = list(dict.fromkeys(n.stmt for n in nests))
    if len(names) < 2:
        return None
    count = min(len(names), rng.choice((2, 2, 2, 3)))
    first = rng.randint(0, len(names) - count)
    chosen = names[first : first + count] if rng.random() < 0.8 else rng.sample(names, count)
    depth = min(len(n.loops) for n in nests if n.stmt in chosen)
    if kind == "fuse":
        return Fuse(tuple(chosen), rng.randint(1, depth)) if depth else None
    return Distribute(tuple(chosen), rng.randint(0, max(0, depth - 1)))


def random_align(rng: random.Random, state: ScheduledScop) -> Step | None:
    """A common loop for what shares a loop now, or for neighbours, most of the time along one loop each."""
    deep = [p for p in state.pieces if p.dims]
    if not deep:
        return None
    first = rng.choice(deep)
    depth = rng.choice((0, 0, 0, len(first.dims) - 1))
    shared = depth + (rng.random() < 0.8)
    nest = [p for p in state.pieces if p.place[:shared] == first.place[:shared]]
    loops = {p.name: p.names for p in nest}
    names = list(loops)
    if rng.random() < 0.5:
        rng.shuffle(names)
    times = [_time(rng, loops[name], depth) for name in names]
    loop = rng.choice((None, None, "t", "i"))
    return Align(tuple(names), tuple(times), loop, depth, promote=rng.random() < 0.5)


def _time(rng: random.Random, loops: tuple[str, ...], depth: int) -> str:
    """When a statement runs: a loop, up or down, shifted, skewed; once in a while a number."""
    own = loops[depth:]
    if not own or rng.random() < 0.1:
        return str(rng.randint(-2, 6))
    text = rng.choice(own)
    if rng.random() < 0.15:
        text = f"-{text}"
    if rng.random() < 0.15:
        text += f" {rng.choice('+-')} {rng.choice((1, 1, 2))}*{rng.choice(loops)}"
    if rng.random() < 0.2:
        text += f" {rng.choice('+-')} {rng.randint(1, 9)}"
    return text


def _reducing(rng: random.Random, state: ScheduledScop) -> str:
    """A statement that reads what it writes, where there is one."""
    from dsl.expressions.expr import loads

    stmts = state.scop.program.statements()
    likely = [s.name for s in stmts if s.target in loads(s.value)]
    return rng.choice(likely) if likely else rng.choice(stmts).name


def with_random_steps(
    rng: random.Random, program: Program, schedule: Schedule, count: int
) -> Schedule:
    """The schedule with those of so many random steps that are not refused behind it."""
    state = apply(program, schedule)
    for _ in range(count):
        try:
            state = apply(program, schedule.then(step := random_step(rng, state, EVERY)))
        except ScheduleError:
            continue
        schedule = schedule.then(step)
    return schedule
