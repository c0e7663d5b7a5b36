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

The box of a copy holds all that any iteration of the loop touches (`polyhedral.transforms.footprint`).
What is read before it is written is copied in, box by box, never from outside of the array; exactly
what is written is copied out. Accesses that move in different ways, as those of two tiles of one
matrix, have copies of their own, unless they meet in an element that is written.

The loops of the schedule become those of the program first (`polyhedral.transforms.materialise`), so that
copies and their loops are like all others to the steps that follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.programs.buffered import Region, with_regions
from dsl.programs.names import NAME, unused
from dsl.programs.program import MAX_EXTENT, Array, If, Loop, Node, Program, Stmt, Storage
from dsl.schedules.steps import Buffer
from polyhedral.isl.conditions import limits_of
from polyhedral.isl.text import affine_text, coordinates, first_point, positional, set_of
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_array, find_loop
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import Scop, Statement, build_scop
from polyhedral.transforms.footprint import Tile, Use, along, read_first, tile_of, union_of
from polyhedral.transforms.materialise import Materialised, materialised, narrowed, over_program
from polyhedral.transforms.registry import Order, transform


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
    regions = [
        tiles for group in _bodies(scop, found, uid, depth) if (tiles := _tiles(group, array, step))
    ]
    if not regions:
        where = f"in '{step.at}' " if step.at else ""
        raise _refused(step, f"nothing {where}uses '{array.name}'", help_=_buffers(state, array))
    scope = found.program.array(array.name).scope_depth
    if scope > depth:
        raise _refused(
            step,
            f"'{array.name}' belongs to one iteration of loops further in, so a copy would be of "
            "several",
            help_="buffer it in these loops",
        )
    program = _rewritten(found.program, array, regions, depth, step)
    try:
        new = check_program(program)
    except LanguageError as error:  # the proof that the copies hold what is read of them
        raise _refused(step, error.message, (*error.notes,)) from error
    return over_program(state, found, new)


def _are_apart(regions: Sequence[_Tiles]) -> bool:
    """Whether no two places run the same iterations of the loops around, so that copies of the
    array can belong to these.
    """
    sets = [
        union_of(
            [
                u.elements.project_out(isl.dim_type.set, u.depth, len(u.access.indices))
                for tile in region.tiles
                for u in tile.uses
            ]
        )
        for region in regions
    ]
    return all(a.is_disjoint(b) for n, a in enumerate(sets) for b in sets[:n])


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


@dataclass(frozen=True, eq=False)
class _Body:
    """An execution of the loop that is buffered in, in one place.

    Attributes:
        loop: by its number in preorder; None for the program.
        around: the loops around, with itself.
        statements: in it, in order.
        found: the pieces.
    """

    loop: int | None
    around: tuple[Loop, ...]
    statements: tuple[Statement, ...]
    found: Materialised

    @property
    def names(self) -> tuple[str, ...]:
        """The loops around."""
        return tuple(loop.var for loop in self.around)


def _bodies(scop: Scop, found: Materialised, uid: object, depth: int) -> list[_Body]:
    """Where the loop stands: once, or also in remainder nests."""
    groups: dict[int | None, list[Statement]] = {}
    for s in scop.statements:
        if uid is None:
            groups.setdefault(None, []).append(s)
        elif depth <= len(s.loops) and found.pieces[s.name].dims[depth - 1].uid == uid:
            groups.setdefault(s.loop_ids[depth - 1], []).append(s)
    return [_Body(loop, own[0].loops[:depth], tuple(own), found) for loop, own in groups.items()]


# ------------------------------------------------------------------------------------- tiles


@dataclass(frozen=True, eq=False)
class _Tiles:
    body: _Body
    tiles: tuple[Tile, ...]


def _tiles(body: _Body, array: Array, step: Buffer) -> _Tiles | None:
    """The copies that an iteration works on; None where it does not touch the array."""
    depth = len(body.around)
    uses: dict[tuple[str, Access, bool], Use] = {}
    for s in body.statements:
        piece = body.found.pieces[s.name]
        for access, writes in ((s.stmt.target, True), *((a, False) for a in s.reads)):
            if access.array == array.name:
                uses[s.name, access, writes] = Use(s.name, piece, access, writes, depth)
    classes: dict[tuple[Affine, ...], list[Use]] = {}
    for use in uses.values():
        alone = tile_of([use], body.names)
        linear = tuple(Affine(o.terms) for o in alone.offsets)
        classes.setdefault(linear, []).append(use)
    if not classes:
        return None
    tiles = [tile_of(own, body.names) for own in classes.values()]
    return _Tiles(body, tuple(_coherent(tiles, array, body, step)))


def _coherent(tiles: list[Tile], array: Array, body: _Body, step: Buffer) -> list[Tile]:
    """Tiles of which no element that one writes is in another: those that meet are one."""
    found: list[Tile] = []
    while tiles:
        first, *tiles = tiles
        for k, other in enumerate(found):
            both = tile_of([*other.uses, *first.uses], body.names)
            shared = _shared(other, first)
            if both.size >= other.size + first.size and shared is None:
                continue
            if (
                shared is not None
                and both.extents == array.shape
                and both.size > max(other.size, first.size)
            ):
                raise _incoherent(other, first, shared, array, body, step)
            tiles = [both, *found[:k], *found[k + 1 :], *tiles]
            found = []
            break
        else:
            found.append(first)
    return sorted(found, key=lambda t: _position(t, body))


def _position(tile: Tile, body: _Body) -> tuple[int, bool, str]:
    """Where a tile is first used, so that the first copy has the first name."""
    order = {s.name: n for n, s in enumerate(body.statements)}
    return min((order[u.name], u.writes, str(u.access)) for u in tile.uses)


def _shared(a: Tile, b: Tile) -> isl.Set | None:
    """What is in both and written in one, as ``[r, x]``; None if nothing is."""
    for one, other in ((a, b), (b, a)):
        if one.written is not None:
            both = one.written.intersect(other.elements)
            if not both.is_empty():
                return both
    return None


def _incoherent(
    a: Tile, b: Tile, shared: isl.Set, array: Array, body: _Body, step: Buffer
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


# ------------------------------------------------------------------------------------ copies


@dataclass(frozen=True, slots=True)
class _Names:
    """What a copy and its statements and loops are called."""

    array: str
    load: str
    store: str


def _rewritten(
    program: Program, array: Array, regions: Sequence[_Tiles], depth: int, step: Buffer
) -> Program:
    if step.name and not NAME.fullmatch(step.name):
        raise ScheduleError("W208", f"'{step.name}' cannot be the name of an array", span=step.span)
    arrays: list[Array] = []
    taken = {a.name for a in program.arrays}
    stmts = {s.name for s in program.statements()}
    stems = set(stmts)
    if step.name in taken:
        raise ScheduleError("W208", f"there is an array called '{step.name}'", span=step.span)
    base = step.name or f"{array.name}_buf"
    scope = depth if _are_apart(regions) else 0
    # Copies of the loop share a memory, as they share all that is asked of it.
    names: list[_Names] = []
    for n in range(max(len(r.tiles) for r in regions)):
        name = unused(base, taken)
        taken.add(name)
        # No other copy has statements, and so loops, of these names.
        load, store = (_fresh(f"{does}_{array.name}", stems) for does in ("load", "store"))
        names.append(_Names(name, load, store))
        boxes = [r.tiles[n].extents for r in regions if n < len(r.tiles)]
        shape = tuple(max(extents) for extents in zip(*boxes, strict=True))
        size = prod(shape)
        if size > MAX_EXTENT:
            text = f"'{name}' would have {size:,} elements"
            raise ScheduleError("W207", text, span=step.span)
        arrays.append(Array(name, array.dtype, shape, Storage.LOCAL, False, scope, array.span))
    return with_regions(program, arrays, [_region(r, array, names, stmts) for r in regions])


def _region(region: _Tiles, array: Array, names: Sequence[_Names], stmts: set[str]) -> Region:
    """What is copied in and out, and the accesses to the copies; ``stmts`` are the names taken."""
    body = region.body
    before: list[Node] = []
    after: list[Node] = []
    accesses: dict[tuple[str, Access], Access] = {}
    for tile, own in zip(region.tiles, names, strict=False):
        for use in tile.uses:
            inside = zip(use.access.indices, tile.offsets, strict=True)
            accesses[use.name, use.access] = Access(own.array, tuple(x - o for x, o in inside))
        loaded = read_first(tile.uses)
        if loaded is not None:
            before.append(_load(tile, loaded, body, array, own, stmts))
        if tile.written is not None:
            after.append(_store(tile, tile.written, body, array, own, stmts))
    return Region(body.loop, accesses, tuple(before), tuple(after))


def _load(
    tile: Tile, loaded: isl.Set, body: _Body, array: Array, names: _Names, stmts: set[str]
) -> Node:
    """Copies in the box around what is read first, where anything is. Of a local, the rest of a box
    may not be written yet: just what is read.
    """
    points = tile.inside(loaded, body.names)
    loops = _loops(points, tile, body, array, names.load)
    outside, inside = _both(tile, loops, array.name, names.array)
    copy: Node = _copy(_fresh(names.load, stmts), inside, outside, array)
    if array.storage is Storage.LOCAL:
        copy = _where(copy, points, body, loops)
    node = _nest(loops, copy)
    depth, rank = len(body.around), len(tile.offsets)
    when = narrowed(points.project_out(isl.dim_type.set, depth, rank), body.names, body.around)
    return node if when is None else If(when, (node,))


def _store(
    tile: Tile, written: isl.Set, body: _Body, array: Array, names: _Names, stmts: set[str]
) -> Node:
    """Copies out what is written, and nothing else."""
    points = tile.inside(written, body.names)
    loops = _loops(points, tile, body, array, names.store)
    outside, inside = _both(tile, loops, array.name, names.array)
    stmt = _copy(_fresh(names.store, stmts), outside, inside, array)
    return _nest(loops, _where(stmt, points, body, loops))


def _copy(name: str, target: Access, source: Access, array: Array) -> Stmt:
    return Stmt(name, target, Load(source, array.dtype), None, f"{target} = {source}")


def _where(node: Node, points: isl.Set, body: _Body, loops: Sequence[Loop]) -> Node:
    """What is done at these points ``[r, y]`` alone."""
    around = [*body.around, *loops]
    when = narrowed(points, [loop.var for loop in around], around)
    return node if when is None else If(when, (node,))


def _fresh(name: str, stmts: set[str]) -> str:
    found = unused(name, stmts)
    stmts.add(found)
    return found


def _loops(points: isl.Set, tile: Tile, body: _Body, array: Array, name: str) -> list[Loop]:
    """A loop for each dimension of the box, around ``[r, y]``: none leaves the array."""
    depth = len(body.around)
    rank = points.dim(isl.dim_type.set) - depth
    found: list[Loop] = []
    for d in range(rank):
        var = unused(f"{name}_{d}", body.names)
        own = positional([*body.names, var])
        x = affine_text(Affine.of(var) + tile.offsets[d], own)
        array_ = set_of(f"{{ [{', '.join(own.values())}] : 0 <= {x} < {array.shape[d]} }}")
        lowers, uppers = limits_of(along(points, depth, d), [*body.names, var], array_)
        found.append(Loop(var, lowers, uppers, 1, ()))
    return found


def _both(tile: Tile, loops: Sequence[Loop], array: str, copy: str) -> tuple[Access, Access]:
    """The element outside and the one in the copy."""
    y = [Affine.of(loop.var) for loop in loops]
    outside = tuple(a + o for a, o in zip(y, tile.offsets, strict=True))
    return Access(array, outside), Access(copy, tuple(y))


def _nest(loops: Sequence[Loop], node: Node) -> Node:
    for loop in reversed(loops):
        node = replace(loop, body=(node,))
    return node
