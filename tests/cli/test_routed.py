"""``weft estimate --routed``: what placement and routing are expected to make of a design, in every form."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import weft as api
from dse.estimates.routed import ALREADY
from dsl.kernels.loader import load
from tests.cli.conftest import Weft


def data(weft: Weft, kernels: Path, *words: str) -> dict:
    done = weft("estimate", f"{kernels}:axpy", "--format", "json", *words)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_json_says_where_figures_come_from(weft: Weft, kernels: Path):
    found = data(weft, kernels, "--routed", "--device", "xc7z020")
    after = found["routed"]
    assert after["provenance"] == "fitted"
    assert after["interval_pct"] == 90
    assert "designs of" in after["notes"][0]
    assert set(after["figures"]) == {"lut", "ff", "dsp", "bram18", "period_ns"}
    for figure in after["figures"].values():
        assert figure["low"] <= figure["value"] <= figure["high"]
    assert found["provenance"]["source"] == "model"  # csynth's view stays as it is
    assert found["resources"] == data(weft, kernels, "--device", "xc7z020")["resources"]


def test_it_is_there_only_where_it_is_asked_for(weft: Weft, kernels: Path):
    assert "routed" not in data(weft, kernels)
    assert "routed" not in weft("estimate", f"{kernels}:axpy").out


def test_the_table_is_next_to_csynth_and_the_device(weft: Weft, kernels: Path):
    done = weft("estimate", f"{kernels}:axpy", "--routed", "--device", "xc7z020")
    assert done.code == 0
    head, *rows = done.out[done.out.index("routed     ") :].splitlines()
    assert head.split() == ["routed", "value", "90%", "interval", "csynth", "available", "share"]
    assert [row.split()[0] for row in rows] == ["LUT", "FF", "DSP", "BRAM18", "period"]
    assert "53,200" in rows[0]
    assert "extrapolated:" not in done.out


def test_csv_has_rows_for_values_and_both_ends(weft: Weft, kernels: Path):
    done = weft("estimate", f"{kernels}:axpy", "--routed", "--format", "csv")
    rows = {row["row"]: row for row in csv.DictReader(io.StringIO(done.out))}
    value, low, high = (rows[name] for name in ("routed", "routed_low", "routed_high"))
    for column in ("lut", "ff", "period_ns"):
        assert float(low[column]) <= float(value[column]) <= float(high[column])
    assert value["provenance"] == "fitted"
    assert value["latency_avg"] == ""  # cycles are not a matter of routing


def test_the_open_backend_is_routed_already(weft: Weft, kernels: Path):
    words = ("--tool", "open", "--routed")
    done = weft("estimate", f"{kernels}:copy", *words)
    assert done.code == 0, done.err
    assert f"routed: {ALREADY}" in done.out
    after = json.loads(weft("estimate", f"{kernels}:copy", *words, "--format", "json").out)[
        "routed"
    ]
    assert after["figures"] == {}
    assert after["notes"] == [ALREADY]
    rows = weft("estimate", f"{kernels}:copy", *words, "--format", "csv").out
    assert "routed" not in rows


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--device", "xcku040"), "extrapolated: no design of kintexu"),
        (("--clock", "1"), "ns of clock where pairs have"),
    ],
)
def test_what_is_unlike_all_pairs_says_so(weft: Weft, kernels: Path, words, text: str):
    done = weft("estimate", f"{kernels}:axpy", "--routed", *words)
    assert done.code == 0, done.err
    assert text in done.out


def test_in_python(kernels: Path):
    kernel = load(f"{kernels}:axpy")
    found = api.estimate(kernel, device="xc7z020", routed=True)
    assert found.routed is not None
    assert found.routed.figures["lut"].low < found.routed.figures["lut"].high
    assert str(found.routed) in str(found)
    plain = api.estimate(kernel, device="xc7z020")
    assert plain.routed is None
    assert plain == found  # figures of csynth alone are compared
    assert api.estimate(load(f"{kernels}:copy"), tool="open", routed=True).routed is None
