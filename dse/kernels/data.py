"""A kernel as data, for those who must not run its file: in a run's folder, a study, a worker.

``kernel.json`` is written when a run begins. Who reads it runs no Python of whoever made the run.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from pathlib import Path

from dse.inside import read_text
from dse.kernels.reduced import parts_of
from dsl.errors.errors import InputError, LanguageError
from dsl.kernels.kernel import Kernel
from dsl.stored.kernel import MOST_SMALL, StoredKernel, kernel_json, kernel_of_json, stored_kernel
from dsl.stored.read import MAX_BYTES

NAME = "kernel.json"


def data_of(kernel: Kernel) -> StoredKernel:
    """A kernel with the smaller sizes at which its designs are checked.

    Raises:
        LanguageError: The kernel is not a program of the language.
    """
    named: list[Kernel] = []
    for size in kernel.sizes:
        with suppress(LanguageError):  # a size that nobody asked for may be wrong
            one = kernel.at(size)
            _ = one.program
            named.append(one)
    return stored_kernel(kernel, named, tuple(parts_of(kernel)))


def packed(kernel: StoredKernel) -> bytes:
    """All that a worker needs, in few bytes."""
    return zlib.compress(kernel_json(kernel, most=MOST_SMALL).encode(), 6)


def unpacked(data: bytes, where: str) -> StoredKernel:
    """What `packed` made.

    Raises:
        InputError: W546: it holds no kernel.
    """
    try:
        text = zlib.decompressobj().decompress(data, MAX_BYTES).decode()
    except (zlib.error, UnicodeDecodeError):
        text = ""
    return kernel_of_json(text, where)


def kept(folder: Path) -> StoredKernel:
    """The kernel in the folder of a run.

    Raises:
        InputError: W547: there is none, as an older Weft began the run; W546: it is damaged; W512: it
            cannot be read; W548: it is not in the folder.
    """
    path = folder / NAME
    if not path.exists() and not path.is_symlink():
        raise InputError(
            "W547",
            f"{folder} does not hold the kernel as data, and its Python is not run unasked",
            help="name the kernel, and its file is run: --kernel FILE.py:NAME",
        )
    return kernel_of_json(read_text(path, folder), str(path))
