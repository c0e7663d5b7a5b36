"""The loops of a nest as a search sees them: how long they are, what they carry, and whether they may have copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from dse.space.nests.contents import Delays, carry_of
from dse.space.nests.groups import iterations
from dse.space.nests.look_ups import tells_part
from dse.space.nests.nest import Carry, NestLoop
from dsl.schedules.steps import Reorder, Tail, Unroll
from polyhedral.dependences.carried import Carried
from polyhedral.schedule import tried
from polyhedral.scop.ranges import Interval, common_interval
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop

_IN_TURN = 16  # copies of a loop that update, one after the other, what values tell


def average(piece: Piece, level: int) -> float:
    """About the trip count of a loop."""
    interval = common_interval([(piece, level)])
    if interval is not None:
        return float(interval.extent)
    low, high = piece.domain.dim_min_val(level), piece.domain.dim_max_val(level)
    # Bounds that vary: half of the whole range, as in a triangle.
    extent: int = high.to_python() - low.to_python() + 1
    return max(1.0, extent / 2)


@dataclass(frozen=True, slots=True)
class Band:
    """The loops of a band of levels, which all pieces of a group share, and those inside it."""

    state: ScheduledScop
    group: Sequence[Piece]
    levels: tuple[int, int]
    delays: Mapping[str, Delays]
    trees: bool  # the tool makes trees of sums
    leaves: bool  # in which the old sum is a leaf, if it is in a register

    @property
    def private(self) -> bool:
        """A local belongs to one iteration of loops of the band."""
        touched = {
            a.array for p in self.group for a in (p.statement.stmt.target, *p.statement.reads)
        }
        locals_ = self.state.scop.program.locals
        return any(a.name in touched and a.scope_depth > self.levels[0] for a in locals_)

    @property
    def perfect(self) -> bool:
        """Nothing has loops inside the band."""
        return all(len(p.dims) == self.levels[1] for p in self.group)

    def inner(self, dependences: Sequence[Carried]) -> Iterator[NestLoop]:
        """The loops inside the band, each once: all of their iterations are copies.

        Loops of one name are taken to be as long as the longest of them: a nest knows loops by name.
        """
        seen: set[LoopId] = set()
        longest: dict[str, int] = {}
        for piece in self.group:
            for level in range(self.levels[1], len(piece.dims)):
                name = piece.names[level]
                longest[name] = max(longest.get(name, 0), iterations(piece, level))
        for piece in self.group:
            for level in range(self.levels[1], len(piece.dims)):
                dim = piece.dims[level]
                if dim.uid in seen:
                    continue
                seen.add(dim.uid)
                extent = longest[dim.name]
                yield NestLoop(
                    f"{piece.name}.{dim.name}",
                    dim.name,
                    extent,
                    float(extent),
                    unrolls=True,
                    inner=True,
                    varies=common_interval([(piece, level)]) is None,
                    carries=self._carries(dim.uid, dependences),
                )

    def _carries(self, loop: LoopId, dependences: Sequence[Carried]) -> tuple[Carry, ...]:
        """What a loop hands on, the nearest first."""
        mine = (c for c in dependences if c.loop == loop)
        found = {carry_of(c, self.delays, self.trees, self.leaves) for c in mine}
        return tuple(sorted(found, key=lambda c: (c.distance, c.delay)))

    def _most(self, level: int, dependences: Sequence[Carried]) -> int:
        """The most copies worth making; 0 for any. Where values tell what is updated they take turns, whichever loop they
        are of: those of the loops inside are enough, and each loop is innermost in an order where that is legal. So are
        those of a loop inside that take none, as each is of a part of its own.
        """
        first, *inner = (self._takes_turns(k, dependences) for k in range(level, self.levels[1]))
        inside = enumerate(inner, level + 1)
        found = (self.interval(k) for k, turns in inside if turns or tells_part(self.group, k))
        return max(1, _IN_TURN // prod(i.extent for i in found if i is not None)) if first else 0

    def _takes_turns(self, level: int, dependences: Sequence[Carried]) -> bool:
        loop = self.group[0].dims[level].uid
        return any(c.loop == loop and self.delays[c.sink].through_memory for c in dependences)

    def interval(self, level: int) -> Interval | None:
        """The range of a loop where it is always the same, the program's conditions left out."""
        whole = common_interval([(p, level) for p in self.group])
        return whole or common_interval([(_unconditional(p), level) for p in self.group])

    def loop(self, level: int, dependences: Sequence[Carried]) -> NestLoop:
        """One loop and what it carries."""
        piece = self.group[0]
        interval = self.interval(level)
        several = interval is not None and interval.extent > 1
        plain = several and self._unrolls(level)
        jams = several and not plain and self._unrolls(level, "guard")
        unrolls = plain or jams
        separates = not unrolls or self._separates(level)
        guarded = common_interval([(p, level) for p in self.group]) is None
        constant = all(self.interval(k) for k in range(*self.levels))
        return NestLoop(
            f"{piece.name}.{piece.names[level]}",
            piece.names[level],
            None if interval is None else interval.extent,
            average(piece, level) if interval is None else float(interval.extent),
            unrolls,
            separates,
            (guarded and self.private) or (not separates and (self.private or not constant)),
            guarded=guarded,
            jams=jams,
            most=self._most(level, dependences),
            carries=self._carries(piece.dims[level].uid, dependences),
        )

    def _unrolls(self, level: int, tail: Tail = "remainder") -> bool:
        """Whether the loop may run inside all loops further in, over the same range each time, or under guards.

        Then so may any block of its iterations.
        """
        piece = self.group[0]
        inner = [f"{piece.name}.{n}" for n in piece.names[level + 1 : self.levels[1]]]
        ref = f"{piece.name}.{piece.names[level]}"
        moving = (Reorder((*inner, ref)),) if inner else ()
        return tried(self.state, *moving, Unroll(ref, 0, tail)) is not None

    def _separates(self, level: int) -> bool:
        """Whether the loop may be the outermost: then its last iterations may run last."""
        piece = self.group[0]
        outer = [f"{piece.name}.{n}" for n in piece.names[self.levels[0] : level]]
        ref = f"{piece.name}.{piece.names[level]}"
        moving = (Reorder((ref, *outer)),) if outer else ()
        return tried(self.state, *moving) is not None


def _unconditional(piece: Piece) -> Piece:
    """The piece as if it ran wherever the loops around it do."""
    return piece if piece.frame is piece.hull else replace(piece, hull=piece.frame)
