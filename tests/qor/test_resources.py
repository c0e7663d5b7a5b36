"""LUT and FF terms: forms read by hand from reports, what is shared, files of coefficients."""

from __future__ import annotations

import json
import random
from math import log2
from pathlib import Path

import pytest

from dsl.errors.errors import InputError
from qor_gnn.area.multiplexers import bank_multiplexer, multiplexer
from qor_gnn.area.resources import Coefficients, coefficients, read, resources, written
from qor_gnn.area.terms import FF_TERMS, LUT_TERMS, Sums
from qor_gnn.design.directives import with_directives
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import zu9eg
from qor_gnn.fit.labels import sums_of
from tests.support.labelled import ZU9EG, needs_zu9eg

TOOL = zu9eg.PERSONALITY
FACTORS = (2, 4, 8, 16)


def sums(kernel: str, config: str, nest: int | None = None, outer: tuple[str, ...] = ()) -> Sums:
    tree = zu9eg.structure(kernel, nest, outer)
    return sums_of(with_directives(tree, zu9eg.schedule(config)), TOOL)


def scaled(factor: int, *, pipeline: bool) -> Sums:
    """``C[i][j] *= beta`` over j, unrolled by the banks of C."""
    mode = "p" if pipeline else "n"
    return sums("gemm", f"C_2_{factor}__lp2_{mode}_{factor}_f", 0, ("lp1",))


def registers(found: Sums) -> float:
    """Flip-flops of values and addresses, and of the units."""
    control = ("one", "fsm", "levels", "pipeline", "stages", "flattened_outer")
    return found.ff_fixed + sum(v for k, v in found.ff.items() if k not in control)


# ----------------------------------------------------------------------------------------- tables


def test_multiplexers_are_those_of_the_reports() -> None:
    assert [multiplexer(n) for n in range(1, 13)] == [0, 9, 14, 20, 26, 31, 37, 43, 49, 54, 59, 65]
    assert multiplexer(17) == 81
    assert multiplexer(23) == 116
    assert multiplexer(129) == 678
    assert multiplexer(258) == pytest.approx(2 * 678)
    assert multiplexer(385) == multiplexer(4_700)
    costs = [multiplexer(n) for n in range(1, 300)]
    assert costs == sorted(costs)


def test_bank_multiplexers() -> None:
    assert bank_multiplexer(4, 4) == 0
    assert bank_multiplexer(4, 2) == 14
    assert bank_multiplexer(16, 8) == 33
    assert bank_multiplexer(16, 1) == multiplexer(16)


# ------------------------------------------------------------------------- forms read from reports


@pytest.mark.parametrize("u", FACTORS)
def test_a_sequential_body_on_its_own_banks(u: int) -> None:
    """FF (192 + w)·u + 23, LUT 135·u + 80: unit, loaded value, product, address of w bits."""
    found = scaled(u, pipeline=False)
    assert registers(found) == (192 + 12 - log2(u)) * u
    assert found.lut_fixed == 135 * u
    assert found.lut["operands"] == found.lut["port_reads"] == found.lut["banks"] == 0
    model = resources(found, shipped())
    assert model.ff == pytest.approx((192 + 12 - log2(u)) * u + 23, rel=0.02)
    assert model.lut == pytest.approx(135 * u + 80, rel=0.05)


@pytest.mark.parametrize("u", FACTORS)
def test_a_pipeline_on_its_own_banks(u: int) -> None:
    """FF (256 + w)·u + 27, LUT 167·u + 66: the address of the store is shifted along."""
    found = scaled(u, pipeline=True)
    assert registers(found) == (256 + 12 - log2(u)) * u
    assert found.lut_fixed == 135 * u
    assert found.lut["long"] == u
    model = resources(found, shipped())
    assert model.ff == pytest.approx((256 + 12 - log2(u)) * u + 27, rel=0.06)
    assert model.lut == pytest.approx(167 * u + 66, rel=0.06)


@pytest.mark.parametrize("u", FACTORS)
def test_products_added_to_elements(u: int) -> None:
    """LUT 349·u + 102 and 381·u + 118: a multiplier and an adder each, an address shifted along."""
    for mode, each, rest in (("n", 349, 102), ("p", 381, 118)):
        config = f"A_2_{u}_y_1_{u}__lp4_{mode}_{u}_f"
        found = sums("atax", config, 1, ("lp3",))
        assert found.lut_fixed == 349 * u
        assert resources(found, shipped()).lut == pytest.approx(each * u + rest, rel=0.06)


@pytest.mark.parametrize("u", FACTORS)
def test_a_unit_with_one_operand_register_needs_no_multiplexer(u: int) -> None:
    """One bank: a load a state into one register, one product register, one unit."""
    found = sums("gemm", f"C_2_1__lp2_n_{u}_f", 0, ("lp1",))
    assert found.lut_fixed == 135
    assert found.ff["loaded"] == found.ff["results"] == 32
    assert found.lut["operands"] == 0
    assert found.lut["port_reads"] == multiplexer(u + 1)
    assert found.lut["port_writes"] == 2 * multiplexer(u + 1)


@pytest.mark.parametrize("u", FACTORS)
def test_bits_of_an_address_that_are_known_have_no_register(u: int) -> None:
    """12 bits each less the low bits that are 0: half of log2(u) on average."""
    found = sums("gemm", f"C_2_1__lp2_n_{u}_f", 0, ("lp1",))
    assert found.ff["addresses"] == 12 * u - u * log2(u) / 2


def test_an_adder_keeps_its_operands_in_a_sequential_body() -> None:
    """``y[i] = alpha·tmp[i] + beta·y[i]``: two products are alive for each of four additions."""
    counts = {}
    for u in (1, 2, 4, 8, 16):
        found = sums("gesummv", f"tmp_1_1__lp3_n_{u}_f", 1)
        counts[u] = (found.ff["results"] + found.ff["loaded"]) / 32
    assert counts == {1: 5, 2: 7, 4: 11, 8: 11, 16: 11}


def test_complete_dimensions_are_registers_of_every_element() -> None:
    found = sums("atax", "A_2_64_y_1_4__lp4_n_4_f", 1, ("lp3",))
    assert found.ff["complete"] == 64 * 32
    assert found.ff["selected_complete"] == 4 * 32
    assert sums("atax", "A_1_2_A_2_64__lp4_n_1_f", 1, ("lp3",)).ff["complete"] == 128 * 32


def test_a_load_of_an_unknown_bank_has_a_register_of_its_own() -> None:
    one = sums("atax", "A_1_1_y_1_8__lp4_n_8_f", 1, ("lp3",))
    two = sums("atax", "A_1_2_y_1_8__lp4_n_8_f", 1, ("lp3",))
    assert two.ff["selected"] == 8 * 32
    assert one.ff["loaded"] - two.ff["loaded"] == 32
    assert two.lut["banks"] == 8 * bank_multiplexer(2, 1)


# -------------------------------------------------------------------------------------- sharing


def test_copies_of_a_sequential_loop_share_registers_and_units() -> None:
    one = sums("atax", "__lp3_n_1_f_lp4_n_1_f", 1)
    four = sums("atax", "__lp3_n_4_f_lp4_n_1_f", 1)
    assert four.ff["results"] == one.ff["results"]
    assert four.ff["loaded"] == one.ff["loaded"]
    assert four.lut_fixed == one.lut_fixed
    assert four.lut["port_reads"] > one.lut["port_reads"]
    assert four.ff["fsm"] > one.ff["fsm"]


def test_pipelines_are_modules_that_share_units_and_ports() -> None:
    one = sums("atax", "__lp3_n_1_n_lp4_p_1_n", 1)
    two = sums("atax", "__lp3_n_2_n_lp4_p_1_n", 1)
    assert one.lut["pipeline"] == 1
    assert two.lut["pipeline"] == 2
    assert one.lut["shared_units"] == 0
    assert two.lut["shared_units"] == 2 * 3 * multiplexer(3)
    assert two.lut_fixed == one.lut_fixed
    assert two.lut["shared_reads"] > one.lut["shared_reads"]


def test_functions_share_the_ports_of_the_arrays_that_both_use() -> None:
    found = sums("atax", "A_1_2_A_2_2__lp2_n_1_f")
    # A has 4 banks, tmp one: both are read by both; tmp and y are written by one each.
    assert found.lut["top_reads"] == 2 * multiplexer(3) * (4 + 1)
    assert found.lut["top_writes"] == 0


# ------------------------------------------------------------------------------------- estimates


def shipped() -> Coefficients:
    found = coefficients(TOOL)
    assert found is not None
    return found


def test_every_amount_has_a_coefficient() -> None:
    names = ({t.name for t in LUT_TERMS}, {t.name for t in FF_TERMS})
    for kernel, config in (
        ("syr2k", "A_1_2_B_2_4__lp2_p_2_f_lp4_n_2_f_lp5_p_4_f"),
        ("k2mm", "D_1_2_D_2_2__lp3_n_4_f_lp5_n_2_f_lp6_n_2_f"),
        ("gemm", "C_1_2_C_2_4__lp2_n_4_f_lp4_p_1_f"),
    ):
        found = sums(kernel, config)
        assert {k for k, v in found.lut.items() if v} <= names[0]
        assert {k for k, v in found.ff.items() if v} <= names[1]


def test_an_estimate_has_the_totals_and_says_what_they_are() -> None:
    config = "B_1_4_A_2_4__lp2_p_2_f_lp5_p_4_f"
    found = resources(sums("gemm", config), shipped())
    answer = estimate(with_directives(zu9eg.structure("gemm"), zu9eg.schedule(config)), TOOL)
    assert (answer.lut, answer.ff) == (found.lut, found.ff)
    assert answer.provenance == "model"
    assert sum(v for _, v in found.lut_terms) == pytest.approx(found.lut, abs=0.5)
    assert found.ff_terms[0][0] == "operators"


def test_shipped_coefficients_are_those_of_the_terms() -> None:
    found = coefficients(TOOL)
    assert found is not None
    assert list(found.lut) == [t.name for t in LUT_TERMS]
    assert list(found.ff) == [t.name for t in FF_TERMS]
    assert min(*found.lut.values(), *found.ff.values()) >= 0
    # What the tool's own tables give in LUTs and flip-flops costs about what they say.
    for name in ("fsm", "operands", "port_reads", "banks", "banks_pipelined"):
        assert found.lut[name] == pytest.approx(1, abs=0.15)
    for name in ("loaded", "results", "complete", "addresses", "before"):
        assert found.ff[name] == pytest.approx(1, abs=0.1)
    assert found.source["left_out_lut_mape_pct"] <= 5
    assert found.source["left_out_ff_mape_pct"] <= 6.5


def test_coefficients_come_back_from_their_file(tmp_path: Path) -> None:
    found = coefficients(TOOL)
    assert found is not None
    path = tmp_path / "c.json"
    path.write_text(written(found), encoding="utf-8")
    assert read(path) == found


def test_a_file_that_holds_no_coefficients(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"schema": 1, "tool": "x", "lut": {}, "ff": {}, "source": {}}))
    with pytest.raises(InputError) as caught:
        read(path)
    text = caught.value.render()
    assert "error[W530]" in text
    assert "holds no resource coefficients: KeyError('one')" in text
    assert "weft calibrate writes such a file" in text
    path.write_text(json.dumps({"schema": 99}))
    with pytest.raises(InputError, match="schema 99, not 1"):
        read(path)


def test_a_tool_that_was_never_calibrated_has_no_estimate() -> None:
    assert coefficients("a tool of nobody") is None


@needs_zu9eg
def test_the_model_is_near_the_labels() -> None:
    samples = random.Random(3).sample(list(zu9eg.samples(ZU9EG, "kernels")), 150)
    lut, ff = [], []
    for sample in samples:
        answer = estimate(zu9eg.kernel_of(sample), TOOL)
        assert answer.lut is not None
        assert answer.ff is not None
        lut.append(abs(answer.lut / sample.labels.lut - 1))
        ff.append(abs(answer.ff / sample.labels.ff - 1))
    assert sum(lut) / len(lut) <= 0.04
    assert sum(ff) / len(ff) <= 0.045


@pytest.mark.parametrize(
    "wrong", ["NaN", "Infinity", "-1", "1e400", "9" * 400, "true", "null", '"3"', "[3]"]
)
def test_a_coefficient_is_a_number_of_cells(tmp_path: Path, wrong: str) -> None:
    found = coefficients(TOOL)
    assert found is not None
    path = tmp_path / "c.json"
    text = written(found)
    name = next(iter(found.lut))
    value = json.dumps(round(found.lut[name], 4))
    path.write_text(text.replace(f'"{name}": {value}', f'"{name}": {wrong}', 1))
    assert path.read_text() != text
    with pytest.raises(InputError, match="W530"):
        read(path)


@pytest.mark.parametrize("text", ["", "[" * 100_000, "[]", '{"schema": 1}'])
def test_text_that_is_no_file_of_coefficients(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(InputError, match="W530"):
        read(path)
