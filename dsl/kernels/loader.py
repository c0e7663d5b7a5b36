"""Kernels from files: ``path/to/file.py:name``. The file is the user's own code, and is executed."""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import sys
import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from dsl.errors.callsite import line_span, raised_in
from dsl.errors.errors import InputError, Span, WeftError, did_you_mean
from dsl.expressions.types import int_type_named
from dsl.kernels.kernel import Kernel

_OTHER_TYPES = ("f16", "f32", "f64", "fixed", "ufixed")  # than integers


def load(spec: str | PathLike[str]) -> Kernel:
    """Load one kernel.

    Args:
        spec: ``path/to/file.py:name``, or the file alone where it defines one kernel only.

    Raises:
        InputError: W501 not of that form, W502 no such file, W503 no such kernel in it, W504 an
            error while the file is executed (with the user's own exception).
    """
    if not isinstance(spec, str | PathLike):
        raise InputError("W501", f"a kernel's file is text or a path, not {type(spec).__name__}")
    file, name = split_spec(str(spec))
    if name is None:
        kernels = load_kernels(file)
        if len(kernels) != 1:
            if not kernels:
                instead = "a kernel is a function under @weft.kernel"
                raise InputError("W503", f"{file} defines no kernel", help=instead)
            raise InputError(
                "W501",
                f"{file} defines {len(kernels)} kernels, and which one is meant is not said",
                help=f"write {file}:NAME; {_listed(kernels)}",
            )
        return next(iter(kernels.values()))
    module = _execute(file)
    found_kernels = _kernels(module)
    value = getattr(module, name, None)
    if isinstance(value, Kernel):
        return value
    if value is not None:
        kind = type(value).__name__
        article = "an" if kind[0] in "aeio" else "a"
        problem = f"'{name}' in {file} is {article} {kind}, not a kernel"
        instead = "put @weft.kernel above its 'def'" if callable(value) else _listed(found_kernels)
        raise InputError("W503", problem, help=instead)
    raise InputError(
        "W503",
        f"{file} defines no kernel '{name}'",
        help=did_you_mean(name, found_kernels) or "a kernel is a function under @weft.kernel",
    )


def load_kernels(file: Path) -> dict[str, Kernel]:
    """Every kernel that a file defines, by name, in order of definition.

    Raises:
        InputError: W502 no such file, W504 an error while it is executed.
    """
    return _kernels(_execute(file))


def split_spec(spec: str) -> tuple[Path, str | None]:
    """``path/to/file.py:name`` as the file and the name (None where there is none).

    Raises:
        InputError: W501 not of that form.
    """
    file, colon, name = spec.rpartition(":")
    if not colon or not name.isidentifier():
        file, name = spec, ""
    if not file.endswith(".py") or (spec.endswith(":")):
        raise InputError(
            "W501",
            f"'{spec}' is not the name of a kernel",
            help="a kernel is named path/to/file.py:name",
        )
    return Path(file), name or None


def _listed(kernels: dict[str, Kernel]) -> str:
    return f"its kernels are {', '.join(sorted(kernels))}" if kernels else "it defines no kernel"


def _kernels(module: types.ModuleType) -> dict[str, Kernel]:
    """The kernels of a module that were not imported from another one."""
    here = (module.__name__, "dsl.builder.program")
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, Kernel) and getattr(value, "__module__", "") in here
    }


def _execute(file: Path) -> types.ModuleType:
    if file.is_symlink() and _is_endless(file):
        message = f"{file} is a link that leads to itself"
        raise InputError("W502", message, help="name the file itself, or make the link anew")
    if not file.is_file():
        near = did_you_mean(file.name, _siblings(file))
        is_near = near is not None and near.startswith("did you mean")
        instead = near if is_near else "name a file by its path from here: FILE.py:KERNEL"
        raise InputError("W502", f"there is no file {file}", help=instead)
    # A name of its own for each path: two files called gemm.py do not replace each other.
    digest = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:12]
    module_name = f"weft_file_{file.stem}_{digest}"
    module_spec = importlib.util.spec_from_file_location(module_name, file)
    if module_spec is None or module_spec.loader is None:
        raise InputError("W502", f"{file} is not a Python file")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module_name] = module
    try:
        with _import_path(str(file.resolve().parent)):
            module_spec.loader.exec_module(module)
    except WeftError:
        del sys.modules[module_name]
        raise
    except (Exception, SystemExit) as e:
        del sys.modules[module_name]
        raise _failed(file, e) from e
    return module


def _is_endless(link: Path) -> bool:
    try:
        link.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def _siblings(file: Path) -> Iterator[str]:
    if file.parent.is_dir():
        yield from (p.name for p in file.parent.glob("*.py"))


@contextmanager
def _import_path(folder: str) -> Iterator[None]:
    """Let the file import its neighbours while it is executed, as ``python file.py`` would."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _failed(file: Path, error: BaseException) -> InputError:
    """The user's own exception, at the innermost line of the user's file."""
    text = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, SyntaxError) and error.lineno is not None:
        text = f"SyntaxError: {error.msg}"
        span: Span | None = line_span(error.filename or str(file), error.lineno)
    else:
        span = raised_in(error, file)
    missing = error.name if isinstance(error, NameError) else None
    is_type = missing in _OTHER_TYPES or (missing and int_type_named(missing))
    help_ = f"python {file} shows the whole error"
    if is_type:
        help_ = f"from weft import {missing}"
    elif isinstance(error, ModuleNotFoundError):
        help_ = f"install {error.name}, or name its folder in PYTHONPATH"
    return InputError("W504", f"{file} cannot be loaded: {text}", span=span, help=help_)
