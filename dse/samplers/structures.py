"""Structures that Optuna suggests, the factors of which are solved.

The sampler learns which structures, and shares of the budget, are worth it in a study in memory: of the
trials whose points it led to. What it suggests in vain is nobody's trial but there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from optuna import logging
from optuna.study import create_study
from optuna.trial import TrialState, create_trial

from dse.samplers.suggesting import Asking
from dse.space.space import Point
from dse.strategies.nearby import Nearby
from dse.strategies.sampled import sampled_structure

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial


@dataclass(slots=True)
class Structures:
    """What is solved for a suggested structure; where that is known, a neighbour of the front.

    A process that goes on with a study knows what came of its trials, not which of them were led to.
    """

    _study: Study | None = None
    _ended: list[FrozenTrial] = field(default_factory=list)  # before there is a study
    _led_to: dict[int, Trial] = field(default_factory=dict)  # by the numbers of the trials

    def point(self, asking: Asking, near: Nearby, random: Random) -> Point | None:
        """See `dse.samplers.suggesting.Draw`."""
        study = self._begun(asking)
        trial = study.ask()
        solution = sampled_structure(trial, near.space, near.budget)
        if solution is not None and near.take(solution.point):
            self._led_to[asking.trial.number] = trial
            return solution.point
        study.tell(trial, state=TrialState.FAIL)
        return near.next() or near.anywhere()

    def hear(self, trial: FrozenTrial) -> None:
        """See `dse.samplers.suggesting.Draw`."""
        if self._study is None:
            self._ended.append(trial)
        else:
            self._tell(self._study, trial)

    def _begun(self, asking: Asking) -> Study:
        if self._study is None:
            before = logging.get_verbosity()
            logging.set_verbosity(max(before, logging.WARNING))  # nobody asked for this study
            self._study = create_study(directions=asking.study.directions, sampler=asking.sampler)
            logging.set_verbosity(before)
            for trial in self._ended:
                self._tell(self._study, trial)
            self._ended.clear()
        return self._study

    def _tell(self, study: Study, trial: FrozenTrial) -> None:
        asked = self._led_to.pop(trial.number, None)
        complete = trial.state is TrialState.COMPLETE
        if asked is not None:
            for name, over in trial.constraints.items():
                asked.set_constraint(name, over)
            study.tell(asked, trial.values if complete else None,
                       state=None if complete else TrialState.FAIL)  # fmt: skip
        elif complete:
            study.add_trial(create_trial(values=trial.values, constraints=trial.constraints))
