"""Files of examples: what is written is read again, and what does not fit is refused."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from dsl.errors import InputError
from qor_gnn.data import zu9eg
from qor_gnn.estimate import estimate
from qor_gnn.gnn.build import design_graph
from qor_gnn.gnn.examples import BASE, Example, Prediction, column, load, save
from qor_gnn.gnn.schema import NodeType
from qor_gnn.personality import personality

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
