"""A database that may go away for a while: what is asked of it is asked again until it answers.

A connection may break between a commit and its acknowledgement, and then nobody knows whether what was
asked for was done. So each thing is asked for in a way that may be repeated: attributes and values are
the same when they are set again; a trial that is created, or taken from those that wait, bears a token
by which it is found again (`dse.run.studies.marking`); a trial that was ended as asked has been ended.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from optuna.exceptions import (
    DuplicatedStudyError,
    StorageInternalError,
    UpdateFinishedTrialError,
)
from optuna.storages import RDBStorage
from optuna.trial import TrialState
from sqlalchemy.exc import (
    DBAPIError,
    InterfaceError,
    OperationalError,
    PendingRollbackError,
)

from dse.run.studies.marking import BEHIND_THE_CACHE, Marking
from dsl.errors.errors import InputError

if TYPE_CHECKING:
    from optuna.study import StudyDirection

Answer = TypeVar("Answer")
_FIRST, _LONGEST = 0.1, 5.0  # seconds between two attempts
_REPEATED = (
    "set_study_user_attr", "set_study_system_attr", "get_study_id_from_name",
    "get_study_name_from_id", "get_study_directions", "get_study_user_attrs",
    "get_study_system_attrs", "get_all_studies", "get_trial_param",
    "set_trial_intermediate_value", "set_trial_user_attr", "set_trial_system_attr",
    "get_trial_id_from_study_id_trial_number", "get_trial", *BEHIND_THE_CACHE,
)  # fmt: skip
"""What may be asked for again as it is."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a database is waited for, each time that it goes away.

    Attributes:
        seconds: of waiting.
        heard: told when it goes away, and when it is back.
    """

    seconds: float = 0.0
    heard: Callable[[str], None] = lambda _: None


class Patient(Marking):
    """Optuna's storage in a database, which is waited for.

    Attributes:
        waited: seconds that were spent waiting, all in all; see `dse.run.studies.storage.clock`.
    """

    def __init__(
        self,
        url: str,
        patience: Patience,
        lost: Callable[[Exception], InputError],
        **options: Any,
    ) -> None:
        """Connect; the first connection is not waited for.

        Args:
            url: of the database, with its driver.
            patience: with it, each time that it goes away.
            lost: makes the error of patience that has run out.
            options: of `RDBStorage`.
        """
        self.waited = 0.0
        self._patience, self._lost = patience, lost
        self._given_up = True  # until it has answered once
        super().__init__(url, **options)
        self._given_up = False

    def asked(self, ask: Callable[[], Answer]) -> Answer:
        """The answer, however often it takes.

        Raises:
            InputError: W529 it did not come in time. What is asked for later is not waited for.
        """
        try:
            answer = ask()
        except (StorageInternalError, DBAPIError) as error:
            if not _gone(error):
                raise
            lost = error
        else:
            self._given_up = False
            return answer
        begun, pause = time.monotonic(), _FIRST
        if not self._given_up:
            self._patience.heard(
                f"the database does not answer; waiting up to {self._patience.seconds:g} s for it"
            )
        while not self._given_up and time.monotonic() - begun < self._patience.seconds:
            left = self._patience.seconds - (time.monotonic() - begun)
            time.sleep(min(pause * random.uniform(0.5, 1.0), max(left, 0.0)))
            pause = min(2 * pause, _LONGEST)
            try:
                answer = ask()
            except (StorageInternalError, DBAPIError) as error:
                if not _gone(error):
                    raise
                lost = error
            else:
                self.waited += time.monotonic() - begun
                self._patience.heard("the database answers again")
                return answer
        self._given_up = True
        raise self._lost(lost) from None  # the error has the URL

    # ------------------------------------------------------------------ what leaves something new

    def create_new_study(
        self, directions: Sequence[StudyDirection], study_name: str | None = None
    ) -> int:
        """As Optuna; a study without anything in it that appears between two attempts is ours."""
        name = study_name or f"no-name-{uuid.uuid4()}"
        attempts = 0

        def ask() -> int:
            nonlocal attempts
            attempts += 1
            try:
                return RDBStorage.create_new_study(self, directions, name)
            except DuplicatedStudyError:
                if attempts == 1:
                    raise
                number = RDBStorage.get_study_id_from_name(self, name)
                if RDBStorage.get_study_user_attrs(self, number) or self.get_all_trials(number):
                    raise
                return number

        return self.asked(ask)

    def delete_study(self, study_id: int) -> None:
        """As Optuna; one that is gone has been deleted."""
        attempts = 0

        def ask() -> None:
            nonlocal attempts
            attempts += 1
            try:
                RDBStorage.delete_study(self, study_id)
            except KeyError:
                if attempts == 1:
                    raise

        self.asked(ask)

    # --------------------------------------------------------------------------- states of trials

    def set_trial_state_values(
        self, trial_id: int, state: TrialState, values: Sequence[float] | None = None
    ) -> bool:
        """As Optuna; what an attempt did of which nobody heard has been done."""
        if state == TrialState.RUNNING:
            token = str(uuid.uuid4())
            return self.asked(lambda: self.taken(trial_id, token))
        attempts = 0

        def ask() -> bool:
            nonlocal attempts
            attempts += 1
            try:
                return RDBStorage.set_trial_state_values(self, trial_id, state, values)
            except UpdateFinishedTrialError:
                found = RDBStorage.get_trial(self, trial_id)
                same = found.state == state and found.values == _listed(values)
                if attempts == 1 or not same:
                    raise
                return True

        return self.asked(ask)


def _repeated(name: str) -> Any:
    """A method of `RDBStorage` that is asked again as it is."""
    method = getattr(RDBStorage, name)

    @wraps(method)
    def asked(self: Patient, *args: Any, **kwargs: Any) -> Any:
        return self.asked(lambda: method(self, *args, **kwargs))

    return asked


for _name in _REPEATED:
    setattr(Patient, _name, _repeated(_name))


def _listed(values: Sequence[float] | None) -> list[float] | None:
    return None if values is None else [float(v) for v in values]


def _gone(error: Exception) -> bool:
    """Whether the connection, or the server, is not there: what was asked for may be in order.

    Where Optuna asks in a second way after the first has failed (`_get_trials`), the transaction that
    broke is still open, and the error is of that: what broke it is what was being handled then.
    """
    cause = error.__cause__ if isinstance(error, StorageInternalError) else error
    if isinstance(cause, PendingRollbackError):
        cause = cause.__context__
    broken = isinstance(cause, DBAPIError) and cause.connection_invalidated
    return broken or isinstance(cause, (OperationalError, InterfaceError))
