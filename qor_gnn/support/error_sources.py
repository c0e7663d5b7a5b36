"""Structures of a design that estimates are known to be less near on: what widens its intervals.

Chosen by the residuals of labelled designs (docs/lab/intervals.md); each is something that the tool decides from
more than the model sees.
"""

from __future__ import annotations

from collections.abc import Iterator

from qor_gnn.design.region import Guard, Kernel, Loop, Node, loops_in
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.support.features import Features
from qor_gnn.tools.personality import Personality

SOURCES = {
    "given_up": "loops that the tool gives up to pipeline",
    "uneven": "unroll factors that do not divide",
    "interval": "pipelines that start less than once a cycle",
    "together": "copies of several loops that may run at the same time",
    "registers": "arrays in registers",
}
"""Structures, for people."""

POINTS = {"given_up": 2}
"""What a structure counts for; others 1."""

CLASSES = 5
"""Classes of designs, by the points of what they have: from none to `CLASSES` - 1 and more."""


def error_sources(
    kernel: Kernel, tool: Personality, found: QorEstimate, of: Features
) -> tuple[str, ...]:
    """What of `SOURCES` a design has.

    Args:
        kernel: the design, with what the tool does by itself (`automatic`).
        tool: that it is estimated for.
        found: the estimate.
        of: its features.
    """
    has = {
        "given_up": any(_given_up(kernel, tool, found)),
        "uneven": "uneven" in of.structures,
        "interval": any(row.kind == "pipeline" and row.ii > 1 for row in found.loops),
        "together": any(_together(node) for f in kernel.functions for node in f.body),
        "registers": any(memory.in_registers for memory in kernel.memories),
    }
    return tuple(name for name in SOURCES if has[name])


def class_of(sources: tuple[str, ...]) -> int:
    """The class of a design with these structures: 0 is the plainest."""
    return min(CLASSES - 1, sum(POINTS.get(name, 1) for name in sources))


def _given_up(kernel: Kernel, tool: Personality, found: QorEstimate) -> Iterator[bool]:
    """Of each loop that runs one iteration after the other: whether it was to be a pipeline."""
    loops = {(f.name, loop.name): loop for f in kernel.functions for loop in loops_in(f.body)}
    for row in found.loops:
        loop = loops.get((row.function, row.loops[-1]))
        if row.kind == "sequential" and loop is not None:
            yield loop.ii is not None or (tool.directives.auto_pipeline and loop.automatic)


def _together(node: Node) -> bool:
    """A loop is unrolled in part around several that stay: its copies are calls of each of them."""
    match node:
        case Loop(ii=None):
            stay = sum(isinstance(inner, Loop) and inner.unroll != 0 for inner in node.body)
            return (node.factor > 1 and stay > 1) or any(map(_together, node.body))
        case Guard():
            return any(map(_together, node.body))
        case _:
            return False
