"""Where loops may end early: a test in front of an iteration, from which on no iteration does anything.

Before, of ``for k in range(first[r], first[r + 1])`` with 16 iterations at most::

    for step in range(0, 16):
        k = first + step
        s += x[k] if k < end else 0

After, with ``leave("k_step")``::

    for (step = 0; step < 16 && first + step < end; ++step)

A test is found among the conditions of the statements. It is a sum of the loop's variable and of scalars, not negative
where the loop is over, that grows with the variable. Proven is, for one iteration in front of which it is not negative: all that the
statements store is there already (`polyhedral.looptree.idle`), but for scalars that each iteration writes before it
reads them. So the next iteration finds the same memory and a sum that is not less, and the rest of the loop does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Expr, Gather, Select, walk
from dsl.expressions.types import IntType, boolean
from dsl.expressions.value_range import Range
from dsl.programs.program import Program, Storage
from dsl.schedules.loop_requests import ExitTest, Leaving
from dsl.schedules.pragma_steps import Leave
from polyhedral.dataflow.ports import FIFO_MODES
from polyhedral.looptree.idle import (
    Over,
    Reader,
    Spans,
    at_least,
    covered,
    fresh_in,
    touches,
)
from polyhedral.looptree.linear import Forms, Linear
from polyhedral.looptree.tree import Instance, LoopTree, TreeLoop, TreeNode, below

_MOST_TESTS = 3  # in the header of a loop


def with_exits(tree: LoopTree, steps: Sequence[Leave]) -> LoopTree:
    """The tree with the tests of the loops that are to end early.

    Args:
        tree: of the whole schedule.
        steps: that ask for it.

    Raises:
        ScheduleError: W256 nothing ends a loop, or it is not proven that nothing happens behind the end.
    """
    if not steps:
        return tree

    def found(nodes: tuple[TreeNode, ...], around: tuple[TreeLoop, ...]) -> tuple[TreeNode, ...]:
        new: list[TreeNode] = []
        for node in nodes:
            if isinstance(node, Instance):
                new.append(node)
                continue
            if not isinstance(node, TreeLoop):
                new.append(replace(node, body=found(node.body, around)))
                continue
            made = replace(node, body=found(node.body, (*around, node)))
            if node.requests.leaving is not None:
                leaving = leaving_of(tree, node, around)
                if leaving is None:
                    raise _refused(node, steps)
                made = replace(made, requests=replace(made.requests, leaving=leaving))
            new.append(made)
        return tuple(new)

    return replace(tree, body=found(tree.body, ()))


def _refused(loop: TreeLoop, steps: Sequence[Leave]) -> ScheduleError:
    step = next((s for s in steps if s.loop.rpartition(".")[2] == loop.name), steps[0])
    return ScheduleError(
        "W256",
        f"no test in front of an iteration of '{loop.name}' is known that ends it early",
        span=step.span,
        help="a loop ends at a bound that data say, or behind a 'break', where a scalar says so and all of its "
        "statements do nothing from there on",
    )


def leaving_of(tree: LoopTree, loop: TreeLoop, around: tuple[TreeLoop, ...]) -> Leaving | None:
    """How the loop may end early; None where that is not known.

    Args:
        tree: of the whole schedule.
        loop: one of its loops.
        around: the loops around it, outermost first.
    """
    if _hands_on(tree, loop, around):
        return None
    inner = [node for node in below(loop) if isinstance(node, TreeLoop)]
    ranges = _ranges((*around, *inner))
    forms = Forms(ranges, _scalars(tree, loop))
    # Loops around stand still: what holds for the least that a sum is holds in each of their iterations.
    spans = {node.iv: ranges.get(node.iv) for node in (*around, *inner) if node is not loop}
    tests: list[Linear] = []
    for form in dict.fromkeys(_key(f) for f in _candidates(tree, loop, forms, spans)):
        over = Over(_unkey(form), forms, spans)
        if all(
            over.keeps(reader, one) or one.stmt.target.array in reader.fresh
            for reader in [_reader(tree, loop)]
            for one in below(loop)
            if isinstance(one, Instance)
        ):
            tests.append(over.form)
    if not tests:
        return None
    made = [_test(loop.iv, form) for form in _least(tests)[:_MOST_TESTS]]
    asked = loop.requests.leaving
    trips = asked.trips if asked is not None else 0
    return Leaving(trips or _from_elements(tree, loop, around, forms), tuple(made))


def _hands_on(tree: LoopTree, loop: TreeLoop, around: Sequence[TreeLoop]) -> bool:
    """Whether who reads or writes what the loop does counts how often that happens: FIFOs, and words of several elements."""
    regions = [node for node in below(loop) if isinstance(node, TreeLoop)]
    if tree.processes or any(node.processes for node in (*around, *regions)):
        return True
    counted = {i.argument for i in tree.interfaces if i.mode in FIFO_MODES}
    counted |= {pack.array for pack in tree.packs}
    return any(touches(node, name) for node in loop.body for name in counted)


def _key(form: Linear) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...], int]:
    return tuple(sorted(form.loops.items())), tuple(sorted(form.scalars.items())), form.const


def _unkey(
    key: tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...], int],
) -> Linear:
    loops, scalars, const = key
    return Linear(dict(loops), dict(scalars), const)


def _least(tests: Sequence[Linear]) -> list[Linear]:
    """The tests without those that another one comes before: it is the same and a number more."""
    found: dict[tuple[object, object], Linear] = {}
    for form in tests:
        kind = _key(form)[:2]
        known = found.get(kind)
        if known is None or form.const > known.const:
            found[kind] = form
    return list(found.values())


def _test(iv: str, form: Linear) -> ExitTest:
    return ExitTest(form.loops.get(iv, 0), tuple(form.scalars.items()), form.const)


def _ranges(loops: Sequence[TreeLoop]) -> dict[str, Range]:
    """Of those loops whose bounds are numbers."""
    found: dict[str, Range] = {}
    for loop in loops:
        if all(b.is_const for b in (*loop.lowers, *loop.uppers)):
            low, high = max(b.const for b in loop.lowers), min(b.const for b in loop.uppers)
            found[loop.iv] = low, max(low, high - 1)
    return found


def _scalars(tree: LoopTree, loop: TreeLoop) -> dict[str, IntType]:
    """Integers that a test may read in front of an iteration: arguments, and what was written in front of the loop."""
    found: dict[str, IntType] = {}
    for array in tree.program.arrays:
        if array.shape or not isinstance(array.dtype, IntType):
            continue
        written_before = array.storage is Storage.ARGUMENT or _written_outside(
            tree.body, loop, array.name
        )
        if written_before and array.name not in _fresh(tree, loop):
            found[array.name] = array.dtype
    return found


def _written_outside(nodes: tuple[TreeNode, ...], loop: TreeLoop, name: str) -> bool:
    return any(
        node.stmt.target.array == name
        if isinstance(node, Instance)
        else _written_outside(node.body, loop, name)
        for node in nodes
        if not (isinstance(node, TreeLoop) and node.iv == loop.iv)
    )


def _fresh(tree: LoopTree, loop: TreeLoop) -> frozenset[str]:
    """Scalars that belong to one iteration of the loop."""
    return frozenset(
        array.name
        for array in tree.program.locals
        if not array.shape
        and fresh_in(loop.body, array.name)
        and covered(tree.body, array.name, loop.iv)
    )


def _reader(tree: LoopTree, loop: TreeLoop) -> Reader:
    fresh = _fresh(tree, loop)
    written = [n.stmt.target.array for n in below(loop) if isinstance(n, Instance)]
    return Reader(tree.program, fresh, frozenset(n for n in fresh if written.count(n) == 1))


def _candidates(tree: LoopTree, loop: TreeLoop, forms: Forms, spans: Spans) -> Iterator[Linear]:
    """Sums that are not negative where a condition of a statement does not hold, or does."""
    reader = _reader(tree, loop)
    written = {n.stmt.target.array for n in below(loop) if isinstance(n, Instance)}
    for node in below(loop):
        if not isinstance(node, Instance):
            continue
        for part in walk(reader.value(node)):
            if part.dtype != boolean:
                continue
            found = forms.negative_where(part)
            for form in () if found is None else (found, found * -1 + Linear({}, {}, -1)):
                least = at_least(form, spans)
                if least is not None and _may_end(least, loop.iv, written):
                    yield least


def _may_end(form: Linear, iv: str, written: Set[str]) -> bool:
    """Over the loop's variable alone, with which it grows, and over scalars; and the loop changes it."""
    scale = form.loops.get(iv, 0)
    moves = scale > 0 or bool(form.scalars.keys() & written)
    return bool(form.scalars) and set(form.loops) <= {iv} and scale >= 0 and moves


def _from_elements(tree: LoopTree, loop: TreeLoop, around: Sequence[TreeLoop], forms: Forms) -> int:
    """Trips of rows that share an array, as those of a sparse matrix do: its elements, by the executions of the loop; 0
    where nothing is read so, and where there are more than half of what the loop has at most.
    """
    executions = 1
    for outer in around:
        executions *= outer.constant_trip or 1
    reader = _reader(tree, loop)
    extents = [
        extent
        for node in below(loop)
        if isinstance(node, Instance)
        for extent in _read_in_rows(tree.program, reader.value(node), loop.iv, forms)
    ]
    most = loop.constant_trip or 0
    trips = -(-max(extents, default=0) // executions)
    return trips if 0 < trips < -(-most // 2) else 0


def _read_in_rows(program: Program, value: Expr, iv: str, forms: Forms) -> Iterator[int]:
    """Extents of arrays that are read at a scalar and the loop's variable."""
    for part in walk(value):
        if not isinstance(part, Gather) or len(part.access.indices) != 1:
            continue
        at = part.data[0]
        form = forms.of(at.then if isinstance(at, Select) else at)
        if form is not None and form.scalars and form.loops.get(iv) == 1:
            yield program.array(part.access.array).shape[0]
