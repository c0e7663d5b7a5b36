"""The example files, found on disk: a new file is tested without registration."""

from __future__ import annotations

import importlib.util
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = tuple(sorted((ROOT / "examples").rglob("*.py")))


@dataclass(frozen=True)
class Example:
    """One file: the kernel called like the file, its reference and its sizes."""

    path: Path
    module: ModuleType
    kernel: Any

    @property
    def sizes(self) -> dict[str, dict[str, int]]:
        """The named sizes; a kernel that a program built has one size, without a name."""
        return getattr(self.module, "SIZES", {"": {}})

    @property
    def smallest(self) -> str:
        """The size that the interpreter is tested at."""
        return next(iter(self.sizes))

    def at(self, size: str) -> Any:
        """The kernel at one of the sizes."""
        return self.kernel.at(size) if size else self.kernel

    def inputs(self, size: str, seed: int) -> dict[str, Any]:
        """Arguments by name: those that the kernel is meant for, or random ones."""
        made: dict[str, Any] = self.at(size).make_inputs(seed)
        return made

    def expected(self, size: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """The arguments after the file's ``reference``, floats computed in double precision."""
        arguments = {name: _precise(value) for name, value in inputs.items()}
        wanted = inspect.signature(self.module.reference).parameters
        extra = {n: v for n, v in self.sizes[size].items() if n in wanted and n not in arguments}
        self.module.reference(**arguments, **extra)
        return arguments


def _precise(value: Any) -> Any:
    array = np.array(value)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


@cache
def load(path: Path) -> Example:
    """Import an example file, each once."""
    spec = importlib.util.spec_from_file_location(f"example_{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Example(path, module, getattr(module, path.stem))


def label(path: Path) -> str:
    """How a test names a file."""
    return path.relative_to(ROOT / "examples").with_suffix("").as_posix()
