"""``buffer(array, at, name)``: work on local copies (tiles) of what an iteration of a loop touches.

Before, tiled, with A and C in memory outside::

    for i_0 in range(2):
      for k_0 in range(3):
        for i_1 in range(8):
          for k_1 in range(8):
            C[8*i_0 + i_1] += A[8*i_0 + i_1, 8*k_0 + k_1] * x[8*k_0 + k_1]       # S0

After ``buffer("A", "k_0")`` and ``buffer("C", "i_0")``::

    for i_0 in range(2):
      for load_C_0 in range(8):
        C_buf[load_C_0] = C[8*i_0 + load_C_0]                                    # load_C
      for k_0 in range(3):
        for load_A_0 in range(8):
          for load_A_1 in range(8):
            A_buf[load_A_0, load_A_1] = A[8*i_0 + load_A_0, 8*k_0 + load_A_1]    # load_A
        for i_1 in range(8):
          for k_1 in range(8):
            C_buf[i_1] += A_buf[i_1, k_1] * x[8*k_0 + k_1]                       # S0
      for store_C_0 in range(8):
        C[8*i_0 + store_C_0] = C_buf[store_C_0]                                  # store_C

The box of a copy holds all that any iteration of the loop touches (`polyhedral.transforms.tiles.footprint`).
What is read before it is written is copied in, box by box, never from outside of the array; exactly
what is written is copied out. Accesses that move in different ways, as those of two tiles of one
matrix, have copies of their own, unless they meet in an element that is written.

Of an array in which several such tiles are touched, ``access="A[i, k]"`` copies the one of that access
alone. Here a tool reads ``A[i, k]`` anew in each iteration of ``j``: it does not know that ``A[i, j]``, which is
assigned, is never the same element::

    for i in range(k + 1, 8):
      for j in range(k + 1, 8):
        A[i, j] -= A[i, k] * A[k, j]

The loops of the schedule become those of the program first (`polyhedral.transforms.materialise`), so that
copies and their loops are like all others to the steps that follow.
"""

from __future__ import annotations

from dataclasses import replace
from operator import ge

import islpy as isl

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.programs.program import Array, Program, Storage
from dsl.schedules.steps import Buffer, Unroll
from polyhedral.isl.text import coordinates, first_point
from polyhedral.legality.program import check_program
from polyhedral.requests.packed import packed_lanes
from polyhedral.scop.lookup import find_array, find_loop
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import Scop, Statement, build_scop
from polyhedral.transforms.loops.unroll import unroll
from polyhedral.transforms.materialise import Materialised, materialised, over_program
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.tiles.copies import Tiles, rewritten
from polyhedral.transforms.tiles.copy_nests import Body
from polyhedral.transforms.tiles.footprint import Tile, Use, tile_of
from polyhedral.transforms.words import Words


@transform(Buffer, order=Order.KEPT)
def buffer(state: ScheduledScop, step: Buffer) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W229 there is nothing to copy, an element would be in two copies, or the step
            comes too late; W207 too large; W208 the name.
    """
    array = find_array(state, step.array, step)
    if not array.shape:
        raise _refused(step, f"'{array.name}' is a scalar, which is a register anyway")
    if state.dataflow is not None or any(s.array == array.name for s in state.streams):
        text = "buffer comes after dataflow or stream, which count the accesses of each process"
        raise _refused(step, text, help_="put it in front of them")
    uid = find_loop(state, step.at, step) if step.at else None
    found = materialised(state)
    scop = build_scop(found.program)
    depths = {
        level for p in state.pieces if uid is not None and (level := p.level(uid)) is not None
    }
    if len(depths) > 1:
        raise _refused(step, f"copies of '{step.at}' are at several depths")
    depth = depths.pop() + 1 if depths else 0
    words = _words(state, array)
    regions = [
        tiles
        for group in _bodies(scop, found, uid, depth)
        if (tiles := _tiles(group, array, words, step))
    ]
    where = f"in '{step.at}' " if step.at else ""
    if not regions:
        raise _refused(step, f"nothing {where}uses '{array.name}'", help_=_buffers(state, array))
    if step.access:
        chosen = [only for region in regions if (only := _of_access(region, step.access))]
        if not chosen:
            text = f"nothing {where}is accessed as '{step.access}'"
            every = dict.fromkeys(str(u.access) for r in regions for t in r.tiles for u in t.uses)
            raise _refused(step, text, help_=f"there are {', '.join(every)}")
        regions = chosen
    scope = found.program.array(array.name).scope_depth
    if scope > depth:
        raise _refused(
            step,
            f"'{array.name}' belongs to one iteration of loops further in, so a copy would be of "
            "several",
            help_="buffer it in these loops",
        )
    program = rewritten(found.program, array, regions, depth, step)
    try:
        new = check_program(program)
    except LanguageError as error:  # the proof that the copies hold what is read of them
        raise _refused(step, error.message, (*error.notes,)) from error
    after = over_program(state, found, new)
    return after if words is None else _lanes_unrolled(after, program, found.program)


def _refused(
    step: Buffer, text: str, notes: tuple[str, ...] = (), help_: str | None = None
) -> ScheduleError:
    return ScheduleError("W229", text, span=step.span, notes=notes, help=help_)


def _buffers(state: ScheduledScop, array: Array) -> str | None:
    """Which copies of the array there are already."""
    copies = sorted(
        {
            s.target.array
            for s in state.scop.program.statements()
            if isinstance(s.value, Load) and s.value.access.array == array.name
            and state.scop.program.array(s.target.array).storage is Storage.LOCAL
        }
    )  # fmt: skip
    return f"it works on {' and '.join(copies)} already: buffer that" if copies else None


def _bodies(scop: Scop, found: Materialised, uid: object, depth: int) -> list[Body]:
    """Where the loop stands: once, or also in remainder nests."""
    groups: dict[int | None, list[Statement]] = {}
    for s in scop.statements:
        if uid is None:
            groups.setdefault(None, []).append(s)
        elif depth <= len(s.loops) and found.pieces[s.name].dims[depth - 1].uid == uid:
            groups.setdefault(s.loop_ids[depth - 1], []).append(s)
    return [Body(loop, own[0].loops[:depth], tuple(own), found) for loop, own in groups.items()]


# ------------------------------------------------------------------------------------- words


def _words(state: ScheduledScop, array: Array) -> Words | None:
    """Those of a packed array."""
    lanes = packed_lanes(state.packs, array)
    return Words(lanes, array.shape) if lanes else None


def _lanes_unrolled(state: ScheduledScop, program: Program, before: Program) -> ScheduledScop:
    """The loops over lanes, innermost around the new statements, unrolled."""
    known = {s.name for s in before.statements()}
    moving = {s.name for s in program.statements()} - known
    state = state.with_pieces(
        p.with_dim(len(p.dims) - 1, replace(p.dims[-1], lane=True)) if p.name in moving else p
        for p in state.pieces
    )
    for piece in [p for p in state.pieces if p.name in moving]:
        state = unroll(state, Unroll(f"{piece.name}.{piece.dims[-1].name}", tail="guard"))
    return state


def _check_start(tile: Tile, body: Body, array: Array, step: Buffer) -> None:
    """W230 if a tile of a packed array would be a whole row, as the one without words begins inside of one."""
    if tile.words is None:
        return
    plain, rank = tile_of(tile.uses, body.names), len(array.shape)
    if tile.extents[-1] <= plain.extents[-1] + 2 * (tile.words.lanes - 1):
        return
    first = plain.offsets[-1]
    raise ScheduleError(
        "W230",
        f"tiles of '{array.name}' begin at {first} of their rows, and words have {tile.words.lanes} elements",
        span=step.span,
        notes=[f"so dimension {rank - 1} of a tile would be {tile.extents[-1]} elements long"],
        help=f"tile by multiples of {tile.words.lanes}, or pack('{array.name}') into smaller words",
    )


# ------------------------------------------------------------------------------------- tiles


def _tiles(body: Body, array: Array, words: Words | None, step: Buffer) -> Tiles | None:
    """The copies that an iteration works on; None where it does not touch the array."""
    depth = len(body.around)
    uses: dict[tuple[str, Access, bool], Use] = {}
    for s in body.statements:
        piece = body.found.pieces[s.name]
        for access, writes in ((s.stmt.target, True), *((a, False) for a in s.reads)):
            if access.array == array.name:
                uses[s.name, access, writes] = Use(
                    s.name, piece, access, writes, depth, array.shape
                )
    classes: dict[tuple[Affine, ...], list[Use]] = {}
    for use in uses.values():
        alone = tile_of([use], body.names)
        # What is asked for by its access is no neighbour of it.
        own = alone.offsets if step.access else tuple(Affine(o.terms) for o in alone.offsets)
        classes.setdefault(own, []).append(use)
    if not classes:
        return None
    tiles = [tile_of(own, body.names, words) for own in classes.values()]
    coherent = tuple(_coherent(tiles, array, body, step))
    for tile in coherent:
        _check_start(tile, body, array, step)
    return Tiles(body, coherent)


def _of_access(region: Tiles, access: str) -> Tiles | None:
    """The tiles that are accessed so; None where none is."""
    wanted = _plain(access)
    tiles = tuple(t for t in region.tiles if any(_plain(str(u.access)) == wanted for u in t.uses))
    return replace(region, tiles=tiles) if tiles else None


def _plain(access: str) -> str:
    """Without spaces, and with one pair of brackets."""
    return "".join(access.split()).replace("][", ",")


def _coherent(tiles: list[Tile], array: Array, body: Body, step: Buffer) -> list[Tile]:
    """Tiles of which no element that one writes is in another: those that meet are one.

    So are those that are smaller together, unless one is asked for by its access.
    """
    found: list[Tile] = []
    while tiles:
        first, *tiles = tiles
        for k, other in enumerate(found):
            both = tile_of([*other.uses, *first.uses], body.names, first.words)
            shared = _shared(other, first)
            saves = both.size < other.size + first.size and not step.access
            if shared is None and not saves:
                continue
            if (
                shared is not None
                and all(map(ge, both.extents, array.shape))
                and both.size > max(other.size, first.size)
            ):
                raise _incoherent(other, first, shared, array, body, step)
            tiles = [both, *found[:k], *found[k + 1 :], *tiles]
            found = []
            break
        else:
            found.append(first)
    return sorted(found, key=lambda t: _position(t, body))


def _position(tile: Tile, body: Body) -> tuple[int, bool, str]:
    """Where a tile is first used, so that the first copy has the first name."""
    order = {s.name: n for n, s in enumerate(body.statements)}
    return min((order[u.name], u.writes, str(u.access)) for u in tile.uses)


def _shared(a: Tile, b: Tile) -> isl.Set | None:
    """What is in both and written in one, as ``[r, x]``; None if nothing is."""
    for one, other in ((a, b), (b, a)):
        if one.stored is not None:
            both = one.stored.intersect(other.elements)
            if not both.is_empty():
                return both
    return None


def _incoherent(
    a: Tile, b: Tile, shared: isl.Set, array: Array, body: Body, step: Buffer
) -> ScheduleError:
    depth = len(body.around)
    at = coordinates(first_point(shared), depth + len(array.shape))
    element = f"{array.name}[{', '.join(map(str, at[depth:]))}]"
    where = ", ".join(f"{n} = {v}" for n, v in zip(body.names, at, strict=False))
    first, second = (f"{t.uses[0].name} ({t.uses[0].access})" for t in (a, b))
    return _refused(
        step,
        f"{element} would be in two copies at a time, and one of them writes it",
        (f"{first} and {second} touch it" + (f" where {where}" if where else ""),),
        f'a copy for both would be all of {array.name}: buffer("{array.name}") makes one',
    )
