"""Whether a recurrence ``s = f(s)`` of a loop may run in blocks, and what it is made of.

What is in ``s`` before an iteration is what the one before has assigned: ``run = run + x[i]``, ``y[i] = y[i - 1] + x[i]``,
perhaps in several statements, also under conditions. A block composes its functions alone, and ``s`` is one of these of
what came before the block. That is the same where

- all functions are of a family that is closed under composition, exactly in the type of ``s``
  (`polyhedral.legality.recurrences`, `polyhedral.legality.within_type`); floats may round otherwise,
- all that the loop assigns to the array is such an update of one element, directly in the loop,
- no iteration before, or statement in front, changes what the functions read beside ``s``: it can be read as the block
  begins. What a statement in front of an update has computed in the same iteration is computed again.

All other statements stay in their order, and find in ``s`` what they found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dsl.expressions.affine import Cond
from dsl.expressions.expr import Access, loads
from dsl.expressions.types import FloatType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.programs.composed import Chain, Choice, Family, Function, Kind, Reset, leaves
from dsl.programs.located import trips
from dsl.programs.program import If, Loop, Node, Program, Stmt, statements_in
from dsl.programs.recurrence import Running, Update, previous
from dsl.programs.substituted import substituted_access
from polyhedral.dependences.memory_order import program_order
from polyhedral.legality.forwarded import ways
from polyhedral.legality.recurrences import NoScanError, family_of, function_of
from polyhedral.legality.stored_ranges import StoredRanges
from polyhedral.legality.within_type import within
from polyhedral.scop.scop import Scop, common_loops, same_run

SEVERAL = (
    2  # updates under conditions that are added up first: what they make is written for each way
)


def running(scop: Scop, name: str, level: int, factor: int) -> Running:
    """What a recurrence is made of.

    Args:
        scop: the kernel.
        name: one of its statements.
        level: of its loops, the one that is cut into blocks, counted from the outermost.
        factor: iterations of a block.

    Raises:
        NoScanError: it is none that can run in blocks.
    """
    program = scop.program
    loop = _loop_of(scop, name, level)
    count = trips(loop)
    if count is None:
        raise NoScanError(f"'{loop.var}' has no constant number of iterations")
    if count < factor:
        raise NoScanError(f"'{loop.var}' has {count} iterations, fewer than a block of {factor}")
    target = scop.statement(name).stmt.target
    if program.array(target.array).scope_depth > level:
        raise NoScanError(f"each iteration of '{loop.var}' has a '{target.array}' of its own")
    before = previous(target, loop)
    updates: list[Update] = []
    for stmt, conds in _updates(loop, target):
        if stmt.target != target:
            raise NoScanError(f"{stmt.name} assigns to '{target.array}', too")
        if not updates and conds and before != target:
            raise NoScanError(f"{stmt.name} assigns to {target} under a condition")
        old = target if updates else before
        found = [
            Update(stmt, function_of(value, old), (*conds, *under))
            for value, under in ways(stmt, loop)
        ]
        each = (leaf for update in found for leaf in leaves(update.function))
        if not conds and not any(isinstance(leaf, Chain) for leaf in each):
            raise NoScanError(f"{stmt.name} assigns what does not depend on {old}")
        updates += found
    family = family_of([u.function for u in updates], program.array(target.array).dtype)
    made = Running(family, before, tuple(updates), _ends(loop, updates, family))
    for update in updates:
        _check_reads(scop, update, level)
    if family.kind is Kind.CLAMP and isinstance(family.dtype, IntType):
        made = _within(program, made, loop, factor)
    return made


def _loop_of(scop: Scop, name: str, level: int) -> Loop:
    around = next(a for n, a in scop.program.walk() if isinstance(n, Stmt) and n.name == name)
    loops = [a for a in around if isinstance(a, Loop)]
    if level != len(loops) - 1:
        raise NoScanError(f"{name} runs in the loop '{loops[-1].var}' inside")
    return loops[-1]


def _updates(loop: Loop, target: Access) -> Iterator[tuple[Stmt, tuple[tuple[Cond, bool], ...]]]:
    """All that the loop assigns to the array, and the conditions around each."""

    def within_nodes(
        nodes: tuple[Node, ...], conds: tuple[tuple[Cond, bool], ...]
    ) -> Iterator[tuple[Stmt, tuple[tuple[Cond, bool], ...]]]:
        for node in nodes:
            match node:
                case Stmt() if node.target.array == target.array:
                    yield node, conds
                case If(cond, then, orelse):
                    yield from within_nodes(then, (*conds, (cond, True)))
                    yield from within_nodes(orelse, (*conds, (cond, False)))
                case Loop():
                    for stmt in statements_in(node):
                        if stmt.target.array == target.array:
                            raise NoScanError(f"{stmt.name} assigns to '{target.array}', too")
                case _:
                    pass

    return within_nodes(loop.body, ())


def _ends(loop: Loop, updates: list[Update], family: Family) -> tuple[int, ...]:
    """The updates behind which the element may be read: floats that nothing reads in between are added up first.

    An addition of theirs takes cycles, and those of an iteration are then in the chain of a block once. Those of
    integers take none, and conditions on what is added would be in their place.
    """
    last = len(updates) - 1
    plain = family.joins and isinstance(family.dtype, FloatType)
    # The two ways of one statement are no places of two.
    whole = [k for k in range(last) if updates[k].stmt is not updates[k + 1].stmt]
    if not plain or sum(1 for u in updates if u.conds) > SEVERAL:
        return (*whole, last)
    target = updates[0].stmt.target.array
    order = [s.name for s in statements_in(loop)]
    read = [s.name for s in statements_in(loop) if any(a.array == target for a in loads(s.value))]
    own = {u.stmt.name for u in updates}
    places = [order.index(u.stmt.name) for u in updates]
    between = [{*order[places[k] + 1 : places[k + 1]]} & {*read} - own for k in range(last)]
    return (*(k for k in range(last) if between[k]), last)


def _accesses(function: Function) -> Iterator[Access]:
    """What a function reads beside the element."""
    match function:
        case Reset(value):
            yield from loads(value)
        case Choice(cond, then, orelse):
            yield from loads(cond)
            yield from _accesses(then)
            yield from _accesses(orelse)
        case Chain(ops):
            for each in ops:
                yield from loads(each.term)


def _check_reads(scop: Scop, update: Update, level: int) -> None:
    """Nothing in a run of the loop changes what a function reads before it is read."""
    mine = scop.statement(update.stmt.name)
    for access in dict.fromkeys(_accesses(update.function)):
        for other in scop.statements:
            if common_loops(mine, other) <= level or other.stmt.target.array != access.array:
                continue
            written = scop.access_map(other, other.stmt.target)
            same = written.apply_range(scop.access_map(mine, access).reverse())
            order = program_order(other, mine)
            if order is None:
                continue
            if not same.intersect(order).intersect(same_run(other, mine, level)).is_empty():
                raise NoScanError(f"{other.name} changes what it adds: {access}")


def _within(program: Program, found: Running, loop: Loop, factor: int) -> Running:
    """The recurrence with components that are wide enough, where no iteration cuts its value."""
    ranges = StoredRanges(program)
    loops = ranges.loops[found.updates[0].stmt.name]
    functions = [
        Choice(u.stmt.value, u.function, Chain()) if u.conds else u.function for u in found.updates
    ]
    family = within(
        found.family,
        functions,
        _start(program, found, loop, ranges),
        trips(loop) or 0,
        factor,
        lambda expr: value_range(expr, loops, ranges.stored),
    )
    return replace(found, family=family)


def _start(program: Program, found: Running, loop: Loop, ranges: StoredRanges) -> Range:
    """What the element is in front of the loop: of the statement there, or of all that is assigned to it."""
    first = loop.lowers[0] if loop.step > 0 else loop.uppers[0] - 1
    element = substituted_access(found.before, {loop.var: first})
    whole = ranges.stored(element, found.family.dtype)
    blocks = (nodes for nodes in _blocks(program.body) if any(node is loop for node in nodes))
    nodes = next(blocks)
    place = next(n for n, node in enumerate(nodes) if node is loop)
    for node in reversed(nodes[:place]):
        if isinstance(node, Stmt) and node.target == element:
            if not isinstance(node.value.dtype, IntType):
                return whole
            low, high = value_range(node.value, ranges.loops[node.name], ranges.stored)
            least, most = type_range(found.family.dtype)
            return (low, high) if least <= low and high <= most else whole
        if any(s.target.array == element.array for s in statements_in(node)):
            return whole
    return whole


def _blocks(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """The nodes, and those of all loops and conditions in them."""
    yield nodes
    for node in nodes:
        match node:
            case Loop(body=body):
                yield from _blocks(body)
            case If(then=then, orelse=orelse):
                yield from _blocks(then)
                yield from _blocks(orelse)
            case Stmt():
                pass
