"""Two statements that do the same in neighbouring ranges of a loop, as one in a loop over both, as a rewriting of the program.

Before, with ``unite("S0", "S2")``::

    for i in range(N):
      for j in range(i):
        for k in range(j):
          S0: A[i, j] = A[i, j] - A[i, k] * A[k, j]
        S1: A[i, j] = A[i, j] / A[j, j]
      for j in range(i, N):
        for k in range(i):
          S2: A[i, j] = A[i, j] - A[i, k] * A[k, j]

After::

    for i in range(N):
      for j in range(N):
        for k in range(min(i, j)):
          S0: A[i, j] = A[i, j] - A[i, k] * A[k, j]
        if j < i:
          S1: A[i, j] = A[i, j] / A[j, j]

What stands directly around the statements and is alike as well becomes one with them, as what sets a scalar in front of the sum. Locals
of an iteration of the second loop are those of the first then. All runs in the order in which it ran. Whether the loops inside have the iterations that both had is for
`polyhedral.transforms.loops.unite` to find, of the bounds that are offered here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dsl.expressions.affine import Affine, Constraint
from dsl.programs.expanded import accesses_of, with_accesses
from dsl.programs.program import (
    If,
    Loop,
    Node,
    Program,
    Stmt,
    Storage,
    has_statement,
    map_statements,
    replaced,
    statements_in,
)
from dsl.programs.scopes import ordered_locals
from dsl.programs.substituted import substituted

Origins = Mapping[str, tuple[str, tuple[Affine, ...]]]
"""What each statement of the program as it was is in the other one: a statement, and its iteration by the loops of the former."""


class NotUnitedError(Exception):
    """Two statements are not of one loop; the text says why."""


@dataclass(frozen=True, slots=True)
class United:
    """The rewritten program.

    Attributes:
        program: the program.
        origins: what became of each statement.
        locals: locals that are gone, each with the one in its place.
    """

    program: Program
    origins: Origins
    locals: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Neighbours in one body.

    Attributes:
        first: a loop with the first statement in it.
        second: the loop that goes on where the first one ends, over the same variable.
        once: whether it was no loop, but what the iteration behind the last one does.
        locals: those of an iteration of the second loop, by which ones of the first they are; its body has these.
    """

    first: Loop
    second: Loop
    once: bool
    locals: Mapping[str, str] = field(default_factory=dict)


def united(program: Program, one: str, other: str) -> Iterator[United]:
    """Programs with one statement in the place of two, with each of the bounds that loops inside may have then.

    Args:
        program: all of whose loops count up by 1.
        one: a statement.
        other: another one.

    Raises:
        NotUnitedError: they are not alike, or not in neighbouring ranges.
    """
    around = {n.name: path for n, path in program.walk() if isinstance(n, Stmt)}
    order = list(around)
    first, second = sorted((one, other), key=order.index)
    depth = 0
    for a, b in zip(around[first], around[second], strict=False):
        if a is not b:
            break
        depth += 1
    siblings = _siblings(program.body, around[first][:depth], first)
    at = next(n for n, node in enumerate(siblings) if has_statement(node, first))
    if at + 1 == len(siblings) or not has_statement(siblings[at + 1], second):
        raise NotUnitedError(f"{second} does not follow {first} in the next loop")
    loops = [a for a in around[first][:depth] if isinstance(a, Loop)]
    pair = _pair(siblings[at], siblings[at + 1])
    pair = _with_locals(program, pair, first, second, len(loops))
    mine, its = _nest(pair.first, first), _nest(pair.second, second)
    _check_alike(pair, mine, its)
    for bounds in _BOUNDS:
        whole, joined = _whole(pair, first, second, _merged(mine, its, bounds))
        body = replaced(program.body, (siblings[at], siblings[at + 1]), (whole,))
        new = ordered_locals(replace(program, body=body))
        origins = dict(_origins(around, {**joined, second: first}, second, len(loops), pair))
        yield United(new, origins, pair.locals)


def _siblings(nodes: tuple[Node, ...], around: Sequence[Loop | If], name: str) -> tuple[Node, ...]:
    """The body inside of some nodes that a statement is in."""
    for node in around:
        match node:
            case Loop(body=body):
                nodes = body
            case If(then=then, orelse=orelse):
                nodes = then if any(has_statement(n, name) for n in then) else orelse
    return nodes


def _pair(first: Node, second: Node) -> _Pair:
    if not isinstance(first, Loop) or len(first.uppers) != 1:
        raise NotUnitedError("the first statement is in no loop with one end")
    (end,) = first.uppers
    if isinstance(second, Loop) and second.lowers == (end,):
        values = {second.var: Affine.of(first.var)}
        body = tuple(substituted(n, values) for n in second.body)
        return _Pair(first, replace(second, var=first.var, body=body), False)
    return _Pair(first, replace(first, lowers=(end,), uppers=(end + 1,), body=(second,)), True)


def _with_locals(program: Program, pair: _Pair, first: str, second: str, depth: int) -> _Pair:
    """The neighbours with the same locals, where each has one of its own for what the statements assign."""
    targets = {s.name: s.target.array for s in program.statements()}
    mine, its = (program.array(targets[name]) for name in (first, second))
    own = [array.scope_depth > depth and array.storage is Storage.LOCAL for array in (mine, its)]
    if mine == its or not all(own) or replace(its, name=mine.name, span=mine.span) != mine:
        return pair
    if _touches(pair.first, its.name) or _touches(pair.second, mine.name):
        return pair

    def renamed(stmt: Stmt) -> Stmt:
        return with_accesses(
            stmt, lambda a: replace(a, array=mine.name) if a.array == its.name else a
        )

    body = tuple(map_statements(node, renamed) for node in pair.second.body)
    return replace(pair, second=replace(pair.second, body=body), locals={its.name: mine.name})


def _touches(node: Node, array: str) -> bool:
    return any(a.array == array for stmt in statements_in(node) for a in accesses_of(stmt))


def _nest(loop: Loop, name: str) -> list[Node]:
    """The nodes from a body of a loop down to a statement, each alone in the one before."""
    node = next(n for n in loop.body if has_statement(n, name))
    found = [node]
    while isinstance(node, Loop):
        if len(node.body) != 1:
            raise NotUnitedError(f"{name} is not alone in its loops")
        (node,) = node.body
        found.append(node)
    if not isinstance(node, Stmt):
        raise NotUnitedError(f"{name} stands under a condition")
    return found


def _check_alike(pair: _Pair, mine: Sequence[Node], its: Sequence[Node]) -> None:
    """The statements do the same, where both are: the second one in all iterations, or in the one that there is of it."""
    a, b = mine[-1], its[-1]
    assert isinstance(a, Stmt)
    assert isinstance(b, Stmt)
    if pair.once and len(mine) < len(its):
        raise NotUnitedError(f"{b.name} does not go on where the loop of {a.name} ends")
    if len(mine) != len(its):
        raise NotUnitedError(f"{b.name} is in more or fewer loops than {a.name}")
    at = {pair.first.var: pair.second.lowers[0]} if pair.once else {}
    one, other = substituted(a, at), substituted(b, {**_names(mine, its), **at})
    assert isinstance(one, Stmt)
    assert isinstance(other, Stmt)
    if (one.target, one.value) != (other.target, other.value):
        raise NotUnitedError(f"{b.name} does something else than {a.name}")


def _names(mine: Sequence[Node], its: Sequence[Node]) -> dict[str, Affine]:
    """The loops of the one statement by those of the other one."""
    pairs = zip(mine, its, strict=True)
    return {
        b.var: Affine.of(a.var) for a, b in pairs if isinstance(a, Loop) and isinstance(b, Loop)
    }


_BOUNDS = ((True, False), (False, True), (True, True))
"""Whether loops inside have the bounds of the first and of the second statement's."""


def _merged(mine: Sequence[Node], its: Sequence[Node], bounds: tuple[bool, bool]) -> Node:
    """The loops inside, around the statement."""
    names = _names(mine, its)
    (*loops, node) = mine
    for a, b in reversed(list(zip(loops, its[:-1], strict=True))):
        assert isinstance(a, Loop)
        assert isinstance(b, Loop)
        lowers, uppers = (
            tuple(
                dict.fromkeys(
                    (
                        *(ours if bounds[0] else ()),
                        *((e.substitute(names) for e in others) if bounds[1] else ()),
                    )
                )
            )
            for ours, others in ((a.lowers, b.lowers), (a.uppers, b.uppers))
        )
        node = replace(a, lowers=lowers, uppers=uppers, body=(node,))
    return node


def _whole(pair: _Pair, first: str, second: str, inner: Node) -> tuple[Loop, dict[str, str]]:
    """The loop over both ranges, and which statements of the second one are statements of the first one besides."""
    end = pair.second.lowers[0]
    var = Affine.of(pair.first.var)
    below, above = Constraint(end - 1 - var), Constraint(var - end)
    front, behind = _split(pair.first.body, first)
    its_front, its_behind = _split(pair.second.body, second)
    before, after = _alike(front[::-1], its_front[::-1]), _alike(behind, its_behind)
    pairs = (
        *zip(front[::-1], its_front[::-1][:before], strict=False),
        *zip(behind, its_behind[:after], strict=False),
    )
    joined = {
        b.name: a.name
        for x, y in pairs
        for a, b in zip(statements_in(x), statements_in(y), strict=True)
    }
    body = (
        *_guarded(below, front[: len(front) - before]),
        *_guarded(above, its_front[: len(its_front) - before]),
        *front[len(front) - before :],
        inner,
        *behind[:after],
        *_guarded(below, behind[after:]),
        *_guarded(above, its_behind[after:]),
    )
    return replace(pair.first, uppers=pair.second.uppers, body=body), joined


def _alike(mine: Sequence[Node], its: Sequence[Node]) -> int:
    """How many of the first nodes are the same, but for the names of statements."""

    def plain(node: Node) -> Node:
        return map_statements(node, lambda stmt: replace(stmt, name=""))

    count = 0
    for a, b in zip(mine, its, strict=False):
        if plain(a) != plain(b):
            break
        count += 1
    return count


def _split(nodes: tuple[Node, ...], name: str) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    at = next(n for n, node in enumerate(nodes) if has_statement(node, name))
    return nodes[:at], nodes[at + 1 :]


def _guarded(cond: Constraint, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return (If(cond, nodes),) if nodes else ()


def _origins(
    around: Mapping[str, tuple[Loop | If, ...]],
    joined: Mapping[str, str],
    second: str,
    depth: int,
    pair: _Pair,
) -> Iterator[tuple[str, tuple[str, tuple[Affine, ...]]]]:
    for name, path in around.items():
        iteration = [Affine.of(a.var) for a in path if isinstance(a, Loop)]
        if name == second and pair.once:
            iteration.insert(depth, pair.second.lowers[0])
        yield name, (joined.get(name, name), tuple(iteration))
