"""A loop tree after the simplifications that level 3 goes through, in the same order.

::

    for i = 0 to 3:                              for i = 0 to 3:
      for j = 32*i to min(32*i + 32, 100):   →     for j = 32*i to 32*i + 32:
        for k = j to j + 1:                          S(i, j, j)
          if k >= 0: S(i, j, k)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from dsl.expressions.affine import Affine, Constraint
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.extremes import Scope
from polyhedral.looptree.simplify.bounds import Place, simplified_bounds
from polyhedral.looptree.simplify.guards import undecided
from polyhedral.looptree.simplify.partitions import partitioned
from polyhedral.looptree.simplify.single_trip import only_value
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode

Nodes = tuple[TreeNode, ...]
Values = Mapping[str, Affine]


def simplified(tree: LoopTree) -> LoopTree:
    """The tree with plainer loops and guards; what runs, and in which order, is the same."""
    body = _bounds(tree.body, Place())
    return partitioned(replace(tree, body=_promoted(_guards(body, Scope()), {})))


def bounds_of(loop: TreeLoop) -> Bounds:
    """Those of a loop of a tree."""
    return Bounds(loop.lowers, loop.uppers, loop.step)


def _bounds(nodes: Nodes, place: Place) -> Nodes:
    if not any(_has_several(node) for node in nodes):
        return nodes
    found: list[TreeNode] = []
    for node in nodes:
        match node:
            case TreeLoop():
                kept = simplified_bounds(bounds_of(node), place)
                body = _bounds(node.body, place.inside(node.iv, kept))
                found.append(replace(node, lowers=kept.lowers, uppers=kept.uppers, body=body))
            case TreeGuard():
                found.append(replace(node, body=_bounds(node.body, place)))
            case Instance():
                found.append(node)
            case _:
                assert_never(node)
    return tuple(found)


def _has_several(node: TreeNode) -> bool:
    """Whether a loop at or below the node has more than one lower or upper bound."""
    if isinstance(node, Instance):
        return False
    if isinstance(node, TreeLoop) and (len(node.lowers) > 1 or len(node.uppers) > 1):
        return True
    return any(_has_several(inner) for inner in node.body)


def _guards(nodes: Nodes, scope: Scope) -> Nodes:
    found: list[TreeNode] = []
    for node in nodes:
        match node:
            case TreeLoop():
                bounds = bounds_of(node)
                if bounds.trip_count != 0:
                    body = _guards(node.body, scope.inside(node.iv, bounds))
                    if body:
                        found.append(replace(node, body=body))
            case TreeGuard(constraints):
                left = undecided(constraints, scope)
                inner = () if left is None else _guards(node.body, scope.under(left))
                if inner:
                    found += (TreeGuard(left, inner),) if left else inner
            case Instance():
                found.append(node)
            case _:
                assert_never(node)
    return tuple(found)


def _promoted(nodes: Nodes, values: Values) -> Nodes:
    """The nodes with the variables of loops of one iteration replaced by their values."""
    found: list[TreeNode] = []
    for node in nodes:
        match node:
            case TreeLoop():
                loop = _placed(node, values) if values else node
                value = only_value(
                    bounds_of(loop), loop.pipeline_ii, loop.unroll, loop.flatten, loop.requests
                )
                if value is None:
                    found.append(replace(loop, body=_promoted(loop.body, values)))
                else:
                    found += _promoted(loop.body, {**values, loop.iv: value})
            case TreeGuard(constraints, body):
                found.append(TreeGuard(_held(constraints, values), _promoted(body, values)))
            case Instance(bindings=bindings, time=time):
                if values:
                    own = tuple((v, e.substitute(values)) for v, e in bindings)
                    when = tuple(e.substitute(values) for e in time)
                    node = replace(node, bindings=own, time=when)
                found.append(node)
            case _:
                assert_never(node)
    return tuple(found)


def _held(constraints: Sequence[Constraint], values: Values) -> tuple[Constraint, ...]:
    return tuple(Constraint(c.expr.substitute(values), c.kind) for c in constraints)


def _placed(loop: TreeLoop, values: Values) -> TreeLoop:
    """The loop with values in its bounds; a trip count is told only where bounds are not constant."""
    lowers = tuple(b.substitute(values) for b in loop.lowers)
    uppers = tuple(b.substitute(values) for b in loop.uppers)
    new = replace(loop, lowers=lowers, uppers=uppers)
    return replace(new, trip=None) if new.constant_trip is not None else new
