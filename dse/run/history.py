"""What happened in a run, trial by trial: read from what its folder has, without touching it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dse.run.directory import RunDirectory

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
        from dse.run.storage import journal_to_read, optuna_library
        from dse.run.study import STUDY

        library = optuna_library()
        storage = journal_to_read(run.journal)
        # Next to the study there may be another one, of what was offered to workers.
        name = run.manifest.get("study", STUDY)
        if name in library.get_all_study_names(storage):
            return recorded(library.load_study(study_name=name, storage=storage))
    return _told(list(events(run)))


def recorded(study: Any) -> tuple[Recorded, ...]:
    """The trials of an Optuna study that `dse.run.study.Study` wrote."""
    from dse.run.study import replaced_trials

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
    start = min((float(e.get("time", 0)) for e in log), default=0.0)
    found = {
        int(e["number"]): Recorded(
            int(e["number"]), str(e.get("key", "")), str(e.get("status", "lost")),
            float(e.get("time", 0)) - start,
        )
        for e in log if e.get("event") == "trial" and isinstance(e.get("number"), int)
    }  # fmt: skip
    replaced = {e.get("replaces") for e in log if e.get("event") == "trial"}
    return tuple(found[number] for number in sorted(found) if number not in replaced)


def events(run: RunDirectory) -> Iterator[dict[str, Any]]:
    """The log of events; lines that a killed process left in part are passed over."""
    try:
        lines = (run.path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def ending(run: RunDirectory) -> str:
    """How the run stands by its last event: ``finished``, ``stopped``, or ``not finished``."""
    last = [e for e in events(run) if e.get("event") in _STATES]
    kind = str(last[-1]["event"]) if last else ""
    return kind if kind in ("finished", "stopped") else "not finished"
