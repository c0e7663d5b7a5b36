"""The evaluators of `dse.evaluators.fidelities.FIDELITIES` by name.

One that joins them gets a test class of the evaluators' contract.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dse.evaluators import csim, gnn, rtl
from dse.evaluators.base import Evaluator
from dse.evaluators.model import ModelEvaluator


def evaluator(
    name: str,
    kernel: bytes,
    seconds: float,
    weights: Path | None = None,
) -> Evaluator:
    """An evaluator for the designs of one kernel.

    Args:
        name: one of `FIDELITIES`; KeyError for any other.
        kernel: it as data, of `dse.kernels.data.packed`.
        seconds: limit of each tool that it runs.
        weights: the predictor's file; None for the one that comes with Weft.
    """
    match name:
        case "model":
            return ModelEvaluator()
        case gnn.NAME:
            return gnn.GnnEvaluator(weights)
        case csim.NAME:
            return csim.CsimEvaluator(kernel, seconds)
        case rtl.NAME:
            from backends.rtl.synth import default_cache

            return rtl.RtlEvaluator(seconds, cache=default_cache())
        case _:
            raise KeyError(name)


def of_what_is_emitted(chosen: Evaluator) -> Evaluator:
    """An evaluator that a search goes by, asked about level 3 modules instead of loops."""
    if isinstance(chosen, ModelEvaluator | gnn.GnnEvaluator):
        return replace(chosen, emitted=True)
    return chosen
