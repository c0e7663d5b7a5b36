"""Labelled designs as the networks and the baselines learn from: graph, white box, labels.

A file of examples is a NumPy archive without pickled objects: of each kind of thing one array over
all examples, and counts to cut it by. Reading one runs nothing; what does not fit is refused.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dsl.errors import InputError
from qor_gnn.gnn import schema
from qor_gnn.gnn.build import DesignGraph
from qor_gnn.gnn.schema import FEATURES

VERSION = 1
METRICS = ("latency", "lut", "ff", "dsp", "bram18", "period_ns")
"""What is predicted: cycles, counts, and the least clock period in ns."""

BASE = (*METRICS, "uram")
LABELS = (*METRICS, "uram", "ii", "il")
"""What a tool may say: beside `METRICS` blocks of URAM, and of single loops the initiation interval
and the latency of an iteration, which are never inputs."""

Z90 = 1.6449
"""Standard deviations around the mean that hold 90% of a normal distribution."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled design.

    Attributes:
        graph: of the design.
        base: the white box's answer, every metric of `BASE`.
        label: what the tool said, only the metrics of `LABELS` that it has.
        target: name of the tool personality: tool, device and clock.
        kernel: what is left out in "leave one kernel out"; never an input.
        family: kernels of one family are left out together; never an input.
        group: digest of equivalent designs; never straddles a split.
        pragmas: the directives as numbers, in the order of the kernel's data set; no names.
        terms: the white box's resource terms, ``lut.NAME`` and ``ff.NAME`` (counts, or LUTs and
            flip-flops: see `qor_gnn.resource_terms`).
        part: the nest that the design holds alone, "" for a whole kernel.
        weight: equal designs of the data set that the example stands for.
        name: of the design in its data set, for people.
    """

    graph: DesignGraph
    base: Mapping[str, float]
    label: Mapping[str, float]
    target: str
    kernel: str
    family: str
    group: str
    pragmas: tuple[float, ...]
    terms: Mapping[str, float] = field(default_factory=dict)
    part: str = ""
    weight: float = 1.0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Answers for n designs: of each metric an array of shape (n,).

    Attributes:
        mean: the predicted value, in the metric's unit.
        std: the standard deviation of the logarithm (of ``log1p`` of it, as counts may be 0).
    """

    mean: Mapping[str, Floats]
    std: Mapping[str, Floats]

    def interval(self, metric: str) -> tuple[Floats, Floats]:
        """The 90% interval of a metric: bounds of shape (n,)."""
        middle, reach = np.log1p(self.mean[metric]), Z90 * self.std[metric]
        return np.expm1(middle - reach), np.expm1(middle + reach)


class Fitted(Protocol):
    """A predictor that has learned."""

    def predict(self, examples: Sequence[Example]) -> Prediction:
        """Answers for designs, whose labels are not looked at."""


class Predictor(Protocol):
    """A way to learn, with its settings: the same examples and seed give the same answers."""

    @property
    def name(self) -> str:
        """Short, for tables."""

    def fit(self, train: Sequence[Example], valid: Sequence[Example], seed: int) -> Fitted:
        """Learn. ``valid`` (possibly empty) is for stopping and for calibrating intervals."""


@dataclass(frozen=True, slots=True)
class Split:
    """Indices into a sequence of examples. No group is in two parts."""

    name: str
    train: tuple[int, ...]
    valid: tuple[int, ...]
    test: tuple[int, ...]


def digest(*parts: object) -> str:
    """A short name for a group of equivalent designs."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def where(examples: Sequence[Example], holds: Callable[[Example], bool]) -> tuple[int, ...]:
    """Indices of the examples for which it holds."""
    return tuple(n for n, example in enumerate(examples) if holds(example))


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """The different values, sorted."""
    return tuple(sorted(set(values)))


def column(examples: Sequence[Example], metric: str, of: str = "label") -> Floats:
    """A metric of all examples, shape (n,): of ``label`` (NaN where there is none) or ``base``."""
    rows = (example.label if of == "label" else example.base for example in examples)
    return np.array([row.get(metric, np.nan) for row in rows], dtype=np.float64)


# ------------------------------------------------------------------------------------------- files


def save(path: Path, examples: Sequence[Example]) -> None:
    """Write a file of examples; what was there before is replaced in one step.

    Raises:
        InputError: W508: it cannot be written.
    """
    from qor_gnn.gnn.examples_pack import packed  # it needs this module's types

    arrays, tables = packed(examples)
    meta = {"examples": VERSION, "schema": schema.VERSION, "columns": _columns(), **tables}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        partial.replace(path)
    except OSError as error:
        raise InputError("W508", f"cannot write {path}: {error.strerror}") from error


def load(path: Path) -> list[Example]:
    """Read a file of examples.

    Raises:
        InputError: W512: it cannot be read; W537: it is none, or one of another version.
    """
    from qor_gnn.gnn.examples_pack import unpacked

    try:
        arrays = _arrays(path)
        meta = json.loads(arrays.pop("meta").tobytes())
        _check_versions(path, meta)
        return unpacked(arrays, meta)
    except OSError as error:
        if error.errno is not None:
            raise InputError("W512", f"cannot read {path}: {error.strerror}") from error
        raise _no_examples(path, error) from error  # that is how bz2 says that it is damaged
    except (
        *(ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, OverflowError),
        *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, tokenize.TokenError),
        RuntimeError,  # of zipfile: an archive with a password, or packed in a way it does not know
    ) as error:
        raise _no_examples(path, error) from error


def _no_examples(path: Path, error: Exception) -> InputError:
    match error:
        case KeyError():
            why = f"it has no {error}"
        case tokenize.TokenError() | RecursionError():
            why = "it is damaged"
        case _:
            why = str(error).partition("\n")[0] or "it is damaged"
    return InputError(
        "W537",
        f"{path} does not hold examples: {why}",
        help="make the file again from the labels",
    )


def _columns() -> dict[str, list[str]]:
    return {kind.value: list(columns) for kind, columns in FEATURES.items()}


def _check_versions(path: Path, meta: Mapping[str, Any]) -> None:
    wanted = {"examples": VERSION, "schema": schema.VERSION, "columns": _columns()}
    different = [key for key, value in wanted.items() if meta[key] != value]
    if different:
        raise InputError(
            "W537",
            f"{path} holds examples of another version ({', '.join(different)})",
            help="make the file again from the labels",
        )


MOST_BYTES = 1 << 32
"""Of the arrays in a file, unpacked."""

_MOST_HEADER = 1000


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an archive, each no larger than the archive's directory says."""
    found: dict[str, npt.NDArray[Any]] = {}
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > MOST_BYTES:
            raise ValueError("it unpacks to more than 4 GiB")
        for entry in entries:
            with archive.open(entry) as file:
                found[entry.filename.removesuffix(".npy")] = _array(file, entry.file_size)
    return found


def _array(file: Any, size: int) -> npt.NDArray[Any]:
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"an array of format {version}")
    # Longer than of any array: parsing what is nested deep can fill the memory.
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file, _MOST_HEADER)
    if dtype.kind not in "fiu":
        raise ValueError(f"an array of {dtype}")
    data = file.read(size)
    if any(n < 0 for n in shape) or len(data) != int(np.prod(shape, dtype=object)) * dtype.itemsize:
        raise ValueError("an array of another length")
    found = np.frombuffer(data, dtype=dtype)
    return found.reshape(shape[::-1]).T if fortran else found.reshape(shape)
