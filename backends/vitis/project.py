"""A design as a complete Vitis HLS project: what is in each of its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from backends.devices import Device
from backends.equivalence import Equivalence
from backends.expected import expected
from backends.finite import help_line, not_finite
from backends.reference import reference
from backends.vitis.config import hls_config
from backends.vitis.files import ProjectFiles, checked_name
from backends.vitis.link import link_config
from backends.vitis.makefile import makefile
from backends.vitis.manifest import NAME as MANIFEST
from backends.vitis.manifest import PROGRAM, manifest
from backends.vitis.readme import readme
from backends.vitis.tcl import run_hls_tcl
from backends.vitis.testbench import Golden, golden, testbench
from backends.vitis.write import write_project
from dsl.arrays.inputs import InputMaker
from dsl.expressions.types import FloatType
from dsl.programs.program import Program, Stmt
from dsl.schedules.schedule import Schedule
from dsl.stored.write import program_json
from mlir_passes.emit.hls import Argument, include_directory
from polyhedral.dataflow.deadlock import needs_flushing

if TYPE_CHECKING:
    from mlir_passes.pipeline import Design

HERE = Path(__file__).parent

Deploy = Callable[[ProjectFiles, tuple[Golden, ...], tuple[Argument, ...]], Mapping[str, str]]
"""Makes the files that bring a project's kernel to a board, by name: of its arguments, and what it takes behind them."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project in memory: the names that tools need, and the bytes of every file.

    ``notes`` say what a user should know of its golden data.
    """

    names: ProjectFiles
    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


def _reassociates(program: Program, schedule: Schedule) -> bool:
    """Whether the schedule sets the order of some sum of floats free.

    The tool has one option for the whole design: it then reorders the others as well.
    """
    free = schedule.reassociated
    return any(
        isinstance(node, Stmt)
        and node.name in free
        and isinstance(program.array(node.target.array).dtype, FloatType)
        for node, _ in program.walk()
    )


def _values(data: tuple[Golden, ...]) -> dict[str, bytes]:
    """The files of the inputs and results of the testbench."""
    return dict(file for g in data for file in (g.initial, g.final) if file is not None)


def project(
    design: Design,
    device: Device,
    clock: float,
    seed: int = 0,
    make_inputs: InputMaker | None = None,
    extra: Mapping[str, str] = MappingProxyType({}),
    origin: Mapping[str, str] = MappingProxyType({}),
    proof: Equivalence | None = None,
    uncertainty: float | None = None,
    only_asked: bool = False,
    deploy: Deploy | None = None,
) -> Project:
    """Make all files of a design's project. The same arguments give the same bytes.

    Args:
        design: What `compile_design` returns.
        device: What to make it for.
        clock: Target period in ns.
        seed: Of the testbench's inputs.
        make_inputs: Makes them (`Kernel.make_inputs`); None for random ones.
        extra: Files that others know to make, by name.
        origin: What the manifest is to say of where the kernel is from.
        proof: What is known of level 3; None where it was not looked at.
        uncertainty: Share of the period that the tool is told to keep free; None for its own.
        only_asked: The tool is told to pipeline no loop of which the schedule does not say so.
        deploy: Makes the files that bring the design to a board; None for none of them.

    Raises:
        ToolError: W403 to W405: the device, the name or the clock does not fit.
        ExecutionError: W190 to W194: the kernel divides by zero on the inputs, or the like.
    """
    program, schedule, source = design.program, design.schedule, design.hls
    top = checked_name(source.name)
    right = reference(program, schedule, seed, make_inputs, expected)
    data = golden(program, right, source.arguments)
    contents = _values(data)
    support = _support(source.support)
    names = ProjectFiles(
        top,
        device,
        clock,
        data=tuple(contents),
        headers=(f"{top}.h", "weft_tb.h", *support),
        ap_types=source.uses_ap,
        unsafe_math=_reassociates(program, schedule),
        flushing=needs_flushing(design.scheduled),
        uncertainty=uncertainty,
        only_asked=only_asked,
    )
    link = link_config(top, (*source.arguments, *source.behind))
    extra = {**({"link.cfg": link} if link else {}), **extra}
    board = deploy(names, data, source.behind) if deploy is not None else {}
    more = (*extra, *(["deploy/"] if board else []))
    texts = {
        names.source: source.text,
        f"{top}.h": source.header,
        names.testbench: testbench(top, data, source.behind),
        "weft_tb.h": (HERE / "weft_tb.h").read_text("utf-8"),
        **support,
        "run_hls.tcl": run_hls_tcl(names),
        "hls_config.cfg": hls_config(names),
        "Makefile": makefile(names),
        PROGRAM: program_json(program),
        "schedule.json": schedule.to_json(top),
        "schedule.py": schedule.to_python(kernel=top),
        "README.md": readme(names, program, schedule, seed, data, source.behind, more, proof),
        ".gitignore": "build/\nhls/\nwork/\n.Xil/\n*.log\n",
        **extra,
        **board,
    }
    contents |= {path: value.encode() for path, value in texts.items()}
    facts = {**_facts(names, seed), **origin}
    if proof is not None:
        facts["equivalence"] = proof.facts()
    contents[MANIFEST] = manifest(facts, contents)
    outputs = [a for a in program.arguments if a.shape]
    notes = [f"{bad}; {help_line(program.name)}" for bad in not_finite(outputs, [right])]
    return Project(names, contents, tuple(notes))


def _facts(names: ProjectFiles, seed: int) -> dict[str, Any]:
    """What the manifest says of any project."""
    return {
        "weft_version": metadata.version("weft"),
        "kernel": names.top,
        "device": names.device.name,
        "part": names.device.part,
        "clock_ns": names.clock,
        "seed": seed,
    }


def _support(names: tuple[str, ...]) -> dict[str, str]:
    """The texts of headers of ours, and of those of ours that they include."""
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found and (include_directory() / name).is_file():
            found[name] = (include_directory() / name).read_text("utf-8")
            waiting += re.findall(r'^#include "(.*)"', found[name], re.MULTILINE)
    return dict(sorted(found.items()))


def export(
    design: Design,
    folder: Path,
    device: Device,
    clock: float,
    *,
    seed: int = 0,
    force: bool = False,
    make_inputs: InputMaker | None = None,
    extra: Mapping[str, str] = MappingProxyType({}),
    origin: Mapping[str, str] = MappingProxyType({}),
    proof: Equivalence | None = None,
    uncertainty: float | None = None,
    only_asked: bool = False,
    deploy: Deploy | None = None,
) -> Project:
    """Write a design's project to a folder (see `project` and `backends.vitis.write`).

    Raises:
        ToolError: as `project`, and W430, W431: the folder has other contents, or is not writable.
    """
    made = project(
        design,
        device,
        clock,
        seed,
        make_inputs,
        extra,
        origin,
        proof,
        uncertainty,
        only_asked,
        deploy,
    )
    write_project(folder, made.files, force)
    return made
