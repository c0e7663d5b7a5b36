"""What happened in a run, trial by trial: read from what its folder has, without touching it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dse.run.folder.directory import RunDirectory
from dse.run.folder.json_text import json_of

_END_OF_TIME = 2.0**53  # seconds, which no clock has reached; nor is it this for nan
_STATES = ("started", "resumed", "trial", "finished", "stopped")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trial.

    ``status`` is a value of `dse.evaluators.base.Status`, ``running``, or ``lost`` where its
    process ended before it did. ``seconds`` counts from the first trial to the end of this one.
    """

    number: int
    key: str
    status: str
    seconds: float


def history(run: RunDirectory) -> tuple[Recorded, ...]:
    """The trials of a run in their order.

    They are those of the study in its journal; of a study that is in a database, those that the log
    of events tells of, which are all but what was under way when a process was killed.

    Raises:
        InputError: W523 Optuna is not installed; W521 the journal is damaged.
    """
    if run.journal.exists():
        from dse.libraries import optuna_library
        from dse.run.studies.storage import journal_to_read
        from dse.run.studies.study import STUDY

        library = optuna_library()
        storage = journal_to_read(run.journal)
        # Next to the study there may be another one, of what was offered to workers.
        name = run.manifest.get("study", STUDY)
        if name in library.get_all_study_names(storage):
            return recorded(library.load_study(study_name=name, storage=storage))
    return _told(log_of(run).events)


def recorded(study: Any) -> tuple[Recorded, ...]:
    """The trials of an Optuna study that `dse.run.studies.study.Study` wrote."""
    from dse.run.studies.study import replaced_trials

    trials = sorted(study.get_trials(deepcopy=False), key=lambda t: t.number)
    starts = [t.datetime_start for t in trials if t.datetime_start is not None]
    found: list[Recorded] = []
    replaced = replaced_trials(trials)
    for trial in trials:
        if trial.user_attrs.get("dropped") or trial.number in replaced:
            continue  # another one was tried in its place
        status = trial.user_attrs.get("status")
        if status is None:
            status = "lost" if trial.state.is_finished() else "running"
        end = trial.datetime_complete or trial.datetime_start
        seconds = (end - min(starts)).total_seconds() if end is not None else 0.0
        design = trial.user_attrs.get("design")
        design = design if isinstance(design, dict) else {}
        found.append(Recorded(trial.number, str(design.get("key", "")), str(status), seconds))
    return tuple(found)


def _told(log: Sequence[dict[str, Any]]) -> tuple[Recorded, ...]:
    """Trials as the log of events has them."""
    start = min((float(e["time"]) for e in log), default=0.0)
    trials = [e for e in log if e["event"] == "trial"]
    found = {
        e["number"]: Recorded(e["number"], e["key"], e["status"], float(e["time"]) - start)
        for e in trials
    }
    replaced = [e.get("replaces") for e in trials]
    return tuple(found[number] for number in sorted(found) if number not in replaced)


@dataclass(frozen=True, slots=True)
class Log:
    """The log of events: those that can be read, in their order, and how many lines cannot."""

    events: tuple[dict[str, Any], ...]
    damaged: int = 0


def log_of(run: RunDirectory) -> Log:
    """The log of events; lines that a killed process left in part, or something damaged, are counted
    only: what a run knows is in its points and its study.
    """
    try:
        lines = (run.path / "events.jsonl").read_bytes().split(b"\n")
    except OSError:
        return Log(())
    found = [_event(line) for line in lines if line.strip()]
    return Log(tuple(e for e in found if e is not None), found.count(None))


def _event(line: bytes) -> dict[str, Any] | None:
    """An event as it was written; None where the line is none."""
    try:
        found = json_of(line)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    kinds: dict[str, tuple[type, ...]] = {"time": (int, float), "event": (str,)}
    if found.get("event") == "trial":
        kinds |= {"number": (int,), "key": (str,), "status": (str,)}
    whole = all(isinstance(found.get(name), kind) for name, kind in kinds.items())
    return found if whole and abs(found["time"]) < _END_OF_TIME else None


def ending(run: RunDirectory) -> str:
    """How the run stands by its last event: ``finished``, ``stopped``, or ``not finished``."""
    last = [e for e in log_of(run).events if e.get("event") in _STATES]
    kind = str(last[-1]["event"]) if last else ""
    return kind if kind in ("finished", "stopped") else "not finished"
