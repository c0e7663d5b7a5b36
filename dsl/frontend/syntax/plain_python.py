"""What of Python is written otherwise before a kernel is read: ``match``, ``while``, counters, variables of generators."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable

from dsl.errors.errors import LanguageError
from dsl.frontend.syntax.comprehensions import with_own_names
from dsl.frontend.syntax.counter_limits import with_limits
from dsl.frontend.syntax.counter_sums import with_sums
from dsl.frontend.syntax.counters import without_counters
from dsl.frontend.syntax.loop_variables import with_values
from dsl.frontend.syntax.matches import Matches
from dsl.frontend.syntax.one_by_one import one_by_one
from dsl.frontend.syntax.tuples import without_tuples
from dsl.frontend.syntax.walrus import without_walrus
from dsl.frontend.syntax.whiles import Whiles

Refused = Callable[[str, ast.stmt, str], LanguageError]


def made_plain(
    node: ast.FunctionDef,
    refused: Refused,
    inner: Iterable[ast.AST] = (),
    *,
    has_values: bool = False,
) -> None:
    """Put plain statements in the place of ``match``, and of the ``while`` that are known to end, and expressions in
    that of counters of nests; give variables of generators names of their own.

    Args:
        node: the function, which is changed.
        refused: see below.
        inner: functions that were defined in it, which may read its locals.
        has_values: variables of loops have values behind them (see `dsl.frontend.syntax.loop_variables`).

    Raises:
        LanguageError: what ``refused`` makes of a case that is not of the language.
    """
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    taken |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}

    def unique(base: str) -> str:
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        return name

    node.body = without_walrus(node.body)
    without_tuples(node)
    with_own_names(node, unique)
    node.body = Matches(unique, refused).block(node.body)
    kept = {n.id for f in inner for n in ast.walk(f) if isinstance(n, ast.Name)}
    if has_values:
        with_values(node, unique, kept)
    node.body = one_by_one(node.body)
    with_sums(node, kept)
    with_limits(node, kept)
    node.body = Whiles(node, unique, copy.deepcopy(node)).block(node.body)
    without_counters(node, kept)
