"""Sums that close a recurrence through a register, and what is saved there.

A sum that is kept in a register takes its own last result through the selection that takes the initial value in the
first iteration. Where that fits into the adder's last stage, the sum closes a state early.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qor_gnn.body.graph import Graph
from qor_gnn.body.longest_paths import longest_path
from qor_gnn.body.register_promotion import promotable
from qor_gnn.design.region import Op
from qor_gnn.tools.delays import delays_of
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.personality import Personality

_FABRIC = "fabric"
_SUMS = ("add", "sub")
_WORD = 32


def closing_states(tool: Personality, operator: Operator | None) -> int:
    """States that a recurrence of this operator alone, through a register, closes early."""
    own = tool.recurrences
    if not own.closes_in_time or operator is None or not operator.origin:
        return own.closing
    delays = delays_of(tool)
    stage = delays.stage(operator.core) if delays is not None else 0.0
    if delays is None or not stage or operator.distance < 2:
        return own.closing
    return int(stage + delays.logic("select", _WORD) <= tool.usable_ns)


def most_closing(tool: Personality, op: Op) -> int:
    """The most states that an operation closes early, of all operators that it may be."""
    return max(closing_states(tool, operator) for operator in tool.operators_of(op))


def quickened(graph: Graph, counters: Sequence[str], asked: int, tool: Personality) -> Graph:
    """The same operations, sums of an element that the innermost loop stays at by adders of logic where others do not close.

    Args:
        graph: of an iteration; it is changed.
        counters: of the pipeline, innermost last.
        asked: the interval that somebody asked for.
        tool: whose operators they are.
    """
    in_registers = promotable(graph, frozenset(counters))
    for address, value in promotable(graph, frozenset(counters[-1:])).items():
        load = graph.loads.get(address)
        if load is None or value < 0 or graph.kind[value] not in _SUMS:
            continue
        operator = graph.operator[value]
        if (
            operator is None
            or not operator.registered
            or longest_path(graph, load, value) != [value]
        ):
            continue
        saved = closing_states(tool, operator) if address in in_registers else 0
        if operator.distance - saved <= asked:
            continue
        other = _of_logic(tool, operator)
        if other is not None and other.distance < operator.distance:
            graph.operator[value] = replace(other)
    return graph


def _of_logic(tool: Personality, operator: Operator) -> Operator | None:
    """The adder without DSP slices, of single precision: no report shows others."""
    if operator != tool.operator("add", "f32", _WORD):
        return None
    return tool.operator("add", "f32", _WORD, _FABRIC)
