"""Whose design an exported project is: written down by `weft export`, and found again by readers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backends.vitis.manifest import PROGRAM
from dse.inside import read_text
from dse.kernels.target import DEFAULT_SIZE, Target, sized
from dse.labels.trusted import HELP, Trusted, python_file
from dse.run.folder.codec import program_digest
from dsl.errors.errors import InputError, did_you_mean
from dsl.kernels.loader import split_spec
from dsl.programs.program import Program
from dsl.stored.read import program_of_json


def origin(spec: str, what: Target) -> dict[str, str]:
    """What a project's manifest says of its kernel.

    Args:
        spec: ``file.py:kernel``, as the command line has it.
        what: that it names.

    Returns:
        ``source``, the kernel for people; ``size``, as on the command line; ``program``, a digest.
    """
    file, _ = split_spec(spec)
    here = Path.cwd()
    if file.resolve().is_relative_to(here):
        file = file.resolve().relative_to(here)
    source = f"{file.as_posix()}:{what.kernel.name}"
    return {"source": source, "size": what.size, "program": program_digest(what.program)}


def program_of(folder: Path, facts: Mapping[str, Any], trusted: Trusted) -> Program:
    """The program that a project is a design of, at the size that was exported.

    It is that of a kernel which the user named or, where there is none of that name, what the project
    holds as data. Projects of older versions hold none: see `Trusted`.

    Args:
        folder: of the project.
        facts: its manifest.
        trusted: what the user named.

    Raises:
        InputError: W503, W547: the kernel is not there; W506: it has no such size; W536: it has
            changed; W546, W548, W512: what the project holds is no program.
        WeftError: Its file cannot be loaded.
    """
    if facts["kernel"] not in trusted.kernels and (folder / PROGRAM).exists():
        program = program_of_json(read_text(folder / PROGRAM, folder), str(folder / PROGRAM))
    else:
        program = _of_python(folder, facts, trusted)
    if facts.get("program", ...) not in (..., program_digest(program)):
        raise InputError(
            "W536",
            f"{folder} is a design of '{facts['kernel']}', which has changed since it was exported",
            help="export it and run the tool again; or put the kernel's file back as it was",
        )
    return program


def _of_python(folder: Path, facts: Mapping[str, Any], trusted: Trusted) -> Program:
    name, source, size = facts["kernel"], facts.get("source"), facts.get("size")
    if name in trusted.kernels:
        kernel = trusted.kernels[name]
    elif isinstance(source, str):
        kernel = trusted.kernel(name, python_file(source), str(folder))
    else:
        raise InputError(
            "W503",
            f"{folder} is a design of '{name}', which is not given",
            help=did_you_mean(name, trusted.kernels) or HELP,
        )
    return sized(kernel, size if isinstance(size, str) else DEFAULT_SIZE).program
