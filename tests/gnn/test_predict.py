"""Predictors: trust only where it helps, intervals that cover, few labels that teach much."""

import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import zu9eg
from qor_gnn.gnn.examples.example import METRICS, column
from qor_gnn.gnn.examples.targets import ROUTED
from qor_gnn.gnn.nets.network import Shape
from qor_gnn.gnn.training.adapt import MOST_SHOTS, Adapter, Shots, joined, place, worth
from qor_gnn.gnn.training.ensemble import NEW, SEEN, structure
from qor_gnn.gnn.training.predict import GnnPredictor, design, figures
from qor_gnn.gnn.training.train import Settings
from qor_gnn.tools.personality import personality
from tests.gnn.designs import TOOL, designs

LUT, FF = METRICS.index("lut"), METRICS.index("ff")
SETTINGS = Settings(Shape(members=3, hidden=8), epochs=25, batch=16, rate=1e-2)


@cache
def examples():
    return [e for kernel in ("gemm", "atax", "k2mm") for e in designs(kernel, 40)]


def others():
    return designs("gesummv", 40)


@pytest.fixture(scope="module")
def model():
    return GnnPredictor(SETTINGS).fit(examples(), (), 0)


def error(found, examples, metric):
    return float(np.mean(np.abs(found.mean[metric] / column(examples, metric) - 1)))


def test_what_the_white_box_knows_is_left_alone(model):
    for kind in (NEW, SEEN):
        for metric in ("latency", "dsp"):
            assert model.calibration.trust[kind, 1, METRICS.index(metric)] == 0
    found = model.predict(others())
    for metric in ("latency", "dsp"):
        own = column(others(), metric, "base")
        assert (found.mean[metric] == own).all()
        assert own == pytest.approx(column(others(), metric), rel=1e-6)
    low, high = found.interval("latency")
    assert (high / low < 1.01).all()


def test_it_is_nearer_than_the_white_box_on_kernels_that_it_knows(model):
    more = [e for e in designs("gemm", 60) if e.group not in {k.group for k in examples()}]
    assert len(more) >= 15
    base = np.mean(np.abs(column(more, "lut", "base") / column(more, "lut") - 1))
    assert error(model.predict(more), more, "lut") < 0.6 * base


def test_intervals_cover_kernels_that_it_does_not_know(model):
    low, high = model.predict(others()).interval("lut")
    label = column(others(), "lut")
    assert np.mean((low <= label) & (label <= high)) > 0.75
    assert np.mean(high / low) < 2


def test_what_members_disagree_by_is_not_stretched(model):
    calibration = model.calibration
    plain, wide = (
        replace(
            model,
            calibration=replace(calibration, stretch=np.full_like(calibration.stretch, stretch)),
        ).predict(others())
        for stretch in (1e-3, 10.0)
    )
    apart = plain.std["lut"]  # of members that are sure of what they say
    own = np.sqrt(wide.std["lut"] ** 2 - apart**2) / 10
    twice = replace(
        model, calibration=replace(calibration, stretch=np.full_like(calibration.stretch, 20.0))
    ).predict(others())
    assert (apart > 1e-4).all()
    assert twice.std["lut"] ** 2 == pytest.approx(apart**2 + (20 * own) ** 2, rel=1e-3)


def test_a_structure_is_the_kernels_not_its_directives():
    names = {k: {structure(e) for e in designs(k, 24)} for k in ("gemm", "atax", "k2mm")}
    assert all(len(found) == 1 for found in names.values())
    assert len(set.union(*names.values())) == 3


def test_few_labels_of_a_kernel_teach_the_rest(model):
    shots, rest = others()[:16], others()[16:]
    shifted = [
        replace(e, label={**e.label, "lut": 1.3 * e.label["lut"], "ff": 0.8 * e.label["ff"]})
        for e in others()
    ]
    before = model.predict(rest)
    after = model.adapted(shifted[:16]).predict(rest)
    for metric in ("lut", "ff"):
        wanted = shifted[16:]
        assert error(after, wanted, metric) < 0.35 * error(before, wanted, metric)
        low, high = after.interval(metric)
        label = column(wanted, metric)
        assert np.mean((low <= label) & (label <= high)) > 0.7
    assert (after.mean["latency"] == before.mean["latency"]).all()
    assert [e.kernel for e in shots] == ["gesummv"] * 16


def test_labels_can_come_in_rounds(model):
    shifted = [replace(e, label={**e.label, "lut": 1.3 * e.label["lut"]}) for e in others()]
    first = model.adapted(shifted[:6])
    both = first.adapted(shifted[6:16])
    assert len(both.adapters[TOOL].shots) == 16
    assert error(both.predict(others()[16:]), shifted[16:], "lut") < 0.08
    assert len(first.adapters[TOOL].shots) == 6


def test_a_tool_that_it_does_not_know_is_learned_from_few_labels(model):
    mine = [
        replace(e, target="my-tool", label={"lut": 2.0 * e.label["lut"]})
        for e in designs("gemm", 40)
    ]
    adapted = model.adapted(mine[:12])
    assert error(adapted.predict(mine[12:]), mine[12:], "lut") < 0.15
    assert error(model.predict(mine[12:]), mine[12:], "lut") > 0.3
    untouched = adapted.predict(others())
    assert (untouched.mean["lut"] == model.predict(others()).mean["lut"]).all()


def test_routed_labels_correct_what_is_known_of_the_tool(model):
    mine = [
        replace(e, target=TOOL + ROUTED, label={"lut": 0.7 * e.label["lut"]})
        for e in designs("gemm", 40)
    ]
    adapted = model.adapted(mine[:12])
    assert error(adapted.predict(mine[12:]), mine[12:], "lut") < 0.1
    asked = [replace(e, target=TOOL) for e in mine[12:]]
    assert (adapted.predict(asked).mean["lut"] == model.predict(asked).mean["lut"]).all()
    rows, plain = figures(adapted, asked), figures(model, asked)
    label = column(mine[12:], "lut")
    assert np.mean(np.abs([r["lut"].value for r in rows] / label - 1)) < 0.1
    assert rows[0]["ff"].provenance == plain[0]["ff"].provenance == "gnn"
    assert rows[0]["ff"].value == pytest.approx(plain[0]["ff"].value)
    assert model.answers_as(TOOL) == model.adapted(mine[:1]).answers_as(TOOL) == TOOL
    assert adapted.answers_as(TOOL) == TOOL + ROUTED
    assert adapted.answers_as("another") == "another"


def made_up(values, names):
    count = len(values)
    return Shots(
        tuple(names),
        tuple(np.array([v], float) for v in values),
        np.full((count, 2, 3), 1 / 3),
        np.full((count, len(METRICS)), np.nan),
    )


def test_a_process_follows_its_labels_and_is_less_sure_far_from_them():
    shots = made_up(np.linspace(0, 6, 25), ["a"] * 25)
    shots.missed[:, LUT] = 0.2 * np.sin([float(p[0]) for p in shots.places])
    asked = made_up([2.1, 60.0, 2.1], ["a", "a", "b"])
    mean, spread, counts = Adapter(shots, known=False).corrected(asked, LUT)
    assert mean[0] == pytest.approx(0.2 * np.sin(2.1), abs=0.02)
    assert spread[1] > 3 * spread[0]
    assert counts.tolist() == [True, True, False]
    mean, spread, counts = Adapter(shots, known=False).corrected(asked, FF)
    assert not mean.any()
    assert not counts.any()


def test_labels_of_a_kernel_say_something_of_others_where_the_tool_is_new_alone():
    shots = made_up([1.0, 2.0, 3.0], ["a"] * 3)
    shots.missed[:, LUT] = [0.1, 0.11, 0.1]
    asked = made_up([2.0, 2.0], ["a", "b"])
    of_new, _, _ = Adapter(shots, known=False).corrected(asked, LUT)
    of_known, _, _ = Adapter(shots, known=True).corrected(asked, LUT)
    assert of_new[1] > 0.02
    assert of_known[1] == 0
    assert min(of_new[0], of_known[0]) > 0.08


def test_the_latest_labels_are_kept_where_there_are_too_many():
    first, second = made_up(range(500), ["a"] * 500), made_up(range(500, 1000), ["b"] * 500)
    kept = joined(first, second)
    assert len(kept) == MOST_SHOTS
    assert kept.places[-1].tolist() == [999]
    assert len(joined(None, first)) == 500


def test_a_design_of_both_counts_once_with_what_was_said_last():
    first, second = made_up([1.0, 2.0], ["a"] * 2), made_up([2.0, 3.0], ["a"] * 2)
    first.missed[:, LUT], second.missed[:, LUT] = [0.1, 0.2], [0.25, 0.3]
    first.missed[:, FF] = [0.5, 0.6]
    both = joined(first, second)
    assert [p.tolist() for p in both.places] == [[1], [2], [3]]
    assert both.missed[:, LUT].tolist() == [0.1, 0.25, 0.3]
    assert both.missed[:, FF] == pytest.approx([0.5, 0.6, np.nan], nan_ok=True)
    assert second.missed[0, FF] != both.missed[1, FF]


def test_what_labels_are_worth_is_what_they_say_of_each_other():
    shots = made_up(np.linspace(0, 6, 12), ["a"] * 12)
    shots.missed[:, LUT] = 0.2
    shots.missed[0, FF] = 0.3
    lut, ff = worth(Adapter(shots, known=True))
    before = 100 * (1 - np.exp(-0.2))
    assert (lut["metric"], lut["designs"]) == ("lut", 12)
    assert lut["before_error_pct"] == pytest.approx(before, abs=1e-3)
    assert lut["error_pct"] < 0.1 * before
    assert (ff["designs"], ff["error_pct"]) == (1, ff["before_error_pct"])


def test_a_place_depends_on_directives():
    first, second = designs("gemm", 2)
    assert place(first).shape == place(second).shape
    assert (place(first) != place(second)).any()


def test_no_designs_are_answered_too(model):
    found = model.predict([])
    assert all(found.mean[m].shape == found.std[m].shape == (0,) for m in METRICS)


def test_a_design_to_ask_about(model):
    tree = zu9eg.structure("gemm")
    tool = personality(TOOL)
    one = design(tree, tool, estimate(tree, tool))
    assert one.label == {}
    (row,) = figures(model, [one])
    assert set(row) == set(METRICS)
    lut = row["lut"]
    assert lut.low <= lut.value <= lut.high
    assert lut.std > 0
    assert lut.model == one.base["lut"]
    sources = {metric: figure.provenance for metric, figure in row.items()}
    assert sources == {**dict.fromkeys(METRICS, "gnn"), "bram18": "model", "period_ns": "model"}
    assert row["period_ns"].value == pytest.approx(one.base["period_ns"])
    assert row["period_ns"].std > 1


def test_prediction_is_fast(model):
    many = [*examples(), *others()] * 4
    model.predict(many[:20])
    start = time.process_time()
    model.predict(many)
    assert (time.process_time() - start) / len(many) < 4e-3
    start = time.process_time()
    model.predict(many[:1])
    assert time.process_time() - start < 0.06
