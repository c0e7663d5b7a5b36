"""The corpus is complete: every kernel has its style, its group, a budget and an expert's design."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from importlib import import_module

import numpy as np
import pytest

from backends.verify import verify_many
from benchmarks.corpus.judge import experts_design, judgement
from benchmarks.corpus.recorded import recorded, text_of
from benchmarks.corpus.registry import EXPERT, Entry, all_entries, entries, kernels, styles
from dse.evaluators.base import Status
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.support.amount import sample

ENTRIES = {entry.name: entry for entry in all_entries()}
SAMPLE = (
    "dot_blocked", "lcs_two_rows", "gemm_scalar", "crc32_bitwise", "softmax_rows", "heat_3d_once",
)  # fmt: skip


def test_there_are_enough_kernels_of_many_styles():
    assert len(ENTRIES) == len(all_entries()) >= 120
    assert len(styles()) >= 12


@pytest.mark.parametrize("style", styles())
def test_what_a_style_says_of_its_kernels_is_about_kernels_that_are_there(style):
    module = import_module(f"benchmarks.corpus.kernels.{style}")
    found = kernels(style)
    named = [name for names in getattr(module, "GROUPS", {}).values() for name in names]
    assert len(named) == len(set(named))
    assert set(named) <= {entry.name for entry in entries(style)}
    for name, judge in getattr(module, "JUDGED_BY", {}).items():
        assert {name, judge} <= set(found)
    others = getattr(module, "OTHER_ALGORITHM", {})
    assert others == {e.name: e.other_algorithm for e in entries(style) if e.other_algorithm}
    assert all(e.rewritten for e in entries(style) if e.other_algorithm)
    for entry in entries(style):
        assert EXPERT in entry.expert.schedules, entry.judged_by
    judges = {entry.judged_by for entry in entries(style)}
    assert set(found) == judges | {entry.name for entry in entries(style)}


def test_groups_have_several_variants_and_are_of_one_style():
    sizes = Counter((entry.style, entry.group) for entry in ENTRIES.values())
    assert sum(size > 1 for size in sizes.values()) >= 15
    assert len(sizes) == len({group for _, group in sizes})


def test_an_expert_who_rewrites_a_kernel_keeps_its_arguments():
    for entry in ENTRIES.values():
        assert _arguments(entry.kernel) == _arguments(entry.expert), entry.name


def test_every_kernel_is_recorded():
    found = recorded()
    assert sorted(found) == sorted(ENTRIES)
    for name, entry in ENTRIES.items():
        kept = found[name]
        assert (kept["style"], kept["group"]) == (entry.style, entry.group)
        assert (kept["judged_by"], kept["budget"]) == (entry.judged_by, asdict(entry.budget))
        assert kept["cycles"] > 0
    assert len(text_of(found).splitlines()) == len(found) + 2


@pytest.mark.parametrize("name", SAMPLE)
def test_no_expert_is_below_the_bound(name):
    found = judgement(ENTRIES[name])
    assert found.feasible, found.detail
    assert found.cycles is not None
    assert found.cycles >= found.bound.cycles


@pytest.mark.slow
@pytest.mark.parametrize("style", sample(styles(), 2))
def test_every_expert_keeps_to_the_budget(style):
    found = {e.name: experts_design(e) for e in entries(style)}
    assert not {name: r.detail for name, r in found.items() if r.status is not Status.OK}


@pytest.mark.slow
@pytest.mark.parametrize("style", styles())
def test_every_rewritten_kernel_computes_the_same(style):
    for entry in entries(style):
        if entry.rewritten:
            same_results(entry)


@pytest.mark.slow
@pytest.mark.parametrize("style", sample(styles(), 4))
def test_every_kernel_is_verified(style):
    verified(list(entries(style)))


def verified(some: list[Entry]) -> None:
    """Interpreter and JIT agree on every kernel and on every expert's design."""
    judges = {entry.judged_by: entry.expert for entry in some}.values()
    designs = [compile_design(entry.kernel.program, Schedule()) for entry in some]
    designs += [compile_design(judge.program, judge.schedules[EXPERT]) for judge in judges]
    makers = [*(entry.kernel.make_inputs for entry in some), *(j.make_inputs for j in judges)]
    wrong = [r for r in verify_many(designs, cxx=False, make_inputs=makers) if not r.ok]
    assert not wrong


def same_results(entry: Entry) -> None:
    """Both kernels change their arguments alike, but for the rounding of floats."""
    inputs = entry.kernel.make_inputs(3)
    written, expert = ({k: np.array(v) for k, v in inputs.items()} for _ in range(2))
    entry.kernel(**written)
    entry.expert(**expert)
    for name in inputs:
        a, b = (np.asarray(of[name], dtype=np.float64) for of in (written, expert))
        assert np.allclose(a, b, rtol=2e-3, atol=2e-3), f"{entry.name}: {name}"


def _arguments(kernel):
    return [(a.name, a.type, a.shape) for a in kernel.program.arguments]
