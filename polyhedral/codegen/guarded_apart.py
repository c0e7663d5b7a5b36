"""Guards around the nests of several processes: one guard for each, so that each nest is of one process.

Before, in a loop whose body is a dataflow region::

    if 4*t + 3 < n:
      load ...
      compute ...

After::

    if 4*t + 3 < n:
      load ...
    if 4*t + 3 < n:
      compute ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from polyhedral.looptree.tree import TreeGuard, TreeNode, statements_in


def guarded_apart(
    nodes: tuple[TreeNode, ...], processes: Sequence[Sequence[str]]
) -> tuple[TreeNode, ...]:
    """The body of a region whose guards are of one process each.

    Args:
        nodes: of the body.
        processes: the statements of each.
    """
    numbers = {name: n for n, names in enumerate(processes) for name in names}
    return tuple(part for node in nodes for part in _apart(node, numbers))


def _apart(node: TreeNode, numbers: Mapping[str, int]) -> Iterator[TreeNode]:
    if not isinstance(node, TreeGuard) or len(set(owners(node, numbers))) < 2:
        yield node
        return
    inside = [part for inner in node.body for part in _apart(inner, numbers)]
    for _, group in groupby(inside, lambda part: next(owners(part, numbers))):
        yield replace(node, body=tuple(group))


def owners(node: TreeNode, numbers: Mapping[str, int]) -> Iterator[int]:
    """The processes of the statements at or below a node, in order."""
    return (numbers[stmt.name] for stmt in statements_in(node))
