"""`Start`: what a schedule says that a search keeps, and what of it is searched anew.

A search that begins with a schedule keeps its structure (splits, orders, fusion, buffers ...), its interfaces,
its storage and its tasks. Factors are what a search is for: pipelines, unrolling and partitions of the schedule
are left out, but for those that are fixed. A nest in which a pipeline or an unrolling is fixed stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from dsl.errors.errors import InputError, did_you_mean
from dsl.errors.shown import shown
from dsl.expressions.expr import Load
from dsl.programs.program import Program
from dsl.schedules.port_steps import Spread
from dsl.schedules.pragma_steps import Leave, Reshape, Sequential
from dsl.schedules.range_steps import Join, Unflatten
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    AutoPartition,
    BindOp,
    BindStorage,
    Buffer,
    Distribute,
    Flatten,
    Interchange,
    Interface,
    Pack,
    Partition,
    Pipeline,
    Reorder,
    Step,
    Stream,
    Unroll,
)
from polyhedral.dataflow.ports import FIFO_MODES
from polyhedral.requests.packed import packed_lanes
from polyhedral.schedule import apply, apply_step
from qor_gnn.design.region import OUTSIDE
from qor_gnn.tools.personality import Personality

SEARCHED = (Pipeline, Unroll, Flatten, Sequential, Leave, Partition, AutoPartition)
_BESIDE = (
    Interface,
    Pack,
    BindStorage,
    BindOp,
    Partition,
    AutoPartition,
    Reshape,
)  # steps that leave the loops to the search
_RENEWING = (Join, Unflatten)
"""Steps after which the program has other loops."""
_TOWARDS = (*_RENEWING, Distribute, Reorder, Interchange)
"""What brings loops to where these can be."""
_ONE_BY_ONE = (OUTSIDE, *FIFO_MODES)  # ports that hand over an element at a time
KINDS = tuple(step.kind for step in SEARCHED)


@dataclass(frozen=True)
class Start:
    """Where a search begins.

    Attributes:
        steps: that every design of the space has, in front of those that are searched.
        at_once: accesses of one kind that a bank of a memory takes in a cycle.
        others: steps that some designs have in the place of these. What they say of arrays outside is the same.
        made: partitions that other steps bring with them, of line buffers and windows.
        overlapping: it has tiles so that iterations overlap.
        leaving: how many trips are expected of loops that end early.
    """

    steps: tuple[Step, ...] = ()
    at_once: int = 1
    others: tuple[tuple[Step, ...], ...] = ()
    made: tuple[Partition, ...] = ()
    overlapping: bool = False
    leaving: tuple[Leave, ...] = ()

    def on(self, tool: Personality) -> Start:
        """The same for a tool, which says how many ports memories have."""
        ports = tool.memories.ports(None, False)
        return replace(self, at_once=max(1, min(ports.read, ports.write)))

    def beside(self, made: tuple[Partition, ...]) -> Start:
        """The same with partitions that a structure brings with it."""
        return replace(self, made=(*self.made, *made)) if made else self

    @property
    def structured(self) -> bool:
        """Whether it says which statements share loops, or what becomes of some loops; copies of whole arrays
        leave those of the kernel open, through several ports, too, and so do steps that make whole ranges of tiles and of
        flattened loops.
        """
        steps = self.steps
        last = max((n for n, s in enumerate(steps, 1) if isinstance(s, _RENEWING)), default=0)
        if all(_is_open(s) or isinstance(s, _TOWARDS) for s in steps[:last]):
            steps = steps[last:]
        copied = {s.array for s in steps if isinstance(s, Buffer) and not s.at}
        copies = {f"{way}_{array}" for array in copied for way in ("load", "store")}
        return not all(_is_open(s) or _is_spread(s, copies) for s in steps)

    @cached_property
    def outside(self) -> frozenset[str]:
        """Arrays whose elements, or words, come one after the other: banks and copies do not make them faster."""
        return frozenset(
            step.argument if isinstance(step, Interface) else step.array
            for step in self.steps
            if isinstance(step, Stream)
            or (isinstance(step, Interface) and step.mode in _ONE_BY_ONE)
        )

    def words(self, program: Program) -> Mapping[str, int]:
        """How many elements of the arrays outside come at a time, through all of the ports that one has at the most."""
        packs = [step for step in self.steps if isinstance(step, Pack)]
        arrays = [array for array in program.arrays if array.name in self.outside]
        ports = self._pointers
        return {a.name: max(1, packed_lanes(packs, a)) * ports.get(a.name, 1) for a in arrays}

    @cached_property
    def _pointers(self) -> Mapping[str, int]:
        """Those of each array outside."""
        found: dict[str, int] = {}
        for step in (step for steps in (self.steps, *self.others) for step in steps):
            if isinstance(step, Interface):
                found[step.argument] = max(found.get(step.argument, 1), 1 + len(step.also))
        return found

    def lanes(self, program: Program) -> Mapping[tuple[str, int], int]:
        """Copies of packed arguments, by array and last dimension: how many elements are copied at a time."""
        known = self._lanes.get(id(program))
        if known is None or known[0] is not program:
            known = self._lanes[id(program)] = program, self._lanes_in(program)
        return known[1]

    @cached_property
    def _lanes(self) -> dict[int, tuple[Program, Mapping[tuple[str, int], int]]]:
        """What was found of programs: solving asks for each design."""
        return {}

    def _lanes_in(self, program: Program) -> Mapping[tuple[str, int], int]:
        words = {array: n for array, n in self.words(program).items() if n > 1}
        taking_turns = {s.loop: s.ports for s in self._spread if s.scheme == "cyclic"}
        found: dict[tuple[str, int], int] = {}
        for stmt in program.statements() if words else ():
            if isinstance(stmt.value, Load):
                ends = (stmt.target, stmt.value.access)
                for here, there in (ends, ends[::-1]):
                    if there.array in words and here.array not in words:
                        # Of words at the same time those of a memory's two ports want other banks by their lanes alone.
                        ports = self._pointers.get(there.array, 1)
                        lanes = words[there.array] // ports * min(ports, self.at_once)
                        found[here.array, len(here.indices) - 1] = lanes
                        for d, index in enumerate(here.indices[:-1]):
                            for var in index.variables():
                                if (rows := taking_turns.get(f"{stmt.name}.{var}", 0)) > 2:
                                    found[here.array, d] = rows
        return found

    @property
    def _spread(self) -> tuple[Spread, ...]:
        """What is spread over ports, in any structure."""
        steps = (step for steps in (self.steps, *self.others) for step in steps)
        return tuple(step for step in steps if isinstance(step, Spread))

    @cached_property
    def placed(self) -> frozenset[str]:
        """Arrays whose banks are not searched: ranking asks for each point."""
        return self.outside | {step.array for step in self._partitions}

    def banks(self, program: Program) -> Mapping[tuple[str, int], int]:
        """The banks that it says, by array and dimension."""
        found: dict[tuple[str, int], int] = {}
        for step in self._partitions:
            extent = program.array(step.array).shape[step.dim]
            found[step.array, step.dim] = min(step.factor or extent, extent)
        return found

    @property
    def _partitions(self) -> tuple[Partition | Reshape, ...]:
        """What spreads elements: lanes of a word are read at once, as banks are."""
        own = (step for step in self.steps if isinstance(step, Partition | Reshape))
        return (*own, *self.made)


def _is_open(step: Step) -> bool:
    """Whether it leaves the loops of the kernel as they are."""
    return isinstance(step, _BESIDE) or (isinstance(step, Buffer) and not step.at)


def _is_spread(step: Step, copies: Set[str]) -> bool:
    """Whether it cuts a loop of some statements among ports."""
    return isinstance(step, Spread) and step.loop.partition(".")[0] in copies


START = Start()  # of a search that begins with nothing


def start_of(program: Program, schedule: Schedule, fix: Sequence[str] = ()) -> Start:
    """What of a schedule a search keeps.

    Args:
        program: that the schedule is of.
        schedule: that the search begins with.
        fix: which of its steps on factors are kept, too: a kind (``partition``), or a kind and what it is
            of (``partition:A``, ``pipeline:S1.j``). With a step on a loop all those of its nest are.

    Raises:
        InputError: W509 the schedule has no such step.
        ScheduleError: W2xx, a step is not legal.
    """
    searched = [step for step in schedule if isinstance(step, SEARCHED)]
    fixed: set[int] = set()
    for word in fix:
        named = {id(step) for step in searched if _is(step, word)}
        if not named:
            there = list(dict.fromkeys(f"{step.kind}:{_of(step)}" for step in searched))
            known = f"it has {', '.join(there)}" if there else "it has no step that could be fixed"
            raise InputError(
                "W509",
                f"fix is {shown(word)}, and the schedule has no such step",
                help=did_you_mean(word, there) or known,
            )
        fixed |= named
    fixed |= _beside(program, schedule, fixed)
    kept = tuple(s for s in schedule if not isinstance(s, SEARCHED) or id(s) in fixed)
    return Start(kept, leaving=tuple(s for s in schedule if isinstance(s, Leave)))


def _beside(program: Program, schedule: Schedule, fixed: Set[int]) -> set[int]:
    """The steps on loops of the statements whose loops some steps are on. All steps have to be legal."""
    state = apply(program, Schedule())
    whose: dict[int, set[str]] = {}
    for step in schedule:
        known = {id(p) for p in state.pieces}
        state = apply_step(state, step)
        if isinstance(step, SEARCHED) and not isinstance(step, (Partition, AutoPartition)):
            whose[id(step)] = {p.name for p in state.pieces if id(p) not in known}
    named = set[str]().union(*(whose.get(step, set()) for step in fixed))
    return {step for step, statements in whose.items() if statements & named}


def _is(step: Step, word: str) -> bool:
    kind, _, name = word.partition(":")
    return step.kind == kind and name in ("", _of(step), _of(step).rpartition(".")[2])


def _of(step: Step) -> str:
    """What a step on factors is of."""
    match step:
        case Partition(array=name) | AutoPartition(array=name):
            return name
        case Pipeline(loop=name) | Unroll(loop=name) | Flatten(loop=name):
            return name
        case Sequential(loop=name) | Leave(loop=name):
            return name
        case _:
            raise TypeError(f"{step.kind} is no step on factors")
