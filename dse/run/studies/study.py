"""The Optuna study of a run: samplers, objectives, constraints, and what is told to it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dse.evaluators.base import Limits, Result, Status, judged
from dse.libraries import optuna_library
from dse.run.folder.cache import ResultCache
from dse.run.folder.codec import point_from_json, point_to_json
from dse.run.folder.directory import RunDirectory
from dse.run.studies.storage import damaged, journal
from dse.space.space import Point
from dsl.errors.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

    import optuna
    import optuna.study
    import optuna.trial
    from optuna.storages import BaseStorage

REPLACES = "replaces"  # attribute of a trial: the number of the one that it is another try of
STUDY = "weft"  # the name of a study that has a storage for itself


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
        *,
        storage: BaseStorage | None = None,
        name: str = STUDY,
        cache: ResultCache | None = None,
        new: bool = False,
    ) -> None:
        """Open a study, or begin it.

        Args:
            run: open for writing.
            objectives: ``latency``, ``seconds`` or resources, all to be small.
            limits: the constraints.
            storage: where the study is; None for the run's journal.
            name: of the study there.
            cache: where results may be that the run has not.
            new: it must not be there yet.

        Raises:
            InputError: W521 its trials are not those of a run; W523, W528 a library is not installed;
                W533 the study is there already, or is another one.
        """
        library = optuna_library()
        self._states = library.trial.TrialState
        self.run = run
        self.objectives = tuple(objectives)
        self.limits = limits
        self.name = name
        self.storage = journal(run.journal) if storage is None else storage
        self._known = ResultCache() if cache is None else cache
        try:
            self.study: optuna.study.Study = library.create_study(
                study_name=name,
                storage=self.storage,
                directions=["minimize"] * len(self.objectives),
                load_if_exists=not new,
            )
        except library.exceptions.DuplicatedStudyError as error:
            raise InputError(
                "W533",
                f"the storage has a study '{name}' already",
                help="weft worker joins it; --resume goes on with it in the run's folder; or take "
                "another --study",
            ) from error
        self._is_ours(library)
        self._name_objectives(library)
        self._recover()
        self.finished = {f.number: f for f in self._finished()}

    def _is_ours(self, library: ModuleType) -> None:
        """Someone else's study may have the name: its trials would be of something else."""
        smaller = library.study.StudyDirection.MINIMIZE
        if self.study.directions != [smaller] * len(self.objectives):
            raise InputError(
                "W533",
                f"the study '{self.name}' is another one: it is not of {len(self.objectives)} "
                "objectives that are to be small",
                help="take another --study; or, where it is in the run's folder, move "
                "study.journal away: what is in points/ is not lost",
            )

    def _name_objectives(self, library: ModuleType) -> None:
        """For those who look at the study with Optuna's tools, such as its dashboard."""
        with warnings.catch_warnings():
            # May change with a version of Optuna, which is why its version is pinned.
            warnings.simplefilter("ignore", library.exceptions.ExperimentalWarning)
            if self.study.metric_names is None:
                self.study.set_metric_names(list(self.objectives))

    def _finished(self) -> Iterator[Finished]:
        trials = self.study.get_trials(deepcopy=False)
        replaced = replaced_trials(trials)
        for trial in trials:
            status = trial.user_attrs.get("status")
            if trial.state.is_finished() and status is not None and trial.number not in replaced:
                design = trial.user_attrs.get("design")
                try:
                    point = point_from_json(design["point"]) if design else None
                    key = str(design["key"]) if design else ""
                    found = Finished(trial.number, point, key, Status(status))
                except (KeyError, TypeError, ValueError) as error:
                    raise damaged(
                        f"trial {trial.number} of the study '{self.name}' is not one of a run"
                    ) from error
                yield found

    def _recover(self) -> None:
        """Trials that a killed process left running fail; those with a result are added anew.

        What it left waiting is dropped.
        """
        while self.study.get_trials(deepcopy=False, states=(self._states.WAITING,)):
            self.drop(self.ask())
        for trial in self.study.get_trials(deepcopy=False, states=(self._states.RUNNING,)):
            self.study.tell(trial.number, state=self._states.FAIL)
            design = trial.user_attrs.get("design", {})
            result = self._result_of(design.get("key", ""))
            if result is None:
                continue
            values = self.values(result)
            status = judged(result, self.limits).status.value
            self.study.add_trial(
                optuna_library().trial.create_trial(
                    state=self._states.FAIL if values is None else self._states.COMPLETE,
                    values=values,
                    params=trial.params,
                    distributions=trial.distributions,
                    user_attrs={"design": design, "status": status, **replacing(trial)},
                    constraints=constraints_of(result, self.limits),
                )
            )

    def _result_of(self, key: str) -> Result | None:
        """What the run has under a key, or gets now from where others left it."""
        result = self.run.result(key) if key else None
        if key and result is None:
            result = self._known.get(key)
            if result is not None:
                self.run.keep(key, result)
        return result

    def values(self, result: Result) -> tuple[float, ...] | None:
        """The objectives of a result; None where it has not all of them."""
        return objective_values(result, self.objectives, self.run.manifest.get("clock_ns"))

    @property
    def count(self) -> int:
        """Trials that came to an end with a status."""
        return len(self.finished)

    def ask(self, replaces: int | None = None) -> optuna.trial.Trial:
        """A new trial, whose parameters are suggested one by one.

        Args:
            replaces: the number of a trial that failed; when the new one has ended, that one does not
                count any more.
        """
        trial = self.study.ask()
        if replaces is not None:
            trial.set_user_attr(REPLACES, replaces)
        return trial

    def drop(self, trial: optuna.trial.Trial) -> None:
        """It does not count: there was no point for it."""
        trial.set_user_attr("dropped", True)
        self.study.tell(trial, state=self._states.FAIL)

    def begin(self, trial: optuna.trial.Trial, point: Point, key: str) -> None:
        """Write down what a trial is about, before it is evaluated."""
        trial.set_user_attr("design", {"point": point_to_json(point), "key": key})

    def end(self, trial: optuna.trial.Trial, point: Point, key: str, result: Result) -> Finished:
        """Tell the study what came of a trial."""
        for name, over in constraints_of(result, self.limits).items():
            trial.set_constraint(name, over)
        trial.set_user_attr("status", result.status.value)
        values = self.values(result)
        if values is None:
            self.study.tell(trial, state=self._states.FAIL)
        else:
            self.study.tell(trial, list(values))
        found = Finished(trial.number, point, key, result.status)
        self.finished[trial.number] = found
        self.finished.pop(trial.user_attrs.get(REPLACES, -1), None)
        return found


def replacing(trial: optuna.trial.BaseTrial | optuna.trial.FrozenTrial) -> dict[str, int]:
    """The attribute that says in whose place a trial is; none where it is in nobody's."""
    return {k: v for k, v in trial.user_attrs.items() if k == REPLACES}


def replaced_trials(trials: Iterable[optuna.trial.FrozenTrial]) -> set[int]:
    """The numbers of failed trials that were tried again to an end: others count in their place."""
    return {
        int(trial.user_attrs[REPLACES])
        for trial in trials
        if REPLACES in trial.user_attrs and "status" in trial.user_attrs
    }


def constraints_of(result: Result, limits: Limits) -> dict[str, float]:
    """By how much each limit is exceeded; negative where it is kept, absent if not known."""
    excess = limits.excess(result)
    known = [n for n in limits.resources if n in result.resources]
    known += ["latency"] if limits.latency is not None and result.evaluated else []
    return {name: excess.get(name, -1.0) for name in known}


def objective_values(
    result: Result, objectives: Sequence[str], clock: float | None = None
) -> tuple[float, ...] | None:
    """The objectives of a result; None where it has not all of them.

    ``latency`` is in cycles; ``seconds`` is the same at a clock period in ns, which it needs.
    """
    if result.latency is None:
        return None
    figures: dict[str, float] = {"latency": result.latency, **result.resources}
    if clock is not None:
        figures["seconds"] = result.latency * result.period_at(clock) * 1e-9
    if not all(name in figures for name in objectives):
        return None
    return tuple(float(figures[name]) for name in objectives)
