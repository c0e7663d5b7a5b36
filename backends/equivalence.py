"""Translation validation: is level 3 of a design the program? Proven or refuted without any data.

It looks at the module that HLS C++ is made of, after all passes, and at the program as it was
written: what steps, code generation and passes did on the way does not matter. What it takes for
granted is said in docs/guide/schedules.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from dsl.errors import IRError
from dsl.program import Program
from dsl.schedule import Schedule
from dsl.steps import PartialSums, Reassociate

if TYPE_CHECKING:
    from mlir_passes.pipeline import Design

Verdict = Literal["proven", "refuted", "not proven"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What is known of a design.

    Attributes:
        verdict: proven; refuted; or neither, for a reason.
        detail: the reason, or what is wrong in one line.
        error: of a refuted design all that is known, as an error: W326 to W328, W336 to W338.
        seconds: how long it took.
    """

    verdict: Verdict
    detail: str = ""
    error: IRError | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Nothing is known to be wrong."""
        return self.verdict != "refuted"

    def facts(self) -> dict[str, str]:
        """What files say of it: the same for the same design."""
        return {"verdict": self.verdict, **({"detail": self.detail} if self.detail else {})}


def equivalence(design: Design) -> Equivalence:
    """Compare the level 3 module of a design with its program.

    Raises:
        ScheduleError: the schedule is not legal.
    """
    module, program = design.module, design.program
    spread = [step.stmt for step in design.schedule if isinstance(step, PartialSums)]
    if spread:
        program = design.scheduled.scop.program
    found = module_equivalence(program, module, design.schedule)
    if spread and found.verdict == "proven":
        reason = f"that partial sums of {', '.join(spread)} add up to the same is not shown again"
        return replace(found, verdict="not proven", detail=reason)
    return found


def module_equivalence(program: Program, module: Any, schedule: Schedule) -> Equivalence:
    """Compare a level 3 module with a program.

    Args:
        program: what it should compute.
        module: an MLIR module.
        schedule: says which reductions may be done in any order.
    """
    from mlir_passes.raising import raised_module, raised_statements
    from polyhedral.equivalence.check import check_equivalence
    from polyhedral.equivalence.raised import NotProven
    from polyhedral.equivalence.refutation import Refutation

    start = time.perf_counter()
    free = frozenset(step.stmt for step in schedule if isinstance(step, Reassociate | PartialSums))
    found = raised_module(module)
    verdict: Refutation | NotProven | None
    if isinstance(found, NotProven):
        verdict = found
    else:
        verdict = check_equivalence(program, found, raised_statements(program), free)
    seconds = time.perf_counter() - start
    match verdict:
        case None:
            return Equivalence("proven", seconds=seconds)
        case NotProven(reason):
            return Equivalence("not proven", reason, seconds=seconds)
        case Refutation():
            error = verdict.error()
            return Equivalence("refuted", f"[{verdict.code}] {verdict.message}", error, seconds)
