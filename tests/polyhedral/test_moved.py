"""Pairs of statements that a step leaves as they were are not asked again; no others are left out."""

import random

import pytest

import polyhedral.legality.violations as module
import weft
from dsl.errors.errors import WeftError
from dsl.kernels.loader import load_kernels
from dsl.schedules.steps import Distribute, Fuse, Reverse
from polyhedral.legality.violations import violations
from polyhedral.schedule import apply_step
from polyhedral.scop.moved import moved
from polyhedral.scop.scheduled import build
from tests.support.random_programs import random_program
from tests.support.random_schedules import nests_of
from weft import f32


@weft.kernel
def three(x: f32[8], y: f32[8], z: f32[8]):
    for i in range(8):
        x[i] = 1.0
        y[i] = x[i]
        z[i] = y[i]


def _wide(count):
    body = "\n".join(f"        A{k % 3}[i] = A{(k + 1) % 3}[i] + {k}.0" for k in range(count))
    arguments = ", ".join(f"A{k}: f32[16]" for k in range(3))
    return f"def wide({arguments}):\n    for i in range(16):\n{body}\n"


def _program(count, tmp_path):
    file = tmp_path / f"wide{count}.py"
    file.write_text(f"import weft\nfrom weft import f32\n\n@weft.kernel\n{_wide(count)}")
    (kernel,) = load_kernels(file).values()
    return kernel.program


def test_a_statement_that_leaves_a_loop():
    before = build(three.program)
    after = apply_step(before, Distribute(("S0",), 0))
    found = moved(before, after)
    assert found is not None
    assert found.statements == {}
    assert found.between == ((frozenset({0}), frozenset({1, 2})),)


def _violations(before, after):
    """By pairs: those that a step may have moved, and all."""
    known = {(v.source.statement.name, v.sink.statement.name) for v in violations(after)}
    asked = {(v.source.statement.name, v.sink.statement.name)
             for v in violations(after, None, before)}  # fmt: skip
    return asked, known


@pytest.mark.parametrize("first", [0, 60, 120])
def test_random_steps(first, monkeypatch):
    """Without the check that they are legal, so that what is reversed is found in both ways."""
    monkeypatch.setattr("polyhedral.schedule.check_order", lambda *_: None)
    reversed_, known = 0, 0
    for seed in range(first, first + 60):
        rng = random.Random(seed)
        state = build(random_program(seed))
        names = [s.name for s in state.scop.statements]
        for _ in range(4):
            nests = nests_of(state)
            if len(nests) < 2:
                break
            one = rng.choice(names), rng.randrange(2)
            pair = tuple(rng.sample(names, 2))
            loops = [loop for p in state.of_statement(one[0])[:1] for loop in p.names]
            step = rng.choice((Distribute((one[0],), one[1]), Fuse(pair, rng.randint(1, 2))))
            if loops and rng.random() < 0.3:
                step = Reverse(f"{one[0]}.{rng.choice(loops)}")
            try:
                after = apply_step(state, step)
            except WeftError:
                continue
            known += moved(state, after) is not None
            asked, every = _violations(state, after)
            assert asked == every, (seed, step)
            if every:
                reversed_ += 1
                break  # only from a legal state
            state = after
    assert reversed_ > 3
    assert known > 10


@pytest.mark.parametrize("size", [12, 24])
def test_questions_grow_with_the_statements_and_not_with_their_pairs(size, tmp_path, monkeypatch):
    asked, most = [], 0
    real = module.reversed_pairs
    monkeypatch.setattr(module, "reversed_pairs", lambda *a: asked.append(a) or real(*a))
    state = build(_program(size, tmp_path))
    for number in range(size - 1):
        asked.clear()
        try:
            state = apply_step(state, Distribute((f"S{number}",), 0))
        except WeftError:
            continue
        most = max(most, len(asked))
    # One statement with the others of its loop, not each pair of these.
    assert 0 < most <= 2 * size
