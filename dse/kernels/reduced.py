"""A kernel at a smaller size, at which a design of it can be run: by the interpreter, in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.kernels.kernel import Kernel
from dsl.programs.pretty import pretty
from dsl.programs.program import Loop, Program, Stmt
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Split, Tile, Unroll
from dsl.stored.kernel import StoredKernel
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.counts import instance_counts
from polyhedral.schedule import apply

LARGEST = 2e6  # statement instances that the interpreter runs within seconds
_PARTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)


def ascending(kernel: Kernel) -> tuple[Kernel, ...]:
    """The kernel at its own size, at those it has names for, and at parts of its own; the sizes of
    least work first, those of too much left out.

    Parts come after the others: a size that the user has a name for is one that makes sense.
    """
    named: tuple[Kernel, ...] = (kernel, *(kernel.at(name) for name in kernel.sizes))
    parts: Iterable[Kernel] = parts_of(kernel)
    if isinstance(kernel, StoredKernel):
        named = tuple(k for k in (kernel, *kernel.named) if k.ready)
        parts = (k for k in kernel.parts if k.ready)
    found = _small(named)
    known = {pretty(k.program) for k in found}
    smaller = _small([k for k in parts if _countable(k)])
    return (*found, *(k for k in smaller if pretty(k.program) not in known))


def parts_of(kernel: Kernel) -> Iterator[Kernel]:
    """The kernel at parts of its size, as far as it is a program of the language there."""
    numbers = {name: n for name, n in kernel.numbers().items() if n > 2}
    for part in _PARTS if numbers else ():
        if part >= max(numbers.values()):
            return
        try:
            smaller = kernel.at(**{name: max(2, -(-n // part)) for name, n in numbers.items()})
            _ = smaller.program
        except LanguageError:
            continue  # not every number is a size that can be made smaller by itself
        yield smaller


def _countable(kernel: Kernel) -> bool:
    """Whether it is right at its size: accesses are in bounds, and the like."""
    try:
        instances(kernel.program)
    except LanguageError:
        return False
    return True


def _small(kernels: Sequence[Kernel]) -> tuple[Kernel, ...]:
    found: dict[str, tuple[float, Kernel]] = {}
    for one in kernels:
        work = instances(one.program)
        if work <= LARGEST:
            found.setdefault(pretty(one.program), (work, one))
    return tuple(one for _, one in sorted(found.values(), key=lambda pair: pair[0]))


def fitting(sizes: Sequence[Kernel], schedule: Schedule) -> Kernel | None:
    """The first of the kernels for which the schedule is legal, if possible one in which no loop is
    shorter than the blocks that it is split into: else only what remains of them would run.
    """
    legal: list[Kernel] = []
    for small in sizes:
        try:
            apply(small.program, schedule)
        except ScheduleError:
            continue  # a factor may be more than the loop has iterations
        if _blocks_run(small.program, schedule):
            return small
        legal.append(small)
    return legal[-1] if legal else None


def _blocks_run(program: Program, schedule: Schedule) -> bool:
    """Whether every loop of the program that is split has iterations for a whole block."""
    extents = extents_of(program)
    for step in schedule.steps:
        match step:
            case Split(loop=loop, factor=factor):
                blocks = [(loop, factor)]
            case Tile(loops=loops, factors=factors):
                blocks = list(zip(loops, factors, strict=True))
            case Unroll(loop=loop, factor=factor):
                blocks = [(loop, factor)]
            case _:
                continue
        if any(extents.get(loop, factor) < factor for loop, factor in blocks):
            return False
    return True


def extents_of(program: Program) -> dict[str, int]:
    """Trip counts of the loops around a statement, by ``S1.i`` and by the bare name, where they are
    always the same."""
    found: dict[str, set[int | None]] = {}
    for node, around in program.walk():
        if isinstance(node, Stmt):
            for loop in around:
                if isinstance(loop, Loop):
                    for ref in (f"{node.name}.{loop.var}", loop.var):
                        found.setdefault(ref, set()).add(_extent(loop))
    single = {ref: next(iter(e)) for ref, e in found.items() if len(e) == 1}
    return {ref: extent for ref, extent in single.items() if extent is not None}


def _extent(loop: Loop) -> int | None:
    """The trip count of a loop whose bounds are numbers."""
    if any(bound.terms for bound in (*loop.lowers, *loop.uppers)):
        return None
    span = min(b.const for b in loop.uppers) - max(b.const for b in loop.lowers)
    return max(0, -(-span // abs(loop.step)))


def instances(program: Program) -> float:
    """How many statement instances a program runs; infinite where that is not known."""
    counts = instance_counts(loop_tree(apply(program, Schedule())))
    return float("inf") if None in counts.values() else sum(n or 0 for n in counts.values())


def size_text(program: Program) -> str:
    """``at A[20x30], B[30x25]``: by the shapes of its arrays."""
    shapes = {a.name: "x".join(map(str, a.shape)) for a in program.arguments if a.shape}
    return "at " + ", ".join(f"{name}[{shape}]" for name, shape in shapes.items())
