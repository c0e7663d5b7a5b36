"""Random programs through the language: text and back, compile-time checks, interpreter paths."""

from dataclasses import replace

import pytest

from dsl.errors.errors import LanguageError
from dsl.expressions.expr import loads
from dsl.programs.lean import lean
from dsl.programs.program import If, Loop, Program, Stmt, Storage
from dsl.schedules.schedule import Schedule
from polyhedral.legality.program import check_program
from tests.support.profiles import BALANCED, FAST, LONG
from tests.support.random_programs import random_program
from tests.support.round_trip import as_read, reloaded
from tests.support.trial import check_paths, check_validity
from tests.support.validity import faults

NONE = Schedule()


@pytest.mark.parametrize(("profile", "count"), [(FAST, 100), (BALANCED, 150), (LONG, 40)])
def test_the_text_of_a_program_loads_back_to_it(profile, count):
    for seed in range(count):
        program = random_program(seed, profile)
        assert reloaded(program) == as_read(lean(program)), seed


@pytest.mark.parametrize(("profile", "count"), [(FAST, 150), (BALANCED, 200), (LONG, 50)])
def test_all_paths_of_the_interpreter_give_the_same_bits(profile, count):
    for seed in range(count):
        assert check_paths(random_program(seed, profile), NONE, seed) is None, seed


def test_valid_programs_pass_the_compile_time_checks():
    for seed in range(250):
        assert check_validity(random_program(seed, BALANCED), NONE, seed) is None, seed


def verdicts(program: Program) -> tuple[str | None, str | None]:
    """What brute force says, and the code of the error that the compiler gives."""
    found = faults(program)
    expected = None
    if found:
        expected = "W160" if "out of bounds" in found[0] else "W161"
    try:
        check_program(program)
    except LanguageError as error:
        return expected, error.code
    return expected, None


def smaller_arrays(program):
    """The program with one dimension of one array one element shorter."""
    for n, array in enumerate(program.arrays):
        for d, extent in enumerate(array.shape):
            if extent > 1:
                shape = (*array.shape[:d], extent - 1, *array.shape[d + 1 :])
                arrays = (
                    *program.arrays[:n],
                    replace(array, shape=shape),
                    *program.arrays[n + 1 :],
                )
                yield replace(program, arrays=arrays)


def test_accesses_out_of_bounds_are_found_exactly():
    outcomes = []
    for seed in range(80):
        for smaller in smaller_arrays(random_program(seed, BALANCED)):
            expected, actual = verdicts(smaller)
            assert (expected == "W160") == (actual == "W160"), (seed, expected, actual)
            outcomes.append(actual)
    assert outcomes.count("W160") > 100
    assert outcomes.count(None) > 10


def without(nodes, name):
    """The nodes without one statement, and without loops that are empty then."""
    kept = []
    for node in nodes:
        match node:
            case Stmt(name=own):
                if own != name:
                    kept.append(node)
            case Loop(body=body):
                if inner := without(body, name):
                    kept.append(replace(node, body=inner))
            case If(then=then, orelse=orelse):
                yes, no = without(then, name), without(orelse, name)
                if yes or no:
                    kept.append(replace(node, then=yes, orelse=no))
    return tuple(kept)


def test_reads_of_unwritten_locals_are_found_exactly():
    outcomes = []
    for seed in range(150):
        program = random_program(seed, BALANCED)
        local = {a.name for a in program.arrays if a.storage is Storage.LOCAL}
        for stmt in program.statements():
            if stmt.target.array not in local:
                continue
            body = without(program.body, stmt.name)
            used = {
                a.array
                for s in program.statements()
                if s.name != stmt.name
                for a in (s.target, *loads(s.value))
            }
            arrays = tuple(a for a in program.arrays if a.name in used)
            expected, actual = verdicts(replace(program, arrays=arrays, body=body))
            assert expected == actual, (seed, stmt.name)
            outcomes.append(actual)
    assert outcomes.count("W161") > 20
    assert outcomes.count(None) > 20
