"""``spread(loop, ports)``: blocks of a loop side by side, each through a pointer of its own to memory outside.

A port passes a word a cycle, and waits for memory at each row of a tile. Before, where a row is 64 words::

    for load_A_0 in range(256):
      for load_A_1 in range(64):
        A_buf[load_A_0, load_A_1] = A[256*i_0 + load_A_0, 64*j_0 + load_A_1]

After ``interface("A", "m_axi", "gmem0", also=["gmem1"])`` and ``spread("load_A.load_A_0", 2)``, whose copies are
unrolled; the second one goes through ``gmem1``::

    for load_A_0 in range(128):
      for load_A_1 in range(64):
        for load_A_0_port in range(2):
          A_buf[128*load_A_0_port + load_A_0, load_A_1] = A[256*i_0 + 128*load_A_0_port + load_A_0, 64*j_0 + load_A_1]

Each port goes along memory as before, so that bursts stay as long as they are, and half as many follow each other. With
``scheme="cyclic"`` rows take turns, ``2*load_A_0 + load_A_0_port``: of neighbouring rows, which are in different banks, any
number is written at once, but whole rows are no burst together any more. Rows that are left go through the first ports. Loops over the
lanes of a word stay inside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.schedules.port_steps import Spread, SpreadKind
from polyhedral.requests.repeated import contradiction
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.lookup import check_new_name, dim_of, find_loop, with_loop
from polyhedral.scop.ranges import common_interval, loop_copies
from polyhedral.scop.scheduled import LoopId, ScheduledScop
from polyhedral.transforms.loops.reorder import reorder_loops
from polyhedral.transforms.loops.split import split_loop
from polyhedral.transforms.registry import Order, transform


@transform(Spread, order=Order.PERMUTED)
def spread(state: ScheduledScop, step: Spread) -> ScheduledScop:
    """Cut the loop and put its blocks innermost; see the module.

    Raises:
        ScheduleError: W207 blocks are not alike, or bounds vary; W204 the loops inside are not around all of its
            statements; W223 it is in a loop that is spread already.
    """
    uid = find_loop(state, step.loop, step)
    old = dim_of(with_loop(state, uid))
    if step.ports < 2:
        raise ScheduleError("W207", f"{step.ports} ports, not at least 2", span=step.span)
    if step.scheme not in get_args(SpreadKind):
        text = f"no scheme is called '{step.scheme}'"
        known = f"it is {' or '.join(get_args(SpreadKind))}"
        near = did_you_mean(step.scheme, get_args(SpreadKind))
        raise ScheduleError("W207", text, span=step.span, help=near or known)
    factor = _size(state, uid, step)
    name = f"{old.name}_port"
    check_new_name(state, uid, name, step)
    names = (old.name, name) if step.scheme == "cyclic" else (name, old.name)
    state, outer, inner = split_loop(state, uid, factor, names, "remainder", step)
    rows, ports = (outer, inner) if step.scheme == "cyclic" else (inner, outer)
    state = reorder_loops(state, [*_inside(state, rows, ports, step), ports], step)
    return state.with_pieces(
        p
        if (k := p.level(ports)) is None
        else p.with_dim(
            k, replace(p.dims[k], unroll=0, requests=replace(p.dims[k].requests, spread=True))
        )
        for p in state.pieces
    )


def _size(state: ScheduledScop, uid: LoopId, step: Spread) -> int:
    """Iterations of a part in a row, of which all copies of the loop have as many."""
    found = [common_interval(members) for members in loop_copies(state, uid)]
    extents = {0 if interval is None else interval.extent for interval in found}
    if step.scheme == "cyclic" and 0 not in extents:
        return step.ports
    for extent in extents:
        if not extent or extent % step.ports:
            known = f"is {extent}" if extent else "varies"
            raise ScheduleError(
                "W207",
                f"the trip count of '{step.loop}' {known}, which {step.ports} ports do not divide",
                span=step.span,
                help='spread a loop whose trip count is a multiple of the ports, or with scheme="cyclic" any that is constant',
            )
    if len(extents) > 1:
        text = f"copies of '{step.loop}' have different trip counts"
        raise ScheduleError("W207", text, span=step.span)
    return extents.pop() // step.ports


def _inside(state: ScheduledScop, rows: LoopId, ports: LoopId, step: Spread) -> list[LoopId]:
    """The loop over rows, and those inside of it that all statements share, but for lanes and windows."""
    members = with_loop(state, rows)
    if any(dim.requests.spread for piece, _ in members for dim in piece.dims):
        raise contradiction(
            step, f"the ports of '{step.loop}'", "another loop around the same statements"
        )
    first, level = members[0]
    depth = min(piece.depth for piece, _ in members)
    for piece, _ in members[1:]:
        if piece.place[: level + 1] == first.place[: level + 1]:  # not of a remainder nest
            depth = min(depth, shared_levels(first, piece))
    return [dim.uid for dim in first.dims[level:depth] if dim.uid != ports]
