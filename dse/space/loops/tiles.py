"""Tiles of a board in other structures: statements that share a scalar in nests of their own, and neighbours in one nest.

What a sum in a scalar ties together is one imperfect nest in a tile: each sum of floats waits for itself, row after row.
With an element for each row (`dse.space.loops.expansion`) rows take turns, and each statement has loops that can be in any
order. A tile's loops are cut after that, as locals are only expanded in front of all steps that change loops.

Statements of a tile are apart otherwise (`backends.deploy.tiles`), and run one after the other. Where several of them pass
the same data, as a sum and a maximum, one pass of all takes as long as the slowest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from backends.deploy.boards import Board
from backends.deploy.outside import in_tiles, outside
from backends.deploy.tiles import Allowance
from dse.space.loops.expansion import expanded
from dse.space.loops.regrouped import merged
from dse.space.start import SEARCHED
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Distribute, Expand, Pack, Split, Step, Tile
from polyhedral.requests.packed import packed_lanes
from polyhedral.schedule import apply, begun, tried


def in_wider_tiles(
    program: Program,
    plain: Schedule,
    board: Board,
    allowed: Allowance,
    before: Sequence[Step] = (),
) -> Schedule | None:
    """The schedule with arrays outside, tiles, and locals with an element for each iteration; None where there are no
    tiles, or nothing is told apart by that, or arrays would be in other words. What fits as a whole is in tiles where a
    local is too large otherwise.

    Args:
        program: the kernel.
        plain: what `backends.deploy.outside.outside` makes of it, without a schedule.
        board, allowed, before: as there.

    Raises:
        ToolError: as `outside`.
    """
    if not program.locals:
        return None
    rows = replace(allowed, rows=True)
    if not any(isinstance(step, Buffer) and step.at for step in plain):
        return _where_expansion_is_too_large(program, plain, board, rows, before)
    found = outside(program, Schedule(), board, rows, before)
    # Where one local for all iterations forbids the tiles that there are otherwise, it has elements for all of them.
    alike = _tiled_loops(found) == _tiled_loops(plain)
    made = {step.array for step in found if isinstance(step, Expand)} if alike else set()
    ways = (steps for _, steps in expanded(begun(program, before), ()))
    wide = [s for s in next(ways, ()) if isinstance(s, Expand) and s.array not in made]
    if wide:
        found = outside(program, Schedule(), board, rows, (*before, *wide))
    elif not made:
        return None
    alike = words_of(found) == words_of(plain)
    return found if alike and _told_apart(found.steps, plain.steps) else None


def _where_expansion_is_too_large(
    program: Program,
    plain: Schedule,
    board: Board,
    rows: Allowance,
    before: Sequence[Step],
) -> Schedule | None:
    """Tiles of what fits as a whole, where some local has no element for each of all iterations otherwise, and has one
    for each iteration of a tile.
    """
    found = in_tiles(program, Schedule(), board, rows, before)
    if found is None or words_of(found) != words_of(plain):
        return None
    wide = {
        s.array
        for _, steps in expanded(begun(program, before), ())
        for s in steps
        if isinstance(s, Expand)
    }
    return found if {s.array for s in found if isinstance(s, Expand)} - wide else None


def words_of(schedule: Schedule) -> list[Pack]:
    """What says how many elements of arrays outside come at a time."""
    return [step for step in schedule if isinstance(step, Pack)]


def lanes_of(program: Program, plain: Schedule) -> Mapping[str, int]:
    """Elements in a word of each array outside."""
    packs = words_of(plain)
    return {array.name: max(1, packed_lanes(packs, array)) for array in program.arrays}


def cuts_in_tiles(
    program: Program, found: Schedule, turns: Iterable[tuple[str, str, int]]
) -> list[Split]:
    """Loops of a tile in blocks, in which each iteration of a block has a copy, or a part, of a table of its own.

    Args:
        program: the kernel.
        found: tiles.
        turns: a statement, the loop around it whose iterations take turns, and of how many copies or parts.
    """
    state, cuts = apply(program, found), list[Split]()
    for name, loop, count in turns:
        names = [one for p in state.of_statement(name) for one in p.names]
        inner = next(n for n in reversed(names) if n == loop or n.startswith(f"{loop}_"))
        moved = tried(state, cut := Split(f"{name}.{inner}", count, tail="guard"))
        if moved is not None:
            state = moved
            cuts.append(cut)
    return cuts


def in_one_pass(program: Program, tiled: Schedule) -> Schedule | None:
    """Tiles with neighbouring nests of the same loops as one; None where there are none, or that is not legal.

    Args:
        program: the kernel.
        tiled: what a board makes of it: without a schedule of its own.
    """
    if not any(isinstance(step, Buffer) and step.at for step in tiled):
        return None
    kept = [step for step in tiled if not isinstance(step, SEARCHED)]
    state = apply(program, Schedule(tuple(kept)))
    copying = {s.name for s in state.scop.statements if s.stmt.span is None}
    _, fused = merged(state, copying)
    last = [step for step in tiled if isinstance(step, SEARCHED)]
    return Schedule((*kept, *fused, *last)) if fused else None


def _tiled_loops(schedule: Schedule) -> list[tuple[str, ...]]:
    """The loops that are cut into tiles."""
    return [step.loops for step in schedule if isinstance(step, Tile)]


def _told_apart(steps: Sequence[Step], plain: Sequence[Step]) -> bool:
    """Whether statements are in nests of their own behind the tiles, or in front of them and are not so otherwise."""
    cuts = [n for n, step in enumerate(steps) if isinstance(step, Tile)]
    if not cuts:
        return False
    behind = any(isinstance(step, Distribute) for step in steps[cuts[0] :])
    return behind or any(isinstance(s, Distribute) and s not in plain for s in steps[: cuts[0]])
