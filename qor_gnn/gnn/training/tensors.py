"""Files of tensors: safetensors with a JSON text and a checksum of both. Reading one runs nothing.

A file is read only if it is, to the byte, what `write_tensors` makes of what it holds: a header that
somebody edited, if only by leaving the checksum out or adding a field, is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dsl.errors.errors import InputError

MOST_BYTES = 1 << 28
_KEY, _SUM = "weft", "checksum"
_HELP = "weft train writes such a file; one that is damaged has to be written again"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write a file, down to the disk.

    Raises:
        InputError: W508, it cannot be written.
    """
    plain = {name: t.detach().contiguous().clone() for name, t in tensors.items()}
    data = _bytes(plain, json.loads(json.dumps(about)))  # as it will be read
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError("W508", f"cannot write {path}: {error.strerror}") from error


def read_tensors(
    path: Path, most: int = MOST_BYTES, help: str = _HELP
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a file, and what it says about them.

    Args:
        path: of the file.
        most: bytes that it may have.
        help: what to do about one that holds none.

    Raises:
        InputError: W512, it cannot be read; W538, it holds no tensors of Weft, or is damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # a pipe would be waited for
            raise InputError("W512", f"cannot read {path}: it is not a file")
        if found.st_size > most:
            what = f"{found.st_size:,} bytes, more than {most:,}"
            raise _refused(path, f"it is too large: {what}", help)
        data = path.read_bytes()
        tensors = load(data)
        about = json.loads(_header(data)[_KEY])
        same = isinstance(about, dict) and about.pop(_SUM, None) and _bytes(tensors, about) == data
    except OSError as error:
        raise InputError("W512", f"cannot read {path}: {error.strerror or error}") from error
    except SafetensorError as error:
        why = f"it is damaged, or no file of tensors ({error})"
        raise _refused(path, why, help) from error
    except KeyError as error:
        raise _refused(path, "it does not say what its tensors are", help) from error
    except (ValueError, TypeError, RecursionError, RuntimeError) as error:
        raise _refused(path, "its description is damaged", help) from error
    if not isinstance(about, dict):
        raise _refused(path, "its description is damaged", help)
    if not same:
        why = "it is damaged, or somebody has edited it: its checksum is another one"
        raise _refused(path, why, help)
    return tensors, about


def _header(data: bytes) -> Mapping[str, Any]:
    """What a file says beside its tensors; safetensors has found it to be one."""
    size = int.from_bytes(data[:8], "little")
    found = json.loads(data[8 : 8 + size])["__metadata__"]
    return dict(found)


def _bytes(tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> bytes:
    """The file of these tensors and of what it is to say about them."""
    from safetensors.torch import save

    described = {**about, _SUM: _checksum(tensors, about)}
    return save(dict(tensors), {_KEY: json.dumps(described, sort_keys=True)})


def _refused(path: Path, why: str, help: str) -> InputError:
    return InputError("W538", f"{path} does not hold weights: {why}", help=help)


def _checksum(tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> str:
    """A digest of all that a file holds."""
    found = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        found.update(repr((name, str(tensor.dtype), tuple(tensor.shape))).encode())
        found.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()
