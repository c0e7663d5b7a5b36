"""Sums of floats and short products of integers built without DSP slices, of all statements of a program."""

from __future__ import annotations

from dse.space.nests.contents import lowered
from dse.space.nests.context import Context
from dsl.schedules.steps import BindOp
from polyhedral.scop.scheduled import ScheduledScop
from qor_gnn.design.region import Op, bind_name
from qor_gnn.tools.operators.multipliers import FABRIC
from qor_gnn.tools.personality import Personality


def sums_in_logic(state: ScheduledScop, context: Context) -> tuple[BindOp, ...]:
    """The steps that keep the sums of all statements off the DSP slices, where the tool can, and products that would take
    a slice with a sum, but none in LUTs.
    """
    known = context.tool.implementations.get(FABRIC, {})
    steps: list[BindOp] = []
    for statement in state.scop.statements:
        pieces = state.of_statement(statement.name)
        ops = lowered(state, pieces[0]).ops if pieces else ()
        kinds = {(op.type, op.kind) for op in ops if op.kind in known.get(op.type, {})}
        kinds |= {(op.type, op.kind) for op in ops if _of_luts(op, context.tool)}
        steps += [
            BindOp(statement.name, bind_name(type_, kind), FABRIC) for type_, kind in sorted(kinds)
        ]
    return tuple(steps)


def _of_luts(op: Op, tool: Personality) -> bool:
    """Whether it is a product that the tool makes of LUTs, but does in a slice where a sum takes it."""
    if op.kind != "mul" or op.type != "int":
        return False
    found = tool.operator_of(op)
    return found.slice and not found.dsp
