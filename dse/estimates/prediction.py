"""What a predictor says of designs: from a scheduled program to figures with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dse.estimates.estimation import Estimation
from dsl.errors.errors import InputError
from qor_gnn.design.directives import written_unrolls

if TYPE_CHECKING:
    from qor_gnn.gnn.examples.example import Example
    from qor_gnn.gnn.training.ensemble import Model
    from qor_gnn.gnn.training.predict import Figure

PROVENANCE = "gnn"


@dataclass(frozen=True, slots=True)
class Predicted:
    """Figures of one design.

    Attributes:
        figures: by metric of `qor_gnn.gnn.examples.example.METRICS`.
        weights: name of the predictor.
        trained_on: the tools that the predictor has learned from.
        notes: what there is to say about them.
    """

    figures: dict[str, Figure]
    weights: str
    trained_on: tuple[str, ...]
    notes: tuple[str, ...]


def model_for(target: str, weights: Path | None) -> tuple[Model, Path]:
    """The predictor in a file, or the one that comes with Weft for a tool personality.

    Raises:
        InputError: W528 its libraries are not installed; W512, W538, W539 the file is not one;
            W550 none comes with Weft for the tool.
    """
    needs_libraries()
    from qor_gnn.gnn.training import weights as files

    path = files.shipped(target) if weights is None else weights
    return _loaded(path, _stamp(path)), path


def needs_libraries() -> None:
    """That what predictors need is installed.

    Raises:
        InputError: W528, it is not.
    """
    wanted = ("torch", "torch_geometric", "safetensors")
    missing = next((n for n in wanted if find_spec(n) is None), None)
    if missing is not None:
        raise InputError(
            "W528",
            f"predictors need {missing}, which is not installed",
            help="pip install 'weft[gnn]'",
        )


def _stamp(path: Path) -> tuple[int, int]:
    """Another one where the file has changed."""
    try:
        found = path.stat()
    except OSError as error:
        raise InputError("W512", f"cannot read {path}: {error.strerror}") from error
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4)
def _loaded(path: Path, _: tuple[int, int]) -> Model:
    from qor_gnn.gnn.training.weights import load

    return load(path)


def example_of(found: Estimation) -> Example:
    """A design to ask about."""
    from qor_gnn.gnn.training.predict import design

    kept = written_unrolls(found.schedule)
    return design(found.regions, found.setting.tool, found.answer, kept)


def predicted(found: Estimation, weights: Path | None = None) -> Predicted:
    """What a predictor says of an estimated design.

    Args:
        found: the white box's estimate.
        weights: the predictor's file; None for the one that comes with Weft.

    Raises:
        InputError: as `model_for`.
    """
    return all_predicted([found], weights)[0]


def all_predicted(found: Sequence[Estimation], weights: Path | None = None) -> list[Predicted]:
    """As `predicted`, of designs of one tool."""
    model, path = model_for(found[0].setting.tool.measured_as, weights)
    return predicted_by(model, path.name, [example_of(one) for one in found])


def predicted_by(model: Model, name: str, asked: Sequence[Example]) -> list[Predicted]:
    """What a predictor that is at hand says of designs.

    Args:
        model: the predictor.
        name: of it, for people.
        asked: the designs, from `example_of`.
    """
    from qor_gnn.gnn.training.predict import figures

    rows = figures(model, asked)
    tools = tuple(dict.fromkeys((*model.targets, *model.adapters)))
    return [
        Predicted(row, name, tools, _notes(one.target, model.answers_as(one.target), tools))
        for row, one in zip(rows, asked, strict=True)
    ]


def _notes(target: str, answered: str, tools: Sequence[str]) -> tuple[str, ...]:
    """What there is to say of figures of a tool, which are those of the target ``answered``."""
    if answered != target:
        return (f"figures after place and route, as labels of {answered} say",)
    if target in tools:
        return ()
    others = f"only of {', '.join(tools)}" if tools else "nor of any other tool"
    return (f"the predictor has seen no labels of {target}, {others}",)
