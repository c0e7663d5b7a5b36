"""``join(outer, inner)``: one loop of two, the inverse of `split`.

Before, tiles as they are written by hand, the last one cut short::

    for ii in range(0, 100, 32):
      for i in range(ii, min(ii + 32, 100)):
        S(i)

After ``join("ii", "i")``::

    for i in range(100):
      S(i)

The inner loop has to be all that stands in the outer one, so that iterations run in the order in which they did; loops
between the two are moved by `reorder` before. With ``w`` iterations in the longest of the inner loops the new one
counts ``w * outer + inner``, and what named the two apart divides by ``w``::

    for i in range(4):
      for j in range(25):             # after join("i", "j", "t"): for t in range(100): S(t // 25, t % 25)
        S(i, j)

Where inner loops are of other lengths than that, but for the first and the last one, there would be holes in the range,
and the loops stay two. The program has the new loop from then on (`polyhedral.transforms.renewed`): later steps find what
they would find in a program that was never tiled.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.affine import Affine
from dsl.schedules.loop_requests import NO_REQUESTS
from dsl.schedules.range_steps import Join
from polyhedral.scop.lookup import check_new_name, dim_of, find_loop, with_loop
from polyhedral.scop.ranges import Interval, whole_range
from polyhedral.scop.scheduled import Dim, LoopId, Piece, Place, ScheduledScop
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.renewed import renewed


@transform(Join, order=Order.KEPT)
def join(state: ScheduledScop, step: Join) -> ScheduledScop:
    """Make one loop of two; see the module.

    Raises:
        ScheduleError: W250 the loops are not one inside of the other with nothing else beside, their iterations are no
            range, or other steps said something of them.
    """
    moved = joined(state, step)
    try:
        return renewed(moved)
    except LanguageError as error:
        text = f"'{step.outer}' and '{step.inner}' cannot be one loop: not all accesses are known to be in bounds then"
        raise _refused(step, text, (error.message, *error.notes)) from error


def joined(state: ScheduledScop, step: Join) -> ScheduledScop:
    """The state with one loop in the place of two, over the program as it is; see `join`."""
    outer, inner = find_loop(state, step.outer, step), find_loop(state, step.inner, step)
    _check_nested(state, outer, inner, step)
    members = with_loop(state, inner)
    old = dim_of(members)
    for dim in (dim_of(with_loop(state, outer)), old):
        _check_plain(dim, step)
    name = step.name or old.name
    if name not in (old.name, dim_of(with_loop(state, outer)).name):
        check_new_name(state, inner, name, step)
    width = whole_range(members)
    if width is None:
        raise _refused(step, f"'{step.inner}' has no bounds that are numbers")
    new = Dim(name, (*inner, "joined"), span=old.span)
    changed = {id(piece): _moved(piece, level, new, width, step) for piece, level in members}
    return state.with_places(changed.get(id(p), (p, p.place)) for p in state.pieces)


def _moved(piece: Piece, level: int, new: Dim, width: Interval, step: Join) -> tuple[Piece, Place]:
    """A piece in the new loop, and its place: the level between the two loops is gone."""
    outer, inner = piece.dims[level - 1], piece.dims[level]
    now = Affine.of(new.name)
    block = now // width.extent
    values = {outer.name: block, inner.name: now - block * width.extent + width.first}
    moved = piece.transformed((*piece.dims[: level - 1], new, *piece.dims[level + 1 :]), values)
    if _has_holes(moved, level - 1):
        raise _refused(
            step,
            f"the iterations of '{step.inner}' in those of '{step.outer}' are no one range",
            help_=f"'{step.inner}' has at most {width.extent} iterations, and only the last '{step.outer}' may have fewer",
        )
    domain = _plain(moved.domain)
    hull = domain if moved.hull is moved.domain else _plain(moved.hull)
    frame = hull if moved.frame is moved.hull else _plain(moved.frame)
    place = (*piece.place[:level], *piece.place[level + 1 :])
    return replace(moved, domain=domain, hull=hull, frame=frame), place


def _has_holes(piece: Piece, level: int) -> bool:
    """Whether the new loop is no range in some iteration of those around it."""
    kind = isl.dim_type.set
    loops = piece.frame.project_out(kind, level + 1, len(piece.dims) - level - 1)
    return not _around(loops).is_subset(loops)


def _plain(points: isl.Set) -> isl.Set:
    """The same points without divisions, where they can be said so: all that isl is asked of them is quicker then."""
    whole = _around(points)
    return whole if whole.is_subset(points) else points


def _around(points: isl.Set) -> isl.Set:
    """A convex set without divisions that contains the points."""
    return isl.Set.from_basic_set(points.remove_divs().coalesce().simple_hull())


def _check_nested(state: ScheduledScop, outer: LoopId, inner: LoopId, step: Join) -> None:
    """W250 unless the inner loop is all that stands in the outer one."""
    around: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for piece, level in with_loop(state, outer):
        if piece.level(inner) != level + 1:
            raise _refused(
                step,
                f"{piece.name} runs in '{step.outer}', and not in '{step.inner}' directly inside of it",
                help_=f"distribute and reorder bring '{step.inner}' there, where dependences allow it",
            )
        around.setdefault(piece.place[: level + 1], set()).add(piece.place[: level + 2])
    if any(len(loops) > 1 for loops in around.values()):
        raise _refused(
            step,
            f"there are several loops '{step.inner}' in '{step.outer}'",
            help_="join the loops of each statement after distribute",
        )


def _check_plain(dim: Dim, step: Join) -> None:
    """W250 where a step said how the loop is to be built."""
    asked = (dim.pipeline_ii, dim.unroll, dim.flatten, dim.region, dim.sequential, dim.requests)
    if asked != (None, None, None, None, False, NO_REQUESTS):
        raise _refused(
            step,
            f"'{dim.name}' is annotated already",
            help_="change the loops first, then pipeline and unroll what results",
        )


def _refused(
    step: Join, text: str, notes: tuple[str, ...] = (), help_: str | None = None
) -> ScheduleError:
    return ScheduleError("W250", text, span=step.span, notes=notes, help=help_)
