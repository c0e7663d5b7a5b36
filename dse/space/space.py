"""`Space`: all design points of a kernel, and the schedule of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from dse.space.costs.cost import cost, uneven
from dse.space.loops.whole_ranges import in_whole_ranges
from dse.space.made import as_written
from dse.space.memory.distributed_ram import Blocks, bindable, bindings
from dse.space.memory.partitions import solved
from dse.space.nests.contents import all_logic
from dse.space.nests.context import Context
from dse.space.nests.early_exits import ends_as_asked, exits_as_written, leaves
from dse.space.nests.nest import Nest, Order, Vector
from dse.space.start import START, Start
from dse.space.variant import Variant
from dse.space.variants import variants
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Flatten, Pipeline, Reorder, Split, Step, Tail, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.deadline import DeadlinePassedError, until
from polyhedral.looptree.counts import instance_counts
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import ScheduledScop
from qor_gnn.memory.storage import storage_rules
from qor_gnn.tools.personality import Personality, allowed


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen for one nest: the number of its order, a factor for each loop of it, and the
    interval that is asked for: copies that start so many cycles apart share that many units.
    """

    order: int
    vector: Vector
    ii: int = 1


@dataclass(frozen=True, slots=True)
class Point:
    """A design point: the number of its variant, and a choice for each nest."""

    variant: int
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """The points of a kernel.

    Dataflow between nests will be another choice of a variant once schedules can say it.

    Attributes:
        program: the kernel.
        tool: judges delays and units.
        reassociate: reductions of floats may be done in any order.
        variants: the structures.
        logic: LUTs that count as a DSP slice, where all operators are made of LUTs: what is planned
            with are shares of both then; else 0.
        start: what all designs have, from a schedule that the search begins with.
        bram18: blocks that a design may use: local arrays whose banks need more of them are kept in LUTs.
    """

    program: Program
    tool: Personality
    reassociate: bool
    variants: tuple[Variant, ...]
    logic: float = 0.0
    start: Start = START
    bram18: float = inf

    @property
    def size(self) -> int:
        """Number of points."""
        return sum(variant.size for variant in self.variants)

    def order(self, point: Point, nest: int) -> Order:
        """The order that a point chooses for a nest."""
        return self.variants[point.variant].nests[nest].orders[point.choices[nest].order]

    def schedule(self, point: Point) -> Schedule | None:
        """The schedule of a point, partitions included; None where these take too many banks."""
        variant = self.variants[point.variant]
        steps: list[Step] = list(variant.steps)
        parts, asked = [], []
        for nest, choice in zip(variant.nests, point.choices, strict=True):
            order = nest.orders[choice.order]
            steps += order.steps
            own = list(nest_steps(nest, order, choice.vector, choice.ii))
            if order.given:
                again = {step.loop for step in own if isinstance(step, Pipeline)}
                steps = [s for s in steps if not (isinstance(s, Pipeline) and s.loop in again)]
            steps += own
            parts.append((order, choice.vector))
            asked.append(choice.ii)
        banks = solved(variant.program, parts, asked, self.start.beside(variant.made))
        if banks is None:
            return None
        own = [step for step in steps if all(step is not each for each in variant.steps)]
        schedule = Schedule((*steps, *banks))
        early = leaves(variant.exits, own)
        if early and ends_as_asked(self.program, longer := Schedule((*steps, *early, *banks))):
            schedule = longer
        memories = () if self.bram18 == inf else bindable(variant.program, variant.steps)
        if not memories:
            return schedule
        nests = [(*part, ii) for part, ii in zip(parts, asked, strict=True)]
        bound = bindings(self.program, schedule, memories, nests, self.tool, self.blocks)
        return Schedule((*schedule, *bound)) if bound else schedule

    @property
    def blocks(self) -> Blocks:
        """Block RAM that a design may use."""
        return Blocks(self.bram18, storage_rules(self.tool.name))

    def plain(self, variant: int = 0) -> Point:
        """The point without any unrolling, every nest in its present order."""
        nests = self.variants[variant].nests
        return Point(variant, tuple(Choice(0, nest.orders[0].plain) for nest in nests))


def space_of(
    program: Program,
    tool: Personality,
    reassociate: bool = False,
    logic: float = 0.0,
    start: Start = START,
    bram18: float = inf,
    ends: float = inf,
) -> Space:
    """The space of a kernel: structures and orders by legality, factors from the trip counts. Where there is no time for all
    structures it has the first ones, at worst the program as it is written with its loops in their order.

    Args:
        program: the kernel.
        tool: judges delays and DSP.
        reassociate: reductions of floats may be done in any order.
        logic: LUTs of the budget for each DSP slice of it; 0 where LUTs are not planned with.
        start: what all designs have.
        bram18: blocks that a design may use; infinite for a tool's choice of storage, whatever it takes.
        ends: until when structures are looked for, of `time.monotonic`.

    Raises:
        ScheduleError: W2xx, a step of the start is not legal.
        LanguageError: W16x, the program accesses an array out of bounds.
        ToolError: W451, an operator that the tool does not know.
    """
    tool = allowed(tool, reassociate)
    start = start.on(tool)
    found: list[Variant] = []
    for steps in (start.steps, *start.others):
        state = apply(program, Schedule(steps))
        made = tuple(p for p in state.partitions if p not in steps)
        beside = steps is not start.steps
        own = replace(start, steps=steps, made=made, others=(), overlapping=beside)
        if not beside:
            start = replace(start, made=made)
        if tool.is_open or not all_logic(state, tool):
            logic = 0.0
        written = () if tool.is_open else exits_as_written(state, start.leaving)
        context = Context(
            tool, instance_counts(loop_tree(state)), logic, own.outside, exits=written
        )
        try:
            with until(ends):
                for some in _structures(state, context, reassociate, own):
                    found += some
        except DeadlinePassedError:
            found = found or [as_written(state, steps, context)]
            break
    if tool.is_open:
        bram18 = inf  # it makes what it is told of memories by itself
    return Space(program, tool, reassociate, tuple(found), logic, start, bram18)


def _structures(
    state: ScheduledScop, context: Context, reassociate: bool, start: Start
) -> Iterator[Sequence[Variant]]:
    """Those of the program as it is, and of its loops over whole ranges."""
    yield variants(state, context, reassociate, start)
    whole, undone = (state, ()) if start.structured else in_whole_ranges(state)
    if undone:
        start = replace(start, steps=(*start.steps, *undone))
        context = replace(context, counts=instance_counts(loop_tree(whole)))
        more = variants(whole, context, reassociate, start)
        yield [replace(v, name=f"{v.name}, whole ranges") for v in more]


def nest_steps(nest: Nest, order: Order, vector: Vector, ii: int = 1) -> Iterator[Step]:
    """Block loops in their order, the pipeline in the innermost of them that runs more than once,
    copies inside.
    """
    blocks: list[str] = []
    points: list[str] = []
    jammed: list[str] = []  # of them
    repeated: str | None = None
    if order.given:
        yield from [Pipeline(order.pipeline, ii)] if order.pipeline and ii > 1 else ()
        return
    tail = cost(nest, order, vector).tail
    for loop, u in zip(order.loops, vector, strict=True):
        if loop.inner:
            continue
        if u == 1:
            blocks.append(loop.ref)
            repeated = loop.ref if loop.extent != 1 else repeated
        elif u == loop.extent:
            points.append(loop.ref)
            jammed += [loop.ref] if loop.jams else []
        else:
            kept: Tail = tail if (loop.extent or 0) % u else "remainder"
            if loop.guarded or loop.jams:
                kept = "guard"
            yield Split(loop.ref, u, f"{loop.name}_0", f"{loop.name}_1", kept)
            blocks.append(f"{loop.ref}_0")
            once = loop.extent is not None and kept == "remainder" and loop.extent // u == 1
            repeated = repeated if once else blocks[-1]
            points.append(f"{loop.ref}_1")
            jammed += [points[-1]] if loop.jams else []
    # Reordering also gives remainders nests of their own: the main nest stays perfect.
    points = _sums_last(order, points)
    wanted = (*blocks, *points)
    if points and blocks and (uneven(order, vector) or wanted != _present(order, vector)):
        yield Reorder(wanted)
    for loop in order.loops:
        if loop.inner:
            yield Unroll(loop.ref, 0, "guard" if loop.varies else "remainder")
        elif loop.guarded and loop.ref in points:
            points.remove(loop.ref)
            yield Unroll(loop.ref, 0, "guard")
    for ref in jammed:
        yield Unroll(ref, 0, "guard")
    if repeated is not None:
        yield Pipeline(repeated, ii)
        if order.drains:
            yield Flatten(repeated, enabled=False)
    for ref in points:
        if ref not in jammed:
            yield Unroll(ref)


def _sums_last(order: Order, points: Sequence[str]) -> list[str]:
    """The copied loops in their order; under guards those of sums innermost: a guard goes around all terms of a sum
    then, which are added as a tree (`polyhedral.codegen.guards_outside`).
    """
    if not any(loop.guarded or loop.jams for loop in order.loops):
        return list(points)
    sums = {loop.ref for loop in order.loops if any(carry.tree for carry in loop.carries)}
    return sorted(points, key=lambda ref: ref in sums or ref.removesuffix("_1") in sums)


def _present(order: Order, vector: Vector) -> tuple[str, ...]:
    """The loops as they stand after the splits."""
    found: list[str] = []
    for loop, u in zip(order.loops, vector, strict=True):
        if loop.inner:
            continue
        whole = u in (1, loop.extent)
        found += [loop.ref] if whole else [f"{loop.ref}_0", f"{loop.ref}_1"]
    return tuple(found)
