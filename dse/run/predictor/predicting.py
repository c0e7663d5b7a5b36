"""The predictor as a program: designs in, one a line, and what it says of each out, both as JSON.

    python -m dse.run.predictor.predicting

An exploration starts it beside the search (`dse.run.predictor.beside`): loading PyTorch takes seconds, which a process
of its own spends while the search is at work. A line of input is ``{"kernel": …}``, which those after it are
designs of, or ``{"key": …, "schedule": …, "device": …, "clock": …, "tool": …, "calibration": …}``; a line of output is
``{"key": …, "result": …}``, of an evaluation that failed too.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from backends.devices import device
from dse.evaluators.base import Request
from dse.evaluators.gnn import GnnEvaluator
from dse.run.folder.calibrations import calibration_in
from dse.run.folder.codec import result_to_json
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.stored.kernel import kernel_of_json


def answers(lines: TextIO) -> Iterator[str]:
    """An answer for each design, in order.

    Args:
        lines: of input.
    """
    evaluator = GnnEvaluator()
    program: Program | None = None
    for line in lines:
        asked = json.loads(line)
        if "kernel" in asked:
            program = kernel_of_json(asked["kernel"], "the exploration").program
            continue
        assert program is not None, "designs are of a kernel"
        schedule = Schedule.from_json(asked["schedule"])
        where = device(asked["device"]), asked["clock"], asked["tool"]
        own = calibration_in(asked, "the exploration")
        request = Request(program, schedule, *where, own)
        found = result_to_json(evaluator.evaluate(request))
        yield json.dumps({"key": asked["key"], "result": found})


def main() -> None:
    """Answer until there is no more input."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    from dse.estimates.prediction import needs_libraries
    from qor_gnn.gnn.training import predict, weights  # noqa: F401 - loaded before anybody waits

    needs_libraries()
    for answer in answers(sys.stdin):
        out.write(answer + "\n")
        out.flush()


if __name__ == "__main__":
    main()
