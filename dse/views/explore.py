"""What `weft explore` shows: the rows of the front, and what was found in a few lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backends.devices import Device
from dse.estimates.routed import UPPER_ENDS, source
from dse.evaluators.base import Limits, Result, Status
from dse.run.folder.directory import RunDirectory
from dse.run.folder.problem import Problem
from dse.run.folder.proven import unsound
from dse.run.results.front import Design, designs, front, limits_of, nearest, routed_of, supported
from dse.views import routed as after_routing
from dse.views.estimate import LABELS
from qor_gnn.result.text import seconds

_FAILED = (Status.TIMEOUT, Status.TOOL_ERROR)
KEY = 12  # digits of a design's key that people see
MARKS = ("e", "n", "phi")
PREDICTOR = "gnn"
_BOARD = ("board_ms", "board_ms_low", "board_ms_high", "emulation")


def columns(
    objectives: Sequence[str],
    promote: Sequence[str],
    form: str,
    *,
    beside: bool = False,
    routed: bool = False,
    board: bool = False,
) -> tuple[str, ...]:
    """Of the table of the front; the time is in seconds where a program reads it.

    Args:
        objectives: of the run.
        promote: evaluators that designs were promoted to.
        form: of the output.
        beside: a predictor was asked besides.
        routed: with what is expected after placement and routing.
        board: with the time on a board.
    """
    others = dict.fromkeys([*(o for o in objectives if o not in ("latency", "seconds")), "dsp"])
    if beside:
        others.update(dict.fromkeys(("lut", "lut_predicted")))
    if routed:
        others.update(dict.fromkeys(("lut", *after_routing.columns(form))))
    if board:
        others |= dict.fromkeys(("on_board",) if form == "table" else _BOARD)
    time = "time" if form == "table" else "seconds"
    return ("latency", time, *others, *promote, "to_bound", "speed_up", *MARKS, "design")


def rows(run: RunDirectory, problem: Problem | None) -> list[dict[str, Any]]:
    """The Pareto front, fastest first."""
    return [row_of(run, problem, design) for design in front(designs(run))]


def row_of(run: RunDirectory, problem: Problem | None, design: Design) -> dict[str, Any]:
    """The figures of a design; of a problem that is not known what compares with it is None."""
    result = design.result
    after = routed_of(run.manifest, result)
    return {
        "latency": round(result.latency or 0),
        "seconds": (result.latency or 0) * result.period_at(run.manifest["clock_ns"]) * 1e-9,
        **result.resources,
        **{name: verdict(promoted) for name, promoted in design.promoted.items()},
        "to_bound": to_own_bound(result, problem) if problem is not None else None,
        "speed_up": speed_up(result, problem) if problem is not None else None,
        **_predicted(design),
        "routed": None if after is None else after_routing.as_data(after),
        "board": None if result.board is None else asdict(result.board),
        **marks(result),
        "design": design.key,
        "provenance": result.provenance,
        "tool": result.tool,
    }


def marks(result: Result) -> dict[str, Any]:
    """How far a design leaves what labels of its tool show; None where that is not known."""
    found = result.marks
    if found is None:
        return {**dict.fromkeys(MARKS), "supported": None, "beyond": None}
    return {
        "e": round(found.e, 3),
        "n": found.n,
        "phi": None if found.phi is None else round(found.phi, 3),
        "supported": found.supported,
        "beyond": found.why,
    }


def _predicted(design: Design) -> dict[str, Any]:
    """What the predictor says of a design, where it was asked: figures and standard deviations."""
    found = design.promoted.get(PREDICTOR)
    if found is None or not found.evaluated:
        return {"predicted": None, "lut_predicted": None}
    figures: dict[str, Any] = {
        name: {"value": used, "std": found.spread.get(name)}
        for name, used in found.resources.items()
    }
    if found.period is not None:
        figures["period_ns"] = {"value": found.period, "std": found.spread.get("period_ns")}
    return {"predicted": figures, "lut_predicted": found.resources.get("lut")}


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row of CSV: what is expected after routing with the ends of its intervals, a column each, and the time on a
    board.
    """
    found = {**row, **after_routing.flat(row["routed"])}
    if (board := row["board"]) is not None:
        found |= {f"board_{end}": board[end] for end in ("ms", "ms_low", "ms_high")}
        found["emulation"] = board["emulation"]
    return found


def for_people(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table: a time with its unit, the beginning of the key."""
    shown = {**row, "time": seconds(row["seconds"]), "design": row["design"][:KEY]}
    if row["predicted"] is not None and (lut := row["predicted"].get("lut")) is not None:
        shown["lut_predicted"] = _with_spread(lut["value"], lut["std"])
    if row["board"] is not None:
        shown["on_board"] = seconds(row["board"]["ms"] * 1e-3)
    return shown | after_routing.for_people(row["routed"])


def _with_spread(value: int, std: float | None) -> str:
    return f"{value:,}" + (f" ± {std:,.0f}" if std and round(std) else "")


def verdict(result: Result) -> str:
    """What a promotion came to: of a check its status, else that of the evaluation."""
    return result.checks[0].status if result.checks else result.status.value


def to_bound(result: Result, problem: Problem) -> float | None:
    """How many times the lower bound of the whole budget a design takes."""
    bound = problem.bound
    return round(result.of_all_trips / bound.cycles, 3) if bound else None


def to_own_bound(result: Result, problem: Problem) -> float | None:
    """How many times the lower bound of as many DSP slices and LUTs as it has a design takes."""
    dsp, lut = result.resources.get("dsp"), result.resources.get("lut")
    fewest = None if dsp is None else problem.fewest(dsp, lut)
    return round(result.of_all_trips / fewest, 3) if fewest else to_bound(result, problem)


def speed_up(result: Result, problem: Problem) -> float | None:
    """Over the program without a schedule, if both figures come from the same place."""
    plain = problem.plain
    if plain is None or not plain.latency or not result.latency:
        return None
    same = (plain.provenance, plain.tool) == (result.provenance, result.tool)
    return float(f"{plain.latency / result.latency:.4g}") if same else None


def summary(run: RunDirectory, problem: Problem, trials: int, took: float) -> list[str]:
    """What was found, how far from the bounds, what of the budget it takes, and by whom."""
    found = designs(run)
    lines = [f"explore: {trials} trials, {len(found)} feasible designs, {took:.1f} s"]
    lines += _failed(run)
    lines += _unsound(run)
    lines += [f"  {b.kind}: at least {b.cycles:,} cycles ({b.reason})" for b in problem.bounds]
    if not found:
        return [*lines, *_nothing(run)]
    best = found[0].result
    lines += _beyond(found)
    return [*lines, f"  fastest: {_fastest(best, problem, run.manifest['clock_ns'])}",
            f"  uses: {_uses(best, limits_of(run))}",
            *_said(found[0]),
            *_after_routing(run, best),
            *_on_board(best),
            f"  figures: {best.provenance}, {best.tool.partition(';')[0]}"]  # fmt: skip


def _said(design: Design) -> Iterator[str]:
    """What the predictor says of the best design."""
    found = design.promoted.get(PREDICTOR)
    if found is not None and found.evaluated:
        parts = [
            f"{LABELS[name]} {_with_spread(used, found.spread.get(name))}"
            for name, used in found.resources.items()
            if name in LABELS
        ]
        if found.period is not None:
            parts.append(f"{found.period:.2f} ns")
        yield f"  predicted: {', '.join(parts)}"


def _after_routing(run: RunDirectory, best: Result) -> Iterator[str]:
    """What is expected of the best design after placement and routing, where the run shows it."""
    if (found := routed_of(run.manifest, best)) is not None:
        yield f"  {found}"
        yield f"  routed: {source()}"


def _on_board(best: Result) -> Iterator[str]:
    """What the best design is on the board."""
    if best.board is not None:
        yield f"  {best.board}"
        yield f"  {best.board.to_roof:.2f} x what {best.board.roof} take there, emulation {best.board.emulation:,.0f} cycles"
        yield from (f"  {note}" for note in best.board.notes)


def _failed(run: RunDirectory) -> Iterator[str]:
    """How many promotions say nothing of their designs, and what came of the first."""
    every = (*designs(run), *designs(run, refuted=True))
    for name in run.manifest.get("promote", ()):
        results = [design.promoted[name] for design in every if name in design.promoted]
        failed = [r for r in results if r.status in _FAILED and not r.refuted]
        if failed:
            first = f"{failed[0].status.value}: {failed[0].detail}"
            yield f"  promotion to {name}: {len(failed)} of {len(results)} failed, {first}"


def _unsound(run: RunDirectory) -> Iterator[str]:
    """How many points had figures that cannot be, and the first of them."""
    found = unsound(run)
    if found:
        points = "1 point was" if len(found) == 1 else f"{len(found)} points were"
        yield f"  {points} estimated under a proven bound and left out, {found[0].detail}"


def _nothing(run: RunDirectory) -> list[str]:
    """That nothing was found, and what comes nearest."""
    lines = ["  no design keeps to the limits"]
    if (least := nearest(run)) is not None:
        clock = run.manifest["clock_ns"]
        cycles = f"{least.latency:,.0f} cycles = {seconds((least.latency or 0) * clock * 1e-9)}"
        lines.append(f"  nearest: {cycles}, {least.detail}")
        lines.append(f"  it uses: {_uses(least, limits_of(run))}")
    return lines


def _beyond(found: Sequence[Design]) -> Iterator[str]:
    """What the fastest design has that no label of the tool shows, and the fastest that has nothing of that."""
    best = found[0].result
    if best.supported or best.marks is None:
        return
    yield f"  beyond labels: {best.marks.why}"
    inside = supported(found)
    if not inside:
        yield "  no design found that labels show: --supported searches only those"
        return
    other = inside[0].result
    cycles, times = other.latency or 0.0, (other.latency or 0.0) / (best.latency or 1.0)
    yield f"  fastest that labels show: {cycles:,.0f} cycles ({times:.2f} x), {inside[0].key[:KEY]}"


def _fastest(best: Result, problem: Problem, clock: float) -> str:
    cycles = best.latency or 0.0
    parts = [f"{cycles:,.0f} cycles = {seconds(cycles * best.period_at(clock) * 1e-9)}"]
    if best.period_at(clock) > clock:
        parts[0] += f" at {best.period_at(clock):.2f} ns, which misses the {clock:g} ns asked for"
    if best.longest is not None:
        parts.append(f"of the trips that are expected, and {best.longest:,.0f} at the most")
    if (ratio := to_bound(best, problem)) is not None:
        parts.append(f"{ratio:.2f} x the bound" + (" of all trips" if best.longest else ""))
    if (faster := speed_up(best, problem)) is not None:
        parts.append(f"{faster:,.4g} x as fast as without a schedule")
    return ", ".join(parts)


def _uses(best: Result, limits: Limits) -> str:
    parts = []
    for name, used in limits.shown(best).items():
        limit = limits.resources.get(name)
        share = f" of {limit:,} ({100 * used / limit:.0f}%)" if limit else ""
        parts.append(f"{LABELS.get(name, name)} {used:,}{share}")
    decided = f"; {UPPER_ENDS}" if limits.routed is not None else ""
    return ", ".join(parts) + decided


def onward(folder: Path, report: str, found: bool, device: Device) -> list[str]:
    """Where to look, and what to do next.

    Args:
        folder: of the run.
        report: the name of its report.
        found: there is a design.
        device: that designs are for: open tools make them where Vitis HLS does not know it.
    """
    lines = [f"report: {folder / report}"]
    if found:
        makes = "export" if device.vitis else "synth"
        command = shlex.join(["weft", makes, str(folder), "--best", "--out"])
        lines.append(f"{makes}: {command} DIR")
    return lines


def best_word(best: float, problem: Problem) -> str:
    """The best so far, for the line of progress."""
    bound = problem.bound
    return f"best {best:,.0f} cycles" + (
        f", {best / bound.cycles:.2f} x the bound" if bound else ""
    )
