"""``replicate(array, loop, count)``: copies of an array, of which the reads of a loop take turns.

Before::

    for k in range(256):
      t[k] = f[k]                                       # S0
    for i in range(N):
      y[i] = t[a[i]] + t[b[i]]                          # S1

After ``replicate("t", "i", 4)``::

    for k in range(256):
      for copy in range(4):
        t_copies[copy, k] = f[k]                        # S0
    for i in range(N):
      y[i] = t_copies[2*i % 4, a[i]] + t_copies[(2*i + 1) % 4, b[i]]     # S1

Where it is data which element is read, no partition of a memory serves two reads in a cycle, and copies do. Once `i` is
split by 2, each of the four reads of two iterations has a copy of its own, with `partition("t_copies", 0, "complete")`.
Of an iteration that reads through loops inside, each of their iterations is a turn:
with ``replicate("t", "i", 8)`` of ``for k in range(8): s += t[a[i, k]]`` iteration k reads copy k. Where an iteration has at least as
many reads as there are copies, it begins with the first one. Reads in other loops are of copy 0. An argument is copied in front of all, in a statement ``t_copy``.

All copies hold the same values at any time, so that it is legal for any local array, and for arguments that nothing
assigns to.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.programs.program import Loop, Program, Stmt, Storage
from dsl.programs.replicated import turns_of, with_replicas
from dsl.schedules.port_steps import Replicate
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_array, find_loop
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.transforms.registry import Order, transform

MOST = 64  # copies


@transform(Replicate, order=Order.KEPT, too_late="W235")
def replicate(state: ScheduledScop, step: Replicate) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W235 an array of which there can be no copies, or that the loop does not read, or it comes too
            late; W207 the number of copies.
    """
    if not 2 <= step.count <= MOST:
        raise ScheduleError("W207", f"{step.count} is not 2 to {MOST}", span=step.span)
    array = find_array(state, step.array, step)
    uid = find_loop(state, step.loop, step)
    program = state.scop.program
    if not array.shape:
        raise _refused(step, f"'{array.name}' is a scalar")
    written = next((s for s in program.statements() if s.target.array == array.name), None)
    if array.storage is not Storage.LOCAL and written is not None:
        raise _refused(
            step,
            f"'{array.name}' is an argument that {written.name} assigns to",
            "copies are locals: buffer() it, or compute in a local array",
        )
    piece, level = next((p, n) for p in state.pieces if (n := p.level(uid)) is not None)
    loop = loop_around(program, piece.statement.name, level)
    if not turns_of(loop, array.name).places:
        raise _refused(step, f"nothing in '{step.loop}' reads '{array.name}' alone")
    scop = check_program(with_replicas(program, array.name, loop, step.count))
    return replace(state, scop=scop, pieces=original(scop).pieces)


def loop_around(program: Program, name: str, level: int) -> Loop:
    """One of the loops around a statement, counted from the outermost."""
    around = next(a for n, a in program.walk() if isinstance(n, Stmt) and n.name == name)
    return [a for a in around if isinstance(a, Loop)][level]


def _refused(step: Replicate, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W235", text, span=step.span, help=help_)
