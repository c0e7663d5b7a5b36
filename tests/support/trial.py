"""Everything that is checked of one random program, and how a failure is told."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from textwrap import indent

from backends.tolerance import tolerances
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import WeftError
from dsl.programs.pretty import pretty
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from polyhedral.codegen.generate import loop_tree
from polyhedral.legality.program import check_program
from polyhedral.scop.scheduled import ScheduledScop, build
from tests.support.bits import same
from tests.support.enumeration import TooManyError
from tests.support.legality_checks import StepResult, Verdict, judge
from tests.support.oracle import Oracle
from tests.support.profiles import Profile
from tests.support.random_programs import random_program
from tests.support.random_schedules import EVERY, random_step
from tests.support.rewritten import oracle_of
from tests.support.round_trip import as_read, reloaded
from tests.support.tree_interp import run_tree
from tests.support.validity import faults


@dataclass(frozen=True, slots=True)
class Failure:
    """A program and a schedule for which something is wrong.

    ``check`` names what was checked, ``detail`` says what came out; ``crash`` tells an unexpected
    exception from a wrong result.
    """

    check: str
    detail: str
    seed: int
    program: Program
    schedule: Schedule
    crash: bool = False
    profile: str = ""

    def report(self) -> str:
        """All that is needed to see it again."""
        try:
            text = pretty(self.program)
        except Exception as error:  # noqa: BLE001 - the report must come out whatever is broken
            text = f"# pretty() fails: {error!r}\n# {self.program!r}\n"
        told = f"{self.check}: {self.detail}\nseed {self.seed}, profile {self.profile}\n"
        head = indent(told, "# ", lambda line: True)
        return f"{head}{text}\n\n{self.schedule.to_python(kernel=self.program.name)}"


@dataclass(slots=True)
class Trial:
    """What came out for one program: accepted schedules, verdicts on steps, failures."""

    seed: int
    program: Program
    schedules: list[Schedule] = field(default_factory=list)
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)


Check = Callable[[Program, Schedule, int], str | None]
"""Says what is wrong with a program under a schedule, for inputs of a seed; None where nothing."""


def check_validity(program: Program, schedule: Schedule, seed: int) -> str | None:
    """The program keeps the rules, and `polyhedral.legality.program` agrees."""
    if found := faults(program):
        return found[0]
    try:
        check_program(program)
    except WeftError as error:
        return f"refused: {error}"
    return None


def check_paths(program: Program, schedule: Schedule, seed: int) -> str | None:
    """The interpreter's paths give the same bits."""
    inputs = random_inputs(program, seed)
    plain = interp.run(program, inputs, path="plain")
    for what, fast in (
        ("all loops at once", interp.run(program, inputs, min_trips=1)),
        ("pieces of 3", interp.run(program, inputs, min_trips=2, chunk=3)),
    ):
        for name in plain:
            if not same(plain[name], fast[name]):
                return f"{what}: {name} differs from the plain path"
    return None


def check_text(program: Program, schedule: Schedule, seed: int) -> str | None:
    """Its text in the language loads back to the same program."""
    return None if reloaded(program) == as_read(program) else "the reloaded program is another"


def check_steps(program: Program, schedule: Schedule, seed: int) -> str | None:
    """What `polyhedral` says about each step is true; steps after a refusal do not count."""
    oracle, state = Oracle(program), build(program)
    for step in schedule:
        result = judge(oracle, state, step)
        if result.verdict.is_fault:
            return f"{result.verdict.value}: {step}: {result.detail}"
        if result.state is None:
            return None
        state = result.state
        known = oracle_of(oracle, state)
        if known is None:
            return None
        oracle = known
    return None


def check_tree(program: Program, schedule: Schedule, seed: int) -> str | None:
    """The loop tree runs every instance once, in a legal order, and computes the same."""
    oracle, state = Oracle(program), build(program)
    for step in schedule:
        result = judge(oracle, state, step)
        if result.state is None:
            return None
        state = result.state
        known = oracle_of(oracle, state)
        if known is None:
            return None
        oracle = known
    return tree_fault(oracle, program, state, schedule, seed)


def tree_fault(
    oracle: Oracle, program: Program, state: ScheduledScop, schedule: Schedule, seed: int
) -> str | None:
    """See `check_tree`; the oracle is of the program as steps have rewritten it."""
    tree = loop_tree(state)
    try:
        if found := oracle.tree_faults(tree, state.reassociated):
            return found[0]
    except TooManyError:
        return None  # guards of guards: too slow to look at
    inputs = random_inputs(program, seed)
    expected = interp.run(program, inputs)
    actual = run_tree(tree, inputs)
    for name in expected:
        if name not in tolerances(program, schedule) and not same(expected[name], actual[name]):
            return f"{name} differs from the interpreter"
    return None


CHECKS: dict[str, Check] = {
    "validity": check_validity,
    "interpreter": check_paths,
    "text": check_text,
    "steps": check_steps,
    "tree": check_tree,
}


def attempt(name: str, program: Program, schedule: Schedule, seed: int) -> Failure | None:
    """Run one check; an exception that it does not expect is a failure as well."""
    try:
        detail = CHECKS[name](program, schedule, seed)
    except Exception as error:  # noqa: BLE001 - finding these is the purpose
        text = f"{type(error).__name__}: {error}"
        return Failure(name, text, seed, program, schedule, crash=True)
    return Failure(name, detail, seed, program, schedule) if detail else None


def run_trial(seed: int, profile: Profile, walks: int = 3, length: int = 5) -> Trial:
    """Make the program of a seed, and check it and ``walks`` random schedules of it.

    What needs MLIR or a compiler is not done here: see `Trial.schedules`.
    """
    program = random_program(seed, profile)
    trial = Trial(seed, program)
    for name in ("validity", "interpreter", "text"):
        if (failure := attempt(name, program, Schedule(), seed)) is not None:
            trial.failures.append(failure)
    if any(f.check != "text" for f in trial.failures):
        return trial
    if not trial.failures:
        trial.program = reloaded(program)  # the same with places in a source, for all that is said
    oracle = Oracle(trial.program)
    for walk in range(walks):
        rng = random.Random(f"{profile.name}/{seed}/{walk}")
        _walk(trial, oracle, rng, rng.randint(0 if walk == 0 else 1, length))
    return trial


def _walk(trial: Trial, oracle: Oracle, rng: random.Random, length: int) -> None:
    program, schedule = oracle.program, Schedule()
    longer = schedule
    try:
        state = build(program)
        for _ in range(2 * length):
            if len(schedule) == length:
                break
            longer = schedule.then(step := random_step(rng, state, EVERY))
            result: StepResult = judge(oracle, state, step)
            trial.verdicts[result.verdict] += 1
            if result.verdict.is_fault:
                detail = f"{result.verdict.value}: {step}: {result.detail}"
                trial.failures.append(Failure("steps", detail, trial.seed, program, longer))
            if result.verdict is Verdict.ACCEPTED and result.state is not None:
                schedule, state = longer, result.state
                known = oracle_of(oracle, state)
                if known is None:  # as far as that
                    trial.schedules.append(schedule)
                    return
                oracle = known
    except Exception as error:  # noqa: BLE001 - finding these is the purpose
        text = f"{type(error).__name__}: {error}"
        trial.failures.append(Failure("steps", text, trial.seed, program, longer, crash=True))
        return
    try:
        detail = tree_fault(oracle, program, state, schedule, trial.seed) or ""
        failure = Failure("tree", detail, trial.seed, program, schedule) if detail else None
    except Exception as error:  # noqa: BLE001
        text = f"{type(error).__name__}: {error}"
        failure = Failure("tree", text, trial.seed, program, schedule, crash=True)
    if failure is None:
        trial.schedules.append(schedule)
    else:
        trial.failures.append(failure)
