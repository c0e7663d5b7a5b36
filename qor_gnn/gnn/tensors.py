"""Files of tensors: safetensors with a JSON text. Reading one runs nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from dsl.errors import InputError

MOST_BYTES = 1 << 28
_KEY = "weft"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write a file, down to the disk.

    Raises:
        InputError: W508, it cannot be written.
    """
    from safetensors.torch import save

    plain = {name: t.detach().contiguous().clone() for name, t in tensors.items()}
    data = save(plain, {_KEY: json.dumps(about, sort_keys=True)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError("W508", f"cannot write {path}: {error.strerror}") from error


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a file, and what it says about them.

    Raises:
        InputError: W512, it cannot be read; W538, it holds no tensors of Weft.
    """
    from safetensors import SafetensorError, safe_open

    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InputError("W538", f"{path} is too large to be weights: {size:,} bytes")
        with safe_open(path, framework="pt", device="cpu") as file:
            about = json.loads((file.metadata() or {})[_KEY])
            if not isinstance(about, dict):
                raise ValueError("its description is no object")
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except OSError as error:
        raise InputError("W512", f"cannot read {path}: {error.strerror}") from error
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("W538", f"{path} does not hold weights: {error!r}") from error
