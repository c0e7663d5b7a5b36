"""What a loop nest that updates an array reads of it: the element itself, or one in the pivot row or column.

In ``d[i, j] = min(d[i, j], d[i, k] + d[k, j])`` the loops ``i`` and ``j`` have the pivot ``k``: a read is of the element that an
iteration assigns, but with some loops fixed at their pivots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dsl.expressions.absorption import is_element, is_kept
from dsl.expressions.affine import Affine
from dsl.expressions.choices import with_choices
from dsl.expressions.expr import Access, Compare, CompareOp, Expr, Index, Scatter, loads
from dsl.expressions.numeric import compared
from dsl.programs.program import If, Loop, Node, Program, Stmt

Fixed = tuple[str, ...]
"""Loops that are fixed at their pivots, outermost first."""

Runs = Callable[[Stmt, Mapping[str, Affine]], bool | None]
"""Whether a statement runs where some of its variables have these values: always, never or, None, now and then."""

Case = tuple[tuple[CompareOp, Affine, Affine], ...]
"""Comparisons that hold together."""


class NoPivotError(Exception):
    """A nest is not of this kind; the text says why."""


@dataclass(frozen=True, slots=True)
class InNest:
    """A statement of the nest: all loops around it, and its number in program order."""

    stmt: Stmt
    around: tuple[Loop, ...]
    number: int


@dataclass(frozen=True, slots=True)
class NestOfPivot:
    """A nest whose reads of what it updates are such.

    Attributes:
        node: the nest.
        depth: loops around it.
        at: the pivot of each loop that has one, outermost first.
        statements: by name.
        writers: the statement that assigns each array that lives longer than the nest.
        private: locals of its iterations.
    """

    node: Loop
    depth: int
    at: Mapping[str, Affine]
    statements: Mapping[str, InNest]
    writers: Mapping[str, InNest]
    private: frozenset[str]

    def values(self, fixed: Fixed) -> dict[str, Affine]:
        """The variables of loops that are fixed."""
        return {var: self.at[var] for var in fixed}

    def free(self, array: str, fixed: Fixed) -> tuple[int, ...]:
        """The dimensions of an array that loops of the nest run over which are not fixed."""
        writer = self.writers[array]
        inner = {loop.var for loop in writer.around[self.depth :]} - {*fixed}
        indices = writer.stmt.target.indices
        return tuple(d for d, e in enumerate(indices) if e.variables() & inner)

    def fixed_in(self, access: Access) -> Fixed:
        """The loops that are fixed in what is read."""
        writer = self.writers[access.array]
        pairs = zip(writer.stmt.target.indices, access.indices, strict=True)
        found = {v for mine, e in pairs if mine != e for v in mine.variables() & self.at.keys()}
        return tuple(v for v in self.at if v in found)

    def joined(self, array: str, one: Fixed, other: Fixed) -> Fixed:
        """The loops fixed in either, of those around what assigns the array."""
        own = {loop.var for loop in self.writers[array].around}
        return tuple(v for v in self.at if v in own and v in {*one, *other})

    def keeps(self, writer: InNest, fixed: Fixed) -> bool:
        """Whether a statement assigns what its element has already, wherever some loops are fixed."""
        values = self.values(fixed)
        target = writer.stmt.target

        def at(access: Access) -> list[Affine]:
            return [e.substitute(values) for e in access.indices]

        def is_same(access: Access) -> bool:
            return access.array == target.array and at(access) == at(target)

        value = writer.stmt.value
        made = with_choices(value, lambda cond: _decided(cond, values))
        return is_element(value, is_same) or is_kept(made, is_same)

    def cases(self, reader: Stmt, writer: InNest, own: Fixed, fixed: Fixed) -> Iterator[Case]:
        """When the iteration that assigns what is read comes before the one that reads it.

        Args:
            reader: the statement that reads.
            writer: the one that assigns.
            own: loops fixed in what is read.
            fixed: loops fixed for both.
        """
        found = self.statements[reader.name]
        same: list[tuple[CompareOp, Affine, Affine]] = []
        for mine, its in zip(found.around, writer.around, strict=False):
            if mine is not its:
                break
            if mine.var in own and mine.var not in fixed:
                here, pivot = Affine.of(mine.var), self.at[mine.var]
                op = CompareOp.LT if mine.step > 0 else CompareOp.GT
                yield (*same, (op, pivot, here))
                same.append((CompareOp.EQ, pivot, here))
        if writer.number < found.number:
            yield tuple(same)


def _decided(cond: Expr, values: Mapping[str, Affine]) -> Expr | bool:
    """Whether a comparison of loop variables holds where some are fixed; the condition where that is not known."""
    if isinstance(cond, Compare) and isinstance(cond.lhs, Index) and isinstance(cond.rhs, Index):
        sides = (side.affine.substitute(values) for side in (cond.lhs, cond.rhs))
        less = next(sides) - next(sides)
        if less.is_const:
            return compared(cond.op, less.const, 0)
    return cond


def nest_of(program: Program, around: Sequence[Loop], node: Node, runs: Runs) -> NestOfPivot | None:
    """The nest, if it reads elements at pivots; None if it has none.

    Args:
        program: the kernel.
        around: the loops around the node.
        node: a child of the innermost of these.
        runs: see `Runs`.

    Raises:
        NoPivotError: it reads others, too, or assigns an array in several places.
    """
    if not isinstance(node, Loop):
        return None
    every = [*_statements((node,), tuple(around))]
    statements = {s.name: InNest(s, loops, n) for n, (s, loops) in enumerate(every)}
    scopes = {a.name: a.scope_depth for a in program.locals}
    depth = len(around)
    private = {s.target.array for s, _ in every if scopes.get(s.target.array, 0) > depth}
    writers: dict[str, InNest] = {}
    several: set[str] = set()
    for one in statements.values():
        name = one.stmt.target.array
        if name not in private:
            several |= {name} & writers.keys()
            writers[name] = one
    inner = frozenset(loop.var for _, loops in every for loop in loops[depth:])
    at: dict[str, Affine] = {}
    for one in statements.values():
        for access in loads(one.stmt.value):
            if access.array in writers:
                _pivots(access, writers[access.array], inner, at)
    if not at:
        return None
    for name, writer in writers.items():
        if name in several:
            raise NoPivotError(f"'{name}' is assigned in several places")
        _check_writer(writer, inner)
    order = [loop.var for _, loops in every for loop in loops[depth:]]
    pivots = {var: at[var] for var in dict.fromkeys(order) if var in at}
    nest = NestOfPivot(node, depth, pivots, statements, writers, frozenset(private))
    _check_runs(nest, runs)
    return nest


def _statements(
    nodes: Sequence[Node], around: tuple[Loop, ...]
) -> Iterator[tuple[Stmt, tuple[Loop, ...]]]:
    for node in nodes:
        match node:
            case Stmt():
                yield node, around
            case Loop(body=body):
                yield from _statements(body, (*around, node))
            case If(then=then, orelse=orelse):
                yield from _statements((*then, *orelse), around)


def _pivots(access: Access, writer: InNest, inner: frozenset[str], at: dict[str, Affine]) -> None:
    """Note the pivots of loops that are fixed in what is read; ``inner`` are the variables of the nest."""
    for mine, its in zip(writer.stmt.target.indices, access.indices, strict=True):
        if mine == its:
            continue
        if mine.is_data:
            raise NoPivotError(f"which element {writer.stmt.name} assigns is data")
        own = mine.variables() & inner
        loop = min(own, default="")
        if len(own) != 1 or mine.coefficient(loop) != 1 or its.is_data or its.variables() & inner:
            raise NoPivotError(f"{access} is no element of a row or column at one pivot")
        pivot = its - (mine - Affine.of(loop))
        if at.setdefault(loop, pivot) != pivot or pivot.variables() & inner:
            raise NoPivotError(f"{access} is at another pivot of '{loop}' than {at[loop]}")


def _check_writer(writer: InNest, inner: frozenset[str]) -> None:
    """NoPivotError unless each iteration of the nest assigns an element of its own."""
    target = writer.stmt.target
    if isinstance(writer.stmt.value, Scatter):
        raise NoPivotError(f"which element {writer.stmt.name} assigns is data")
    loops = {loop.var for loop in writer.around} & inner
    found = [e.variables() & inner for e in target.indices]
    once = {v for own in found if len(own) == 1 for v in own}
    if once != loops or any(len(own) > 1 for own in found):
        raise NoPivotError(f"{writer.stmt.name} does not assign an element for each iteration")


def _check_runs(nest: NestOfPivot, runs: Runs) -> None:
    """NoPivotError where an array's iterations at its pivots are there now and then."""
    for array, writer in nest.writers.items():
        for one in nest.statements.values():
            for access in loads(one.stmt.value):
                if access.array != array or not (fixed := nest.fixed_in(access)):
                    continue
                if runs(writer.stmt, nest.values(fixed)) is None:
                    name = writer.stmt.name
                    raise NoPivotError(f"{name} assigns {access} in some of its iterations only")
