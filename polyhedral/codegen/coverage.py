"""Do the loops of a nest run exactly the iterations that they should, each once?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Expr, Index, Load, map_leaves
from dsl.programs.program import Stmt
from polyhedral.isl.text import (
    affine_text,
    conjunction,
    constraint_text,
    dims,
    map_of,
    positional,
    subscript_texts,
)
from polyhedral.looptree.settled import divisions_of
from polyhedral.looptree.tree import Instance, TreeGuard, TreeLoop, TreeNode
from polyhedral.scop.scheduled import Piece, ScheduledScop

Around = tuple[TreeLoop | TreeGuard, ...]


@dataclass(frozen=True, eq=False)
class Run:
    """An instance of a tree with the loops and guards around it."""

    instance: Instance
    around: Around

    @property
    def loops(self) -> tuple[TreeLoop, ...]:
        """The loops around, outermost first."""
        return tuple(node for node in self.around if isinstance(node, TreeLoop))


def runs_of(nodes: tuple[TreeNode, ...], around: Around = ()) -> Iterator[Run]:
    """Every instance, in textual order."""
    for node in nodes:
        if isinstance(node, Instance):
            yield Run(node, around)
        else:
            yield from runs_of(node.body, (*around, node))


def covers(nodes: tuple[TreeNode, ...], pieces: list[Piece]) -> bool:
    """Whether the nodes run the iterations of the pieces, each exactly once.

    What an instance says of itself is held against its piece: ``time`` is where in the piece's
    domain it is, and the values of the statement's variables follow from that.
    """
    own = {p.place: p for p in pieces}
    found: dict[tuple[int, ...], isl.Set] = {}
    for run in runs_of(nodes):
        place = run.instance.place
        piece = own.get(place)
        if piece is None or not _is_instance_of(run, piece):
            return False
        times = run_map(run, run.instance.time)
        if not times.is_injective():
            return False
        image = times.range()
        if place in found and not found[place].is_disjoint(image):
            return False
        found[place] = found[place].union(image) if place in found else image
    return (
        len(own) == len(pieces)
        and found.keys() == own.keys()
        and all(found[place].is_equal(piece.domain) for place, piece in own.items())
    )


def covers_statements(state: ScheduledScop) -> bool:
    """Whether the pieces have every iteration of the program's statements, each exactly once."""
    found: dict[str, isl.Set] = {}
    for piece in state.pieces:
        image = piece.times.domain()
        known = found.get(piece.name)
        if not piece.times.is_single_valued() or (known and not known.is_disjoint(image)):
            return False
        found[piece.name] = known.union(image) if known else image
    return all(
        found[s.name].is_equal(s.domain) if s.name in found else s.domain.is_empty()
        for s in state.scop.statements
    )


def _is_instance_of(run: Run, piece: Piece) -> bool:
    """Whether the instance computes, at its time, what the piece's statement does."""
    instance = run.instance
    if len(instance.time) != len(piece.dims):
        return False
    values = dict(zip(piece.names, instance.time, strict=True))
    bindings = tuple((v, e.substitute(values)) for v, e in piece.bindings)
    count = len(bindings)
    if instance.bindings[:count] != bindings:
        return False
    settled = instance.bindings[count:]
    return (
        instance.stmt is piece.statement.stmt if not settled else _is_settled(run, piece, settled)
    )


def _is_settled(run: Run, piece: Piece, settled: tuple[tuple[str, Affine], ...]) -> bool:
    """Whether further variables are the floor divisions of the statement that they stand for."""
    stmt = piece.statement.stmt
    divisions = {str(d): Affine(((d, 1),)) for d in divisions_of(stmt)}
    if not all(name in divisions for name, _ in settled):
        return False
    values = dict(run.instance.bindings)
    plain = [divisions[name].substitute(values) for name, _ in settled]
    same = run_map(run, plain).is_equal(run_map(run, [value for _, value in settled]))
    given = {name: divisions[name] for name, _ in settled}
    return bool(same) and _substituted(run.instance.stmt, given) == stmt


def _substituted(stmt: Stmt, values: Mapping[str, Affine]) -> Stmt:
    def access(of: Access) -> Access:
        return replace(of, indices=tuple(e.substitute(values) for e in of.indices))

    def leaf(expr: Const | Load | Index) -> Expr:
        match expr:
            case Const():
                return expr
            case Load():
                return replace(expr, access=access(expr.access))
            case Index():
                return replace(expr, affine=expr.affine.substitute(values))

    return replace(stmt, target=access(stmt.target), value=map_leaves(stmt.value, leaf))


def run_map(run: Run, values: tuple[Affine, ...] | list[Affine]) -> isl.Map:
    """Loop variables to values, over all that the loops and guards let pass."""
    loops = run.loops
    names = positional([loop.iv for loop in loops])
    where: list[str] = []
    for node in run.around:
        if isinstance(node, TreeGuard):
            where += [constraint_text(c, names) for c in node.constraints]
            continue
        iv = names[node.iv]
        lowers = [affine_text(e, names) for e in node.lowers]
        where += [f"{iv} >= {low}" for low in lowers]
        where += [f"{iv} < {affine_text(e, names)}" for e in node.uppers]
        if node.step > 1:
            first = lowers[0] if len(lowers) == 1 else f"max({', '.join(lowers)})"
            where.append(f"({iv} - ({first})) mod {node.step} = 0")
    space = ", ".join(dims(len(loops)))
    image = ", ".join(subscript_texts(values, names, ())[0])  # what is data: any element
    return map_of(f"{{ [{space}] -> [{image}] : {conjunction(where)} }}")
