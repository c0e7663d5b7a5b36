"""Random designs by their seeds: programs of the tests' generators, under random directives."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from dsl.errors.errors import WeftError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.kernels.loader import load_kernels
from dsl.programs.program import Array, Loop, Node, Program, Stmt, Storage
from dsl.programs.scopes import ordered_locals
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    BindOp,
    BindStorage,
    Dataflow,
    Flatten,
    Partition,
    PartitionKind,
    Pipeline,
    Step,
    Stream,
    Unroll,
)
from polyhedral.requests.complete import check_complete
from polyhedral.requests.tool_words import OPERATORS, operators_of
from polyhedral.schedule import apply, apply_step
from polyhedral.scop.scheduled import build
from tests.support.profiles import BALANCED, CONTROL, Profile
from tests.support.random_conditions import random_conditions, random_unrolling
from tests.support.random_networks import COLUMNS, ROWS, random_network
from tests.support.random_pipelines import (
    random_dataflow,
    random_flow_step,
    random_flow_steps,
    random_pipeline,
)
from tests.support.random_programs import random_program
from tests.support.random_recurrences import random_directives, random_recurrence
from tests.support.random_schedules import nests_of, random_walk
from tests.support.random_sources import TARGETS, SourceMaker, kernel_text

SCHEMES: tuple[PartitionKind, ...] = ("cyclic", "block", "complete")
MEMORIES = (
    ("ram_1p", "lutram"),
    ("ram_2p", "bram"),
    ("ram_s2p", "lutram"),
    ("ram_t2p", "bram"),
    ("ram_t2p", "uram"),
    ("ram_1wnr", "bram"),
)


# ---------------------------------------------------------------------------------------- schedules


def accepted(program: Program, steps: Iterable[Step], schedule: Schedule | None = None) -> Schedule:
    """The schedule and those of the steps behind it that are accepted one after the other."""
    found = schedule or Schedule()
    state = apply(program, found)
    for step in steps:
        try:
            longer = apply_step(state, step)
            check_complete(longer)
        except WeftError:
            continue
        state, found = longer, found.then(step)
    return found


def with_directives(rng: random.Random, program: Program) -> Schedule:
    """Pipelines, unrolled loops, banks; for some designs operators, memories and processes too."""
    schedule, _ = random_directives(rng, program)
    if rng.random() < 0.25:
        schedule = accepted(program, (Dataflow(),), schedule)
    if rng.random() < 0.4:
        schedule = accepted(program, bindings(rng, program), schedule)
    return schedule


def bindings(rng: random.Random, program: Program) -> Iterator[Step]:
    """Implementations of operators and memories of arrays."""
    for stmt in program.statements():
        for name in operators_of(stmt.value):
            if rng.random() < 0.6:
                yield BindOp(stmt.name, name, rng.choice(tuple(OPERATORS[name])))
    for array in program.arrays:
        if array.shape and rng.random() < 0.5:
            yield BindStorage(array.name, *rng.choice(MEMORIES))


def hardware(rng: random.Random, program: Program) -> Iterator[Step]:
    """A pipeline or an unrolled loop in most nests, and some banks."""
    for nest in nests_of(build(program)):
        if not nest.loops:
            continue
        if rng.random() < 0.6:
            yield Pipeline(rng.choice(nest.loops), rng.choice((1, 1, 2, 3)))
        if rng.random() < 0.4:
            yield Unroll(rng.choice(nest.loops), rng.choice((0, 2, 2, 3)))
        if rng.random() < 0.2:
            yield Flatten(rng.choice(nest.loops), rng.random() < 0.5)
    for array in program.arrays:
        if array.shape and rng.random() < 0.4:
            scheme = rng.choice(SCHEMES)
            factor = 0 if scheme == "complete" else rng.choice((2, 3, 4))
            yield Partition(array.name, rng.randrange(len(array.shape)), scheme, factor)


# ----------------------------------------------------------------------------------------- designs


def recurrence(seed: int) -> tuple[Program, Schedule]:
    """Values that iterations hand to later ones."""
    program = random_recurrence(seed)
    return program, with_directives(random.Random(seed), program)


def local(seed: int) -> tuple[Program, Schedule]:
    """The same on local arrays, which a tool may split by itself."""
    program = on_local_arrays(random_recurrence(seed))
    rng = random.Random(f"local/{seed}")
    schedule = with_directives(rng, program) if seed % 2 else Schedule()
    return program, schedule


def on_local_arrays(program: Program) -> Program:
    """The program on copies of its arrays, which are made before it and written back behind it."""
    ranked = [a for a in program.arrays if a.shape and a.storage is Storage.ARGUMENT]
    outside = {a.name: replace(a, name=f"{a.name}_") for a in ranked}
    inside = [replace(a, storage=Storage.LOCAL, const=False) for a in ranked]
    others = [a for a in program.arrays if a not in ranked]
    arrays = (*outside.values(), *inside, *others)
    before = (_copied(f"L{n}", a, outside[a.name]) for n, a in enumerate(inside))
    written = {s.target.array for s in program.statements()}
    behind = (
        _copied(f"R{n}", outside[a.name], a) for n, a in enumerate(inside) if a.name in written
    )
    return ordered_locals(Program(program.name, arrays, (*before, *program.body, *behind)))


def _copied(name: str, to: Array, source: Array) -> Node:
    """The nest that copies an array."""
    indices = tuple(Affine.of(f"x{d}") for d in range(len(to.shape)))
    load = Load(Access(source.name, indices), source.dtype)
    node: Node = Stmt(name, Access(to.name, indices), load)
    for d, extent in reversed([*enumerate(to.shape)]):
        node = Loop(f"x{d}", (Affine.of(0),), (Affine.of(extent),), 1, (node,))
    return node


def general(profile: Profile, seed: int) -> tuple[Program, Schedule]:
    """Any types and operators; loops are transformed, or nests get directives."""
    program, rng = random_program(seed, profile), random.Random(seed)
    start = random_walk(rng, program, 3).schedule if seed % 2 else Schedule()
    schedule = accepted(program, hardware(rng, program), start)
    if seed % 3 == 0:
        schedule = accepted(program, bindings(rng, program), schedule)
    return program, schedule


def program(seed: int) -> tuple[Program, Schedule]:
    """Expressions of all types in loops of all shapes."""
    return general(BALANCED, seed)


def control(seed: int) -> tuple[Program, Schedule]:
    """Many statements under many conditions."""
    return general(CONTROL, seed)


def conditions(seed: int) -> tuple[Program, Schedule]:
    """Guards of several loops, some of them unrolled."""
    return random_conditions(seed), random_unrolling(seed)


def pipeline(seed: int) -> tuple[Program, Schedule]:
    """Stages that hand arrays on, most of them as processes."""
    program, rng = random_pipeline(seed), random.Random(seed)
    steps = [random_flow_step(rng, program, after_dataflow=False) for _ in range(2)]
    steps += hardware(rng, program)
    if rng.random() < 0.9:
        steps.append(random_dataflow(rng, program))
        for _ in range(3):
            steps += random_flow_steps(rng, program, after_dataflow=True)
    if seed % 3 == 0:
        steps += bindings(rng, program)
    return program, accepted(program, steps)


def network(seed: int) -> tuple[Program, Schedule]:
    """Processes with streams: each as deep as is asked for, or else as its array is large."""
    program, asked = random_network(seed)
    schedule = Schedule()
    for step in asked:
        longer = accepted(program, (step,), schedule)
        if longer == schedule and isinstance(step, Stream):
            longer = accepted(program, (Stream(step.array, ROWS * COLUMNS),), schedule)
        schedule = longer
    pipes = [Pipeline(f"{s.name}.j") for s in program.statements()] if seed % 2 else []
    return program, accepted(program, pipes, schedule)


def expressions(seed: int) -> tuple[Program, Schedule]:
    """Integers and fixed point of many widths: divisions, shifts, minima, comparisons."""
    rng = random.Random(f"expressions/{seed}")
    maker = SourceMaker(rng)
    kinds = [maker.number(rng.choice((2, 3))) if rng.random() < 0.8 else maker.fixed(2)]
    kinds.append(maker.number(2))
    text = kernel_text([(value, rng.choice(TARGETS)) for value in kinds])
    with tempfile.TemporaryDirectory(prefix="weft-figures-") as folder:
        file = Path(folder) / "kernel.py"
        file.write_text(text, encoding="utf-8")
        (kernel,) = load_kernels(file).values()
    return kernel.program, accepted(kernel.program, hardware(rng, kernel.program))


RANDOM: dict[str, tuple[Callable[[int], tuple[Program, Schedule]], int]] = {
    "recurrences": (recurrence, 140),
    "locals": (local, 40),
    "programs": (program, 100),
    "control": (control, 40),
    "conditions": (conditions, 24),
    "pipelines": (pipeline, 56),
    "networks": (network, 26),
    "expressions": (expressions, 40),
}
"""By group how a design is made of its seed, and how many seeds there are, from 0 on."""
