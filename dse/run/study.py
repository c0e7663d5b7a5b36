"""The Optuna study of a run: samplers, objectives, constraints, and what is told to it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dse.evaluators.base import Limits, Result, Status
from dse.run.codec import point_from_json, point_to_json
from dse.run.directory import RunDirectory
from dse.space.space import Point
from dsl.errors import InputError

if TYPE_CHECKING:
    import optuna
    import optuna.study
    import optuna.trial

Sampler = Literal["tpe", "nsga2", "nsga3", "random"]
SAMPLERS: tuple[Sampler, ...] = ("tpe", "nsga2", "nsga3", "random")
STUDY = "weft"


@dataclass(frozen=True, slots=True)
class Finished:
    """A trial with an end: its point (None where none was made), key and status."""

    number: int
    point: Point | None
    key: str
    status: Status


class Study:
    """A run's study. Values are the objectives, the constraints how far each limit is exceeded."""

    def __init__(
        self,
        run: RunDirectory,
        objectives: Sequence[str],
        limits: Limits,
        sampler: Sampler,
        seed: int,
    ) -> None:
        """Open the study in a run's journal, or begin it.

        Args:
            run: open for writing.
            objectives: ``latency`` or resources, all to be small.
            limits: the constraints.
            sampler: which of Optuna's.
            seed: of the sampler.

        Raises:
            InputError: W523 Optuna is not installed.
        """
        library = optuna_library()
        library.logging.set_verbosity(library.logging.ERROR)
        self._states = library.trial.TrialState
        self.run = run
        self.objectives = tuple(objectives)
        self.limits = limits
        storage = library.storages.JournalStorage(_backend(str(run.journal)))
        self.study: optuna.study.Study = library.create_study(
            study_name=STUDY,
            storage=storage,
            directions=["minimize"] * len(self.objectives),
            sampler=_sampler(sampler, seed),
            load_if_exists=True,
        )
        self._recover()
        self.finished = {f.number: f for f in self._finished()}

    def _finished(self) -> Iterator[Finished]:
        for trial in self.study.get_trials(deepcopy=False):
            status = trial.user_attrs.get("status")
            if trial.state.is_finished() and status is not None:
                design = trial.user_attrs.get("design")
                point = point_from_json(design["point"]) if design else None
                key = design["key"] if design else ""
                yield Finished(trial.number, point, key, Status(status))

    def _recover(self) -> None:
        """Trials that a killed process left running fail; those with a result are added anew."""
        for trial in self.study.get_trials(deepcopy=False, states=(self._states.RUNNING,)):
            self.study.tell(trial.number, state=self._states.FAIL)
            design = trial.user_attrs.get("design", {})
            result = self.run.result(design.get("key", ""))
            if result is None:
                continue
            values = objective_values(result, self.objectives)
            self.study.add_trial(
                optuna_library().trial.create_trial(
                    state=self._states.FAIL if values is None else self._states.COMPLETE,
                    values=values,
                    params=trial.params,
                    distributions=trial.distributions,
                    user_attrs={"design": design, "status": result.status.value},
                    constraints=self._constraints(result),
                )
            )

    @property
    def count(self) -> int:
        """Trials that came to an end with a status."""
        return len(self.finished)

    def ask(self) -> optuna.trial.Trial:
        """A new trial, whose parameters are suggested one by one."""
        return self.study.ask()

    def begin(self, trial: optuna.trial.Trial, point: Point, key: str) -> None:
        """Write down what a trial is about, before it is evaluated."""
        trial.set_user_attr("design", {"point": point_to_json(point), "key": key})

    def end(
        self, trial: optuna.trial.Trial, point: Point | None, key: str, result: Result
    ) -> Finished:
        """Tell the study what came of a trial."""
        for name, over in self._constraints(result).items():
            trial.set_constraint(name, over)
        trial.set_user_attr("status", result.status.value)
        values = objective_values(result, self.objectives)
        if values is None:
            self.study.tell(trial, state=self._states.FAIL)
        else:
            self.study.tell(trial, list(values))
        found = Finished(trial.number, point, key, result.status)
        self.finished[trial.number] = found
        return found

    def _constraints(self, result: Result) -> dict[str, float]:
        """By how much each limit is exceeded; negative where it is kept, absent if not known."""
        excess = self.limits.excess(result)
        known = [n for n in self.limits.resources if n in result.resources]
        known += ["latency"] if self.limits.latency is not None and result.evaluated else []
        return {name: excess.get(name, -1.0) for name in known}


def objective_values(result: Result, objectives: Sequence[str]) -> tuple[float, ...] | None:
    """The objectives of a result; None where it has not all of them."""
    if result.latency is None:
        return None
    figures: Mapping[str, float] = {"latency": result.latency, **result.resources}
    if not all(name in figures for name in objectives):
        return None
    return tuple(float(figures[name]) for name in objectives)


def optuna_library() -> Any:
    """Optuna, which `weft[dse]` brings.

    Raises:
        InputError: W523: it is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise InputError(
            "W523", "exploring needs Optuna, which is not installed", help="pip install 'weft[dse]'"
        ) from error
    return optuna


def _backend(path: str) -> Any:
    """Optuna's journal file, written without waiting for the disk at each line.

    What was written survives the end of the process, however it comes; a dozen lines a trial that
    each wait for the disk would take longer than the trial.
    """
    journal = optuna_library().storages.journal
    lock = journal.JournalFileSymlinkLock(path)

    class Journal(journal.JournalFileBackend):  # type: ignore[name-defined, misc]
        def append_logs(self, logs: list[dict[str, Any]]) -> None:
            lines = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
            lock.acquire()
            try:
                with Path(path).open("ab") as file:
                    file.write(lines.encode())
            finally:
                lock.release()

    return Journal(path, lock)


def _sampler(name: Sampler, seed: int) -> Any:
    samplers = optuna_library().samplers
    kinds = {
        "tpe": samplers.TPESampler,
        "nsga2": samplers.NSGAIISampler,
        "nsga3": samplers.NSGAIIISampler,
        "random": samplers.RandomSampler,
    }
    with warnings.catch_warnings():
        # NSGA-III may change with a version of Optuna, which is why its version is pinned.
        warnings.simplefilter("ignore", optuna_library().exceptions.ExperimentalWarning)
        return kinds[name](seed=seed)
