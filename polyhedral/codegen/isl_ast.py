"""Reading the syntax trees that isl generates."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl


def flat_block(block: isl.AstNode) -> Iterator[isl.AstNode]:
    """The nodes of a block in order, those of blocks in it in their place.

    isl builds a sequence of n statements as a block in a block, n deep.
    """
    pending = [block]
    while pending:
        node = pending.pop()
        if node.get_type() != isl.ast_node_type.block:
            yield node
            continue
        children = node.block_get_children()
        pending += [children.get_at(k) for k in reversed(range(children.n_ast_node()))]
