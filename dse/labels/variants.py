"""What is labelled: kernels at a size and with an element type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.kernels.target import kernels_of, sized
from dse.kernels.verify_files import python_files
from dsl.errors.errors import InputError, WeftError
from dsl.expressions.types import DType, FixedType, FloatType, IntType
from dsl.kernels.kernel import Kernel

FLOAT = "f32"
"""The captured type that `Subject.dtype` stands for."""

_INTEGER = re.compile(r"([iu])([1-9]\d{0,3})")
_FIXED = re.compile(r"(u?)fixed\[(\d{1,4}), ?(-?\d{1,4})\]")


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """A kernel of a file at a size; ``dtype`` replaces its ``f32``, "" leaves it as it is."""

    file: str
    kernel: str
    size: str
    dtype: str = ""

    @property
    def name(self) -> str:
        """Short, for people and for splits of datasets."""
        return f"{self.kernel}_{self.dtype}" if self.dtype else self.kernel

    def load(self) -> Kernel:
        """The kernel itself.

        Raises:
            WeftError: There is none of that name, size or type.
        """
        kernel = sized(kernels_of(f"{self.file}:{self.kernel}")[self.kernel], self.size)
        return retyped(kernel, self.dtype)


def retyped(kernel: Kernel, dtype: str) -> Kernel:
    """The kernel with that type in the place of its ``f32``; "" leaves it as it is.

    Raises:
        WeftError: There is no such type, or it captures no ``f32``.
    """
    return kernel.at(**{FLOAT: dtype_named(dtype)}) if dtype else kernel


def dtype_named(text: str) -> DType:
    """The element type of that name: ``i16``, ``u3``, ``fixed[16, 8]``, ``f32``.

    Raises:
        InputError: W506: there is no such type.
    """
    if text == FLOAT:
        return FloatType("f32")
    try:
        if match := _INTEGER.fullmatch(text):
            return IntType(int(match[2]), match[1] == "i")
        if match := _FIXED.fullmatch(text):
            return FixedType(int(match[2]), int(match[3]), not match[1])
    except ValueError as error:
        raise InputError("W506", f"'{text}' is no element type: {error}") from error
    help_line = "write i16, u3, fixed[16,8] or f32"
    raise InputError("W506", f"'{text}' is no element type", help=help_line)


def subjects(
    specs: Sequence[str], sizes: Sequence[str], dtypes: Sequence[str]
) -> Iterator[Subject]:
    """Every kernel of the files (or the one that is named), at each size that it has.

    Of a folder these are all Python files in it. A kernel over ``f32`` comes with each of the types;
    one over other types as it is. What is no program of the language with a type (a constant that
    does not convert) is left out.

    Raises:
        WeftError: A file or kernel that is not there, a type that is none.
    """
    for text in dtypes:
        dtype_named(text)
    for spec in _each(specs):
        file = spec.rpartition(":")[0] or spec
        for name, kernel in kernels_of(spec).items():
            for size in [s for s in sizes if s in kernel.sizes]:
                floats = FLOAT in getattr(kernel, "captured", frozenset)()
                for dtype in dtypes if floats else ("",):
                    subject = Subject(file, name, size, "" if dtype == FLOAT else dtype)
                    if _is_program(subject):
                        yield subject


def _each(specs: Sequence[str]) -> list[str]:
    """The files of folders in their place; what names no folder as it is."""
    found = []
    for spec in specs:
        folder = Path(spec)
        found += [str(path) for path in python_files(folder)] if folder.is_dir() else [spec]
    return found


def known_sizes(specs: Sequence[str]) -> tuple[str, ...]:
    """The sizes that the kernels of `subjects` have, sorted.

    Raises:
        WeftError: A file or kernel that is not there.
    """
    kernels = [k for spec in _each(specs) for k in kernels_of(spec).values()]
    return tuple(sorted({str(size) for kernel in kernels for size in kernel.sizes}))


def _is_program(subject: Subject) -> bool:
    try:
        _ = subject.load().program
    except WeftError:
        return False
    return True
