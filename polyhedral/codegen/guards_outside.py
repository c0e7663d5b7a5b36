"""Guards around unrolled loops that do not move them: the copies are in one branch, in place of a branch for each.

Of a sum in a triangle that is unrolled over its terms, before::

    for k_1 = 0 to 8:  # unrolled
      if i >= j:
        C[i, j] += A[i, 8*k_0 + k_1] * A[j, 8*k_0 + k_1]

After, a tool adds eight terms in one basic block, of which it can make a tree; of branches it makes a chain in which
each sum waits for the choice before it::

    if i >= j:
      for k_1 = 0 to 8:  # unrolled
        C[i, j] += A[i, 8*k_0 + k_1] * A[j, 8*k_0 + k_1]

What stands beside them under the same conditions is in one branch with them then: a local that is cleared in front of
its terms hands nothing on to the next iteration, where of two branches the second one might add to what is left of an
earlier one::

    if i >= j:                        if i >= j:
      s = 0.0                           s = 0.0
    if i >= j:                  →       for k = 0 to 8:
      for k = 0 to 8:                     s += A[i, k]
        s += A[i, k]
"""

from __future__ import annotations

from dataclasses import replace

from polyhedral.looptree.tree import Instance, TreeGuard, TreeNode


def guards_outside(nodes: tuple[TreeNode, ...]) -> tuple[TreeNode, ...]:
    """The nodes of a nest with guards as far outside of completely unrolled loops as their conditions allow."""
    found: list[TreeNode] = []
    for node in map(_outside, nodes):
        before = found[-1] if found else None
        if isinstance(node, TreeGuard) and isinstance(before, TreeGuard) and _alike(before, node):
            found[-1] = replace(before, body=(*before.body, *node.body))
        else:
            found.append(node)
    return tuple(found)


def _alike(one: TreeGuard, other: TreeGuard) -> bool:
    return set(one.constraints) == set(other.constraints)


def _outside(node: TreeNode) -> TreeNode:
    if isinstance(node, Instance):
        return node
    node = replace(node, body=guards_outside(node.body))
    if isinstance(node, TreeGuard) or node.unroll != 0 or len(node.body) != 1:
        return node
    (inside,) = node.body
    if not isinstance(inside, TreeGuard):
        return node
    still = tuple(c for c in inside.constraints if node.iv not in c.expr.variables())
    if not still:
        return node
    moving = tuple(c for c in inside.constraints if c not in still)
    body = (replace(inside, constraints=moving),) if moving else inside.body
    return TreeGuard(still, (replace(node, body=body),))
