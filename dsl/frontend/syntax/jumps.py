"""``break``, ``continue`` and ``return``: the statements behind them, put under conditions.

Before::

    for i in range(64):
        if x[i] < 0:
            continue
        if x[i] == key:
            at[0] = i
            break
        n += 1

After::

    done = 0
    for i in range(64):
        if not done:
            if x[i] < 0:
                pass
            else:
                if x[i] == key:
                    at[0] = i
                    done = 1
                else:
                    n += 1

The loop keeps its trip count, which hardware needs: after a ``break`` its iterations do nothing. A
branch that jumps on some ways only notes it in a scalar. A ``return`` leaves all loops around it, and
what is behind them is under a condition as what is behind a ``continue``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

Jump = ast.Break | ast.Continue
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True, slots=True)
class Flags:
    """Names of the scalars that are 1 after a ``break``, and after a ``continue``; both ``u1``."""

    done: str
    skipped: str


def returns_in(statements: list[ast.stmt]) -> Iterator[tuple[ast.Return, bool]]:
    """Each ``return`` without a value, and whether it is in a loop."""
    for s in statements:
        match s:
            case ast.Return(value=None | ast.Constant(value=None)):
                yield s, False
            case ast.If():
                yield from returns_in([*s.body, *s.orelse])
            case ast.For():
                yield from ((found, True) for found, _ in returns_in(s.body))
                yield from returns_in(s.orelse)


def left_by_jumps(statements: list[ast.stmt], flag: str, is_loop: bool = False) -> list[ast.stmt]:
    """The body of a kernel, or of a loop in it, with jumps for each ``return``.

    Args:
        statements: the body.
        flag: a scalar that is 0 at the beginning, and 1 once a loop is left by a ``return``.
        is_loop: the statements are in a loop; else a ``continue`` stands for the end of the kernel.
    """
    leave = ast.Break if is_loop else ast.Continue
    found: list[ast.stmt] = []
    for s in statements:
        match s:
            case ast.Return(value=None | ast.Constant(value=None)):
                found += [_set(s, flag)] if is_loop else []
                found.append(_at(s, leave()))
            case ast.If():
                sides = (left_by_jumps(b, flag, is_loop) for b in (s.body, s.orelse))
                found.append(_if(s, s.test, *sides))
            case ast.For() if any(True for _ in returns_in([s])):
                body = left_by_jumps(s.body, flag, True)
                orelse = left_by_jumps(s.orelse, flag, is_loop)
                found.append(_at(s, ast.For(s.target, s.iter, body, orelse)))
                first = next((r for r, _ in returns_in(s.body)), None)
                if first is not None:
                    test = _at(first, ast.Name(flag, ast.Load()))
                    found.append(_if(first, test, [_at(first, leave())], []))
            case _:
                found.append(s)
    return found


def jumps_in(statements: list[ast.stmt]) -> Iterator[Jump]:
    """The jumps that belong to the loop with this body.

    None of those of loops inside; but those in the ``else`` of a loop inside, which is no part of it.
    """
    for s in statements:
        if isinstance(s, Jump):
            yield s
        elif isinstance(s, ast.If):
            yield from jumps_in(s.body)
            yield from jumps_in(s.orelse)
        elif isinstance(s, ast.For):
            yield from jumps_in(s.orelse)


def continues(statements: Sequence[ast.stmt]) -> bool:
    """Whether ``continue`` leaves an iteration early."""
    for s in statements:
        if isinstance(s, ast.Continue):
            return True
        inner = [*getattr(s, "body", []), *getattr(s, "orelse", [])]
        if isinstance(s, ast.If) and continues(inner):
            return True
        if isinstance(s, ast.For | ast.While) and continues(s.orelse):
            return True
    return False


def hoisted(statements: list[ast.stmt], left: Callable[[ast.For], str]) -> list[ast.stmt]:
    """The body of a loop, where what jumps in the ``else`` of a loop inside stands behind that loop.

    Args:
        statements: the body.
        left: the scalar that is 1 after a ``break`` of that loop.
    """
    found: list[ast.stmt] = []
    for s in statements:
        match s:
            case ast.If() if any(True for _ in jumps_in([s])):
                found.append(_if(s, s.test, hoisted(s.body, left), hoisted(s.orelse, left)))
            case ast.For() if any(True for _ in jumps_in(s.orelse)):
                loop = _at(s, ast.For(s.target, s.iter, s.body, []))
                found.append(loop)
                orelse = hoisted(s.orelse, left)
                if any(isinstance(j, ast.Break) for j in jumps_in(s.body)):
                    orelse = [unless(s.orelse[0], left(loop), orelse)]
                found += orelse
            case _:
                found.append(s)
    return found


def needs_skipped(statements: list[ast.stmt]) -> bool:
    """Whether a ``continue`` is in an ``if`` of which some branch jumps on some of its ways only."""
    return any(
        (_is_partial(s) and any(isinstance(j, ast.Continue) for j in jumps_in([s])))
        or needs_skipped(s.body)
        or needs_skipped(s.orelse)
        for s in statements
        if isinstance(s, ast.If)
    )


def _is_partial(s: ast.If) -> bool:
    return any(any(True for _ in jumps_in(b)) and not _always(b) for b in (s.body, s.orelse))


def straight(statements: list[ast.stmt], flags: Flags) -> list[ast.stmt]:
    """The body of a loop without jumps.

    Args:
        statements: the body.
        flags: ``skipped`` is 0 where the body begins, ``done`` where its loop does.
    """
    found: list[ast.stmt] = []
    for n, s in enumerate(statements):
        if isinstance(s, Jump):
            return [*found, *_noted(s, flags)]
        if not isinstance(s, ast.If) or not any(True for _ in jumps_in([s])):
            found.append(s)
            continue
        rest = statements[n + 1 :]
        branches = (s.body, s.orelse)
        if _is_partial(s):
            then, orelse = (straight(b, flags) for b in branches)
            found.append(_if(s, s.test, then, orelse))
            if rest:
                kinds = {type(j) for j in jumps_in([s])}
                names = [flags.done] * (ast.Break in kinds) + [flags.skipped] * (
                    ast.Continue in kinds
                )
                found.append(_if(s, _none_of(s, names), straight(rest, flags), []))
            return found
        then, orelse = (straight(b if _always(b) else [*b, *rest], flags) for b in branches)
        found.append(_if(s, s.test, then, orelse))
        return found
    return found


def unless(place: ast.stmt, flag: str, statements: list[ast.stmt]) -> ast.stmt:
    """The statements where the flag is 0."""
    return _if(place, _none_of(place, [flag]), statements, [])


def _always(branch: list[ast.stmt]) -> bool:
    """Whether every way through a branch ends with a jump."""
    for s in branch:
        if isinstance(s, Jump):
            return True
        if isinstance(s, ast.If) and _always(s.body) and _always(s.orelse):
            return True
    return False


def _noted(jump: Jump, flags: Flags) -> list[ast.stmt]:
    name = flags.done if isinstance(jump, ast.Break) else flags.skipped
    if not name:
        return []
    return [_set(jump, name)]


def _set(place: ast.stmt, flag: str) -> ast.stmt:
    """``flag = 1``."""
    target = _at(place, ast.Name(flag, ast.Store()))
    return _at(place, ast.Assign([target], _at(place, ast.Constant(1))))


def _if(place: ast.stmt, test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt]) -> ast.stmt:
    return _at(place, ast.If(test, then or [_at(place, ast.Pass())], orelse))


def _none_of(place: ast.stmt, names: list[str]) -> ast.expr:
    tests: list[ast.expr] = [
        _at(place, ast.UnaryOp(ast.Not(), _at(place, ast.Name(name, ast.Load())))) for name in names
    ]
    return tests[0] if len(tests) == 1 else _at(place, ast.BoolOp(ast.And(), tests))


def _at(place: ast.stmt, node: Node) -> Node:
    return ast.copy_location(node, place)
