"""Words of packed arguments: one access of a port, whose lanes copies of a statement take, or make."""

from __future__ import annotations

from collections.abc import Sequence

from dsl.expressions.affine import Affine
from qor_gnn.body.graph import Graph, When
from qor_gnn.design.region import Memory, Statement
from qor_gnn.tools.personality import Personality


def word_of(memory: Memory, indices: Sequence[Affine], tool: Personality) -> list[Affine]:
    """The subscripts of the word that an element is in: those of the element where the tool has no words.

    The element is a lane, ``n*word + lane``, and all that is no multiple of n is the lane's
    (`mlir_passes.dialect.words`).
    """
    lanes = memory.port.lanes if memory.port is not None and tool.outside is not None else 0
    if not lanes:
        return list(indices)
    last = indices[-1]
    word = Affine(
        tuple((v, c // lanes) for v, c in last.terms if c % lanes == 0), last.const // lanes
    )
    return [*indices[:-1], word]


def gathered(
    graph: Graph, address: int, value: int, when: When, statement: Statement, tool: Personality
) -> tuple[int, When]:
    """The value of a word with one more lane, and when it is stored: the lanes that there always are decide."""
    known = graph.conditional.get(address)
    if address in graph.stores:
        before, when = graph.stores[address], "always"
    elif known is not None:
        before = known.value
    else:
        return value, when
    deps = tuple(v for v in (before, value) if v >= 0)
    wires = tool.operator("cast", "int", 1)
    return graph.add("cast", wires, deps, -1, statement), when
