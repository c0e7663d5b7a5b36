"""``carry(array, at)``: what iterations of a loop hand to later ones is in shift registers.

Before, a table of which an entry needs its neighbours, along its diagonals::

    for i in range(65):
      for j in range(65):
        L[i, j] = 0                                                                     # S0
    for t in range(2, 129):
      for i in range(max(1, t - 64), min(65, t)):
        L[i, t - i] = max(L[i - 1, t - i], L[i, t - i - 1]) + ...                       # S1
    out[0] = L[64, 64]                                                                  # S2

After ``carry("L", "t")``, where nothing else reads the table::

    for c, k in ...: L_carry[c, k] = 0                                                  # clear_L
    for t in range(128):
      for c, k in ...: L_carry[c, k] = L_carry[c, k - 1]                                # shift_L
      if ...: L_carry[c, 0] = 0                                                         # load_L
      for i in range(max(1, t - 64), min(65, t)):
        L_carry[i, 0] = max(L_carry[i - 1, 1], L_carry[i, 1]) + ...                     # S1
    out[0] = L_carry[64, 0]                                                             # S2

The registers are all separate and shift at once. Where loops inside say the age, as for ``K[i + 1, c] = max(K[i, c], K[i, c - i - 1] + v[i])``
along ``c``, each cell has as many as it needs, ``K_carry[i, 0 .. i]``, and what is assigned now is in ``K_now[i]``. A read that finds
values of other ages (`polyhedral.transforms.carried.ages`) stays one of the array, into which what is assigned is stored then (``keep_L``); so it is for arguments. What
is read and was assigned before the loop is brought in as it would have been assigned in the loop; constants and
counters are not read from the array for that. The loop starts earlier where that is needed.

That each register is read for the value that the array would have had is proven by `polyhedral.equivalence.carrying`.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.affine import Affine
from dsl.programs.program import Array, Program, Stmt
from dsl.programs.scopes import ordered_locals
from dsl.schedules.recurrence_steps import Carry
from dsl.schedules.steps import Partition
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_array, find_loop
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop
from polyhedral.scop.scop import Scop, Statement, build_scop
from polyhedral.transforms.carried.ages import Ages, NoAgesError, ages_of
from polyhedral.transforms.carried.shift_registers import Made, Maker
from polyhedral.transforms.guarding import side_by_side
from polyhedral.transforms.materialise import (
    Materialised,
    Spanned,
    materialised,
    over_program,
    program_nodes,
    unrolled_as_made,
)
from polyhedral.transforms.registry import Order, transform

MOST = 4096  # registers


@transform(Carry, order=Order.KEPT)
def carry(state: ScheduledScop, step: Carry) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W236 nothing is handed on in one way, or the step comes too late; W207 too large.
    """
    array = find_array(state, step.array, step)
    uid = find_loop(state, step.at, step)
    _check_state(state, array, step)
    found = materialised(state)
    scop = build_scop(found.program)
    level, nest = _nest(scop, found, uid, step)
    try:
        ages = ages_of(scop, array, nest, level)
        made = Maker(scop, ages, tuple(found.pieces[s.name] for s in nest)).made()
    except NoAgesError as error:
        raise _refused(step, f"'{step.at}' cannot carry '{array.name}': {error}") from error
    size = sum(prod(array.shape) for array in made.registers)
    if size > MOST:
        text = f"'{made.registers[-1].name}' would be {size:,} registers"
        raise ScheduleError("W207", text, span=step.span)
    return _carried(state, found, made, step)


def _refused(step: Carry, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W236", text, span=step.span, help=help_)


def _check_state(state: ScheduledScop, array: Array, step: Carry) -> None:
    """W236 unless accesses of the array can be replaced."""
    if state.dataflow is not None or any(s.array == array.name for s in state.streams):
        text = "carry comes after dataflow or stream, which count the accesses of each process"
        raise _refused(step, text, "put it in front of them")
    if any(p.array == array.name for p in state.packs):
        text = f"'{array.name}' is in words outside"
        raise _refused(step, text, f'buffer("{array.name}") makes a copy; carry that')


def _nest(
    scop: Scop, found: Materialised, uid: LoopId, step: Carry
) -> tuple[int, tuple[Statement, ...]]:
    """The level of the loop, and what is in it."""
    groups: dict[tuple[int, ...], list[Statement]] = {}
    for s in scop.statements:
        level = found.pieces[s.name].level(uid)
        if level is not None:
            groups.setdefault(s.place[: level + 1], []).append(s)
    if len(groups) != 1:
        text = (
            f"'{step.at}' is {len(groups)} loops: a factor left iterations, or its body is in parts"
        )
        raise _refused(step, text, "put carry in front of the steps that cut the loop")
    ((place, statements),) = groups.items()
    return len(place) - 1, tuple(statements)


# ------------------------------------------------------------------------------------ rewriting


def _carried(state: ScheduledScop, found: Materialised, made: Made, step: Carry) -> ScheduledScop:
    """The state over the program with registers."""
    program = _program(found, made)
    try:
        scop = check_program(program)
    except LanguageError as error:
        text = f"'{step.at}' cannot carry '{step.array}': {error.message}"
        raise _refused(step, text) from error
    after = over_program(state, found, scop)
    own = {one.name: one.piece.dims for one in made.front}
    after = after.with_places(
        pair
        for p in after.pieces
        for pair in side_by_side([unrolled_as_made(p, own.get(p.name, ()))], p.place)
    )
    names = {s.name for s in scop.statements}
    partitions = [
        Partition(array.name, d, "complete")
        for array in (*made.registers, made.edges)
        for d, extent in enumerate(array.shape if array is not None else ())
        if array is not None and extent > 1
    ]
    return replace(
        after,
        partitions=(*after.partitions, *partitions),
        reassociated=after.reassociated & names,
        operators=tuple(o for o in after.operators if o.stmt in names),
    )


def _program(found: Materialised, made: Made) -> Program:
    """The program of the schedule with registers: its statements where they are, places further apart."""
    spans: list[Spanned] = []
    level = made.ages.level
    inside = made.ages.writers[0].name
    prefix = found.pieces[inside].place
    before = [one for one in made.front if len(_shared(one, made.ages)) == level]
    scale = 1 + len(before)
    for name, piece in found.pieces.items():
        place = tuple(scale * n for n in piece.place)
        for stmt, at in (
            (made.stmts.get(name), place),
            (made.kept.get(name), (*place[:-1], place[-1] + 1)),
        ):
            if stmt is not None:
                own = _placed(piece, stmt, at)
                if stmt is made.kept.get(name):
                    needed = own.piece.domain.intersect(made.needed[name])
                    own = replace(own, piece=replace(own.piece, domain=needed))
                spans.append(own)
    for n, one in enumerate(made.front):
        depth = level if one in before else level + 1
        around = tuple(scale * k for k in prefix[:depth])
        inner = len(one.piece.dims) - depth
        first = n - len(made.front)
        if one in before:
            first = scale * prefix[level] + before.index(one) - len(before)
        spans.append(replace(one, piece=one.piece.at((*around, first, *(0,) * inner))))
    old = found.program
    arrays = [a for a in old.arrays if not (made.dead and a.name == made.ages.array.name)]
    body = program_nodes(spans)
    arrays += [*made.registers, *([] if made.edges is None else [made.edges])]
    return ordered_locals(replace(old, arrays=tuple(arrays), body=body))


def _shared(one: Spanned, ages: Ages) -> tuple[str, ...]:
    """The loops of a new statement that are those of the program."""
    return tuple(d.name for d in one.piece.dims if d.name in ages.names and not d.held)


def _placed(piece: Piece, stmt: Stmt, place: tuple[int, ...]) -> Spanned:
    """A statement in the loops of a piece, over which it is written."""
    names = [(n, Affine.of(n)) for n in piece.names]
    own = replace(
        piece, statement=Statement(0, stmt, (), (), (), ()), bindings=tuple(names), place=place
    )
    return Spanned(stmt.name, own, piece.domain)
