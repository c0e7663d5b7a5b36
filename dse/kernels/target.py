"""The kernel, schedule and size that a command line names."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dsl.errors.errors import InputError, LanguageError
from dsl.kernels.kernel import Kernel, schedule_of
from dsl.kernels.loader import load, load_kernels, split_spec
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule

UNSCHEDULED = "-"  # the name of the empty schedule in tables
DEFAULT_SIZE = "default"


@dataclass(frozen=True, slots=True)
class Target:
    """What to work on. ``kernel`` is already at its size."""

    kernel: Kernel
    schedule: Schedule
    schedule_name: str
    size: str

    @property
    def program(self) -> Program:
        """The program at that size.

        Raises:
            LanguageError: The kernel is not a program of the language.
        """
        return self.kernel.program


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--schedule`` and ``--size``, as `target` takes them."""
    size = click.option(
        "--size", metavar="NAME|N=V,...",
        help="One of the kernel's sizes, or values for names that it captures.",
    )  # fmt: skip
    schedule = click.option(
        "--schedule", metavar="NAME|FILE.json",
        help="One of the kernel's schedules, or one from a file. Default: none.",
    )  # fmt: skip
    return schedule(size(command))


def target(spec: str, schedule: str | None, size: str | None) -> Target:
    """Load what the command line names.

    Args:
        spec: ``file.py:kernel``.
        schedule: A schedule's name, or a JSON file that ends in ``.json``; None for no schedule.
        size: A size's name, or ``NI=20,NJ=30``; None for the kernel's own constants.

    Raises:
        WeftError: W501 to W506, W510 to W512, W138: something of it is not there.
    """
    with quiet_stdout():
        kernel = load(spec)
    return Target(
        sized(kernel, size),
        *chosen(kernel, schedule),
        size or DEFAULT_SIZE,
    )


def chosen(kernel: Kernel, schedule: str | None) -> tuple[Schedule, str]:
    """The schedule that the command line names, and what to call it."""
    if schedule is None or schedule == UNSCHEDULED:
        return Schedule(), UNSCHEDULED
    if schedule.endswith(".json"):
        return Schedule.load(Path(schedule)), schedule
    return schedule_of(kernel, schedule), schedule


def sized(kernel: Kernel, size: str | None) -> Kernel:
    """The kernel at the size that the command line names.

    Raises:
        InputError: W506: it has no such size, or captures no such name.
    """
    if size is None or size == DEFAULT_SIZE:
        return kernel
    values = size_values(size)
    if values is None and size not in kernel.sizes:
        known = ", ".join(map(str, kernel.sizes)) or "none"
        raise InputError(
            "W506",
            f"the kernel '{kernel.name}' has no size '{size}'",
            help=f"its sizes: {known}; or give values: --size N=64",
        )
    try:
        return kernel.at(size) if values is None else kernel.at(**values)
    except LanguageError as error:
        if error.code != "W138":
            raise
        # Its place would be this file: the name comes from the command line, or from sizes=.
        whose = f"the size '{size}' is wrong: " if values is None else ""
        raise InputError("W506", f"{whose}{error.message}", help=error.help) from error


def has_size(kernel: Kernel, size: str) -> bool:
    """Whether the size, by its name or its values, is one that the kernel can have."""
    if size == DEFAULT_SIZE or size in kernel.sizes:
        return True
    try:
        sized(kernel, size)
    except InputError:
        return False
    return True


def size_values(size: str) -> dict[str, object] | None:
    """The values in ``NI=20,NJ=30``; None where it is the name of a size.

    Raises:
        InputError: W506: it is neither.
    """
    if "=" not in size:
        return None
    values: dict[str, object] = {}
    for part in size.split(","):
        match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*(-?\d{1,18})\s*", part)
        if match is None:
            raise InputError(
                "W506", f"'{part}' is not of the form NAME=NUMBER", help="e.g. --size NI=20,NJ=30"
            )
        values[match[1]] = int(match[2])
    return values


def kernels_of(spec: str) -> dict[str, Kernel]:
    """All kernels of a file, or the one that is named.

    Raises:
        InputError: W501 to W504: there is no such file or kernel.
    """
    file, name = split_spec(spec)
    with quiet_stdout():
        return load_kernels(file) if name is None else {name: load(spec)}


@contextlib.contextmanager
def quiet_stdout() -> Any:
    """What the user's file prints while it is loaded is no result of ours: to standard error."""
    with contextlib.redirect_stdout(sys.stderr):
        yield
