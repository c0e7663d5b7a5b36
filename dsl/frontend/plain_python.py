"""Statements of Python that are others written shorter: ``match`` and ``while``, before a kernel is read."""

from __future__ import annotations

import ast
from collections.abc import Callable

from dsl.errors.errors import LanguageError
from dsl.frontend.matches import Matches
from dsl.frontend.whiles import Whiles

Refused = Callable[[str, ast.stmt, str], LanguageError]


def made_plain(node: ast.FunctionDef, refused: Refused) -> None:
    """Put plain statements in the place of ``match``, and of the ``while`` that are known to end.

    Raises:
        LanguageError: what ``refused`` makes of a case that is not of the language.
    """
    statements = {type(n) for n in ast.walk(node)}
    if not statements & {ast.Match, ast.While}:
        return
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    taken |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}

    def unique(base: str) -> str:
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        return name

    node.body = Matches(unique, refused).block(node.body)
    node.body = Whiles(node, unique).block(node.body)
