"""What the white-box model says of a design, held against an oracle and against proven bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backends.devices import DEVICES
from dse.bounds.bounds import bounds, work_of
from dse.estimates.estimation import open_answer
from dsl.errors.errors import ToolError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from polyhedral.codegen.generate import loop_tree
from polyhedral.scop.scheduled import ScheduledScop
from qor_gnn.design.directives import written_unrolls
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel, Loop, Statement, loops_in, walk
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.personality import Personality, allowed, available, personality
from tests.support.qor_oracle import TooManyError, copies_of, needed

VITIS = tuple(name for name in available() if not personality(name).is_open)
OPEN = tuple(name for name in available() if personality(name).is_open)


def interval_faults(
    schedule: Schedule, state: ScheduledScop, tools: Sequence[str] = (*VITIS, *OPEN)
) -> Iterator[str]:
    """Pipelines whose interval is less than the oracle proves to be needed."""
    plain = kernel_of_tree(loop_tree(state))
    if plain.dataflow:
        return
    for name in tools:
        tool = allowed(personality(name), bool(state.reassociated))
        kernel = automatic(plain, tool, written_unrolls(schedule))
        for function in kernel.functions:
            regions = function_latency(Scope(kernel, tool), function)[1]
            found: dict[str, list[tuple[tuple[Loop, ...], int]]] = {}
            for chain, interval in _pipelines(regions):
                found.setdefault(chain[-1].iv, []).append((chain, interval))
            for own in found.values():
                for chain, interval, copy in _by_copy(kernel, own):
                    fault = _needed(kernel, tool, chain, interval, bool(state.reassociated), copy)
                    if fault is not None:
                        yield f"{tool.name}: {fault}"


def _pipelines(regions: Sequence[Region]) -> Iterator[tuple[tuple[Loop, ...], int]]:
    """The pipelines and their intervals, each copy that a loop around makes by itself."""
    for region in regions:
        if region.pipeline is not None:
            yield region.loops, region.pipeline.interval
        yield from _pipelines(region.children)


def _by_copy(
    kernel: Kernel, found: Sequence[tuple[tuple[Loop, ...], int]]
) -> Iterator[tuple[tuple[Loop, ...], int, tuple[int, ...] | None]]:
    """Pipelines of one innermost loop, and which copy each is: copies may be flattened differently
    (in one the loop around runs once). Where that cannot be told, the longest interval of all.
    """
    copies = copies_of(kernel, found[0][0])
    if len(copies) == len(found):
        for (chain, interval), copy in zip(found, copies, strict=True):
            yield chain, interval, copy
    elif len({chain for chain, _ in found}) == 1:
        yield found[0][0], max(interval for _, interval in found), None


def _needed(
    kernel: Kernel,
    tool: Personality,
    chain: tuple[Loop, ...],
    interval: int,
    free: bool,
    copy: tuple[int, ...] | None = None,
) -> str | None:
    try:
        found = needed(kernel, tool, chain, interval, free=free, copy=copy)
    except TooManyError:
        return None
    if found is None:
        return None
    names = ", ".join(loop.name for loop in chain)
    return f"{names} at II {interval}, needs {found.interval}: {found.reason}"


def bound_faults(
    program: Program,
    schedule: Schedule,
    state: ScheduledScop,
    tools: Sequence[str] = (*VITIS, *OPEN),
) -> Iterator[str]:
    """Estimates with fewer cycles than the bounds of their program say."""
    reassociate = bool(state.reassociated)
    kernel = kernel_of_tree(loop_tree(state))
    for name in tools:
        tool = personality(name)
        work = work_of(program, tool, reassociate)
        answer = estimate(
            kernel, allowed(tool, reassociate), kept=written_unrolls(schedule)
        )  # fmt: skip
        yield from _under(name, answer, work, tool)


def _under(name: str, answer: QorEstimate, work, tool: Personality) -> Iterator[str]:  # type: ignore[no-untyped-def]
    for bound in bounds(work, tool, answer.dsp, answer.lut).all:
        if answer.latency.average < bound.cycles:
            cycles = f"{answer.latency.average:,.0f} cycles, {answer.dsp} DSP"
            yield f"{name}: {cycles}, under {bound.kind} {bound.cycles}: {bound.reason}"


def open_faults(program: Program, schedule: Schedule, state: ScheduledScop) -> Iterator[str]:
    """The same of the open backend's own scheduler, whose cycles are those of its simulation."""
    for name in OPEN:
        tool = personality(name)
        try:
            answer = open_answer(program, schedule, tool, DEVICES[tool.device])
        except ToolError:
            continue  # an operation that it has no hardware for
        work = work_of(program, tool, bool(state.reassociated))
        yield from _under(f"{name} (scheduler)", answer, work, tool)
        kernel = kernel_of_tree(loop_tree(state))
        every = [loop for f in kernel.functions for loop in loops_in(f.body)]
        # Of the copies that a loop around makes.
        longest: dict[tuple[tuple[str, ...], frozenset[str]], int] = {}
        for row in answer.loops:
            if row.kind == "pipeline":
                key = row.loops, frozenset(row.statements)
                longest[key] = max(longest.get(key, 0), round(row.ii))
        for (names, statements), interval in longest.items():
            # It may have taken a loop around apart, so that some iterations make another pipeline
            # (those that a condition leaves a statement out of): what is left needs less.
            chains = [c for c in _chains(every, names) if _statements(c[-1]) == statements]
            if len(chains) == 1:
                fault = _needed(kernel, tool, chains[0], interval, bool(state.reassociated))
                if fault is not None:
                    yield f"{name} (scheduler): {fault}"


def _statements(loop: Loop) -> frozenset[str]:
    return frozenset(node.name for node in walk(loop.body) if isinstance(node, Statement))


def _chains(every: Sequence[Loop], names: tuple[str, ...]) -> Iterator[tuple[Loop, ...]]:
    """The nests of loops of these names, each directly around the next."""
    for loop in every:
        chain = [loop]
        while loop.name == names[0] and len(chain) < len(names):
            inner = [n for n in chain[-1].body if isinstance(n, Loop)]
            if len(inner) != 1 or inner[0].name != names[len(chain)]:
                break
            chain.append(inner[0])
        if tuple(c.name for c in chain) == names:
            yield tuple(chain)
