"""phi: how many cycles a design takes where the tool is a little different from what its labels say.

Of sums in fabric, reports show one latency, chosen in one situation; of what a tool does by itself, each
version does something else. A design whose cycles hang on that is not one to rely on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dsl.errors.errors import ToolError
from qor_gnn.design.region import Kernel, Statement, walk
from qor_gnn.estimate import brief
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.alike import Alike
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.personality import Personality, available, personality

_FABRIC = "fabric"


@dataclass(frozen=True, slots=True)
class Robust:
    """The largest ratio of a design's cycles under other rules to its own, and under which.

    Attributes:
        ratio: phi; at least 1. A design that would need more DSP slices than it may have counts as slower by as
            much.
        rule: which rules those are; empty where none makes it slower.
    """

    ratio: float
    rule: str


def robust(
    kernel: Kernel,
    tool: Personality,
    found: QorEstimate,
    *,
    kept: frozenset[str] = frozenset(),
    dsp: int | None = None,
    known: Alike | None = None,
) -> Robust:
    """How a design does under perturbed rules.

    Args:
        kernel: as it is given to `qor_gnn.estimate.estimate`.
        tool: that ``found`` is of.
        found: the estimate.
        kept: as of `estimate`.
        dsp: slices that the design may use; None for those that it does.
        known: scopes of the design, whose bodies are used again.
    """
    known = known or Alike()
    worst = Robust(1.0, "")
    own = found.latency.average
    for rule, other in perturbed(kernel, tool):
        try:
            answer = brief(kernel, other, kept, known)
        except ToolError:  # the other version has no such operator: it says nothing
            continue
        slices = max(dsp or 0, found.dsp, 1)
        ratio = answer.cycles * max(1.0, answer.dsp / slices) / own if own else 1.0
        if ratio > worst.ratio:
            worst = Robust(ratio, rule)
    return worst


def perturbed(kernel: Kernel, tool: Personality) -> Iterator[tuple[str, Personality]]:
    """The rules that a design is estimated under, by name; those that differ from the tool's own, each once."""
    if _uses_fabric(kernel):
        yield "sums in fabric a state longer", _slower(tool)
        yield "sums kept in DSP slices", _with_fabric(tool, {})
    asked = [tool]
    for name in available():
        other = personality(name)
        if other.is_open or other.name == tool.measured_as:
            continue
        rules = replace(
            tool,
            directives=other.directives,
            partitioning=other.partitioning,
            local_arrays=other.local_arrays,
            unrolling=other.unrolling,
            flattening=other.flattening,
        )
        if rules not in asked:  # versions may do the same by themselves
            asked.append(rules)
            yield f"the automatic directives of {other.version}", rules


def _uses_fabric(kernel: Kernel) -> bool:
    return any(
        op.impl == _FABRIC and op.type != "int"
        for function in kernel.functions
        for node in walk(function.body)
        if isinstance(node, Statement)
        for op in node.ops
    )


def _slower(tool: Personality) -> Personality:
    table = tool.library.implementations.get(_FABRIC, {})
    return _with_fabric(
        tool,
        {
            type_: {kind: replace(o, distance=o.distance + 1) for kind, o in row.items()}
            for type_, row in table.items()
        },
    )


def _with_fabric(tool: Personality, table: Mapping[str, Mapping[str, Operator]]) -> Personality:
    others = {i: t for i, t in tool.library.implementations.items() if i != _FABRIC}
    library = replace(tool.library, implementations={**others, _FABRIC: table})
    return replace(tool, library=library)
