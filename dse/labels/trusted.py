"""Which kernels labelled designs are of, and where those come from: data, or what the user names.

Data sets and exported projects hold the programs of their designs. Python files that they name are
run only where the user says so: by ``--kernel``, or below a folder of ``--trust``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dse.kernels.target import kernels_of
from dsl.errors.errors import InputError
from dsl.kernels.kernel import Kernel
from dsl.kernels.loader import split_spec

HELP = (
    "name the kernel, and its file is run: --kernel FILE.py:NAME; or --trust DIR, and so are the "
    "files below it"
)


@dataclass(frozen=True, slots=True)
class Trusted:
    """What the user named: kernels by name, and folders whose Python files may be run."""

    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()

    def kernel(self, name: str, file: str, whose: str) -> Kernel:
        """A kernel that the user named, or one of a file that may be run.

        Args:
            name: of the kernel.
            file: that the data names, from the working folder.
            whose: what is of that kernel, for messages.

        Raises:
            InputError: W547: it is of a file that nobody named; W501 to W504: there is no such file or
                kernel.
        """
        known = self.kernels.get(name)
        if known is not None:
            return known
        if not any(_below(Path(file), folder) for folder in self.folders):
            raise InputError(
                "W547",
                f"{whose} is of '{name}' in {file}: that is Python, which is not run unasked",
                help=HELP,
            )
        return kernels_of(f"{file}:{name}")[name]


NOBODY = Trusted()
"""Where the user names nothing."""


def _below(file: Path, folder: Path) -> bool:
    try:
        return file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return False


def given(specs: Sequence[str], folders: Sequence[Path] = ()) -> Trusted:
    """What the command line names: kernels as ``file.py:kernel`` or all of ``file.py``, and folders.

    Raises:
        InputError: W501 to W504: there is no such file or kernel.
    """
    kernels = {name: kernel for spec in specs for name, kernel in kernels_of(spec).items()}
    return Trusted(kernels, tuple(folders))


def python_file(source: str) -> str:
    """The file of ``file.py:kernel``.

    Raises:
        InputError: W501: it is not of that form.
    """
    return str(split_spec(source)[0])
