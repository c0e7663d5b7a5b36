"""One design of a kernel: compiled, estimated, exported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dsl.kernels.kernel import Kernel, schedule_of
from dsl.schedules.schedule import Schedule

if TYPE_CHECKING:
    from backends.vitis.project import Project
    from mlir_passes.pipeline import Design
    from qor_gnn.result.qor_estimate import QorEstimate
    from qor_gnn.tools.operators.calibration import Calibration


def compiled(kernel: Kernel, schedule: Schedule | str | None, size: str | None) -> Design:
    """See `weft.compile`."""
    from mlir_passes.pipeline import compile_design

    sized = kernel.at(size)
    design = compile_design(sized.program, schedule_of(sized, schedule))
    _ = design.scheduled  # now: an error belongs to this line, not to the one that uses the design
    return design


def estimated(
    kernel: Kernel,
    schedule: Schedule | str | None,
    size: str | None,
    device: str | None,
    clock: float | None,
    tool: str | None,
    *,
    explain: bool = False,
    routed: bool = False,
    uncertainty: float | None = None,
    calibration: str | Path | Calibration | None = None,
) -> QorEstimate:
    """See `weft.estimate`."""
    from dse.api.settings import setting_of
    from dse.estimates.estimation import estimated as found_by
    from dse.estimates.outcomes import outcomes
    from dse.estimates.routed import routed_of

    where = setting_of(tool, device, clock, uncertainty, calibration)
    sized = kernel.at(size)
    found = found_by(sized.program, schedule_of(sized, schedule), where, explain=explain)
    after = routed_of(found.answer, where.device) if routed else None
    told = tuple(map(str, outcomes(found, thorough=explain)))
    return replace(found.answer, directives=told, routed=after)


def exported(
    kernel: Kernel,
    folder: str | Path,
    schedule: Schedule | str | None,
    size: str | None,
    device: str | None,
    clock: float,
    *,
    tool: str | None = None,
    seed: int = 0,
    force: bool = False,
    prove: bool = True,
    deploy: str | None = None,
    uncertainty: float | None = None,
    calibration: str | Path | Calibration | None = None,
) -> Project:
    """See `weft.export`."""
    from backends.deploy.boards import board, board_of
    from backends.deploy.files import deployment
    from backends.deploy.whole_copies import brought_to
    from backends.devices import DEFAULT
    from backends.devices import device as device_named
    from backends.equivalence import not_refuted
    from backends.vitis.project import export
    from dse.api.settings import calibration_from, setting_of
    from dse.views.accelerator import beside, expected
    from dse.views.estimate_data import only_asked, qor_json
    from qor_gnn.tools.targets import told_uncertainty

    if device is None:
        device = board(deploy).device.name if deploy is not None else DEFAULT
    chip = device_named(device)
    onto = None if deploy is None else board_of(deploy, chip)
    calibration = calibration_from(calibration)
    if tool is not None or uncertainty is not None:
        tool = setting_of(tool, chip, clock, uncertainty, calibration).tool.name
    asked = schedule_of(kernel.at(size), schedule)
    if onto is not None:
        asked = brought_to(kernel.at(size).program, asked, onto)
    design = compiled(kernel, asked, size)
    proof = not_refuted(design) if prove else None
    program = kernel.at(size).program
    extra, _ = qor_json(design, chip, clock, tool, calibration, beside(program, onto))
    return export(
        design, Path(folder), chip, clock, seed=seed, force=force,
        make_inputs=kernel.at(size).make_inputs, extra=extra, proof=proof,
        uncertainty=told_uncertainty(tool), only_asked=only_asked(tool, chip, clock, calibration),
        deploy=None if onto is None else lambda names, data, behind: deployment(
            names, data, behind, asked, onto, expected(extra)
        ),
    )  # fmt: skip
