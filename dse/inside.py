"""Reading what a folder of somebody else's holds, and nothing outside of it."""

from __future__ import annotations

import errno
from pathlib import Path

from dsl.errors.errors import InputError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of files that there is no room for."""


def inside(path: Path, folder: Path) -> Path:
    """The path, if it leads into the folder: not by ``..``, as an absolute path, or by a link.

    It may be of nothing yet, but not of a pipe or a device, which would be waited for.

    Raises:
        InputError: W548: it leads out of it.
    """
    try:
        found = path.resolve()
        good = found.is_relative_to(folder.resolve())
        good = good and (found.is_file() or found.is_dir() or not found.exists())
    except (OSError, RuntimeError, ValueError):  # links in a circle; a name with a null
        good = False
    if not good:
        raise InputError(
            "W548",
            f"{str(path)!r} leads out of {folder}, or is no file",
            help="what a folder of data names has to be in it: copy it there, if you trust it",
        )
    return path


_AGAIN = "make it readable, or name another folder: this one is damaged"


def read_text(path: Path, folder: Path) -> str:
    """The text of a file in a folder.

    Raises:
        InputError: W512: it cannot be read; W548: it is not in the folder.
    """
    try:
        return inside(path, folder).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError("W512", f"cannot read {path}: {error.strerror}", help=_AGAIN) from error
    except UnicodeDecodeError as error:
        raise InputError("W512", f"cannot read {path}: it is not UTF-8", help=_AGAIN) from error
