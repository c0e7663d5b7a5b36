"""Large programs: what runs as it is written needs no dependences, and stores alike are seen as one."""

from __future__ import annotations

import time

import pytest

import weft
from backends.equivalence import Equivalence, equivalence
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.pipeline import compile_design
from weft import i32


def chain(statements: int, nests: bool) -> Program:
    """Statements that each need the one before, in one loop or each in its own."""
    p = weft.Program("chain")
    x = p.placeholder("x", i32, (64, 8))
    i = p.loop("i", 0, 64)
    for n in range(statements):
        after = (f"S{n - 1}", None if nests else i) if n else None
        value = x[i, (n + 7) % 8] * 3 + n % 5
        p.compute(f"S{n}", (i,), into=x[i, n % 8], value=value, after=after)
    return p.build()


def looked_at(program: Program, schedule: Schedule) -> tuple[Equivalence, float]:
    """The verdict and the processor time that it took."""
    design = compile_design(program, schedule)
    _ = design.module
    start = time.process_time()
    return equivalence(design), time.process_time() - start


@pytest.mark.parametrize("nests", [False, True])
def test_hundreds_of_statements_are_proven(nests: bool) -> None:
    found, seconds = looked_at(chain(300, nests), Schedule())
    assert found.verdict == "proven", found.detail
    assert seconds < 5


def test_hundreds_of_statements_in_a_loop_that_is_cut_are_proven() -> None:
    schedule = ScheduleBuilder().split("i", 8).pipeline("i_0").build()
    found, seconds = looked_at(chain(200, nests=False), schedule)
    assert found.verdict == "proven", found.detail
    assert seconds < 10
