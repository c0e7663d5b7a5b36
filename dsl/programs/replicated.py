"""Several copies of an array, of which the reads of a loop take turns, as a rewriting of the program.

Before, with ``replicate("t", "i", 4)``::

    for k in range(256):
      S0: t[k] = f[k]
    for i in range(N):
      S1: y[i] = t[a[i]] + t[b[i]]

After::

    for k in range(256):
      for copy in range(4):
        S0: t_copies[copy, k] = f[k]
    for i in range(N):
      S1: y[i] = t_copies[2*i % 4, a[i]] + t_copies[(2*i + 1) % 4, b[i]]

Reads in loops inside of the loop count once for each of their iterations. An argument, which nothing may assign to, is
copied in front of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Expr, Gather, Index, Load, Scatter, map_leaves, walk
from dsl.programs.located import trips
from dsl.programs.names import unused
from dsl.programs.partial import position
from dsl.programs.program import (
    Array,
    If,
    Loop,
    Node,
    Program,
    Stmt,
    Storage,
    variables_in,
)
from dsl.programs.scopes import ordered_locals

Read = Load | Gather


@dataclass(frozen=True, slots=True)
class Turns:
    """Whose turn it is, of the reads of an array in a loop.

    Attributes:
        loop: the loop.
        places: of each read, and the loops of constant trip counts around it in the loop, how many are in front of it
            in an iteration.
        count: reads of an iteration, those of all iterations of loops inside.
    """

    loop: Loop
    places: Mapping[tuple[Read, tuple[str, ...]], int]
    count: int

    def copy_of(self, read: Read, inside: Sequence[Loop], copies: int) -> Affine:
        """Which of so many copies a read is of. Where an iteration reads as often as there are copies, or more often, each
        begins with the first one: which it is does not depend on the iteration then.
        """
        number = Affine()
        for each in inside:
            number = number * (trips(each) or 1) + position(each)
        number += self.places[_place(read, inside)]
        if self.count < copies:
            number += position(self.loop) * self.count
        return number % copies


def turns_of(loop: Loop, array: str) -> Turns:
    """What an iteration of a loop reads of an array, each read once; not what it assigns to the array as well."""
    places: dict[tuple[Read, tuple[str, ...]], int] = {}
    count = 0
    for read, inside in _reads(loop.body, array, ()):
        key = _place(read, inside)
        if key not in places:
            places[key] = count
            count += prod(trips(each) or 1 for each in inside)
    return Turns(loop, places, count)


def _place(read: Read, inside: Sequence[Loop]) -> tuple[Read, tuple[str, ...]]:
    return read, tuple(each.var for each in inside)


def _reads(
    nodes: Sequence[Node], array: str, inside: tuple[Loop, ...]
) -> Iterator[tuple[Read, tuple[Loop, ...]]]:
    """The reads of an array, each with the loops of constant trip counts around it."""
    for node in nodes:
        match node:
            case Loop(body=body):
                yield from _reads(body, array, _within(inside, node))
            case If(then=then, orelse=orelse):
                yield from _reads((*then, *orelse), array, inside)
            case Stmt(target=target, value=value) if target.array != array:
                for expr in walk(value):
                    if isinstance(expr, Load | Gather) and expr.access.array == array:
                        yield expr, inside


def _within(inside: tuple[Loop, ...], loop: Loop) -> tuple[Loop, ...]:
    return inside if trips(loop) is None else (*inside, loop)


def with_replicas(program: Program, array: str, loop: Loop, count: int) -> Program:
    """The program with copies of an array.

    Args:
        program: the kernel.
        array: a local, a table, or an argument that no statement assigns to.
        loop: one that reads it.
        count: copies.
    """
    old = program.array(array)
    taken = [a.name for a in program.arrays]
    shape = (count, *old.shape)
    new = Array(unused(f"{array}_copies", taken), old.dtype, shape, Storage.LOCAL, span=old.span)
    used = variables_in(program)
    copy = unused("copy", used)
    is_local = old.storage is Storage.LOCAL
    turns = turns_of(loop, array)

    def nodes(some: tuple[Node, ...], inside: tuple[Loop, ...] | None) -> tuple[Node, ...]:
        return tuple(node(n, inside) for n in some)

    def node(each: Node, inside: tuple[Loop, ...] | None) -> Node:
        """``inside`` are the loops around it in the one whose reads take turns; None outside of that."""
        match each:
            case Loop(body=body):
                within = None if inside is None else _within(inside, each)
                return replace(each, body=nodes(body, () if each is loop else within))
            case If(then=then, orelse=orelse):
                return replace(each, then=nodes(then, inside), orelse=nodes(orelse, inside))
            case Stmt() if each.target.array == array:
                own = _moved(each.value, array, new.name, lambda read: Affine.of(copy))
                target = _at(each.target, new.name, Affine.of(copy))
                stmt = replace(each, target=target, value=own)
                return Loop(copy, (Affine(),), (Affine((), count),), 1, (stmt,), each.span)
            case Stmt() if inside is not None:
                turn = partial(turns.copy_of, inside=inside, copies=count)
                return replace(each, value=_moved(each.value, array, new.name, turn))
            case Stmt() if is_local:
                value = _moved(each.value, array, new.name, lambda read: Affine())
                return replace(each, value=value)
            case Stmt():
                return each

    body = nodes(program.body, None)
    if is_local:
        new = replace(new, scope_depth=old.scope_depth)
        arrays = tuple(new if a is old else a for a in program.arrays)
        return ordered_locals(replace(program, arrays=arrays, body=body))
    if old.storage is Storage.TABLE:  # copies of constants are constants, and nothing copies them
        new = replace(new, storage=Storage.TABLE, const=True, contents=old.contents * count)
        return ordered_locals(replace(program, arrays=(*program.arrays, new), body=body))
    body = (_copied(program, old, new, copy, used), *body)
    return ordered_locals(replace(program, arrays=(*program.arrays, new), body=body))


def _copied(program: Program, old: Array, new: Array, copy: str, used: frozenset[str]) -> Node:
    """The loops that copy an argument."""
    variables: list[str] = []
    for dim in range(len(old.shape)):
        variables.append(unused(f"{old.name}_{dim}", [*used, copy, *variables]))
    indices = tuple(Affine.of(v) for v in variables)
    name = unused(f"{old.name}_copy", [s.name for s in program.statements()])
    target = Access(new.name, (Affine.of(copy), *indices), old.span)
    source = Access(old.name, indices, old.span)
    text = f"{target} = {source}"
    found: Node = Stmt(name, target, Load(source, old.dtype), old.span, text)
    for var, extent in reversed([*zip(variables, old.shape, strict=True), (copy, new.shape[0])]):
        found = Loop(var, (Affine(),), (Affine((), extent),), 1, (found,), old.span)
    return found


def _moved(value: Expr, array: str, name: str, turn: Callable[[Read], Affine]) -> Expr:
    """The value with each read of an array from one of its copies."""
    # Elements are met in the same order by both; that of a Scatter is what it assigns to.
    met = iter(
        x for x in walk(value) if isinstance(x, Load | Gather | Scatter) and x.access.array == array
    )

    def leaf(expr: Const | Load | Index) -> Const | Load | Index:
        if not isinstance(expr, Load) or expr.access.array != array:
            return expr
        read = next(met)
        number = turn(Load(expr.access, expr.dtype) if isinstance(read, Scatter) else read)
        return replace(expr, access=_at(expr.access, name, number))

    return map_leaves(value, leaf)


def _at(access: Access, name: str, number: Affine) -> Access:
    return replace(access, array=name, indices=(number, *access.indices))
