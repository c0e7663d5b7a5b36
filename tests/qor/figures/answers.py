"""The one road from a design to what the white-box model says of it: it alone knows the model.

When the model is called in another way, `estimates` is all that changes here.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.errors.errors import WeftError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from qor_gnn.design.directives import written_unrolls
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.personality import allowed, available, personality

TOOLS = tuple(name for name in available() if not name.startswith("vitis-2022.2"))
"""Without 2022.2, which has the rules of 2023.2 but for what `tests.qor.test_many_readers` is about."""


def estimates(program: Program, schedule: Schedule) -> Iterator[tuple[str, QorEstimate | str]]:
    """Every personality and its estimate, or the code of the error that the design ends in. The
    open personality is asked for the model's schedule, as the others are, not for that of the open
    backend.

    Raises:
        WeftError: the schedule is not legal.
    """
    design = compile_design(program, schedule)
    kernel = kernel_of_module(design.module)
    kept = written_unrolls(schedule)
    for name in TOOLS:
        tool = allowed(personality(name), bool(design.scheduled.reassociated))
        try:
            yield name, estimate(kernel, tool, explain=True, kept=kept)
        except WeftError as error:
            yield name, error.code
