"""Nests that copy, which are scheduled as they stand: what no template stands for, as there is hardly anything that could
be chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dse.ranking.pieces import Piece
from dse.space.costs.cost import cost
from dse.space.nests.nest import Nest, Order, Vector
from dsl.schedules.steps import Pipeline
from polyhedral.looptree.tree import TreeGuard, TreeLoop, TreeNode


def is_border(order: Order) -> bool:
    """Whether a nest only copies, and has a loop of one iteration, which no tree has: of the border of a tile."""
    return not order.operations and any(loop.extent == 1 for loop in order.band)


def about(nest: Nest, number: int, vector: Vector, ii: int) -> Piece:
    """About what such a nest takes with copies of its loops, each time that it is entered."""
    cycles = cost(nest, nest.orders[number], vector, asked=ii).cycles
    return Piece(cycles / max(1.0, nest.runs), 0, (True, True), (), nest.arrays, 0, piped=True)


def with_pipelines(node: TreeNode, steps: Sequence[Pipeline]) -> TreeNode:
    """A node with some of its loops as pipelines."""
    if not steps or not isinstance(node, TreeLoop | TreeGuard):
        return node
    node = replace(node, body=tuple(with_pipelines(inner, steps) for inner in node.body))
    for step in steps:
        if isinstance(node, TreeLoop) and node.name == step.loop.rpartition(".")[2]:
            node = replace(node, pipeline_ii=step.ii)
    return node
