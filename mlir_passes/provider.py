"""Where MLIR comes from: the only file that names the package of the Python bindings.

``from mlir_passes.provider import ir, affine, ...`` imports exactly those submodules, from LLVM's
own package ``mlir`` where that is installed with all that Weft needs, else from ``torch_mlir``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from dsl.errors.errors import IRError

_PACKAGES = ("mlir", "torch_mlir")
_NEEDED = ("ir", "dialects.ext", "dialects.affine", "execution_engine", "passmanager")
_TOP_LEVEL = frozenset({"ir", "passmanager", "execution_engine", "rewrite"})
_DIALECTS = frozenset({"affine", "arith", "builtin", "cf", "ext", "func", "llvm", "math", "memref"})


def _is_complete(package: str) -> bool:
    """Whether the package is installed with what Weft uses; older bindings have no dialects in
    Python, and a package of that name on PyPI is an empty placeholder.
    """
    try:
        if any(find_spec(f"{package}.{name}") is None for name in _NEEDED):
            return False
    except ModuleNotFoundError:
        return False
    with _numpy_hidden():
        return hasattr(importlib.import_module(f"{package}.ir"), "DynamicOpTrait")


@contextmanager
def _numpy_hidden() -> Iterator[None]:
    """Keep ``ir`` from importing NumPy, unless something else has.

    It does so, where it can, for builders of attributes that no op of level 3 has; compiling a
    kernel needs no NumPy, and loading it would take a sixth of the time of the whole command.
    """
    if "numpy" in sys.modules:
        yield
        return
    sys.modules["numpy"] = None  # type: ignore[assignment]  # an import of it fails
    try:
        yield
    finally:
        del sys.modules["numpy"]


@cache
def package() -> str:
    """The name of the package that provides MLIR.

    Raises:
        IRError: W300, none is installed.
    """
    for name in _PACKAGES:
        if _is_complete(name):
            return name
    raise IRError(
        "W300",
        "no MLIR Python bindings are installed",
        notes=["looked for the packages mlir (of the LLVM project) and torch_mlir"],
        help="pip install torch-mlir==20261001",
    )


@cache
def _submodule(name: str) -> Any:
    return importlib.import_module(f"{package()}.{name}")


def search_dialects_in(prefix: str) -> None:
    """Let the bindings find Python classes of a dialect ``d`` in the module ``<prefix>.d``.

    Without it they look for the module again at each access to an attribute of ours (20 µs).
    """
    _submodule("_mlir_libs._mlir").globals.append_dialect_search_prefix(prefix)


def __getattr__(name: str) -> Any:
    if name in _TOP_LEVEL:
        return _submodule(name)
    if name in _DIALECTS:
        return _submodule(f"dialects.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
