"""The fit of resource coefficients: exact on exact labels, held to priors, blind to what is out."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from dse import cli
from dsl.errors.errors import InputError
from qor_gnn.area.resources import read
from qor_gnn.area.terms import FF_TERMS, LUT_TERMS, Sums
from qor_gnn.fit.calibrate import Labelled, calibrate, left_out, non_negative
from qor_gnn.fit.labelled import zu9eg
from qor_gnn.fit.labels import different, labelled, sums_of

TOOL = zu9eg.PERSONALITY


def synthetic(count: int, seed: int = 0) -> tuple[list[Labelled], dict[str, dict[str, float]]]:
    """Designs of random amounts whose labels are exact sums with known coefficients."""
    r = random.Random(seed)
    known = {
        "lut": {t.name: t.prior * r.choice((0.0, 0.7, 1.0, 1.2, 1.4)) for t in LUT_TERMS},
        "ff": {t.name: t.prior * r.choice((0.0, 0.7, 1.0, 1.2, 1.4)) for t in FF_TERMS},
    }
    designs = []
    for n in range(count):
        lut = {name: r.choice((0.0, r.uniform(1, 100))) for name in known["lut"]}
        ff = {name: r.choice((0.0, r.uniform(1, 100))) for name in known["ff"]}
        sums = Sums(lut, ff, r.uniform(100, 1000), r.uniform(100, 1000))
        labels = (
            sums.lut_fixed + sum(v * known["lut"][k] for k, v in lut.items()),
            sums.ff_fixed + sum(v * known["ff"][k] for k, v in ff.items()),
        )
        designs.append(Labelled(f"kernel{n % 3}", sums, *labels))
    return designs, known


def test_known_coefficients_come_back() -> None:
    designs, known = synthetic(200)
    found = calibrate(designs, TOOL, {"data": "synthetic"}, ridge=0)
    assert found.lut == pytest.approx(known["lut"], abs=0.01)
    assert found.ff == pytest.approx(known["ff"], abs=0.01)
    assert found.source["data"] == "synthetic"
    assert found.source["designs"] == 200
    assert found.source["lut_mape_pct"] <= 0.01


def test_without_labels_that_tell_the_priors_stay() -> None:
    designs, _ = synthetic(50)
    silent = [replace(d, sums=replace(d.sums, lut={**d.sums.lut, "decoder": 0.0})) for d in designs]
    found = calibrate(silent, TOOL, {}, ridge=0)
    prior = next(t.prior for t in LUT_TERMS if t.name == "decoder")
    assert found.lut["decoder"] == pytest.approx(prior, rel=1e-12)
    held = calibrate(designs, TOOL, {}, ridge=1e9)
    assert held.lut == pytest.approx({t.name: t.prior for t in LUT_TERMS}, rel=1e-3, abs=1e-3)


def test_designs_that_are_not_understood_teach_nothing() -> None:
    designs, known = synthetic(150)
    wild = [replace(d, lut=d.lut * (40 if n % 10 == 0 else 1)) for n, d in enumerate(designs)]
    found = calibrate(wild, TOOL, {}, ridge=0)
    assert found.lut == pytest.approx(known["lut"], abs=0.01)


def test_weights_count_as_copies_would() -> None:
    designs, _ = synthetic(60)
    off = [replace(d, lut=d.lut * (1 + 0.1 * (n % 5))) for n, d in enumerate(designs)]
    copied = [*off, off[4], off[4]]
    weighted = [replace(d, weight=3.0) if d is off[4] else d for d in off]
    one, other = calibrate(copied, TOOL, {}, 0.1), calibrate(weighted, TOOL, {}, 0.1)
    assert one.lut == pytest.approx(other.lut)


@pytest.mark.parametrize("seed", range(20))
def test_non_negative_solutions_are_optimal(seed: int) -> None:
    """No free variable could do better, and none at 0 should be larger."""
    r = np.random.default_rng(seed)
    a = r.normal(size=(30, 12))
    gram, wanted = a.T @ a, a.T @ r.normal(size=30) * 10
    x = non_negative(gram, wanted)
    gradient = gram @ x - wanted
    assert (x >= 0).all()
    assert (x == 0).any()
    assert abs(gradient[x > 0]).max() < 1e-7
    assert gradient[x == 0].min() > -1e-7


def test_a_group_that_is_left_out_teaches_nothing() -> None:
    designs, _ = synthetic(60)
    base = left_out(designs)
    changed = [replace(d, lut=d.lut * 7) if d.group == "kernel2" else d for d in designs]
    again = left_out(changed)
    for design, before, after in zip(designs, base, again, strict=True):
        if design.group == "kernel2":
            assert after == before
    assert any(a != b for a, b in zip(base, again, strict=True))


def test_further_designs_of_the_group_are_left_out_as_well() -> None:
    designs, _ = synthetic(60)
    also = [replace(d, lut=d.lut * 9) for d in designs if d.group == "kernel0"]
    plain, more = left_out(designs), left_out(designs, also)
    for design, a, b in zip(designs, plain, more, strict=True):
        assert (a == b) == (design.group == "kernel0")


def test_there_must_be_something_to_learn_from() -> None:
    designs, _ = synthetic(3)
    with pytest.raises(ValueError, match="no designs"):
        calibrate([], TOOL, {})
    with pytest.raises(ValueError, match="not positive"):
        calibrate([replace(designs[0], ff=0)], TOOL, {})
    with pytest.raises(ValueError, match="leaves nothing"):
        left_out([designs[0]])


# ---------------------------------------------------------------------------------------- command

CONFIGS = {
    "atax": ("__lp2_n_1_f_lp4_p_1_f", "A_1_2__lp2_p_2_f_lp4_n_2_f"),
    "gemm": ("__lp2_n_4_f_lp5_p_1_f", "C_2_2__lp2_p_2_f_lp5_n_2_f", "C_2_2__lp2_p_2_f_lp5_n_2_n"),
}


def small_data(folder: Path) -> None:
    """A data set of a few designs, whose labels are sums with all coefficients at 2."""
    rows = []
    for kernel, configs in CONFIGS.items():
        for config in configs:
            steps = zu9eg.schedule(config)
            sample = zu9eg.Sample(
                kernel, config, "kernels", None, (), steps, zu9eg.Labels(1, 1, 1, 1)
            )
            sums = sums_of(zu9eg.kernel_of(sample), TOOL)
            lut = round(sums.lut_fixed + 2 * sum(sums.lut.values()))
            ff = round(sums.ff_fixed + 2 * sum(sums.ff.values()))
            rows.append(f"{kernel},{config},100,{lut},{ff},5")
    head = "kernel,config,latency,lut,ff,dsp"
    (folder / "kernels.csv").write_text("\n".join([head, *rows]) + "\n")
    for name in ("loops_pipelined", "loops_sequential"):
        (folder / f"{name}.csv").write_text(f"{head},II,IL\n")


def test_the_command_writes_coefficients(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_data(tmp_path)
    out = tmp_path / "out.json"
    arguments = ["calibrate", "--tool", TOOL, "--data", str(tmp_path), "--out", str(out)]
    assert cli.run([*arguments, "--format", "json"]) == 0
    found = read(out)
    assert found.tool == TOOL
    assert found.source["designs"] in (4, 5)  # two of them may be the same design
    assert "Apache-2.0" in found.source["licence"]
    assert found.lut["fsm"] > 1.01  # drawn from its prior of 1 towards 2
    shown = json.loads(capsys.readouterr().out)
    row = next(r for r in shown["rows"] if r["term"] == "fsm" and r["resource"] == "lut")
    assert row["coefficient"] == round(found.lut["fsm"], 4)


def test_equal_labels_are_one_design() -> None:
    labels = zu9eg.Labels(1, 2, 3, 4)
    steps = zu9eg.schedule("__lp2_n_1_f")
    one = zu9eg.Sample("atax", "a", "kernels", None, (), steps, labels)
    rows = [one, replace(one, config="b"), replace(one, labels=replace(labels, lut=9))]
    assert different(rows) == [(rows[0], 2), (rows[2], 1)]


def test_labels_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        labelled(TOOL, tmp_path)
    text = caught.value.render()
    assert "error[W532]" in text
    assert "does not hold the labels of vitis-2022.1-zu9eg-10ns" in text
    assert ".csv is not there" in text


def test_a_tool_without_labels(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        labelled("vitis-2022.1-zu9eg-10", tmp_path)
    text = caught.value.render()
    assert "error[W531]" in text
    assert "did you mean 'vitis-2022.1-zu9eg-10ns'" in text


def test_a_result_that_cannot_be_written_is_known_before_the_work(tmp_path: Path) -> None:
    out = str(tmp_path / "nowhere" / "c.json")
    words = ["--tool", TOOL, "--data", str(tmp_path / "no data"), "--out", out]
    done = CliRunner().invoke(cli.weft, ["calibrate", *words], standalone_mode=False)
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "W508"
    assert done.exception.message == f"cannot write {out}: {tmp_path}/nowhere is no folder"


@pytest.mark.parametrize(
    ("rows", "code", "message"),
    [
        ([], "W532", "{0} does not hold the labels of vitis-2022.1-zu9eg-10ns"),
        (
            ["atax,__lp2_n_1_f,100,5,5,0"],
            "W532",
            "all labels of vitis-2022.1-zu9eg-10ns in {0} are of the kernel atax",
        ),
        (
            ["atax,__lp2_n_1_f,100,5,5,0", "gemm,__lp2_n_1_f,100,0,5,0"],
            "W511",
            "{0}/kernels.csv:3: a design of gemm with no LUT",
        ),
    ],
)
def test_labels_that_nothing_can_be_fitted_to(
    tmp_path: Path, rows: list[str], code: str, message: str
) -> None:
    small_data(tmp_path)
    (tmp_path / "kernels.csv").write_text("\n".join(["kernel,config,latency,lut,ff,dsp", *rows]))
    with pytest.raises(InputError) as caught:
        labelled(TOOL, tmp_path)
    assert (caught.value.code, caught.value.message) == (code, message.format(tmp_path))
