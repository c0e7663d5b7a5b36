"""``match`` on integers, made into ``if`` and ``elif``.

Before::

    match op[i]:
        case 0 | 1:
            y[i] = a
        case n if n > 8:
            y[i] = n
        case _:
            y[i] = 0

After::

    subject = op[i]
    if subject == 0 or subject == 1:
        y[i] = a
    elif subject > 8:
        y[i] = subject
    else:
        y[i] = 0
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dsl.errors.errors import LanguageError

Placed = TypeVar("Placed", bound=ast.AST)
_HELP = "cases are numbers, their choices 1 | 2, a name or _, with 'if' behind them"


@dataclass(frozen=True, slots=True)
class Matches:
    """Makes ``if`` of ``match``; ``unique`` gives names that the function does not have."""

    unique: Callable[[str], str]
    refused: Callable[[str, ast.stmt, str], LanguageError]

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with ``if`` in the place of each ``match``.

        Raises:
            LanguageError: a case of something else than numbers.
        """
        found: list[ast.stmt] = []
        for s in statements:
            if isinstance(s, ast.Match):
                found += self._conditions(s)
                continue
            for name in ("body", "orelse"):
                inner = getattr(s, name, None)
                if isinstance(inner, list) and isinstance(
                    s, ast.For | ast.If | ast.While | ast.With
                ):
                    setattr(s, name, self.block(inner))
            found.append(s)
        return found

    def _conditions(self, node: ast.Match) -> list[ast.stmt]:
        for case in node.cases:
            case.body = self.block(case.body)
        made = _Match(node, self.refused)
        first: list[ast.stmt] = []
        subject = node.subject
        if not isinstance(subject, ast.Name | ast.Constant):
            name = self.unique("subject")
            first.append(made.at(ast.Assign([made.at(ast.Name(name, ast.Store()))], subject)))
            subject = made.at(ast.Name(name, ast.Load()))
        return [*first, *made.cases(subject, node.cases)]


class _Match:
    def __init__(
        self, node: ast.Match, refused: Callable[[str, ast.stmt, str], LanguageError]
    ) -> None:
        self._node = node
        self._refused = refused

    def cases(self, subject: ast.expr, cases: Sequence[ast.match_case]) -> list[ast.stmt]:
        """``if`` of the first case, with the others in its ``else``."""
        if not cases:
            return []
        first, rest = cases[0], cases[1:]
        test, name = self._test(subject, first.pattern)
        body, guard = first.body, first.guard
        if name is not None:
            renamed = _Named({name: subject})
            guard = None if guard is None else renamed.visit(guard)
            stored = (n for s in body for n in ast.walk(s) if isinstance(n, ast.Name))
            if any(n.id == name and not isinstance(n.ctx, ast.Load) for n in stored):
                message = f"'{name}' is what is matched, and is assigned in its case"
                raise self._refused(message, body[0], "use another name for the value")
            body = [renamed.visit(s) for s in body]
        if guard is not None:
            test = guard if test is None else self.at(ast.BoolOp(ast.And(), [test, guard]))
        if test is None:
            return body
        place = first.body[0]
        return [ast.copy_location(ast.If(test, body, self.cases(subject, rest)), place)]

    def _test(self, subject: ast.expr, pattern: ast.pattern) -> tuple[ast.expr | None, str | None]:
        """The condition of a pattern, None where it always holds, and the name that it gives the subject."""
        match pattern:
            case ast.MatchValue(value=value):
                return self.at(ast.Compare(subject, [ast.Eq()], [value])), None
            case ast.MatchSingleton(value=bool() as truth):
                test: ast.expr = self.at(
                    ast.Compare(subject, [ast.Eq()], [self.at(ast.Constant(truth))])
                )
                return test, None
            case ast.MatchAs(pattern=None, name=name):
                return None, name
            case ast.MatchAs(pattern=ast.pattern() as inner, name=name):
                return self._test(subject, inner)[0], name
            case ast.MatchOr(patterns=parts):
                tests = [self._test(subject, p)[0] for p in parts]
                known = [t for t in tests if t is not None]
                whole = len(known) == len(tests)
                return (self.at(ast.BoolOp(ast.Or(), known)) if whole else None), None
        raise self._refused("this case is not supported in a kernel", self._node, _HELP)

    def at(self, node: Placed) -> Placed:
        """The node in the place of the subject."""
        return ast.copy_location(node, self._node.subject)


class _Named(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._names.get(node.id, node)
