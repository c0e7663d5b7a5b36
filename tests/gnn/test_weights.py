"""Files of weights: what is written is read again; all else is refused, and runs nothing."""

import json
import os
import pickle
import struct
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from dsl.errors.errors import InputError
from qor_gnn.gnn.nets.network import Shape
from qor_gnn.gnn.training.adapt import Adapter
from qor_gnn.gnn.training.ensemble import Model
from qor_gnn.gnn.training.predict import GnnPredictor
from qor_gnn.gnn.training.tensors import write_tensors
from qor_gnn.gnn.training.train import Settings
from qor_gnn.gnn.training.weights import SHIPPED, load, save, shipped
from qor_gnn.tools.personality import available
from tests.gnn.designs import TOOL, designs


@cache
def examples():
    return [*designs("gemm", 24), *designs("atax", 24)]


SMALL = Settings(Shape(members=2, hidden=4, layers=1, outer=1), epochs=2, batch=16)


@pytest.fixture(scope="module")
def model() -> Model:
    fitted = GnnPredictor(SMALL, card={"data": "made up", "licence": "none"})
    return fitted.fit(examples(), (), 0).adapted(designs("k2mm", 5))


@pytest.fixture
def path(model, tmp_path) -> Path:
    save(tmp_path / "deep" / "m.safetensors", model)
    return tmp_path / "deep" / "m.safetensors"


def refusal(path) -> InputError:
    with pytest.raises(InputError) as refused:
        load(path)
    return refused.value


def rewritten(path, change) -> None:
    """The file with its tensors and its description changed."""
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        about = json.loads(file.metadata()["weft"])
    about.pop("checksum")
    change(tensors, about)
    write_tensors(path, tensors, about)  # what is refused here is refused with the right checksum


def test_what_is_written_is_read_again(model, path):
    again = load(path)
    asked = [*examples()[:5], *designs("k2mm", 8)]
    for one, other in zip(
        (model.predict(asked).mean, model.predict(asked).std),
        (again.predict(asked).mean, again.predict(asked).std),
        strict=True,
    ):
        assert all((one[m] == other[m]).all() for m in one)
    assert again.card == model.card
    assert again.targets == model.targets
    assert again.seen == model.seen
    assert not list(path.parent.glob("*.partial"))


def test_shipped_weights_are_small(path):
    assert path.stat().st_size < 5e6


def test_the_same_predictor_gives_the_same_file(model, path, tmp_path):
    save(tmp_path / "again", model)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "value"), [("schema", 0), ("columns", {}), ("format", 99), ("terms", None)]
)
def test_weights_of_another_version_are_refused(path, name, value):
    rewritten(path, lambda _, about: about.update({name: value}))
    text = refusal(path).render()
    assert f"error[W539]: {path} was trained for another version of Weft" in text
    assert "help: train it again: weft train" in text


def set_about(**values):
    return lambda _, about: about.update(values)


def shape_with(**values):
    return lambda _, about: about["shape"].update(values)


def drop(name):
    return lambda tensors, _: tensors.pop(name)


def put(name, tensor):
    return lambda tensors, _: tensors.update({name: tensor})


def times(name, factor, more=0.0):
    return lambda tensors, _: tensors.update({name: tensors[name] * factor + more})


def lengths(first):
    def change(_, about):
        (row,) = about["adapters"].values()
        row["lengths"][:2] = [first, sum(row["lengths"][:2]) - first]

    return change


HOSTILE = {
    "a tensor that is missing": drop("network.heads.move.weight"),
    "a tensor of another shape": put("network.heads.move.weight", torch.zeros(1)),
    "a tensor of another type": put("trust", torch.zeros(2, 2, 6)),
    "a tensor nobody knows": put("network.evil", torch.zeros(1)),
    "not a number": put("stretch", torch.full((2, 2, 6), torch.nan, dtype=torch.float64)),
    "too large a network": shape_with(hidden=1 << 30),
    "a network that would fill the memory": shape_with(hidden=512, members=32, layers=16),
    "no members": shape_with(members=0),
    "a shape of words": shape_with(layers="many"),
    "a field nobody knows": shape_with(__class__="x"),
    "no shape": set_about(shape=None),
    "other tools": set_about(targets=["a", "b"]),
    "kernels of other members": set_about(seen={"x": [1, 1, 1]}),
    "a card of words": set_about(card=3),
    "a card of a list": set_about(card=[["a", 1]]),
    "what it was brought to, as a number": set_about(card={"finetuned": 3}),
    "measures that are none": set_about(card={"measured": [1, 2]}),
    "measures that cannot be shown": set_about(card={"measured": [{"tool": [1]}]}),
    "a tool that cannot be shown": set_about(targets=["a\x1b[31m"]),
    "weights of whole numbers": put("network.heads.move.weight", torch.zeros(1, dtype=torch.int32)),
    "huge weights": times("network.heads.move.bias", 0, 1e30),
    "a feature without a scale": times("network.scale_kernel", 0),
    "more than full trust": times("trust", 0, 1.5),
    "negative deviations": times("stretch", 0, -1),
    "huge deviations": times("stretch", 0, 1e5),
    "negative costs": times("costs.0.0.lut", 0, -5),
    "huge costs": times("costs.0.0.lut", 0, 1e300),
    "labels far from everything": times("shots.0.places", 0, 1e200),
    "shares of more than all": times("shots.0.shares", 0, 2),
    "labels that missed by more than there is": times("shots.0.missed", 0, 800),
    "more places than a number holds": lengths(10**30),
    "places that add up to what there is": lengths(-1),
    "half a place": lengths(0.5),
    "labels of nothing": lambda _, about: about["adapters"].update({"x": {}}),
    "labels that do not fit": lambda t, _: t.update({"shots.0.missed": torch.zeros(2, 6)}),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_does_not_fit_together_is_refused(path, change):
    rewritten(path, change)
    assert refusal(path).code == "W538"


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("it ran",))


def test_a_pickle_is_refused_and_not_run(tmp_path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(pickle.dumps(Trap()))
    assert "does not hold weights" in refusal(path).message
    torch.save({"a": torch.zeros(2)}, path)
    assert refusal(path).code == "W538"


def test_a_header_that_claims_more_than_there_is_is_refused(tmp_path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    assert refusal(path).code == "W538"
    header = json.dumps({"a": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 4]}})
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + bytes(4))
    assert refusal(path).code == "W538"


def test_a_file_that_is_not_ours_is_refused(tmp_path):
    path = tmp_path / "m.safetensors"
    save_file({"a": torch.zeros(2)}, path)
    assert refusal(path).code == "W538"
    save_file({"a": torch.zeros(2)}, path, {"weft": "[1]"})
    assert refusal(path).code == "W538"
    save_file({"a": torch.zeros(2)}, path, {"weft": "[" * 100_000})
    assert refusal(path).code == "W538"


def test_a_damaged_file_is_refused(model, path):
    whole = path.read_bytes()
    wanted = model.predict(examples()[:1]).mean["lut"]
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(whole), 20):
        path.write_bytes(whole[:at])
        assert refusal(path).code == "W538"
    for at in [*rng.integers(0, 4000, 20), *rng.integers(0, len(whole), 40)]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert refusal(path).code == "W538"
    path.write_bytes(whole)
    assert load(path).predict(examples()[:1]).mean["lut"] == wanted


def test_a_number_that_was_changed_is_refused_by_the_checksum(model, path):
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        about = json.loads(file.metadata()["weft"])
    tensors["network.heads.move.bias"][0] += 1e-3
    save_file(tensors, path, {"weft": json.dumps(about)})
    assert refusal(path).render() == (
        f"error[W538]: {path} does not hold weights: it is damaged, or somebody has edited it: its "
        "checksum is another one\n"
        "help: weft train writes such a file; one that is damaged has to be written again"
    )
    rewritten(path, lambda _, __: None)
    assert load(path).targets == model.targets


def parts(path) -> tuple[dict, bytes]:
    """The header and the tensors' bytes."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def edited(about: str, **changed: object):
    def edit(header: dict) -> None:
        weft = json.loads(header["__metadata__"]["weft"])
        known = weft[about] if about else weft
        known.update(changed)
        for name in [name for name, value in known.items() if value is None]:
            del known[name]
        header["__metadata__"]["weft"] = json.dumps(weft, sort_keys=True)

    return edit


def swapped(header: dict) -> None:
    a, b = (f"network.{n}" for n in ("scale_kernel", "mean_kernel"))
    header[a], header[b] = header[b], header[a]


EDITS = {
    "what it was trained on": edited("card", data="something else"),
    "a field more": edited("", more=1),
    "no checksum": edited("", checksum=None),
    "an empty checksum": edited("", checksum=""),
    "a checksum of another kind": edited("", checksum=[1]),
    "the tools": edited("", targets=["vitis-2022.1-zu9eg-10ns"]),
    "metadata of others": lambda h: h["__metadata__"].update(note="x"),
    "no metadata": lambda h: h.pop("__metadata__"),
    "metadata that are none": lambda h: h.update(__metadata__=3),
    "names of two tensors": swapped,
    "a type": lambda h: h["trust"].update(dtype="I64"),
    "a type that nobody knows": lambda h: h["trust"].update(dtype="X9"),
    "a shape": lambda h: h["trust"].update(shape=h["trust"]["shape"][::-1]),
    "a huge shape": lambda h: h["trust"].update(shape=[1 << 62, 1 << 62]),
    "a negative shape": lambda h: h["trust"].update(shape=[-1]),
    "offsets before the beginning": lambda h: h["trust"].update(data_offsets=[-8, 0]),
    "offsets after the end": lambda h: h["trust"].update(data_offsets=[0, 1 << 62]),
    "offsets of words": lambda h: h["trust"].update(data_offsets=["a", "b"]),
    "nothing": dict.clear,
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_a_header_that_was_edited_is_refused(path, edit):
    header, tensors = parts(path)
    edit(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + tensors)
    assert refusal(path).code == "W538"


@pytest.mark.parametrize(
    "layout", [lambda h: json.dumps(h, indent=1), lambda h: json.dumps(h) + " " * 64,
               lambda h: json.dumps(h)[:-1] + ', "__metadata__": {"weft": "{}"}}',
               lambda h: "[" * 100_000, lambda h: "\xff", lambda h: ""],
)  # fmt: skip
def test_a_header_that_is_laid_out_otherwise_is_refused(path, layout):
    header, tensors = parts(path)
    text = layout(header).encode("latin-1")
    path.write_bytes(struct.pack("<Q", len(text)) + text + tensors)
    assert refusal(path).code == "W538"


@pytest.mark.parametrize("target", sorted(SHIPPED.glob("*.safetensors")), ids=lambda p: p.stem)
def test_what_ships_is_read(target):
    assert load(target).targets


def test_what_could_not_be_read_again_is_not_written(model, path):
    before = path.read_bytes()
    calibration = replace(model.calibration, trust=model.calibration.trust * np.nan)
    shots = model.adapters[TOOL].shots
    wrong = {TOOL: Adapter(replace(shots, missed=np.full_like(shots.missed, np.inf)), known=True)}
    for bad in (replace(model, calibration=calibration), replace(model, adapters=wrong)):
        with pytest.raises(InputError) as refused:
            save(path, bad)
        text = refused.value.render()
        assert f"error[W538]: {path} is not written: it would not hold weights: " in text
        assert "is not finite" in text
        assert path.read_bytes() == before
        assert not list(path.parent.glob("*.partial"))


def test_answers_are_finite_whatever_the_weights(model, path):
    rewritten(path, times("network.heads.move.bias", 0, 1e4))
    for change in (times("network.heads.scale.bias", 0, 1e4), times("stretch", 0, 1e4)):
        rewritten(path, change)
        found = load(path).predict(examples())
        for metric in found.mean:
            low, high = found.interval(metric)
            assert np.isfinite([found.mean[metric], low, high]).all()


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert refusal(tmp_path / "none").code == "W512"
    assert refusal(tmp_path).message == f"cannot read {tmp_path}: it is not a file"


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "it is not a file" in refusal(tmp_path / "pipe").message


def test_a_folder_that_cannot_be_written_is_refused(model, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as refused:
        save(tmp_path / "file" / "m", model)
    assert refused.value.code == "W508"


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.safetensors")), ids=lambda p: p.stem)
def test_what_comes_with_weft_has_a_model_card(path):
    model = load(path)
    assert path.stem in available()
    assert model.targets == (path.stem,)
    assert shipped(path.stem) == path
    card = model.card
    assert card["designs"] > 1000
    assert len(card["kernels"]) >= 2
    assert {"data", "licence"} <= set(card["sources"][path.stem])
    assert {(m["metric"], m["kernels"]) for m in card["measured"]} >= {
        ("lut", "new"),
        ("ff", "seen"),
    }
    for row in card["measured"]:
        assert row["error_pct"] <= row["white_box_error_pct"]


def test_what_comes_with_weft_is_small():
    sizes = [path.stat().st_size for path in SHIPPED.glob("*.safetensors")]
    assert sizes
    assert sum(sizes) < 5e6


def test_what_comes_with_weft_is_near_the_white_box_on_other_kernels():
    model = load(shipped(TOOL))
    found = model.predict(examples())
    for metric, far in (("latency", 0.001), ("dsp", 0.001), ("lut", 0.25), ("ff", 0.25)):
        base = np.array([e.base[metric] for e in examples()])
        assert np.mean(np.abs(found.mean[metric] / base - 1)) < far


def test_a_tool_without_weights_is_told_which_there_are():
    with pytest.raises(InputError) as refused:
        shipped("no-such-tool")
    text = refused.value.render()
    assert "error[W550]: no weights come with Weft for no-such-tool" in text
    assert "weft train makes some from labelled designs" in text
    with pytest.raises(InputError):
        shipped("../../../etc/passwd")
