"""Rows of data sets become examples: what is merged, what is kept between runs, what is refused."""

from pathlib import Path

import numpy as np
import pytest

from dsl.errors.errors import InputError
from qor_gnn.fit.labelled import zu9eg
from qor_gnn.gnn.examples import convert_u200, convert_zu9eg
from qor_gnn.gnn.examples.convert import convert, version
from qor_gnn.gnn.examples.example import BASE
from qor_gnn.gnn.graph.pragmas import LENGTH, LOOPS, PER_LOOP
from qor_gnn.gnn.graph.schema import NodeType
from tests.support.labelled import is_whole, labelled

U200 = labelled("hlsfactory-u200")
WHOLE = is_whole(U200)
NO_PRAGMA = "tmp_1_1_A_1_1_A_2_1_x_1_1_y_1_1__lp1_n_1_f_lp2_n_1_f_lp3_n_1_f_lp4_n_1_f"
PIPELINED = "tmp_1_1_A_1_1_A_2_2_x_1_1_y_1_1__lp1_n_1_f_lp2_n_1_f_lp3_n_1_f_lp4_p_2_f"
NEST = "A_1_1_A_2_1_x_1_1__lp2_n_1_f"


def write(folder: Path, name: str, *rows: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    head = "kernel,config,latency,lut,dsp,ff,II,IL"
    path.write_text("\n".join([head, *rows]) + "\n")


@pytest.fixture
def folder(tmp_path) -> Path:
    """A checkout of the repository with made-up labels."""
    whole = zu9eg.CHECKOUT["kernels"]
    write(
        *(tmp_path, whole, f"atax,{NO_PRAGMA},70000.0,800.0,5.0,700.0,9.0,9.0"),
        *(
            f"atax,{PIPELINED},30000.0,900.0,6.0,800.0,9.0,9.0",
            "unheard_of,x_1_1__lp1_n_1_f,1,1,1,1,1,1",
        ),
        f"atax,{PIPELINED},30000.0,900.0,6.0,800.0,9.0,9.0",
    )
    write(tmp_path, zu9eg.CHECKOUT["loops_pipelined"])
    write(tmp_path, zu9eg.CHECKOUT["loops_sequential"], f"atax,{NEST},579,491,5,518,9,9")
    return tmp_path


def test_a_checkout_becomes_examples(folder, tmp_path):
    source = convert_zu9eg.source(folder)
    assert len(source.rows) == 4
    found = convert(source, tmp_path / "cache", jobs=1)
    plain, pipelined, nest = found
    assert [e.weight for e in found] == [1, 2, 1]
    assert plain.label == {"latency": 70000, "lut": 800, "ff": 700, "dsp": 5}
    assert nest.label["ii"] == nest.label["il"] == 9
    assert (plain.part, nest.part) == ("", "lp2")
    assert (plain.kernel, plain.family, plain.target) == ("atax", "atax", zu9eg.PERSONALITY)
    assert len({e.group for e in found}) == 3
    assert plain.name == f"atax {NO_PRAGMA}"
    for one in found:
        assert one.base.keys() == set(BASE)
        assert len(one.pragmas) == LENGTH
        assert np.isfinite(one.graph.nodes[NodeType.OP]).all()
    assert pipelined.base["latency"] < 0.6 * plain.base["latency"]
    assert pipelined.terms["lut.stages"] > 0
    assert not plain.terms.get("lut.stages")


def test_the_vector_of_directives_says_what_was_written(folder, tmp_path):
    plain, pipelined, _ = convert(convert_zu9eg.source(folder), tmp_path / "cache", jobs=1)
    inner = slice(3 * PER_LOOP, 4 * PER_LOOP)
    assert plain.pragmas[inner] == (0, 0, 0, 1)
    assert pipelined.pragmas[inner] == (1, 1, 1, 1)
    assert sum(plain.pragmas[LOOPS * PER_LOOP :]) == 0
    assert sum(pipelined.pragmas[LOOPS * PER_LOOP :]) == 1  # one array in two banks


def test_what_was_converted_is_kept_and_what_is_damaged_made_again(folder, tmp_path, monkeypatch):
    source, cache = convert_zu9eg.source(folder), tmp_path / "cache"
    first = convert(source, cache, jobs=1)
    (chunk,) = (cache / "zu9eg" / version()).glob("*.npz")
    monkeypatch.setattr(convert_zu9eg, "_example", None)  # nothing is converted again
    assert len(convert(source, cache, jobs=1)) == len(first)
    chunk.write_bytes(b"not an archive")
    with pytest.raises(TypeError):
        convert(source, cache, jobs=1)


def test_several_processes_give_the_same(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("qor_gnn.gnn.examples.convert.CHUNK", 2)
    done = []
    source = convert_zu9eg.source(folder)
    two = convert(source, tmp_path / "two", 2, lambda n, of: done.append((n, of)))
    one = convert(source, tmp_path / "one", 1)
    assert done == [(0, 2), (1, 2), (2, 2)]
    assert [(e.name, e.base, e.terms, e.group) for e in two] == [
        (e.name, e.base, e.terms, e.group) for e in one
    ]


def test_a_folder_without_labels_is_refused(tmp_path):
    with pytest.raises(InputError) as refused:
        convert_zu9eg.source(tmp_path)
    assert refused.value.code == "W532"
    assert str(tmp_path) in refused.value.message


def test_a_row_that_is_none_is_refused(folder):
    write(folder, zu9eg.CHECKOUT["kernels"], f"atax,{NO_PRAGMA},many,800,5,700,9,9")
    with pytest.raises(InputError) as refused:
        convert_zu9eg.source(folder)
    assert refused.value.code == "W511"
    place = folder / zu9eg.CHECKOUT["kernels"]
    assert f"{place}:" in refused.value.message
    assert "latency is 'many'" in refused.value.message


def test_rows_that_differ_in_what_the_tool_ignores_are_one_design(tmp_path):
    remarks = []
    source = convert_u200.source(U200, remarks.append)
    assert any("u200/md is left out" in text for text in remarks)
    assert sum(text.endswith("is faulty") for text in remarks) == 7
    assert sum(task.count for task in source.rows) == (5617 if WHOLE else 1158)
    assert len(source.rows) < (5000 if WHOLE else 1100)
    one = next(t for t in source.rows if t.row.kernel == "gemm-ncubed")
    (found,) = source.make(source.folder, [one])
    assert (found.kernel, found.weight) == ("gemm-ncubed", one.count)
    assert found.label["bram18"] == one.row.labels.bram18
    assert found.base["latency"] > 0
