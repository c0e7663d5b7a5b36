"""One kernel of the corpus: is it verified, what is the expert's design, what does the search find."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.verify import VerifyResult, verify_many
from benchmarks.corpus.child import Ended, weft
from benchmarks.corpus.judge import Judgement, judgement
from benchmarks.corpus.registry import EXPERT, Entry
from dse.api.run import load_run
from dsl.errors.errors import WeftError
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design

NO_DESIGN = 3  # exit status of `weft explore` without a design within its limits
INTERRUPTED = 130
FINE = (0, NO_DESIGN, INTERRUPTED)
FAULTS = ("tool-error", "under-bound", "timeout")
"""Statuses of trials that no point should end with."""


@dataclass(frozen=True)
class Effort:
    """How much an exploration may cost, and whether the C++ is compiled to verify a kernel."""

    trials: int
    limit_s: float
    cxx: bool


FULL = Effort(trials=40, limit_s=300, cxx=True)
QUICK = Effort(trials=12, limit_s=90, cxx=False)


def line_of(entry: Entry, effort: Effort, *, explore: bool) -> dict[str, Any]:
    """Everything that is measured of a kernel, as data for JSON."""
    found = judgement(entry)
    line: dict[str, Any] = {
        "kernel": entry.name,
        "style": entry.style,
        "group": entry.group,
        "judged_by": entry.judged_by,
        "other_algorithm": entry.other_algorithm,
        "budget": {"device": entry.budget.device, "share": entry.budget.share},
        **verified(entry, effort),
        "expert": {"cycles": found.cycles, **found.resources, "feasible": found.feasible},
        "bound": found.bound.cycles,
        "bound_of": f"{found.bound.kind}: {found.bound.reason}",
        "expert_to_bound": rounded(found.ratio),
    }
    if explore:
        line["explore"] = explored(entry, found, effort)
    return line


def rounded(value: float | None) -> float | None:
    """Three digits behind the point are enough of a ratio."""
    return None if value is None else round(value, 3)


# --------------------------------------------------------------------------------------- verified


def verified(entry: Entry, effort: Effort) -> dict[str, Any]:
    """Whether the kernel as it was written, and the expert's design, compute what they say.

    What is compiled of them runs in processes of its own; a fault of Weft is a result.
    """
    written, expert = entry.kernel, entry.expert
    makers = [written.make_inputs, expert.make_inputs]
    try:
        designs = [
            compile_design(written.program, Schedule()),
            compile_design(expert.program, expert.schedules[EXPERT]),
        ]
        found = verify_many(designs, cxx=effort.cxx, make_inputs=makers)
    except WeftError as error:
        return {"verified": False, "verify_detail": f"{error.code}: {error.message}"}
    except Exception as error:  # noqa: BLE001 - finding these is the purpose
        return {"verified": False, "verify_detail": f"crash: {error!r}"}
    wrong = [detail for result in found if not result.ok for detail in _details(result)]
    return {"verified": not wrong, "verify_detail": "; ".join(wrong)}


def _details(result: VerifyResult) -> Iterator[str]:
    for name, level in (("interp", result.interp), ("jit", result.jit), ("cxx", result.cxx)):
        if not level.ok:
            yield f"{result.kernel}: {name}: {level.status}: {level.detail}"


# --------------------------------------------------------------------------------------- explored


def explored(entry: Entry, judged: Judgement, effort: Effort) -> dict[str, Any]:
    """What an exploration within the budget finds, in a process of its own."""
    budget = entry.budget
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        words = ["explore", f"{entry.path}:{entry.name}", "--out", str(out)]
        words += ["--device", budget.device, "--share", str(budget.share)]
        words += ["--trials", str(effort.trials)]
        words += [
            "--evaluator",
            "model",
        ]  # as the expert's design is judged: without a predictor's margin
        words += ["--reassociate"] if budget.reassociate else []
        ended = weft(words, effort.limit_s)
        found = _found(out)
    cycles = found["cycles"]
    return {
        "cycles": cycles,
        "to_bound": None if cycles is None else rounded(cycles / max(1, judged.bound.cycles)),
        "to_expert": rounded(cycles / judged.cycles) if cycles and judged.cycles else None,
        "points": found["points"],
        "trials": found["trials"],
        "faults": found["faults"],
        "seconds": round(ended.seconds, 1),
        "cpu_seconds": round(ended.cpu_seconds, 1),
        "peak_mib": round(ended.peak_mib),
        "late": ended.late,
        "crash": None if ended.late or ended.code in FINE else ended.code,
        "said": "" if ended.code == 0 else _last_line(ended),
    }


def _found(out: Path) -> dict[str, Any]:
    """Of a run's folder, however it ended: its best design, and what came of its trials."""
    found: dict[str, Any] = {"cycles": None, "points": None, "trials": 0, "faults": {}}
    events = out / "events.jsonl"
    if not events.exists():
        return found
    for text in events.read_text(encoding="utf-8").splitlines():
        event = json.loads(text)
        if event["event"] == "trial":
            found["trials"] += 1
            status = event["status"]
            if status in FAULTS:
                found["faults"][status] = found["faults"].get(status, 0) + 1
    problem = out / "problem.json"
    if problem.exists():
        found["points"] = json.loads(problem.read_text(encoding="utf-8"))["points"]
    try:
        found["cycles"] = load_run(out).best().latency
    except WeftError:
        return found  # W526: none within the limits; W521: it ended before the run began
    return found


def _last_line(ended: Ended) -> str:
    lines = ended.err.strip().splitlines()
    return "late" if ended.late else lines[-1] if lines else f"exit status {ended.code}"
