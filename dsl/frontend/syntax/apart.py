"""Names that several loop nests use, each for a value of its own: ``half = 1 << s`` in one, and in the next one again.

In each nest such a name stands for its value as one does that is assigned once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Uses:
    """Where a name is assigned plainly, as the blocks (by identity) that hold it; ``fails`` where that is not all."""

    blocks: set[tuple[int, ...]] = field(default_factory=set)
    current: tuple[int, ...] | None = None
    fails: bool = False


def assigned_apart(node: ast.FunctionDef, *, parts: bool = False) -> frozenset[str]:
    """The names of which each block that assigns them does so once, and before it reads them.

    None of the blocks, which are bodies of loops and branches, is within another, and nothing else reads or changes the
    name. With ``parts`` as of names of parts of arrays: the target of a loop is assigned in its body, and an update such
    as ``row += 1`` changes the elements of the part, not what the name stands for.
    """
    uses: dict[str, _Uses] = {}
    _block(node.body, (), uses, parts)
    arguments = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    return frozenset(n for n, u in uses.items() if u.blocks and not u.fails and n not in arguments)


def _block(
    statements: Sequence[ast.stmt], path: tuple[int, ...], uses: dict[str, _Uses], parts: bool
) -> None:
    path = (*path, id(statements))
    for s in statements:
        match s:
            case ast.For():
                _others(s.iter, path, uses)
                if parts:
                    for name in _names(s.target):
                        _assigned(name, (*path, id(s.body)), uses)
                else:
                    _fail(s.target, uses)
                _block(s.body, path, uses, parts)
                _block(s.orelse, path, uses, parts)
            case ast.If() | ast.While():
                _others(s.test, path, uses)
                _block(s.body, path, uses, parts)
                _block(s.orelse, path, uses, parts)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                _others(value, path, uses)
                _assigned(name, path, uses)
            case ast.AugAssign(target=ast.Name() as name, value=value) if parts:
                _others(value, path, uses)
                _others(ast.Name(name.id, ast.Load()), path, uses)
            case _:
                _others(s, path, uses)


def _assigned(name: str, path: tuple[int, ...], uses: dict[str, _Uses]) -> None:
    use = uses.setdefault(name, _Uses())
    if any(_within(path, b) or _within(b, path) for b in use.blocks):
        use.fails = True
    use.blocks.add(path)
    use.current = path


def _others(of: ast.AST, path: tuple[int, ...], uses: dict[str, _Uses]) -> None:
    """What else is done with names: read, or changed."""
    for n in ast.walk(of):
        if isinstance(n, ast.Name):
            use = uses.setdefault(n.id, _Uses())
            read = isinstance(n.ctx, ast.Load)
            if not read or use.current is None or not _within(path, use.current):
                use.fails = True


def _names(target: ast.expr) -> Iterator[str]:
    yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def _fail(target: ast.expr, uses: dict[str, _Uses]) -> None:
    for name in _names(target):
        uses.setdefault(name, _Uses()).fails = True


def _within(path: tuple[int, ...], block: tuple[int, ...]) -> bool:
    """Whether a block is that one, or inside of it."""
    return path[: len(block)] == block
