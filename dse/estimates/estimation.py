"""Estimates of scheduled kernels: which tool's model answers, for which device and clock."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from backends.devices import DEVICES, Device
from backends.devices import device as device_named
from dse.estimates.collection import rare_collection
from dse.estimates.in_order import in_order_notes
from dse.estimates.origins import Origins, origins_of
from dsl.errors.errors import ToolError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from polyhedral.applied import tree_of
from qor_gnn.design.directives import written_unrolls
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel, Statement, walk
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.calibrated import calibrated
from qor_gnn.tools.likeness import borrows
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.operators.calibration import Calibration
from qor_gnn.tools.operators.timing import timing_classes
from qor_gnn.tools.personality import (
    DEFAULT,
    Personality,
    allowed,
    at,
    available,
    personality,
    version_of,
)
from qor_gnn.tools.targets import CALIBRATED, SAME_CLOCK
from qor_gnn.tools.versions import nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlir_passes.pipeline import Design
    from polyhedral.scop.scheduled import ScheduledScop


@dataclass(frozen=True, slots=True)
class Setting:
    """What a design is estimated for; ``notes`` say where the tool was not measured there."""

    tool: Personality
    device: Device
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimation:
    """A scheduled program with its region tree and the model's answer."""

    program: Program
    schedule: Schedule
    setting: Setting
    state: ScheduledScop
    regions: Kernel
    answer: QorEstimate
    operators: Origins = field(default_factory=Origins)


def setting(
    tool: str | None = None,
    device: str | Device | None = None,
    clock: float | None = None,
    uncertainty: float | None = None,
    calibration: Calibration | None = None,
) -> Setting:
    """The tool personality and the device that a command line names.

    Without ``tool`` it is the version that was measured on the device, or else on its family, or else the
    default one; where no device is named, the one that was measured at the clock. Without ``device`` it
    is the tool's own; without ``clock`` the one that the tool was measured at.

    Args:
        tool: name of a version, or of a personality; the nearest that was measured stands for other
            releases of Vitis.
        device: one, or a name, part or board of `backends.devices`.
        clock: the period in ns.
        uncertainty: share of it that is kept free; None for the tool's own.
        calibration: measurements of the user's own, which win over the tool's operators.

    Raises:
        ToolError: W403 no such device, W450 no such personality, or one that is calibrated by another
            calibration, W452 nothing runs at the clock.
    """
    _same_calibration(tool, calibration)
    place = device_named(device) if isinstance(device, str) else device
    asked, tool = tool, _measured(tool)
    chosen = [personality(tool)] if tool is not None else [personality(n) for n in available()]

    def rank(p: Personality) -> tuple[bool, bool, bool, bool, bool, str]:
        wanted = place or DEVICES[personality(DEFAULT).device]
        at_clock = place is None and clock is not None and abs(p.clock_ns - clock) < SAME_CLOCK
        return (
            not at_clock, p.device != wanted.name, p.family != wanted.family, p.name != DEFAULT,
            borrows(p.folder), p.name,
        )  # fmt: skip

    best = min(chosen, key=rank)
    where = place or DEVICES[best.device]
    free = best.uncertainty if uncertainty is None else uncertainty
    found = at(personality(best.measured_as), where, clock or best.clock_ns, free)
    notes = _notes(found, where)
    if tool != asked:
        notes = (f"{asked} was not measured: these are the rules of {tool}", *notes)
    if calibration is None:
        return Setting(found, where, notes)
    own = calibrated(found, calibration)
    return Setting(own, where, (*notes, *_calibration_notes(own, where, calibration)))


def _same_calibration(tool: str | None, calibration: Calibration | None) -> None:
    """That a personality which says that it is calibrated is so by the calibration that is there.

    Raises:
        ToolError: W450, it is not.
    """
    _, plus, digest = (tool or "").partition(CALIBRATED)
    if plus and (calibration is None or calibration.digest != digest):
        raise ToolError(
            "W450",
            f"'{tool}' is calibrated by a file that is not given",
            help=f"name the file: --calibration FILE, and --tool {(tool or '').partition(CALIBRATED)[0]}",
        )


def _calibration_notes(
    tool: Personality, device: Device, calibration: Calibration
) -> tuple[str, ...]:
    if tool.calibration is None:
        known = ", ".join(sorted(calibration.classes)) or "no class"
        return (f"the calibration shows no operators of {device.timing_class}: it is of {known}",)
    return calibration.notes


def _measured(tool: str | None) -> str | None:
    """The version itself, or the nearest release of Vitis that was measured."""
    versions = {version_of(name) for name in available()}
    return tool if tool is None else nearest(tool, versions) or tool


def _notes(tool: Personality, device: Device) -> tuple[str, ...]:
    if not device.vitis and device.family != tool.family:
        return (
            f"{tool.tool} does not target {device.name}: these are the operators of "
            f"{tool.family}, next to what {device.name} has",
        )
    if tool.is_open:
        return (
            () if device.family == tool.family else (f"{tool.tool} does not target {device.name}",)
        )
    of = timing_classes()[device.timing_class] if device.vitis else None
    if of is not None and not of.shown:
        return (
            f"no report shows operators of {device.timing_class} ({device.name}): they are taken to be "
            f"like those of {of.floats}",
        )
    return ()


def estimated(
    program: Program, schedule: Schedule, where: Setting, *, explain: bool = False
) -> Estimation:
    """Schedule a program, and ask the white-box model about the level 3 module that comes of it.

    Raises:
        ScheduleError: W2xx, the schedule is not legal.
        LanguageError: W16x, the program is not.
        ToolError: W451 an operator that the tool's library has not.
    """
    from mlir_passes.pipeline import compile_design

    return estimated_design(compile_design(program, schedule), where, explain=explain)


def estimated_design(design: Design, where: Setting, *, explain: bool = False) -> Estimation:
    """As `estimated`, of a design: what is estimated is the module that its C++ is emitted from."""
    from qor_gnn.design.from_module import kernel_of_module

    with rare_collection():
        regions = kernel_of_module(design.module)

    def rtl(place: Setting) -> QorEstimate:
        return _open_estimate(design, place)

    return _answered(design.scheduled, design.schedule, regions, where, explain, rtl)


def ranked(state: ScheduledScop, schedule: Schedule, where: Setting) -> Estimation:
    """As `estimated`, of one of many points of a search: from its loops, no module is built.

    The region tree is the same (`qor_gnn.design.from_tree`). Where the tool is the open backend, its
    answer is of the module all the same.
    """

    def rtl(place: Setting) -> QorEstimate:
        return open_answer(state.written, schedule, place.tool, place.device)

    return _answered(state, schedule, kernel_of_tree(tree_of(state)), where, False, rtl)


def _answered(
    state: ScheduledScop,
    schedule: Schedule,
    regions: Kernel,
    where: Setting,
    explain: bool,
    rtl: Callable[[Setting], QorEstimate],
) -> Estimation:
    """The model's answer for a region tree, or that of the open backend, by ``rtl``."""
    where = replace(where, tool=allowed(where.tool, bool(state.reassociated)))
    if where.tool.is_open:
        where = replace(where, notes=(*where.notes, *in_order_notes(schedule)))
        answer = rtl(where)
    else:
        kept = written_unrolls(schedule)
        if explain:
            answer = estimate(regions, where.tool, where.device, explain=True, kept=kept)
        else:
            answer = _estimate(regions, where.tool, where.device, kept)
    noted = replace(where, notes=(*where.notes, *assumed(regions, where.tool)))
    origins = origins_of(regions, where.tool)
    return Estimation(state.written, schedule, noted, state, regions, answer, origins)


@lru_cache(maxsize=256)
def _estimate(
    regions: Kernel, tool: Personality, device: Device, kept: frozenset[str]
) -> QorEstimate:
    """The estimate of a region tree, made once: the designs of a search are read again from the modules that are
    emitted, and different steps may make the same design.
    """
    return estimate(regions, tool, device, kept=kept)


def open_answer(
    program: Program, schedule: Schedule, tool: Personality, device: Device
) -> QorEstimate:
    """What the open backend makes of a scheduled program: its own cycles.

    Raises:
        ToolError: W46x, an operation that it has no hardware for, or far too much of it.
    """
    from mlir_passes.pipeline import compile_design

    return _open_estimate(compile_design(program, schedule), Setting(tool, device))


def _open_estimate(design: Design, where: Setting) -> QorEstimate:
    from backends.rtl.synth import SynthOptions, rtl_of
    from qor_gnn.result.open_backend import open_estimate

    options = SynthOptions(where.device.name, where.tool.clock_ns)
    with rare_collection():
        found = rtl_of(design.module, design.schedule, options)
        return open_estimate(found, where.tool, where.device)


def _states(operator: Operator) -> str:
    """The range of its states, for people."""
    least, most = operator.least, operator.most
    return f"{most} states" if least == most else f"{least} to {most} states"


def assumed(regions: Kernel, tool: Personality) -> tuple[str, ...]:
    """A note on operators of the design whose figures no report of the tool shows, with their range.

    Args:
        regions: the design.
        tool: whose operators they are.
    """
    found: dict[str, None] = {}
    for function in regions.functions:
        for node in walk(function.body):
            for op in node.ops if isinstance(node, Statement) else ():
                if not op.computes:
                    continue
                operator = tool.operator_of(op)
                if not operator.assumed:
                    continue
                name = f"{op.kind} on {op.type}"
                if operator.most:
                    name += f" ({_states(operator)})"
                found[name] = None
    return (f"assumed, not measured: {', '.join(found)}",) if found else ()
