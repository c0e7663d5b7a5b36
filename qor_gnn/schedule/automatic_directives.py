"""What a tool does to the loops of a design by itself, before anything is scheduled.

See docs/lab/u200.md: short innermost loops that
nobody gave an unroll factor are unrolled into their parent; what is below an explicit pipeline is
unrolled, whatever was asked of it; a pipeline above a loop of variable trip count fails, and
nothing below it is pipelined any more; arrays are partitioned as far as the pipelines want ports.
"""

from __future__ import annotations

from dataclasses import replace

from qor_gnn.design.late_copies import late_copies
from qor_gnn.design.loops import dissolved
from qor_gnn.design.region import Function, Guard, Kernel, Loop, Node, Statement, loops_in
from qor_gnn.memory.automatic_partition import partitioned
from qor_gnn.memory.automatic_pipelines import fails, innermost
from qor_gnn.tools.personality import Personality
from qor_gnn.tools.policies.directives import Short


def automatic(kernel: Kernel, tool: Personality, kept: frozenset[str] = frozenset()) -> Kernel:
    """The design as the tool sees it once it has transformed loops and split arrays.

    Args:
        kernel: with the directives that somebody wrote.
        tool: whose policy says what it does by itself; without any the design stays as it is.
        kept: loops whose unroll factor somebody wrote, a factor of 1 included.
    """
    found, _ = partitioned(kernel, tool, kept)
    if (short := tool.directives.short) is not None:
        late = tool.banks.splits_first
        functions = tuple(
            Function(f.name, _transformed(f.body, short, kept, late), f.symbols)
            for f in found.functions
        )
        found = replace(found, functions=functions)
    return found


def _transformed(
    nodes: tuple[Node, ...], short: Short, kept: frozenset[str], late: bool
) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        match node:
            case Loop() if fails(node):
                found.append(replace(node, ii=None, automatic=False, body=_unpiped(node.body)))
            case Loop() if loops_in(node.body) and innermost(node, short, kept):
                body = late_copies(node) if late and node.ii is None else node.body
                found.append(replace(node, body=dissolved(body)))
            case Loop() | Guard():
                found.append(replace(node, body=_transformed(node.body, short, kept, late)))
            case Statement():
                found.append(node)
    return tuple(found)


def _unpiped(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """No loop is pipelined, not even by the tool."""
    found: list[Node] = []
    for node in nodes:
        match node:
            case Loop():
                found.append(replace(node, ii=None, automatic=False, body=_unpiped(node.body)))
            case Guard():
                found.append(replace(node, body=_unpiped(node.body)))
            case Statement():
                found.append(node)
    return tuple(found)
