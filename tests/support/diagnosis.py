"""From a failure to a small program that still fails in the same way."""

from __future__ import annotations

import time
from dataclasses import replace

from backends.isolate import in_child
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from tests.support.levels import Case, check_levels
from tests.support.shrink import shrink
from tests.support.trial import CHECKS, Failure, attempt


def again(failure: Failure, program: Program, schedule: Schedule) -> Failure | None:
    """Does the same check fail for another program, in the same way?"""
    found = _attempts(failure, program, schedule)
    return next((f for f in found if _alike(f, failure)), None)


def _attempts(failure: Failure, program: Program, schedule: Schedule) -> list[Failure]:
    if failure.check in CHECKS:
        found = attempt(failure.check, program, schedule, failure.seed)
        return [found] if found else []
    if attempt("tree", program, schedule, failure.seed):
        return []
    case = Case(failure.seed, program, schedule)
    cxx = failure.check == "C++"
    return check_levels([case], jit=not cxx, cxx=cxx)


def _alike(a: Failure, b: Failure) -> bool:
    """Same check, both crashes or both not, and the same first words."""
    same = (a.check, a.crash) == (b.check, b.crash)
    return same and a.detail[:_WORDS] == b.detail[:_WORDS]


_WORDS = 12
PROCESS = "process"
"""The check of a failure that ended the process it ran in."""


def shrunk(failure: Failure, seconds: float = 60.0) -> Failure:
    """The smallest failure found within a time limit; the same one where nothing is smaller.

    Each attempt runs in a process of its own: native code that crashes does no harm.
    """
    end = time.monotonic() + seconds

    def fails(program: Program, schedule: Schedule) -> bool:
        if time.monotonic() > end:
            return False
        ended = in_child(lambda: b"1" if again(failure, program, schedule) else b"0", 60)
        if failure.check == PROCESS:
            return ended.status in ("crash", "timeout")
        return ended.data == b"1"

    program, schedule = shrink(failure.program, failure.schedule, fails)
    return replace(failure, program=program, schedule=schedule)
