"""Files of weights: tensors, and a model card that says what they are and of which schema.

Reading one runs nothing: safetensors and JSON, every name, shape and number checked before use.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dsl.errors.errors import InputError
from qor_gnn.gnn.examples.checks import check_words
from qor_gnn.gnn.examples.example import METRICS
from qor_gnn.gnn.examples.targets import MOST, SUMMED
from qor_gnn.gnn.examples.terms import OPEN_TERMS, TERMS, TermModel, is_open
from qor_gnn.gnn.graph.schema import FEATURES, VERSION
from qor_gnn.gnn.nets.network import Network, Shape
from qor_gnn.gnn.shipped_files import SHIPPED, SUFFIX, names
from qor_gnn.gnn.training.adapt import MOST_SHOTS, Adapter, Shots
from qor_gnn.gnn.training.ensemble import Calibration, Model
from qor_gnn.gnn.training.tensors import MOST_BYTES, read_tensors, write_tensors
from qor_gnn.gnn.training.weights_checks import NO_LABEL, check_card, check_numbers

FORMAT = 2
_UNFIT = (
    *(KeyError, ValueError, TypeError, RuntimeError, AttributeError, IndexError),
    OverflowError,  # an integer of any length
)
_MOST = {"members": 32, "hidden": 512, "layers": 16, "outer": 16, "targets": 1024}


def save(path: Path, model: Model) -> None:
    """Write a predictor; what was there before is replaced in one step.

    Raises:
        InputError: W508, it cannot be written; W538, `load` would refuse the file.
    """
    tensors, about = _packed(model)
    try:
        _model(tensors, json.loads(json.dumps(about)))
    except _UNFIT as error:
        raise InputError(
            "W538",
            f"{path} is not written: it would not hold weights: {_why(error)}",
            help="look at the labelled designs: figures are far from anything that a tool says",
        ) from error
    partial = path.with_name(path.name + ".partial")
    write_tensors(partial, tensors, about)
    try:
        partial.replace(path)
    except OSError as error:
        raise InputError("W508", f"cannot write {path}: {error.strerror}") from error


def _packed(model: Model) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What a file holds: tensors, and what it says about them."""
    tensors = {f"network.{name}": t for name, t in model.network.state_dict().items()}
    tensors["trust"] = torch.from_numpy(model.calibration.trust)
    tensors["stretch"] = torch.from_numpy(model.calibration.stretch)
    for m, terms in enumerate(model.terms):
        for (target, resource), costs in terms.costs.items():
            tensors[f"costs.{m}.{model.targets.index(target)}.{resource}"] = torch.from_numpy(costs)
    adapters = {}
    for n, (target, adapter) in enumerate(model.adapters.items()):
        shots = adapter.shots
        tensors[f"shots.{n}.places"] = torch.from_numpy(np.concatenate(shots.places))
        tensors[f"shots.{n}.shares"] = torch.from_numpy(shots.shares)
        tensors[f"shots.{n}.missed"] = torch.from_numpy(
            np.where(np.isnan(shots.missed), NO_LABEL, shots.missed)
        )
        adapters[target] = {
            "structure": list(shots.structure),
            "lengths": [len(p) for p in shots.places],
        }
    return tensors, {
        **_versions(model.targets),
        "adapters": adapters,
        "shape": asdict(model.network.shape),
        "targets": list(model.targets),
        "seen": {name: [int(m) for m in known] for name, known in model.seen.items()},
        "card": dict(model.card),
    }


def _versions(targets: Collection[str]) -> dict[str, Any]:
    """What the weights depend on: other columns or terms, and they say nothing."""
    own = {name: [t.name for t in terms] for name, terms in OPEN_TERMS.items()}
    return {
        **({"open terms": own} if any(map(is_open, targets)) else {}),
        "format": FORMAT,
        "schema": VERSION,
        "metrics": list(METRICS),
        "columns": {kind.value: list(columns) for kind, columns in FEATURES.items()},
        "terms": {name: [t.name for t in terms] for name, terms in TERMS.items()},
    }


def _strings(given: object) -> list[str]:
    return [str(one) for one in given] if isinstance(given, list) else []


def load(path: Path) -> Model:
    """Read a predictor.

    Raises:
        InputError: W512, it cannot be read; W538, it is none; W539, it is of another version.
    """
    tensors, about = read_tensors(path)
    for name, wanted in _versions(_strings(about.get("targets"))).items():
        if about.get(name) != wanted:
            raise InputError(
                "W539",
                f"{path} was trained for another version of Weft (it has another {name})",
                help="train it again: weft train",
            )
    try:
        return _model(tensors, about)
    except _UNFIT as error:
        raise InputError(
            "W538",
            f"{path} does not hold weights: {_why(error)}",
            help="train them again: weft train",
        ) from error


def _why(error: Exception) -> str:
    match error:
        case KeyError():
            return f"it has no {error}"
        case TypeError() | AttributeError() | IndexError():
            return "its description is of another form"
        case _:
            return str(error).partition("\n")[0]


def _model(tensors: dict[str, Tensor], about: Mapping[str, Any]) -> Model:
    shape = _shape(about["shape"])
    targets = tuple(str(name) for name in about["targets"])
    if len(targets) != shape.targets or len(set(targets)) != len(targets):
        raise ValueError("its tools do not fit its shape")
    check_words([*targets, *about["adapters"]])
    check_numbers(tensors)
    weights = {
        name.removeprefix("network."): tensor
        for name, tensor in tensors.items()
        if name.startswith("network.")
    }
    with torch.device("meta"):  # nothing is allocated before the tensors are known to fit
        network = Network(shape)
    wanted = network.state_dict()
    for name, place in wanted.items():
        if (weights[name].shape, weights[name].dtype) != (place.shape, place.dtype):
            raise ValueError(f"{name} is of another shape or type")
    network.load_state_dict(weights, assign=True)
    wide = (2, shape.targets + 1, len(METRICS))
    return Model(
        network.eval(),
        tuple(_terms(tensors, m, targets) for m in range(shape.members)),
        targets,
        _seen(about["seen"], shape.members),
        Calibration(_array(tensors["trust"], wide), _array(tensors["stretch"], wide)),
        check_card(about["card"]),
        _adapters(tensors, about["adapters"], targets),
    )


def _adapters(
    tensors: Mapping[str, Tensor], given: Mapping[str, Any], targets: tuple[str, ...]
) -> dict[str, Adapter]:
    found = {}
    for n, (target, row) in enumerate(given.items()):
        structure = tuple(str(name) for name in row["structure"])
        lengths, count = list(row["lengths"]), len(structure)
        fit = all(type(n) is int and 0 <= n <= MOST_BYTES for n in lengths)
        if not 0 < count == len(lengths) <= MOST_SHOTS or not fit:
            raise ValueError("labels that do not fit together")
        places = _array(tensors[f"shots.{n}.places"], (sum(lengths),))
        missed = _array(tensors[f"shots.{n}.missed"], (count, len(METRICS)))
        shots = Shots(
            structure,
            tuple(np.split(places, np.cumsum(lengths)[:-1])),
            _array(tensors[f"shots.{n}.shares"], (count, len(SUMMED), MOST)),
            np.where(missed == NO_LABEL, np.nan, missed),
        )
        found[str(target)] = Adapter(shots, known=str(target) in targets)
    return found


def _shape(given: Mapping[str, Any]) -> Shape:
    shape = Shape(**given)
    for name, most in _MOST.items():
        value = getattr(shape, name)
        if type(value) is not int or not (name != "targets") <= value <= most:
            raise ValueError(f"{value!r} {name}")
    if type(shape.flat) is not bool:
        raise ValueError(f"flat is {shape.flat!r}")
    return shape


def _terms(tensors: Mapping[str, Tensor], member: int, targets: tuple[str, ...]) -> TermModel:
    costs = {}
    for t, target in enumerate(targets):
        for resource in SUMMED:
            tensor = tensors.get(f"costs.{member}.{t}.{resource}")
            if tensor is not None:
                costs[target, resource] = _array(tensor, (len(TERMS[resource]) + 1,))
    return TermModel(costs)


def _seen(given: Mapping[str, Any], members: int) -> dict[str, tuple[bool, ...]]:
    found = {str(name): tuple(bool(m) for m in known) for name, known in given.items()}
    if any(len(known) != members for known in found.values()):
        raise ValueError("kernels that are known to other members")
    return found


def _array(tensor: Tensor, shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.float64]]:
    if tuple(tensor.shape) != shape or tensor.dtype != torch.float64:
        raise ValueError(f"an array of shape {tuple(tensor.shape)}, not {shape}")
    return tensor.numpy().copy()


def shipped(target: str) -> Path:
    """The weights that come with Weft for a tool personality.

    Raises:
        InputError: W550, there are none.
    """
    path = SHIPPED / f"{target}{SUFFIX}"
    if target not in (there := names()):
        known = f"there are weights for {', '.join(there)}" if there else "there are none yet"
        raise InputError(
            "W550",
            f"no weights come with Weft for {target}",
            help=f"{known}; weft train makes some from labelled designs",
        )
    return path
