"""Files of examples: what is written is read again, and what does not fit is refused."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from dsl.errors.errors import InputError
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import zu9eg
from qor_gnn.gnn.examples.example import BASE, Example, Prediction, column
from qor_gnn.gnn.examples.files import load, save
from qor_gnn.gnn.graph.build import design_graph
from qor_gnn.gnn.graph.schema import NodeType
from qor_gnn.tools.personality import personality

CONFIGS = {
    "atax": "A_2_4_x_1_4__lp1_n_1_n_lp2_p_4_n_lp3_n_1_n_lp4_n_1_n",
    "k3mm": "A_2_2__lp1_n_1_n_lp2_n_1_n_lp3_p_2_n_lp4_n_1_n_lp5_p_1_f_lp6_n_1_n",
}


def example(kernel: str) -> Example:
    labels = zu9eg.Labels(1000, 200, 300, 5)
    schedule = zu9eg.schedule(CONFIGS[kernel])
    sample = zu9eg.Sample(kernel, CONFIGS[kernel], "kernels", None, (), schedule, labels)
    region = zu9eg.kernel_of(sample)
    answer = estimate(region, zu9eg.PERSONALITY)
    graph = design_graph(region, personality(zu9eg.PERSONALITY), answer)
    base = dict.fromkeys(BASE, 1.5)
    return Example(
        *(graph, base, {"latency": 1000.0, "lut": 200.0}, zu9eg.PERSONALITY, kernel, kernel, "ab"),
        *((1.0, 4.0), {"lut.fsm": 7.0}, "", 2.0, CONFIGS[kernel]),
    )


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return [example(kernel) for kernel in CONFIGS]


def same(a: Example, b: Example) -> bool:
    plain = all(
        getattr(a, f) == getattr(b, f) for f in Example.__dataclass_fields__ if f != "graph"
    )
    g, h = a.graph, b.graph
    return (
        plain
        and all((g.nodes[k] == h.nodes[k]).all() and g.names[k] == h.names[k] for k in NodeType)
        and g.edges.keys() == h.edges.keys()
        and all((g.edges[k] == h.edges[k]).all() for k in g.edges)
        and (g.distances == h.distances).all()
        and (g.region == h.region).all()
    )


def test_what_is_written_is_read_again(examples, tmp_path):
    save(tmp_path / "deep" / "cache.npz", examples)
    again = load(tmp_path / "deep" / "cache.npz")
    assert len(again) == 2
    assert all(same(a, b) for a, b in zip(examples, again, strict=True))
    assert not same(again[0], again[1])


def test_no_examples_are_a_file_too(tmp_path):
    save(tmp_path / "cache.npz", [])
    assert load(tmp_path / "cache.npz") == []


def test_a_metric_that_the_tool_does_not_say_is_nan(examples):
    assert column(examples, "lut").tolist() == [200, 200]
    assert np.isnan(column(examples, "dsp")).all()
    assert column(examples, "dsp", "base").tolist() == [1.5, 1.5]


def test_an_interval_is_around_the_mean():
    found = Prediction({"dsp": np.array([0.0, 100.0])}, {"dsp": np.array([0.0, 0.1])})
    low, high = found.interval("dsp")
    assert low[0] == high[0] == 0
    assert low[1] == pytest.approx(101 * np.exp(-0.16449) - 1)
    assert high[1] == pytest.approx(101 * np.exp(0.16449) - 1)


def rewritten(path, change) -> None:
    """The archive with its arrays changed."""
    with np.load(path) as archive:
        arrays = dict(archive)
    change(arrays)
    np.savez(path, **arrays)


def refusal(path) -> InputError:
    with pytest.raises(InputError) as refused:
        load(path)
    return refused.value


def meta_with(**entries):
    def change(arrays):
        meta = {**json.loads(arrays["meta"].tobytes()), **entries}
        arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)

    return change


def test_a_file_of_another_version_is_refused(examples, tmp_path):
    path = tmp_path / "cache.npz"
    save(path, examples)
    rewritten(path, meta_with(schema=0, columns={}))
    text = refusal(path).render()
    assert f"error[W537]: {path} holds examples of another version (schema, columns)" in text
    assert "help: make the file again from the labels" in text


def to_objects(arrays):
    arrays["base"] = arrays["base"].astype(object)


def far_edges(arrays):
    arrays["edge.0"] = arrays["edge.0"] + 1000


def wrong_counts(arrays):
    arrays["node.op.count"] = arrays["node.op.count"][::-1] + 1


def lost_array(arrays):
    del arrays["region"]


def test_arrays_that_lie_by_columns_are_read_too(examples, tmp_path):
    path = tmp_path / "cache.npz"
    save(path, examples)

    def by_columns(arrays):
        arrays["edge.0"] = np.asfortranarray(arrays["edge.0"])

    rewritten(path, by_columns)
    assert all(same(a, b) for a, b in zip(examples, load(path), strict=True))


def far_words(arrays):
    arrays["texts"] = arrays["texts"] - 1000


def not_numbers(arrays):
    arrays["base"] = arrays["base"] * np.nan


CHANGES = [to_objects, far_edges, wrong_counts, lost_array, far_words, not_numbers]


@pytest.mark.parametrize("change", [*CHANGES, meta_with(words=[1, 2]), meta_with(words=None)])
def test_arrays_that_do_not_fit_are_refused(examples, tmp_path, change):
    path = tmp_path / "cache.npz"
    save(path, examples)
    rewritten(path, change)
    assert refusal(path).code == "W537"


@pytest.mark.parametrize(
    ("name", "value", "column"),
    [
        *(("weight", v, "its weight") for v in (np.nan, np.inf, -1.0, 0.0)),
        *(("label", v, "label.latency") for v in (np.inf, -1.0, 1e16)),
        *(("base", v, "base.latency") for v in (np.nan, -1.0, 1e300)),
        *(("terms", v, "terms.lut.fsm") for v in (np.nan, -np.inf)),
        *(("node.memory", v, "node.memory.kind=registers") for v in (np.nan, np.inf)),
        ("distances", np.nan, "distances"),
        ("pragmas", np.nan, "pragmas"),
    ],
)
def test_a_figure_that_no_design_has_is_refused_by_its_name(
    examples, tmp_path, name, value, column
):
    path = tmp_path / "cache.npz"
    save(path, examples)
    rewritten(path, lambda arrays: arrays.update({name: np.full_like(arrays[name], value)}))
    text = refusal(path).render()
    wanted = f"error[W537]: {path} does not hold examples: design 0 (atax): {column} is {value:g},"
    assert text.startswith(wanted)
    assert "help: make the file again from the labels" in text


def test_the_design_is_named_whose_figure_is_wrong(examples, tmp_path):
    path = tmp_path / "cache.npz"
    save(path, examples)

    def last(arrays):
        arrays["node.loop"][-1, -1] = np.nan

    rewritten(path, last)
    assert "design 1 (k3mm): node.loop.variable is nan" in refusal(path).message


def test_a_label_that_is_not_there_is_not_refused(examples, tmp_path):
    path = tmp_path / "cache.npz"
    save(path, [replace(e, label={}) for e in examples])
    assert [e.label for e in load(path)] == [{}, {}]


def test_names_with_control_characters_are_refused_and_shown_without(examples, tmp_path):
    path = tmp_path / "cache.npz"
    save(path, [replace(examples[0], kernel="a\x1b[2Jb")])
    assert r"a name with control characters, 'a\x1b[2Jb'" in refusal(path).message
    save(path, [replace(examples[0], group="zz")])
    assert "design 0 (atax): its group 'zz' is not a hexadecimal digest" in refusal(path).message


def test_an_array_that_is_missing_is_named(examples, tmp_path):
    path = tmp_path / "cache.npz"
    save(path, examples)
    rewritten(path, lost_array)
    assert refusal(path).message == f"{path} does not hold examples: it has no 'region'"


def with_entries(path, entries, **how):
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("way", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_is_refused_however_the_file_is_packed(examples, tmp_path, way):
    path = tmp_path / "cache.npz"
    save(path, examples)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with_entries(path, entries, compression=way)
    assert all(same(a, b) for a, b in zip(examples, load(path), strict=True))
    data = bytearray(path.read_bytes())
    for at in range(60, 100):
        data[at] ^= 0x5A
    path.write_bytes(data)
    assert refusal(path).code == "W537"


def test_a_file_with_a_password_is_refused(examples, tmp_path):
    path = tmp_path / "cache.npz"
    save(path, examples)
    data = path.read_bytes()
    # The bit in each entry that says so, in both of its headers.
    for mark, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        parts = data.split(mark)
        tail = [p[: flags - 4] + bytes([p[flags - 4] | 1]) + p[flags - 3 :] for p in parts[1:]]
        data = mark.join([parts[0], *tail])
    path.write_bytes(data)
    assert "is encrypted, password required" in refusal(path).message


@pytest.mark.parametrize("text", ["-" * 9000 + "1", "(" * 9000, "(" * 500, "-" * 900 + "1", "{'a"])
def test_a_header_that_is_no_header_is_refused(tmp_path, text):
    header = text.encode() + b"\n"
    entry = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header
    with_entries(tmp_path / "cache.npz", {"base.npy": entry})
    error = refusal(tmp_path / "cache.npz")
    assert error.code == "W537"
    assert "\n" not in error.message


def refused_or(path, examples) -> bool:
    """Refused, or the same as ever: there are bytes that nothing depends on (a time stamp)."""
    try:
        again = load(path)
    except InputError as error:
        return error.code == "W537"
    return all(same(a, b) for a, b in zip(examples, again, strict=True))


def test_a_damaged_file_is_refused_wherever_it_is_damaged(examples, tmp_path):
    path = tmp_path / "cache.npz"
    save(path, examples)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(whole), 60):
        path.write_bytes(whole[:at])
        assert refusal(path).code == "W537"
        path.write_bytes(whole[:at] + bytes(8) + whole[at + 8 :])
        assert refused_or(path, examples)


def test_a_header_that_claims_more_than_is_there_is_refused(tmp_path):
    path, header = tmp_path / "cache.npz", io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)}
    np.lib.format.write_array_header_1_0(header, claim)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("base.npy", header.getvalue())
    assert "an array of another length" in refusal(path).message


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert refusal(tmp_path / "none.npz").code == "W512"


def test_terms_are_zero_where_a_design_has_none(examples, tmp_path):
    other = replace(examples[0], terms={"ff.fsm": 2.0})
    save(tmp_path / "cache.npz", [other, examples[1]])
    first, second = load(tmp_path / "cache.npz")
    assert first.terms == {"ff.fsm": 2.0, "lut.fsm": 0.0}
    assert second.terms == {"ff.fsm": 0.0, "lut.fsm": 7.0}
