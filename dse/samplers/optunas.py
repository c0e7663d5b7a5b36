"""Optuna's samplers by name."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from dse.libraries import need, optuna_library
from dse.strategies.names import Sampler

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


def sampler(name: Sampler, seed: int, *, parallel: bool = False) -> BaseSampler:
    """A sampler. All but ``random`` prefer points that keep to the constraints of a study.

    Args:
        name: which.
        seed: of its random numbers.
        parallel: points are asked for while others are evaluated.

    Raises:
        InputError: W523 Optuna is not installed; W528 ``gp`` needs PyTorch and SciPy.
    """
    library = optuna_library(quiet=False)
    samplers = library.samplers
    # Points under way count as bad ones, so that the next is not next to them.
    more: dict[str, Any] = {"constant_liar": True} if name == "tpe" and parallel else {}
    if name == "gp":
        need("torch", "the strategy gp", "PyTorch", "gp")
        need("scipy", "the strategy gp", "SciPy", "gp")
        # Parameters that exist in some structures only are sampled by themselves, and the same
        # design always gets the same figures.
        more = {"warn_independent_sampling": False, "deterministic_objective": True}
    kinds = {
        "tpe": samplers.TPESampler,
        "nsga2": samplers.NSGAIISampler,
        "nsga3": samplers.NSGAIIISampler,
        "gp": samplers.GPSampler,
        "random": samplers.RandomSampler,
    }
    with warnings.catch_warnings():
        # What is experimental may change with a version of Optuna, which is why that is pinned.
        warnings.simplefilter("ignore", library.exceptions.ExperimentalWarning)
        made: BaseSampler = kinds[name](seed=seed, **more)
    return made
