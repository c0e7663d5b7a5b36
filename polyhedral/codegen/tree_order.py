"""Do the loops of a tree run their iterations in the scheduled order?

Every instance says which instant of level 2 it is: ``[place[0], time[0], place[1], …]``. The tree
is right when its own order, that of the loops and of the text, is the lexicographic order of the
instants: then no dependence needs to be looked at. Almost every tree shows that by its form: a loop
whose variable is the time of one scheduled loop in all instances below it (*aligned*), and what
follows each other in its body ordered by place, or by bounds that do not meet. Where the form does
not show it, isl decides for the pairs of iterations in question, exactly; where the orders differ,
what is left to ask is whether the iterations touch the same memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import islpy as isl

from dsl.expressions.affine import Affine
from polyhedral.codegen.coverage import Around, Run, run_map, runs_of
from polyhedral.codegen.tree_conflicts import may_swap
from polyhedral.isl.text import dims, map_of, set_of
from polyhedral.looptree.settled import Range, range_of
from polyhedral.looptree.tree import Instance, TreeGuard, TreeLoop, TreeNode
from polyhedral.scop.conjunctions import excluded
from polyhedral.scop.scheduled import ScheduledScop

_QUESTIONS = 256
"""What isl is asked at most of one nest, and once more for each instance; then it is not shown."""
_MANY_QUESTIONS = 20_000
"""The same where no other way of building the nest is left; 20,000 are about 8 s."""


@dataclass(frozen=True, slots=True)
class OrderProof:
    """``holds``: the tree runs as scheduled, or swaps only what is free to be swapped.

    ``aligned``: the ivs of loops of which every iteration is one of a scheduled loop, and so are
    the loops around.
    """

    holds: bool
    aligned: frozenset[str]


class _NotShownError(Exception):
    """The order differs where it matters, or there is too much to ask."""


def prove_order(
    nodes: tuple[TreeNode, ...], state: ScheduledScop, *, patient: bool = False
) -> OrderProof:
    """Of nodes that run every iteration once (see `polyhedral.codegen.coverage`).

    Args:
        nodes: the tree.
        state: the schedule.
        patient: look at each pair of many instances, too.
    """
    count = sum(1 for _ in runs_of(nodes))
    questions = min(count * count, _MANY_QUESTIONS) if patient else count
    prover = _Prover(state, _QUESTIONS + questions)
    try:
        prover.siblings(nodes, (), 0)
    except _NotShownError:
        return OrderProof(False, frozenset())
    return OrderProof(True, frozenset(prover.aligned))


@dataclass(slots=True)
class _Prover:
    state: ScheduledScop
    questions: int
    aligned: set[str] = field(default_factory=set)

    def siblings(self, nodes: Sequence[TreeNode], around: Around, level: int) -> None:
        """What follows each other in one body.

        All instances below agree on ``place[:level]`` and ``time[:level]``, and the latter are
        expressions of the loops around.
        """
        found = [(node, list(runs_of((node,), around))) for node in nodes]
        held = [(node, runs) for node, runs in found if runs]  # isl also makes empty guards
        for node, runs in held:
            self._inside(node, runs, around, level)
        for group in _groups([runs for _, runs in held], level):
            for n, j in enumerate(group):
                for i in group[:n]:
                    self._follow(held[i], held[j], around, level)

    def _inside(self, node: TreeNode, runs: list[Run], around: Around, level: int) -> None:
        match node:
            case Instance():
                return
            case TreeGuard():
                self.siblings(node.body, (*around, node), level)
            case TreeLoop():
                scheduled = _scheduled_level(node, runs, around, level)
                if scheduled is not None:
                    self.aligned.add(node.iv)
                    self.siblings(node.body, (*around, node), scheduled + 1)
                    return
                outer = sum(isinstance(a, TreeLoop) for a in around)
                for i, p in enumerate(runs):
                    for j, q in enumerate(runs):
                        self._pair(p, q, outer, i < j)

    def _follow(
        self,
        first: tuple[TreeNode, list[Run]],
        second: tuple[TreeNode, list[Run]],
        around: Around,
        level: int,
    ) -> None:
        """Two nodes in one body, in textual order."""
        (x, xs), (y, ys) = first, second
        guards = (node.constraints for node in (x, y) if isinstance(node, TreeGuard))
        if excluded(next(guards, ()), next(guards, ())):
            return
        if max(r.instance.place[level] for r in xs) < min(r.instance.place[level] for r in ys):
            return
        if _times_do_not_meet(xs, ys, around, level):
            return
        outer = sum(isinstance(a, TreeLoop) for a in around)
        self._ask()
        length = max(len(r.instance.time) for r in (*xs, *ys))
        instants = (_instants_union(runs, outer, level, length) for runs in (xs, ys))
        times = next(instants).reverse().apply_range(next(instants))
        late = isl.Map.lex_ge(times.get_space().domain())
        if times.intersect(late).is_empty():
            return
        for p in xs:
            for q in ys:
                self._pair(p, q, outer, True)

    def _pair(self, p: Run, q: Run, outer: int, textual: bool) -> None:
        """Iterations of p that the tree runs before some of q and the schedule after them.

        Args:
            p: a run.
            q: another, or the same.
            outer: loops around both that order them rightly.
            textual: p stands before q.
        """
        before = _tree_order(p, q, outer, textual)
        if before is None:
            return
        self._ask()
        length = max(len(p.instance.time), len(q.instance.time))
        late = run_map(p, _instant(p, 0, length)).lex_ge_map(run_map(q, _instant(q, 0, length)))
        swapped = late.intersect(before)
        if not swapped.is_empty() and not may_swap(self.state, p, q, swapped):
            raise _NotShownError

    def _ask(self) -> None:
        self.questions -= 1
        if self.questions < 0:
            raise _NotShownError


def _groups(below: list[list[Run]], level: int) -> Iterator[list[int]]:
    """Positions of neighbours that the places at a level do not put in order."""
    spans = [[run.instance.place[level] for run in runs] for runs in below]
    least = [min(span) for span in spans]
    for n in reversed(range(len(least) - 1)):
        least[n] = min(least[n], least[n + 1])
    group: list[int] = []
    greatest = -1
    for n, span in enumerate(spans):
        if group and greatest < least[n]:
            yield group
            group = []
        group.append(n)
        greatest = max(greatest, *span)
    if group:
        yield group


def _scheduled_level(loop: TreeLoop, runs: list[Run], around: Around, level: int) -> int | None:
    """The scheduled loop that a loop of the tree is, for all runs below: the levels before it have
    one value, the same for all, and its own time grows with the loop's variable, the same for all.
    """
    outer = {node.iv for node in around if isinstance(node, TreeLoop)}
    for k in range(level, min(len(r.instance.time) for r in runs)):
        if len({r.instance.place[k] for r in runs}) > 1:
            return None
        time = _time_of_all(loop, runs, outer, k)
        if time is None:
            return None
        if loop.iv in time.variables():
            return k
    return None


def _time_of_all(loop: TreeLoop, runs: list[Run], outer: set[str], level: int) -> Affine | None:
    """One expression for the time of all runs at a level, of the loops around and the loop itself,
    with which it grows; None where there is none.
    """
    times = dict.fromkeys(r.instance.time[level] for r in runs)
    for time in sorted(times, key=lambda e: loop.iv not in e.variables()):
        factor = time.coefficient(loop.iv)
        rest = time - Affine.of(loop.iv) * factor
        if factor < 0 or rest.variables() - outer:
            continue
        if all(_is_zero(r, r.instance.time[level] - time) for r in runs):
            return time
    return None


def _is_zero(run: Run, value: Affine) -> bool:
    """Whether the value is 0 wherever the run is: isl writes 3 for ``i`` where a guard says so."""
    if value == Affine():
        return True
    return bool(run_map(run, [value]).range().is_subset(set_of("{ [0] }")))


def _times_do_not_meet(xs: list[Run], ys: list[Run], around: Around, level: int) -> bool:
    """Whether bounds show that the first runs are over before the others begin, at a level that
    all of them share.
    """
    if len({r.instance.place[level] for r in (*xs, *ys)}) > 1:
        return False
    if any(len(r.instance.time) <= level for r in (*xs, *ys)):
        return False
    ranges = _ranges(around)
    last = {_limits(r, around, level, last=True) for r in xs}
    first = {_limits(r, around, level, last=False) for r in ys}
    return all(
        any((low - high).interval(ranges)[0] > 0 for high in highs for low in lows)
        for highs in last
        for lows in first
    )


def _ranges(around: Around) -> dict[str, Range]:
    ranges: dict[str, Range] = {}
    for node in around:
        if isinstance(node, TreeLoop):
            ranges.update(range_of(node, ranges))
    return ranges


def _limits(run: Run, around: Around, level: int, *, last: bool) -> tuple[Affine, ...]:
    """Expressions of the loops around, each of which bounds the run's time at a level."""
    known = _ranges(around).keys()
    time = run.instance.time[level]
    if time.variables() <= known:
        return (time,)
    for loop in run.loops:
        factor = time.coefficient(loop.iv)
        rest = time - Affine.of(loop.iv) * factor
        if factor > 0 and rest.variables() <= known:
            ends = [upper - 1 for upper in loop.uppers] if last else loop.lowers
            return tuple(end * factor + rest for end in ends if end.variables() <= known)
    return ()


def _instant(run: Run, level: int, length: int) -> list[Affine]:
    """The run's instant from a level on, for ``length`` scheduled loops; what it lacks is 0."""
    place, time = run.instance.place, run.instance.time
    found: list[Affine] = []
    for k in range(level, length + 1):
        found.append(Affine.of(place[k] if k < len(place) else 0))
        if k < length:
            found.append(time[k] if k < len(time) else Affine())
    return found


def _instants_union(runs: list[Run], outer: int, level: int, length: int) -> isl.Map:
    """Iterations of the outermost loops to the instants below them."""
    union: isl.Map | None = None
    for run in runs:
        own = run_map(run, _instant(run, level, length))
        own = own.project_out(isl.dim_type.in_, outer, len(run.loops) - outer)
        union = own if union is None else union.union(own)
    assert union is not None
    return union


def _tree_order(p: Run, q: Run, outer: int, textual: bool) -> isl.Map | None:
    """Pairs of iterations that agree in the ``outer`` loops, the first earlier in the tree."""
    x, y = p.loops, q.loops
    shared = 0
    while shared < min(len(x), len(y)) and x[shared] is y[shared]:
        shared += 1
    a, b = dims(len(x), "a"), dims(len(y), "b")
    cases = [
        " and ".join([*(f"{a[m]} = {b[m]}" for m in range(k)), f"{a[k]} < {b[k]}"])
        for k in range(outer, shared)
    ]
    if textual:
        cases.append(" and ".join(f"{a[m]} = {b[m]}" for m in range(shared)) or "true")
    if not cases:
        return None
    text = " or ".join(f"({case})" for case in cases)
    return map_of(f"{{ [{', '.join(a)}] -> [{', '.join(b)}] : {text} }}")
