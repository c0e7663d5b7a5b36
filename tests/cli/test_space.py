"""``weft space``."""

from __future__ import annotations

import json
from pathlib import Path

GEMM = Path(__file__).resolve().parents[2] / "examples/polybench/gemm.py"


def test_lists_the_orders_of_each_nest_and_bounds_any_design(weft):
    done = weft("space", f"{GEMM}:gemm", "--size", "mini", "--dsp", "50")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == [
        "variant", "nest", "order", "skewed", "carried", "factors", "points",
    ]  # fmt: skip
    assert any(line.startswith("distributed  S1    k:30 i:20 j:25") for line in lines)
    assert "points, operators of vitis-2022.1-zu9eg-10ns" in done.err
    assert "dsp: at least 1,610 cycles" in done.err


def test_json_has_a_row_for_each_order(weft):
    done = weft("space", f"{GEMM}:gemm", "--size", "mini", "--format", "json")
    rows = json.loads(done.out)["rows"]
    assert {"variant": "distributed", "nest": "S0", "order": "i:20 j:25", "skewed": False,
            "carried": "", "factors": "8 x 9", "points": 72} in rows  # fmt: skip


def test_a_device_that_there_is_not_is_an_error(weft):
    done = weft("space", f"{GEMM}:gemm", "--device", "xc7z999")
    assert done.code == 1
    assert "W403" in done.err


def test_a_space_of_one_point_says_so(weft, tmp_path):
    file = tmp_path / "one.py"
    file.write_text(
        "import weft\nfrom weft import f32\n\n\n@weft.kernel\ndef one(a: f32[1], b: f32[1]):\n"
        "    b[0] = a[0] * 2.0\n"
    )
    assert "one: 1 point, operators of" in weft("space", f"{file}:one").err
    found = weft(
        "explore",
        "--evaluator",
        "model",
        f"{file}:one",
        "--trials",
        "3",
        "--out",
        str(tmp_path / "run"),
    )
    assert "note: the space has one point, the program as it stands" in found.err
    assert "no more points" not in found.err
    assert "The space has one point" in (tmp_path / "run/report.html").read_text()
