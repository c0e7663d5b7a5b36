"""Whether a tool is likely to come to an end with a design, and within the device.

Most points of a space with large unroll factors have no report: synthesis runs out of time or
memory, or the design is larger than the device. Both go with what the tool has in hand before it
shares any unit: a copy of each operation of each unrolled body, and for each access a multiplexer
over the banks of its array. `feasibility` counts these as DSP slices and LUTs, without scheduling
anything (a millisecond or two), and gives the largest share of the device that they would take. Of
two points of hlsfactory-u200, one with a report and one without or over the caps, the score is
larger for the latter in more than 9 of 10 cases (AUC: rows ``u200/feasibility`` of
`benchmarks.qor_model`). It orders designs and is no probability: half of the designs with a report
are below 1.6, half of those over the caps above 20, half of those without a report above 100.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from backends.devices import DEVICES, Device
from qor_gnn.design.operations import type_of
from qor_gnn.design.region import Guard, Kernel, Loop, Node, Op, Statement
from qor_gnn.memory.storage import memory_cost, storage_rules
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.tools.personality import Personality, personality

_INPUTS_A_LUT = 3
"""Inputs by which one six-input LUT widens a multiplexer of one bit."""


@dataclass(frozen=True, slots=True)
class Feasibility:
    """What a design would take if no operation shared a unit.

    Attributes:
        operations: copies of operations after unrolling.
        dsp, lut: of all of them, the LUTs with the multiplexers in front of banks.
        bram18: of the arrays on the chip, split as the tool splits them.
        score: the largest of these as a share of the device.
    """

    operations: int
    dsp: int
    lut: int
    bram18: int
    score: float


def feasibility(
    kernel: Kernel,
    tool: Personality | str | None = None,
    device: Device | str | None = None,
    *,
    kept: frozenset[str] = frozenset(),
) -> Feasibility:
    """How much of the device a design asks for before units are shared.

    Args:
        kernel: with its directives, as for `qor_gnn.estimate.estimate`.
        tool: the personality or its name; None for the default one.
        device: where it is to run; None for the personality's own.
        kept: loops whose unroll factor somebody wrote, a factor of 1 included.

    Raises:
        ToolError: W450 no such personality, W451 an operator that it does not know.
    """
    found = tool if isinstance(tool, Personality) else personality(*([tool] if tool else []))
    place = device if isinstance(device, Device) else DEVICES[device or found.device]
    design = automatic(kernel, found, kept)
    count = _Count()
    for function in design.functions:
        count.visit(function.body, 1, False)
    operators = [(found.operator_of(op), n) for op, n in count.operations.items()]
    memories = {m.name: m for m in design.memories}
    select = 0.0
    for name, accesses in count.accesses.items():
        _, width = type_of(memories[name].dtype)
        select += accesses * memories[name].banks * width / _INPUTS_A_LUT
    dsp = sum(n * operator.dsp for operator, n in operators)
    lut = round(sum(n * operator.lut for operator, n in operators) + select)
    rules = storage_rules(found.name)
    own = [m for m in design.memories if m.shape and not m.argument]
    bram18 = sum(memory_cost(m, rules).bram18 for m in own)
    share = max(dsp / place.dsp, lut / place.lut, bram18 / place.bram18)
    return Feasibility(sum(count.operations.values()), dsp, lut, bram18, share)


class _Count:
    """Copies of operations by kind, and of accesses by memory."""

    def __init__(self) -> None:
        self.operations: Counter[Op] = Counter()
        self.accesses: Counter[str] = Counter()

    def visit(self, nodes: tuple[Node, ...], copies: int, unrolled: bool) -> None:
        """Count nodes of which there are so many; ``unrolled``: below a pipeline."""
        for node in nodes:
            match node:
                case Loop():
                    own = max(1, node.trips.maximum) if unrolled else node.factor
                    self.visit(node.body, copies * own, unrolled or node.ii is not None)
                case Guard():
                    self.visit(node.body, copies, unrolled)
                case Statement():
                    self._statement(node, copies)

    def _statement(self, statement: Statement, copies: int) -> None:
        for op in statement.ops:
            if op.kind == "load" and op.access is not None and op.access.indices:
                self.accesses[op.access.memory] += copies
            elif op.computes:
                self.operations[Op(op.kind, op.type, op.width, factors=op.factors)] += copies
        if statement.target.indices:
            self.accesses[statement.target.memory] += copies
