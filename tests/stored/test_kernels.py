"""Kernels as data: their smaller sizes, and what their own function makes of inputs."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import weft
from dse.kernels.data import data_of, packed, unpacked
from dse.kernels.reduced import ascending
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import InputError
from dsl.kernels.loader import load
from dsl.programs.pretty import pretty
from dsl.stored.kernel import StoredKernel, kernel_json, kernel_of_json
from dsl.stored.write import digest
from weft import f32, i32

ROOT = Path(__file__).resolve().parents[2]
N = 16


@weft.kernel(sizes={"mini": {"N": 4}, "wrong": {"N": -1}, "huge": {"N": 40_000}})
def scaled(A: f32[N, N], s: i32, wide: weft.const[weft.i100[N]], B: f32[N]):
    for i in range(N):
        B[i] = A[i, i] * s + f32(wide[i])


@scaled.inputs
def powers(kernel, seed):
    n = kernel.program.array("B").shape[0]
    wide = np.array([2**90 + seed] * n, dtype=object)
    return {"A": np.eye(n) * 3, "s": 7, "wide": wide}


def back(kernel: weft.Kernel) -> StoredKernel:
    return kernel_of_json(kernel_json(data_of(kernel)), "it")


@pytest.mark.parametrize("name", ["gemm", "cholesky", "jacobi_2d"])
def test_designs_are_checked_at_the_same_sizes_with_the_same_inputs(name):
    kernel = load(f"{ROOT}/examples/polybench/{name}.py:{name}")
    ours, theirs = ascending(kernel), ascending(unpacked(packed(data_of(kernel)), "it"))
    assert [pretty(k.program) for k in theirs] == [pretty(k.program) for k in ours]
    for mine, stored in zip(ours, theirs, strict=True):
        wanted, found = mine.make_inputs(), stored.make_inputs()
        assert all(np.array_equal(wanted[n], found[n]) for n in wanted)


def test_a_size_that_is_wrong_is_left_out():
    assert [k.program.array("B").shape[0] for k in back(scaled).named] == [4, 40_000]


def test_inputs_of_its_own_function_are_stored():
    found, wanted = back(scaled).make_inputs(), scaled.make_inputs()
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert np.array_equal(found[name], value)
        assert np.asarray(found[name]).dtype == np.asarray(value).dtype
    found["A"][0, 0] = 9.0  # a call of the kernel changes its arguments
    assert back(scaled).make_inputs()["A"][0, 0] == 3.0


def test_other_inputs_have_to_be_made_by_the_function():
    with pytest.raises(InputError) as refused:
        back(scaled).make_inputs(1)
    assert "error[W549]: a function in the file of 'scaled' makes its inputs" in str(refused.value)
    assert "those with seed 1 are not stored" in refused.value.message
    assert "--kernel FILE.py:NAME" in str(refused.value.help)
    [_, huge] = back(scaled).named  # of 6 GB
    assert not huge.ready
    with pytest.raises(InputError, match="those at this size are not stored"):
        huge.make_inputs()


def test_random_inputs_are_made_of_any_seed():
    gemm = load(f"{ROOT}/examples/polybench/gemm.py:gemm").at("mini")
    found, wanted = back(gemm).make_inputs(5), random_inputs(gemm.program, 5)
    assert all(np.array_equal(found[n], wanted[n]) for n in wanted)


WRONG = {
    "fields": lambda k: k.pop("own"),
    "type": lambda k: k.update(makes_inputs="yes"),
    "program": lambda k: k["own"]["program"].update(digest="0"),
    "name": lambda k: k["own"]["inputs"].update(nothing="x"),
    "text": lambda k: k["own"]["inputs"].update(A="!!!"),
    "size": lambda k: k["own"]["inputs"].update(A="eJwDAAAAAAE="),
    "kind": lambda k: k["own"]["inputs"].update(A=[1.0]),
    "integers": lambda k: k["own"]["inputs"].update(wide=["1"] * N),
    "count": lambda k: k["own"]["inputs"].update(wide=[1] * 3),
    "inputs": lambda k: k["own"].update(inputs=[1]),
    "sizes": lambda k: k.update(named={"a": 1}),
    "smaller": lambda k: k.update(named=[{"program": k["own"]["program"]}]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_a_stranger_changes_is_refused(wrong):
    data = copy.deepcopy(json.loads(kernel_json(data_of(scaled))))
    WRONG[wrong](data["kernel"])
    data["digest"] = digest(data["kernel"])
    with pytest.raises(InputError) as refused:
        used(json.dumps(data))
    assert refused.value.code == "W546"


def used(text: str) -> None:
    found = kernel_of_json(text, "it")
    found.make_inputs()
    _ = found.named


def test_a_value_that_the_type_does_not_have_is_refused():
    data = json.loads(kernel_json(data_of(scaled)))
    data["kernel"]["own"]["inputs"]["wide"] = [2**120] * N
    data["digest"] = digest(data["kernel"])
    with pytest.raises(InputError) as refused:
        kernel_of_json(json.dumps(data), "it").make_inputs()
    assert refused.value.code == "W544"


def test_what_was_changed_has_another_digest():
    text = kernel_json(data_of(scaled)).replace('"makes_inputs":true', '"makes_inputs":false')
    with pytest.raises(InputError, match="its digest is another one"):
        kernel_of_json(text, "it")
