"""``mirror(array, access)``: a second array with what one kind of reads finds, for banks of its own.

Before, an interval program, which reads its table by rows and by columns::

    for length in range(1, 32):
      for i in range(32 - length):
        for k in range(length):
          best = min(best, T[i, i + k] + T[i + k + 1, i + length])                      # S1
        T[i, i + length] = best                                                        # S2

After ``mirror("T", "T[i + k + 1, i + length]")``::

    for length in range(1, 32):
      for i in range(32 - length):
        for k in range(length):
          best = min(best, T[i, i + k] + T_mirror[i + k + 1, i + length])               # S1
        T[i, i + length] = best                                                        # S2
        T_mirror[i, i + length] = T[i, i + length]                                     # mirror_T

All of a row in one cycle takes a bank for each column, all of a column one for each row: with both in one array each element
would be a register. Of two arrays, each has the banks that its reads ask for. What such reads find is stored in the mirror
as it is assigned (which writes they see, and in which iterations, is found by isl); what an argument has before is copied
in front of all, if it is read.

That each read finds the same value is proven by `polyhedral.equivalence.carrying`, as for other copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl

from dsl.errors.errors import LanguageError, ScheduleError, did_you_mean
from dsl.expressions.affine import Affine
from dsl.expressions.affine_text import read_affine
from dsl.expressions.expr import Access, Load, Scatter
from dsl.programs.expanded import with_accesses
from dsl.programs.names import unused
from dsl.programs.program import Array, Program, Stmt, Storage
from dsl.programs.scopes import ordered_locals
from dsl.schedules.port_steps import Mirror
from polyhedral.dependences.direct import writes_seen
from polyhedral.isl.conditions import limits_of
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_array
from polyhedral.scop.scheduled import Dim, Piece, ScheduledScop
from polyhedral.scop.scop import Scop, Statement, build_scop
from polyhedral.transforms.carried.ages import union
from polyhedral.transforms.materialise import (
    Materialised,
    Spanned,
    materialised,
    over_program,
    program_nodes,
)
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.windows.shifting import Names


@transform(Mirror, order=Order.KEPT)
def mirror(state: ScheduledScop, step: Mirror) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W238 nothing is read so, or which elements are assigned is data, or the step comes too late.
    """
    array = find_array(state, step.array, step)
    _check_state(state, array, step)
    found = materialised(state)
    scop = build_scop(found.program)
    seen = _seen(scop, array, _readers(scop, step), step)
    program = _program(found, array, seen, step)
    try:
        return over_program(state, found, check_program(program))
    except LanguageError as error:
        raise _refused(step, f"'{step.array}' can have no mirror: {error.message}") from error


def _wanted(access: str) -> tuple[str, tuple[Affine, ...]] | str:
    """The array and the subscripts that a text says, or the text where these are no expressions of loops."""
    plain = "".join(access.split()).replace("][", ",")
    name, _, rest = plain.partition("[")
    try:
        return name, tuple(read_affine(index) for index in rest.removesuffix("]").split(","))
    except ValueError:
        return plain


def _refused(step: Mirror, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W238", text, span=step.span, help=help_)


def _check_state(state: ScheduledScop, array: Array, step: Mirror) -> None:
    """W238 unless accesses of the array can be replaced."""
    if not array.shape:
        raise _refused(step, f"'{array.name}' is a scalar, which has no ports to share")
    if array.storage is Storage.SCRATCH:
        raise _refused(step, f"'{array.name}' is in memory outside")
    if state.dataflow is not None or any(s.array == array.name for s in state.streams):
        text = "mirror comes after dataflow or stream, which count the accesses of each process"
        raise _refused(step, text, "put it in front of them")
    if any(p.array == array.name for p in state.packs):
        text = f"'{array.name}' is in words outside"
        raise _refused(step, text, f'buffer("{array.name}") makes a copy; mirror that')


# ---------------------------------------------------------------------------------- what is read


@dataclass(frozen=True, eq=False)
class _Seen:
    """What reads of one kind find.

    Attributes:
        readers: the statements, and what they read.
        written: for each statement that assigns such values, in which iterations.
        before: the elements that are read as they were before the kernel, without a name; None if none is.
    """

    readers: tuple[tuple[Statement, Access], ...]
    written: dict[str, isl.Set]
    before: isl.Set | None


def _readers(scop: Scop, step: Mirror) -> tuple[tuple[Statement, Access], ...]:
    """Statements, with the access as they read it."""
    wanted = _wanted(step.access)
    every = [(s, a) for s in scop.statements for a in s.reads if a.array == step.array]
    found = tuple(
        dict.fromkeys(
            (s, a)
            for s, a in every
            if wanted in ((a.array, a.indices), str(a).replace(" ", "").replace("][", ","))
        )
    )
    if not found:
        known = sorted({str(a) for _, a in every})
        text = f"nothing reads '{step.access}'"
        help_ = did_you_mean(step.access, known) if known else f"'{step.array}' is not read"
        raise _refused(step, text, help_ or f"it is read as {', '.join(known)}")
    if any(index.is_data for _, access in found for index in access.indices):
        text = f"which element '{step.access}' is, is data"
        raise _refused(step, text, "replicate() makes copies for reads that values tell")
    return found


def _seen(
    scop: Scop, array: Array, readers: tuple[tuple[Statement, Access], ...], step: Mirror
) -> _Seen:
    written: dict[str, list[isl.Set]] = {}
    before: list[isl.Set] = []
    for s, access in readers:
        left = s.domain
        for source, pairs in writes_seen(scop, s, access):
            target = source.stmt.target
            if isinstance(source.stmt.value, Scatter) or any(i.is_data for i in target.indices):
                raise _refused(step, f"which element {source.name} assigns is data")
            left = left.subtract(pairs.range())
            written.setdefault(source.name, []).append(pairs.domain())
        if not left.is_empty():
            before.append(left.apply(scop.access_map(s, access)).reset_tuple_id())
    if before and array.storage is not Storage.ARGUMENT:
        raise _refused(step, f"'{array.name}' is read where nothing was assigned to it")
    found = {n: union(sets).reset_tuple_id() for n, sets in written.items()}
    return _Seen(readers, found, union(before) if before else None)


# ------------------------------------------------------------------------------------ rewriting


def _program(found: Materialised, array: Array, seen: _Seen, step: Mirror) -> Program:
    """The program of the schedule with the mirror: each place is twice as far apart, for what stores in it."""
    old = found.program
    names = Names({a.name for a in old.arrays}, {s.name for s in old.statements()})
    other = replace(
        array,
        name=names.array(step.name or f"{array.name}_mirror"),
        storage=Storage.LOCAL,
        const=False,
    )
    reads = {s.name: [a for t, a in seen.readers if t is s] for s, _ in seen.readers}
    spans: list[Spanned] = []
    for stmt in old.statements():
        piece = found.pieces[stmt.name]
        place = tuple(2 * n for n in piece.place)
        spans.append(_placed(piece, _reading(stmt, reads.get(stmt.name, []), other), place))
        if stmt.name in seen.written:
            target = stmt.target
            copy = Stmt(
                names.stmt(f"mirror_{array.name}"),
                Access(other.name, target.indices),
                Load(Access(array.name, target.indices), array.dtype),
            )
            own = _placed(piece, copy, (*place[:-1], place[-1] + 1))
            domain = piece.domain.intersect(seen.written[stmt.name])
            spans.append(replace(own, piece=replace(own.piece, domain=domain)))
    if seen.before is not None:
        spans.append(_filled(array, other, seen.before, names))
    return ordered_locals(replace(old, arrays=(*old.arrays, other), body=program_nodes(spans)))


def _placed(piece: Piece, stmt: Stmt, place: tuple[int, ...]) -> Spanned:
    """A statement in the loops of a piece, over which it is written."""
    bindings = tuple((n, Affine.of(n)) for n in piece.names)
    own = Statement(0, stmt, (), (), (), ())
    moved = replace(piece, statement=own, bindings=bindings, place=place)
    return Spanned(stmt.name, moved, piece.domain)


def _reading(stmt: Stmt, reads: Sequence[Access], other: Array) -> Stmt:
    """The statement with such reads of the mirror; what it assigns stays."""

    def own(access: Access) -> Access:
        return replace(access, array=other.name) if access in reads else access

    return replace(with_accesses(stmt, own), target=stmt.target)


def _filled(array: Array, other: Array, elements: isl.Set, names: Names) -> Spanned:
    """What copies elements as they are in front of all; a subscript that follows from those before it is no loop."""
    rank = len(array.shape)
    variables: list[str] = []
    for k in range(rank):
        variables.append(unused(f"{array.name}_{k}", variables))
    own: list[str] = []
    values: dict[str, Affine] = {}
    for k, name in enumerate(variables):
        first = elements.project_out(isl.dim_type.set, k + 1, rank - k - 1)
        lowers, uppers = limits_of(first, variables[: k + 1])
        follows = len(lowers) == len(uppers) == 1 and uppers[0] - lowers[0] == Affine.of(1)
        own += [] if follows else [name]
        values[name] = lowers[0].substitute(values) if follows else Affine.of(name)
    points = elements
    for k in reversed(range(rank)):
        if variables[k] not in own:
            points = points.project_out(isl.dim_type.set, k, 1)
    at = tuple(values[name] for name in variables)
    value = Load(Access(array.name, at), array.dtype)
    stmt = Stmt(names.stmt(f"mirror_{array.name}"), Access(other.name, at), value)
    loops = tuple(Dim(name, (name,)) for name in own)
    bindings = tuple((name, Affine.of(name)) for name in own)
    statement = Statement(0, stmt, (), (), (), ())
    piece = Piece(statement, loops, (), points, bindings, points, points)
    return Spanned(stmt.name, piece.at((-1, *(0,) * len(own))), points)
