"""A copy of what is copied in, from which the copy that is worked on starts, and the program without it.

The argument, for each such local I of an array X and the copy B that starts from it: I is written by statements
that copy of X alone, and read by statements ``B[y + c] = I[y]`` alone, with one constant c, each of which finds what was copied in the same
region; these run before all else that accesses B; and every element that is read of B was assigned or taken from I
before, in the same region. So B may as well have been copied in at once, where I was: it then holds more elements
than before, which nobody reads before they are assigned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, statements_in
from polyhedral.scop.scop import Scop, Statement

Unreached = Callable[[Array], str | None]
"""Which read of a copy nothing was copied in or assigned for in its region, as text; None where there is none."""


def without_first_copies(
    new: Scop,
    known: Collection[str],
    array: Array,
    copies: Sequence[Array],
    depth: int,
    unreached: Unreached,
) -> Program | str:
    """The program in which copies start at once.

    Args:
        new: the program with copies.
        known: the statements of the one without; the others copy.
        array: what is copied.
        copies: all of them.
        depth: loops around a region.
        unreached: asks of a copy.

    Returns:
        The program, the same one where all copies are such already; or why it is none that is proven so.
    """
    names = {c.name: c for c in copies}
    takes: dict[tuple[str, str], list[Statement]] = {}
    for s in new.statements:
        pair = _taken(s)
        if s.name not in known and pair is not None and names.keys() >= set(pair):
            takes.setdefault(pair, []).append(s)
    program = new.program
    for (first, copy), own in takes.items():
        every = [s for (_, to), some in takes.items() if to == copy for s in some]
        text = _wrong(new, array, first, copy, own) or _late(new, copy, every, depth)
        for one in (first, copy):
            text = text or unreached(names[one])
        if text is not None:
            return text
        program = _merged(program, first, copy, _offset(own[0]))
    return program


def _taken(s: Statement) -> tuple[str, str] | None:
    """The array that the statement copies an element of, and the one that it copies it to."""
    value, target = s.stmt.value, s.stmt.target
    return (value.access.array, target.array) if isinstance(value, Load) else None


def _offset(take: Statement) -> tuple[Affine, ...]:
    """Where the first copy lies in the other one, as what takes of it says it."""
    value, target = take.stmt.value, take.stmt.target
    assert isinstance(value, Load), "it copies"
    return tuple(x - y for x, y in zip(target.indices, value.access.indices, strict=True))


def _wrong(
    new: Scop, array: Array, first: str, copy: str, takes: Sequence[Statement]
) -> str | None:
    """What of the argument does not hold, but for what is read."""
    a, b = new.program.array(first), new.program.array(copy)
    if (a.dtype, len(a.shape), a.scope_depth) != (b.dtype, len(b.shape), b.scope_depth):
        return f"'{first}' and '{copy}' are of different types"
    offsets = {_offset(take) for take in takes}
    if len(offsets) > 1 or not all(o.is_const for offset in offsets for o in offset):
        return f"'{first}' stands for different elements of '{copy}'"
    for s in new.statements:
        if s.stmt.target.array == first and _taken(s) != (array.name, first):
            return f"{s.name} is no copy"
        if s not in takes and any(access.array == first for access in s.reads):
            return f"{s.name} reads '{first}'"
    return None


def _late(new: Scop, copy: str, takes: Sequence[Statement], depth: int) -> str | None:
    """What takes behind something else that accesses the copy, in a region. Two that take an element take the same."""
    for s in new.statements:
        for take in takes if s not in takes and s.touches(copy) else ():
            same = take.loop_ids[:depth] == s.loop_ids[:depth]
            if same and take.place[depth] >= s.place[depth]:
                return f"{take.name} does not run before {s.name}"
    return None


def _merged(program: Program, first: str, copy: str, offset: tuple[Affine, ...]) -> Program:
    """The program in which the other copy is copied in where the first one was."""
    arrays = tuple(a for a in program.arrays if a.name != first)
    return replace(program, arrays=arrays, body=_Merging(first, copy, offset).nodes(program.body))


@dataclass(frozen=True, slots=True)
class _Merging:
    """Leaves out what takes of a first copy; what copies to it copies to the other one."""

    first: str
    copy: str
    offset: tuple[Affine, ...]

    def nodes(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """The nodes in which something is left."""
        kept = (n for n in nodes if not all(_is_take(s, self.first) for s in statements_in(n)))
        return tuple(map(self._node, kept))

    def _node(self, node: Node) -> Node:
        match node:
            case Loop(body=body):
                return replace(node, body=self.nodes(body))
            case If(then=then, orelse=orelse):
                return replace(node, then=self.nodes(then), orelse=self.nodes(orelse))
            case Stmt(target=target) if target.array == self.first:
                there = zip(target.indices, self.offset, strict=True)
                return replace(node, target=Access(self.copy, tuple(y + o for y, o in there)))
        return node


def _is_take(stmt: Stmt, first: str) -> bool:
    return isinstance(stmt.value, Load) and stmt.value.access.array == first
