"""Loop trees as text, for tests that look at the shape of nests."""

from __future__ import annotations

from collections.abc import Iterator

from dsl.expressions.affine import Affine
from dsl.programs.program import Program
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import Instance, TreeGuard, TreeLoop, TreeNode
from polyhedral.schedule import apply


def nest(program: Program, builder: ScheduleBuilder | None = None) -> str:
    """The loops of a program under a schedule, one line a node."""
    schedule = (builder or ScheduleBuilder()).build()
    return "\n".join(_lines(loop_tree(apply(program, schedule)).body, ""))


def _lines(nodes: tuple[TreeNode, ...], indent: str) -> Iterator[str]:
    for node in nodes:
        match node:
            case TreeLoop():
                yield indent + _loop(node)
            case TreeGuard():
                yield indent + "if " + " and ".join(map(str, node.constraints))
            case Instance(stmt, bindings):
                yield f"{indent}{stmt.name}({', '.join(str(e) for _, e in bindings)})"
        if not isinstance(node, Instance):
            yield from _lines(node.body, indent + "  ")


def _loop(loop: TreeLoop) -> str:
    marks = ""
    if loop.pipeline_ii is not None:
        marks += f" II={loop.pipeline_ii}"
    if loop.unroll is not None:
        marks += f" unroll={loop.unroll or 'full'}"
    low = _bound(loop.lowers, "max")
    return f"{loop.iv}: {low} .. {_bound(loop.uppers, 'min')}{marks}"


def _bound(bounds: tuple[Affine, ...], word: str) -> str:
    texts = sorted(map(str, bounds))
    return texts[0] if len(texts) == 1 else f"{word}({', '.join(texts)})"
