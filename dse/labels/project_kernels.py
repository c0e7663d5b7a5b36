"""Whose design an exported project is: written down by `weft export`, and found again by readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dse.kernels import DEFAULT_SIZE, Target, kernels_of, sized
from dse.run.codec import program_digest
from dsl.errors import InputError, did_you_mean
from dsl.kernel import Kernel
from dsl.loader import split_spec
from dsl.program import Program

HELP = "--kernel FILE.py:KERNEL says where the kernel is"


def origin(spec: str, what: Target) -> dict[str, str]:
    """What a project's manifest says of its kernel.

    Args:
        spec: ``file.py:kernel``, as the command line has it.
        what: that it names.

    Returns:
        ``source``, the kernel as `program_of` finds it from the same working folder; ``size``, as on
        the command line; ``program``, a digest.
    """
    file, _ = split_spec(spec)
    here = Path.cwd()
    if file.resolve().is_relative_to(here):
        file = file.resolve().relative_to(here)
    source = f"{file.as_posix()}:{what.kernel.name}"
    return {"source": source, "size": what.size, "program": program_digest(what.program)}


def given(specs: Sequence[str]) -> dict[str, Kernel]:
    """Kernels by name, each ``file.py:kernel``, or all of ``file.py``.

    Raises:
        InputError: W501 to W504: there is no such file or kernel.
    """
    return {name: kernel for spec in specs for name, kernel in kernels_of(spec).items()}


def program_of(folder: Path, facts: Mapping[str, Any], known: Mapping[str, Kernel]) -> Program:
    """The program that a project is a design of, at the size that was exported.

    Its kernel is a known one of that name or, where there is none, what the manifest names below the
    working folder: to load it is to run its file.

    Args:
        folder: of the project, for messages.
        facts: its manifest.
        known: kernels by name.

    Raises:
        InputError: W503: there is no such kernel; W506: it has no such size; W536: it has changed.
        WeftError: Its file cannot be loaded.
    """
    kernel = known.get(facts["kernel"]) or _named(folder, facts, known)
    size = facts.get("size")
    program = sized(kernel, size if isinstance(size, str) else DEFAULT_SIZE).program
    if facts.get("program", ...) not in (..., program_digest(program)):
        raise InputError(
            "W536",
            f"{folder} is a design of '{facts['kernel']}', which has changed since it was exported",
            help="export it and run the tool again; or put the kernel's file back as it was",
        )
    return program


def _named(folder: Path, facts: Mapping[str, Any], known: Mapping[str, Kernel]) -> Kernel:
    name, source = facts["kernel"], facts.get("source")
    design = f"{folder} is a design of '{name}', which"
    if not isinstance(source, str):
        raise InputError("W503", f"{design} is not given", help=did_you_mean(name, known) or HELP)
    file, _ = split_spec(source)
    here = Path.cwd()
    if not file.resolve().is_relative_to(here):
        raise InputError("W503", f"{design} is of {file}: that is not below {here}", help=HELP)
    if not file.is_file():
        raise InputError("W503", f"{design} is of {file}: that is not there", help=HELP)
    return kernels_of(source)[split_spec(source)[1] or name]
