"""Variables of generators and lists end with them, as in Python: those that others have, too, get names of their own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator


def with_own_names(node: ast.FunctionDef, unique: Callable[[str], str]) -> None:
    """Rename variables of generators and lists whose names the function has elsewhere.

    ``sum(t * t for t in x)`` leaves a local ``t`` as it is.
    """
    stores = Counter(_stored(node))
    stores.update(a.arg for a in ast.walk(node) if isinstance(a, ast.arg))
    for part in reversed([*ast.walk(node)]):  # those inside of others first
        if isinstance(part, ast.GeneratorExp | ast.ListComp):
            own = Counter(n for g in part.generators for n in _stored(g.target))
            for name, count in own.items():
                if stores[name] > count:
                    _rename(part, name, unique(name))


def _stored(node: ast.AST) -> Iterator[str]:
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            yield n.id


def _rename(part: ast.GeneratorExp | ast.ListComp, old: str, new: str) -> None:
    """Where the variable is meant: everywhere but in what the loops up to its own run over."""
    is_known = False
    places: list[ast.AST] = [part.elt]
    for loop in part.generators:
        if is_known:
            places.append(loop.iter)
        places += [loop.target, *loop.ifs]
        is_known = is_known or old in _stored(loop.target)
    for place in places:
        for n in ast.walk(place):
            if isinstance(n, ast.Name) and n.id == old:
                n.id = new
