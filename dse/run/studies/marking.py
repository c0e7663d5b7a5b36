"""Trials in a database are made, and taken, once, however often it is asked for: they bear tokens.

This is the one file that reaches behind Optuna's public interface, which cannot do this:

- whether an attempt to make a trial, or to take one that waits, was committed unheard has to be looked up
  in the transaction that would make or take it, or two attempts may both come through; Optuna's methods
  begin and commit transactions of their own;
- `optuna.study.Study` puts a cache around an `RDBStorage`, and that one calls methods of it which are
  not public, where a connection breaks as well as elsewhere (`BEHIND_THE_CACHE`).

Optuna's version is pinned for it, and `tests/dse/test_database_away.py` breaks connections at each statement.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from optuna.storages import RDBStorage
from optuna.storages._rdb.models import TrialModel, TrialSystemAttributeModel
from optuna.trial import TrialState, create_trial

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

Answer = TypeVar("Answer")
_MADE, _TAKEN = "weft:made", "weft:taken"
BEHIND_THE_CACHE = ("_set_trial_param", "_get_trials", "_get_best_trial_id")
"""What Optuna's cache asks for, beside new trials; each may be asked for again as it is."""


class Marking(RDBStorage):
    """Optuna's storage in a database, where a trial that is made or taken bears a token."""

    def __init__(self, url: str, **options: Any) -> None:
        """Connect.

        Args:
            url: of the database, with its driver.
            options: of `RDBStorage`.
        """
        self._attempted: set[str] = set()  # tokens of trials that are being created
        super().__init__(url, **options)

    def asked(self, ask: Callable[[], Answer]) -> Answer:
        """The answer to what may be asked for more than once."""
        return ask()

    def _create_new_trial(
        self, study_id: int, template_trial: FrozenTrial | None = None
    ) -> FrozenTrial:
        """As Optuna; the trial bears a token."""
        token = str(uuid.uuid4())
        template = copy.copy(template_trial or create_trial(state=TrialState.RUNNING))
        template.system_attrs = {**template.system_attrs, _MADE: token}
        try:
            return self.asked(lambda: RDBStorage._create_new_trial(self, study_id, template))
        finally:
            self._attempted.discard(token)

    def _get_prepared_new_trial(
        self, study_id: int, template_trial: FrozenTrial | None, session: Any
    ) -> TrialModel:
        """The trial of the template's token if it is there, else a new one: within a transaction that
        holds the study, once for each attempt, those of Optuna itself among them.
        """
        assert template_trial is not None
        token = template_trial.system_attrs[_MADE]
        again = token in self._attempted
        self._attempted.add(token)
        if again and (there := _bearing(session, _MADE, token).one_or_none()) is not None:
            found: TrialModel = there
            return found
        return super()._get_prepared_new_trial(study_id, template_trial, session)

    def taken(self, trial_id: int, token: str) -> bool:
        """Whether a trial that waits is ours now, or since an attempt with this token."""
        with self.scoped_session() as session, session.begin():
            trial: Any = TrialModel.find_or_raise_by_id(trial_id, session, for_update=True)
            self.check_trial_is_updatable(trial_id, trial.state)
            if trial.state != TrialState.WAITING:
                ours = _bearing(session, _TAKEN, token).one_or_none()
                return ours is not None and ours.trial_id == trial_id
            self._set_trial_attr_without_commit(
                session, TrialSystemAttributeModel, trial_id, _TAKEN, token
            )
            trial.state = TrialState.RUNNING
            trial.datetime_start = datetime.now()
            return True


def _bearing(session: Any, key: str, token: str) -> Any:
    """The trials with a token."""
    return (
        session.query(TrialModel)
        .join(TrialSystemAttributeModel, TrialSystemAttributeModel.trial_id == TrialModel.trial_id)
        .filter(TrialSystemAttributeModel.key == key)
        .filter(TrialSystemAttributeModel.value_json == f'"{token}"')
    )
