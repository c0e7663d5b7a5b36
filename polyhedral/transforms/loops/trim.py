"""``trim(stmt)``: iterations whose values nothing reads are left out.

Before, a table of which the half above its diagonal is computed, from what is on it::

    for i in range(60):
      for j in range(60):
        S0: m[i, j] = 0
    for d in range(1, 60):
      for i in range(60 - d):
        S1: m[i, i + d] = f(m[i, i + d - 1], m[i + 1, i + d])

After ``trim("S0")``::

    for i in range(60):
      for j in range(i, i + 1):
        S0: m[i, j] = 0

Which iterations these are is found by isl, exactly. A tool does not find it: it keeps each store to a memory. Of an argument
what nothing overwrites is a result, so that only locals are trimmed.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Scatter
from dsl.programs.program import Storage
from dsl.programs.scopes import ordered_locals
from dsl.schedules.range_steps import Trim
from polyhedral.dependences.direct import writes_seen
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import Piece, ScheduledScop, original
from polyhedral.scop.scop import Scop, Statement
from polyhedral.transforms.materialise import Spanned, materialised, program_nodes
from polyhedral.transforms.registry import Order, transform


@transform(Trim, order=Order.KEPT, too_late="W246")
def trim(state: ScheduledScop, step: Trim) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W246 all values are read, or may be, or the step comes too late.
    """
    pieces = find_statement(state, step.stmt, step)
    if not pieces:
        raise _refused(step, f"{step.stmt} has no iterations")
    (piece,) = pieces
    _check_target(state.scop, piece.statement, step)
    found = materialised(state)
    unread = piece.domain.subtract(read_of(state.scop, piece))
    if unread.is_empty():
        raise _refused(step, f"each value that {step.stmt} assigns is read")
    left = piece.domain.subtract(unread).coalesce()
    spans = [
        Spanned(name, replace(own, domain=domain), domain)
        for name, own in found.pieces.items()
        if not (domain := left if name == step.stmt else own.domain).is_empty()
    ]
    body = program_nodes(spans)
    scop = check_program(ordered_locals(replace(found.program, body=body)))
    names, arrays = {s.name for s in scop.statements}, {a.name for a in scop.program.arrays}
    return replace(
        state.of_arrays(arrays),
        scop=scop,
        pieces=original(scop).pieces,
        reassociated=state.reassociated & names,
        operators=tuple(o for o in state.operators if o.stmt in names),
    )


def read_of(scop: Scop, piece: Piece) -> isl.Set:
    """The iterations of a statement, in its loops, of which a read sees the value."""
    array = piece.statement.stmt.target.array
    seen = piece.domain.subtract(piece.domain)
    for reader in scop.statements:
        for access in dict.fromkeys(a for a in reader.reads if a.array == array):
            for source, pairs in writes_seen(scop, reader, access):
                if source is piece.statement:
                    seen = seen.union(pairs.domain().apply(piece.times))
    return seen.coalesce()


def _check_target(scop: Scop, statement: Statement, step: Trim) -> None:
    """W246 unless which iteration assigns what, and that nobody else sees it, is known."""
    target = statement.stmt.target
    array = scop.program.array(target.array)
    if array.storage is not Storage.LOCAL:
        raise _refused(step, f"'{array.name}' is no local: what {step.stmt} leaves there is seen")
    if isinstance(statement.stmt.value, Scatter) or any(i.is_data for i in target.indices):
        raise _refused(step, f"which elements {step.stmt} assigns is data")


def _refused(step: Trim, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W246", text, span=step.span, help=help_)
