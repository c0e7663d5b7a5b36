"""Files of examples: NumPy archives without pickled objects.

Of each kind of thing there is one array over all examples, and counts to cut it by. Reading a file
runs nothing; what does not fit is refused.
"""

from __future__ import annotations

import json
import lzma
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dsl.errors.errors import InputError
from qor_gnn.gnn.examples.example import Example
from qor_gnn.gnn.examples.pack import packed, unpacked
from qor_gnn.gnn.graph import schema
from qor_gnn.gnn.graph.schema import FEATURES

VERSION = 1


def save(path: Path, examples: Sequence[Example]) -> None:
    """Write a file of examples; what was there before is replaced in one step.

    Raises:
        InputError: W508: it cannot be written.
    """
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
