"""Where the operators of a design come from: how many are measured, derived by the law, or extrapolated."""

from __future__ import annotations

from dataclasses import dataclass

from qor_gnn.design.region import Kernel, Statement, walk
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.personality import Personality


@dataclass(frozen=True, slots=True)
class Origins:
    """Operators of a design by where their latency comes from; see `qor_gnn.tools.operators.cells.Origin`.

    Attributes:
        measured, derived, extrapolated: as ``add on f32``.
        own: those of the measured that the user's own projects show.
        ranges: of those that are extrapolated and may be pipelined, the states between which the bounds leave them.
    """

    measured: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    extrapolated: tuple[str, ...] = ()
    ranges: tuple[tuple[str, int, int], ...] = ()
    own: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each."""
        return {
            "measured": len(self.measured),
            "derived": len(self.derived),
            "extrapolated": len(self.extrapolated),
        }

    @property
    def line(self) -> str:
        """The counts as a line for people; empty of a design without operators."""
        if not any(self.counts.values()):
            return ""
        words = dict.fromkeys(self.counts, "")
        if self.own:
            words["measured"] = f" ({len(self.own)} in your projects)"
        told = ", ".join(f"{n} {word}{words[word]}" for word, n in self.counts.items())
        return f"operators: {told}"


def origins_of(regions: Kernel, tool: Personality) -> Origins:
    """The origins of a design's operators.

    Args:
        regions: the design.
        tool: whose operators they are.
    """
    found: dict[str, Operator] = {}
    for function in regions.functions:
        for node in walk(function.body):
            for op in node.ops if isinstance(node, Statement) else ():
                if not op.computes:
                    continue
                operator = tool.operator_of(op)
                if operator.distance or operator.delay or operator.lut:
                    type_ = f"i{op.width}" if op.type == "int" else op.type
                    found[f"{op.kind} on {type_}"] = operator
    by: dict[str, list[str]] = {"measured": [], "derived": [], "extrapolated": []}
    for name, operator in found.items():
        by[operator.source].append(name)
    ranges = tuple((name, o.least, o.most) for name, o in found.items() if o.assumed and o.most)
    own = tuple(name for name, operator in found.items() if operator.own)
    return Origins(
        tuple(by["measured"]), tuple(by["derived"]), tuple(by["extrapolated"]), ranges, own
    )
