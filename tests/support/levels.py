"""Random designs at the lower levels: JIT and compiled C++ against the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backends.equivalence import equivalence
from backends.verify import VerifyResult, verify_many
from dsl.errors.errors import ScheduleError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import Design, compile_design
from tests.support.trial import Failure


@dataclass(frozen=True, slots=True)
class Case:
    """A program and an accepted schedule."""

    seed: int
    program: Program
    schedule: Schedule


def check_levels(
    cases: Sequence[Case],
    *,
    jit: bool = True,
    cxx: bool = True,
    equivalent: bool = True,
    chunk: int = 160,
) -> list[Failure]:
    """Compile every case down to HLS C++, run what comes out, compare with the interpreter; and
    prove of each, without running it, that level 3 is the program.

    The C++ of ``chunk`` cases is compiled at once: headers are read once, and what the cases
    instantiate alike is compiled once.
    """
    failures: list[Failure] = []
    designs: list[Design] = []
    kept: list[Case] = []
    for case in cases:
        design = compile_design(case.program, case.schedule)
        try:
            _ = design.hls_cpp
        except ScheduleError:
            continue  # refused, as late as that
        except Exception as error:  # noqa: BLE001 - finding these is the purpose
            text = f"{type(error).__name__}: {error}"
            failures.append(_failure(case, "compilation", text, crash=True))
        else:
            designs.append(design)
            kept.append(case)
            if equivalent:
                failures += _unproven(case, design)
    results = verify_many(designs, jit=jit, cxx=cxx, chunk=chunk)
    for case, result in zip(kept, results, strict=True):
        failures += _judged(case, result)
    return failures


def _unproven(case: Case, design: Design) -> list[Failure]:
    found = equivalence(design)
    if found.verdict == "proven":
        return []
    detail = f"{found.verdict}: {found.error.render() if found.error else found.detail}"
    return [_failure(case, "equivalence", detail, crash=False)]


def _judged(case: Case, result: VerifyResult) -> list[Failure]:
    return [
        _failure(case, name, f"{level.status}: {level.detail}", crash=level.status != "mismatch")
        for name, level in (("run", result.interp), ("JIT", result.jit), ("C++", result.cxx))
        if not level.ok and level.status != "vacuous"  # infinities are compared as well
    ]


def _failure(case: Case, check: str, detail: str, *, crash: bool) -> Failure:
    return Failure(check, detail, case.seed, case.program, case.schedule, crash)
