"""What came of a calibration to projects, for people: errors before and after, by core and of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from qor_gnn.fit.projects.calibrate import MEASURES, Calibrated
from qor_gnn.fit.projects.facts import Facts
from qor_gnn.fit.projects.judged import EXACT, Measure, Verdict, total

COLUMNS = ("class", "operator", "measure", "left_out", "facts", "before", "after", "saved")
NAMES: dict[Measure, str] = {
    "latency": "latency exact %", "dsp": "DSP exact %", "ff": "FF median error %",
    "lut": "LUT median error %",
}  # fmt: skip


def rows(verdicts: Sequence[Verdict], facts: Facts) -> list[dict[str, Any]]:
    """A line for each measure of each core or size, and one for each measure of all that was left out.

    Before is with the operators that come with Weft, after with what the others show as well, where that
    is saved.
    """
    lines = [line for verdict in verdicts for line in _of(verdict)]
    every: dict[Measure, tuple[list[float], list[float]]] = {m: ([], []) for m in MEASURES}
    for verdict in verdicts:
        for measure, before in verdict.before.items():
            after = verdict.after[measure] if verdict.kept else before
            every[measure][0].extend(before)
            every[measure][1].extend(after)
    for measure, (before, after) in every.items():
        if before:
            line = {"class": "all", "operator": "all that was left out", "left_out": ""}
            lines.append({**line, **_figures(measure, before, after), "saved": ""})
    return lines


def _of(verdict: Verdict) -> Iterator[dict[str, Any]]:
    piece = verdict.piece
    name = f"product ({piece.name})" if piece.group == "multipliers" else piece.name
    said = {"class": piece.timing, "operator": name}
    saved = "yes" if verdict.kept else "no"
    if not verdict.left_out:
        measure = "area" if piece.group == "areas" else "latency"
        yield {
            **said, "measure": f"{measure}, not judged: shown once", "left_out": "", "facts": None,
            "before": None, "after": None, "saved": saved,
        }  # fmt: skip
    for measure, before in verdict.before.items():
        left_out = f"{verdict.units} {verdict.left_out}"
        figures = _figures(measure, before, verdict.after[measure])
        yield {**said, "left_out": left_out, **figures, "saved": saved}


def _figures(measure: Measure, before: Sequence[float], after: Sequence[float]) -> dict[str, Any]:
    return {
        "measure": NAMES[measure],
        "facts": len(before),
        "before": _percent(measure, before),
        "after": _percent(measure, after),
    }


def _percent(measure: Measure, errors: Sequence[float]) -> float:
    error = total(measure, errors)
    return round(100 * (1 - error if measure in EXACT else error), 2)


def summary(found: Calibrated, facts: Facts) -> Iterator[str]:
    """What was saved, in words."""
    kept = [v for v in found.verdicts if v.kept]
    dropped = len(found.verdicts) - len(kept)
    yield f"calibrate: {len(kept)} of {len(found.verdicts)} operators of a class are saved"
    if dropped:
        yield (
            f"calibrate: {dropped} are not: they make what was left out no better, or worse, or are products "
            "that one project alone shows"
        )
    if any(not v.left_out for v in kept):
        yield "note: what only one kernel shows is saved as it was measured: nothing can be left out to judge it"
    elif len(facts.projects) == 1:
        yield "note: there is one project: its kernels were left out in turn, which are more alike than projects"
    for share in found.shares:
        yield (
            f"routing: {share.resource.upper()} of {share.designs} designs are {share.least:.2f} to "
            f"{share.most:.2f} of what csynth prints; error on projects left out {100 * share.before:.1f}% "
            f"as it is, {100 * share.after:.1f}% with the others' share"
            f"{'' if share.kept else ': not saved'}"
        )
