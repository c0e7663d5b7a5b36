"""Baselines learn what there is to learn, and nothing of the designs they are asked about."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from qor_gnn.area.resources import coefficients
from qor_gnn.gnn.examples.example import BASE, METRICS, Example
from qor_gnn.gnn.examples.terms import TERMS, cross_parts, fit_terms, folds
from qor_gnn.gnn.graph.build import DesignGraph
from qor_gnn.gnn.graph.schema import FEATURES, NodeType
from qor_gnn.gnn.training.baselines import (
    PragmaTrees,
    ResidualTrees,
    WhiteBox,
    best_shrink,
    spread_of,
)
from qor_gnn.gnn.training.evaluate import judged, rows
from qor_gnn.gnn.training.metrics import errors

TARGET = "vitis-2022.1-zu9eg-10ns"


def graph(copies: float) -> DesignGraph:
    nodes = {k: np.full((2, len(FEATURES[k])), copies, np.float32) for k in NodeType}
    names = dict.fromkeys(NodeType, ("a", "b"))
    return DesignGraph(nodes, names, {}, np.zeros(0, np.float32), np.zeros(2, np.int64))


def designs(kernel: str, count: int, seed: int, *, hidden: float = 0.0) -> list[Example]:
    """LUT and FF are 3 of a term, 2 of another and a fixed part; FF also depends on the graph."""
    rng = np.random.default_rng(seed)
    found = []
    for n in range(count):
        loops, stages, copies = rng.integers(1, 30, 3).astype(float)
        lut = 100 + 3 * loops + 4 * stages
        terms = {"lut.loop": loops, "lut.stages": stages, "lut.fixed": 100.0}
        terms |= {"ff.levels": loops, "ff.stages": stages, "ff.fixed": 50.0}
        ff = (50 + 7 * loops + stages) * (1 + hidden * (copies > 15))
        base = dict.fromkeys(BASE, 100.0) | {"lut": 1.0, "ff": 1.0}
        label = {"latency": 100.0, "lut": lut, "ff": ff, "dsp": 100.0 + copies}
        pragmas = (loops, stages, copies)
        group = f"{seed:04x}{n:012x}"
        found.append(
            Example(graph(copies), base, label, TARGET, kernel, kernel, group, pragmas, terms)
        )
    return found


KNOWN = [e for k, name in enumerate("abcd") for e in designs(name, 60, k, hidden=0.5)]
NEW = designs("e", 80, 9, hidden=0.5)


def test_coefficients_are_found_from_the_labels():
    model = fit_terms([e for k, name in enumerate("abc") for e in designs(name, 80, k)])
    new = designs("e", 30, 7)
    assert model.totals(new, "lut") == pytest.approx([e.label["lut"] for e in new], rel=0.08)
    assert model.parts(new, "ff").shape[1] == model.parts(new, "ff").shape[1]
    assert model.parts(new, "lut")[:, -1] == pytest.approx(100)


def test_coefficients_of_another_version_are_held_to():
    """Kernels of one tool tell less about a new one than another version's labels: these stay."""
    train = [replace(e, target="vitis-2025.1-u200-4ns") for e in designs("a", 200, 1)]
    known = coefficients("vitis-2025.1-u200-4ns")
    assert known is not None
    assert known.taken_over
    named = [known.lut[term.name] for term in TERMS["lut"]]
    at = [term.name for term in TERMS["lut"]].index("loop")
    (held, told) = (fit_terms(some).costs for some in (train, designs("a", 200, 1)))
    moved = held["vitis-2025.1-u200-4ns", "lut"][at] - named[at]
    assert 0 < moved < (told[TARGET, "lut"][at] - named[at]) / 3


def test_a_tool_without_terms_is_what_the_model_says():
    one = replace(NEW[0], terms={}, base=dict.fromkeys(BASE, 7.0))
    model = fit_terms([one])
    assert model.totals([one], "lut") == pytest.approx([7])


def test_a_kernels_own_labels_have_no_part_in_its_parts():
    fold = folds(KNOWN, [])
    assert all(
        len({f for e, f in zip(KNOWN, fold, strict=True) if e.kernel == k}) == 1 for k in "abcd"
    )
    before = cross_parts(KNOWN, "lut", fold)
    changed = [
        replace(e, label={**e.label, "lut": 9 * e.label["lut"]}) if e.kernel == "a" else e
        for e in KNOWN
    ]
    after = cross_parts(changed, "lut", fold)
    mine = np.array([e.kernel == "a" for e in KNOWN])
    assert (before[mine] == after[mine]).all()
    assert (before[~mine] != after[~mine]).any()


def test_groups_are_in_one_fold():
    twice = [*KNOWN[:50], *KNOWN[:50]]
    fold = folds(twice, KNOWN[60:70], 4)
    assert (fold[:50] == fold[50:100]).all()
    assert len(set(fold)) == 4


@dataclass
class Counting:
    """A white box that counts how often it learned, and takes in designs without learning."""

    learned: int = 0
    name: str = "counting"

    def fit(self, train, valid, seed):
        self.learned += 1
        return Growing(WhiteBox().fit(train, valid, seed), 0)


@dataclass
class Growing:
    box: object
    shots: int

    def adapted(self, examples):
        return Growing(self.box, len(examples))

    def predict(self, examples):
        return self.box.predict(examples)


def test_rows_are_of_each_split_and_metric_with_labels():
    found = list(rows([*KNOWN, *NEW], [WhiteBox()], ("P1",), only=lambda s: s.name == "P1/e"))
    assert [(r.split, r.metric, r.predictor) for r in found] == [
        ("P1/e", m, "white box") for m in ("latency", "lut", "ff", "dsp")
    ]
    assert found[0].errors.mape == 0
    assert found[1].errors.mape < 8
    assert found[0].errors.designs == len(NEW)
    assert found[0].adrs >= 0


def test_what_can_be_adapted_learns_once_for_all_shots():
    counting = Counting()
    found = list(rows(KNOWN, [counting], ("P1", "k4", "k16"), only=lambda s: s.name.endswith("/a")))
    assert {r.split for r in found} == {"P1/a", "k4/a", "k16/a"}
    assert counting.learned == 1
    assert {r.errors.designs for r in found} == {60, 56, 44}


def test_a_protocol_that_does_not_exist():
    with pytest.raises(ValueError, match="'P9' is no protocol; there is P0, P1, P2, k16, k64"):
        list(rows(KNOWN, [WhiteBox()], ("P9",)))


def test_what_has_learned_already_is_judged_by_kernel():
    found = list(judged(KNOWN, "mine", WhiteBox().fit(KNOWN, [], 0)))
    assert [r.split for r in found if r.metric == "lut"] == ["a", "b", "c", "d", "all"]
    assert found[-1].errors.designs == len(KNOWN)


@pytest.mark.parametrize(
    "how", [WhiteBox(), ResidualTrees(rounds=5, graph=False), PragmaTrees(trees=5)]
)
def test_answers_are_the_same_for_the_same_seed_and_of_every_metric(how):
    first, second = (how.fit(KNOWN, [], 5).predict(NEW[:10]) for _ in range(2))
    for metric in METRICS:
        assert (first.mean[metric] == second.mean[metric]).all()
        assert (first.std[metric] > 0).all()
        assert first.mean[metric].shape == (10,)


def test_labels_of_what_is_asked_are_not_looked_at():
    fitted = ResidualTrees(rounds=5, shares=False).fit(KNOWN, [], 0)
    blind = [replace(e, label={}, kernel="?", family="?", group="0") for e in NEW]
    for metric in METRICS:
        assert (fitted.predict(NEW).mean[metric] == fitted.predict(blind).mean[metric]).all()


def test_trees_find_what_the_terms_do_not_say():
    plain = WhiteBox().fit(KNOWN, [], 0).predict(NEW)
    trees = ResidualTrees(rounds=60, rate=0.1, shares=False).fit(KNOWN, [], 0).predict(NEW)
    assert errors(NEW, plain, "ff").mape > 12
    assert errors(NEW, trees, "ff").mape < 5
    assert errors(NEW, trees, "dsp").mape < 2
    assert errors(NEW, trees, "latency").mape < 0.01
    assert 80 <= errors(NEW, trees, "ff").coverage <= 100


def test_a_correction_is_trusted_as_far_as_it_helped():
    rng = np.random.default_rng(0)
    off, one = rng.normal(size=500), np.ones(500)
    assert best_shrink(off, off, one) == 1
    assert best_shrink(off, -off, one) == 0
    assert best_shrink(off, 2 * off, one) == pytest.approx(0.5)
    assert best_shrink(np.zeros(0), np.zeros(0), np.zeros(0)) == 0


def test_a_spread_holds_nine_tenths_of_the_residuals():
    off = np.linspace(-1, 1, len(KNOWN))
    assert spread_of(KNOWN, off) * 1.6449 == pytest.approx(0.9, abs=0.01)
    assert spread_of(KNOWN, np.full(len(KNOWN), np.nan)) == 1
