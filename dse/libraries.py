"""Libraries that an installation may lack: imported where they are used, missed with what to install."""

from __future__ import annotations

import importlib
from typing import Any

from dsl.errors.errors import InputError


def optuna_library(*, quiet: bool = True) -> Any:
    """Optuna.

    Args:
        quiet: it says nothing but errors from now on; not so in studies of the user's own.

    Raises:
        InputError: W523 it is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise InputError(
            "W523", "exploring needs Optuna, which is not installed", help="pip install 'weft[dse]'"
        ) from error
    if quiet:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def need(module: str, what: str, library: str, group: str) -> Any:
    """Import an optional library.

    Raises:
        InputError: W528 it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"{what} needs {library}, which is not installed"
        raise InputError("W528", message, help=f"pip install 'weft[{group}]'") from error
