"""What the page says of the designs of a run: a row of the front, and all there is of each."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from backends.devices import device
from dse.evaluators.base import LoopReport, Result
from dse.report.facts import Facts, Told
from dse.report.numbers import NONE, cycles, times
from dse.run.results.front import routed_of

SHORT = 8  # digits of a key that are shown


class UseRow(NamedTuple):
    """What a design uses of a resource. `share`: of the budget, where there is one."""

    name: str
    used: int
    limit: int | None
    share: float | None
    device: int | None


class AgainRow(NamedTuple):
    """What a costlier evaluator found."""

    evaluator: str
    verdict: str
    figures: str
    tool: str
    detail: str


def speed_up(facts: Facts, design: Told) -> str:
    """Over the program as it stands, where both figures come from the same place."""
    plain = facts.problem.plain if facts.problem else None
    if plain is None or not plain.latency or not design.cycles:
        return NONE
    same = plain.provenance == design.result.provenance and plain.tool == design.result.tool
    return times(plain.latency / design.cycles) if same else NONE


def to_bound(facts: Facts, design: Told) -> str:
    """Cycles over the lower bound for the whole budget."""
    bound = facts.problem.bound if facts.problem else None
    return times(design.result.of_all_trips / bound.cycles) if bound else NONE


def to_own_bound(facts: Facts, design: Told) -> str:
    """Cycles over the lower bound for as many DSP slices and LUTs as it has."""
    dsp, lut = design.result.resources.get("dsp"), design.result.resources.get("lut")
    fewest = facts.problem.fewest(dsp, lut) if facts.problem and dsp is not None else None
    return times(design.result.of_all_trips / fewest) if fewest else NONE


def routed(facts: Facts, design: Told) -> str:
    """What is expected of it after placement and routing, where the run shows that."""
    found = routed_of(facts.manifest, design.result)
    return NONE if found is None else str(found)


def on_board(design: Told) -> str:
    """The time on a board, where the run has it."""
    found = design.result.board
    return NONE if found is None else str(found)


def marks(design: Told) -> tuple[str, str, str]:
    """e, n and phi."""
    found = design.result.marks
    if found is None:
        return (NONE, NONE, NONE)
    return (f"{found.e:.2f}", str(found.n), NONE if found.phi is None else f"{found.phi:.2f}")


def labels(design: Told) -> str:
    """What of it no label of the tool shows."""
    found = design.result.marks
    if found is None:
        return "its figures are of what is built"
    e, n, phi = marks(design)
    return f"e {e}, n {n}, φ {phi}: {found.why or 'all that it has is in labels'}"


def place(design: Told) -> str:
    """Where a design stands: to the front, or why it is none of those within the limits."""
    if not design.feasible:
        return design.wrong or design.result.detail
    return "on the Pareto front" if design.front else "behind the Pareto front"


def promoters(facts: Facts) -> list[str]:
    """Costlier evaluators that looked at any design of the front."""
    return list(dict.fromkeys(name for d in facts.fronts for name in d.promoted))


def usage(facts: Facts, design: Told) -> list[UseRow]:
    """What a design uses of what it may have, and of the device."""
    device = facts.problem.device if facts.problem else {}
    found = []
    for name, used in facts.limits.shown(design.result).items():
        limit, whole = facts.limits.resources.get(name), device.get(name)
        share = used / limit if limit else None
        found.append(UseRow(name, used, limit, share, whole if isinstance(whole, int) else None))
    return found


def reason(loop: LoopReport) -> str:
    """What sets the interval of a loop."""
    if loop.kind == "pipeline" and loop.why == "as asked":
        return f"II {loop.ii:,.0f} was asked for and is reached"
    return loop.why


def verdict(result: Result) -> str:
    """What a promotion came to: of a check its status, else that of the evaluation."""
    return result.checks[0].status if result.checks else result.status.value


def again(design: Told) -> list[AgainRow]:
    """What costlier evaluators found: their checks and their figures."""
    rows = []
    for name, result in design.promoted.items():
        found = [(c.status, c.tool, c.detail) for c in result.checks]
        for status, tool, detail in found or [(result.status.value, result.tool, result.detail)]:
            figures = f"{cycles(result.latency)} cycles" if result.latency is not None else NONE
            source = f" ({result.provenance})" if result.provenance else ""
            rows.append(AgainRow(name, status, figures + source, tool, detail or NONE))
    return rows


def makes(facts: Facts) -> str:
    """The command that makes designs for the device: ``export`` for Vitis HLS, ``synth`` with open tools."""
    return "export" if device(facts.manifest["device"]).vitis else "synth"


def making_command(facts: Facts, design: Told) -> str:
    """The command line that writes a design as a Vitis HLS project, or makes it with open tools."""
    command = makes(facts)
    out = f"{facts.manifest['kernel']}_{'hls' if command == 'export' else 'rtl'}"
    return shlex.join(["weft", command, facts.path, "--point", design.key, "--out", out])


def python(facts: Facts, design: Told) -> str | None:
    """A design's schedule as Python, to be pasted under the kernel; None where it has none."""
    if design.schedule is None:
        return None
    kernel = str(facts.manifest["kernel"])
    return design.schedule.to_python(f"design_{design.key[:SHORT]}", kernel)
