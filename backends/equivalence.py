"""Translation validation: is level 3 of a design the program? Proven or refuted without any data.

It looks at the module that HLS C++ is made of, after all passes, and at the program as it was
written: what steps, code generation and passes did on the way does not matter. What it takes for
granted is said in docs/level3.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from dsl.errors.errors import IRError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule

if TYPE_CHECKING:
    from mlir_passes.pipeline import Design
    from polyhedral.equivalence.raised import NotProven
    from polyhedral.equivalence.refutation import Refutation

Verdict = Literal["proven", "refuted", "not proven"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What is known of a design.

    Attributes:
        verdict: proven; refuted; or neither, for a reason.
        detail: the reason, or what is wrong in one line.
        error: of a refuted design all that is known, as an error: W326 to W328, W336 to W339.
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
    from polyhedral.equivalence.rewritings import check_rewriting, rewritings

    module, program = design.module, design.program
    start = time.perf_counter()
    free = design.schedule.reassociated
    for each in rewritings(program, design.schedule):
        left_open = _verdict(check_rewriting(each), start)
        if left_open.verdict != "proven":
            return left_open
        program = each.after
        free |= each.free
    return replace(_compared(program, module, free), seconds=time.perf_counter() - start)


def not_refuted(design: Design) -> Equivalence:
    """The same for who goes on with the design.

    Raises:
        IRError: W326 to W328, W336 to W339: it is refuted.
        ScheduleError: the schedule is not legal.
    """
    found = equivalence(design)
    if found.error is not None:
        raise found.error
    return found


def module_equivalence(program: Program, module: Any, schedule: Schedule) -> Equivalence:
    """Compare a level 3 module with a program.

    Args:
        program: what it should compute.
        module: an MLIR module.
        schedule: says which reductions may be done in any order.
    """
    return _compared(program, module, schedule.reassociated)


def _compared(program: Program, module: Any, free: frozenset[str]) -> Equivalence:
    from mlir_passes.raising import raised_module, raised_statements
    from polyhedral.equivalence.check import check_equivalence
    from polyhedral.equivalence.raised import NotProven

    start = time.perf_counter()
    raised = raised_module(module)
    if isinstance(raised, NotProven):
        return _verdict(raised, start)
    return _verdict(check_equivalence(program, raised, raised_statements(program), free), start)


def _verdict(found: Refutation | NotProven | None, start: float) -> Equivalence:
    """What a check found, begun at that time."""
    from polyhedral.equivalence.raised import NotProven

    seconds = time.perf_counter() - start
    if found is None:
        return Equivalence("proven", seconds=seconds)
    if isinstance(found, NotProven):
        return Equivalence("not proven", found.reason, seconds=seconds)
    return Equivalence("refuted", f"[{found.code}] {found.message}", found.error(), seconds)
