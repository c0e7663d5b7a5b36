"""What is no label is refused, with the file and the row that it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsl.errors.errors import InputError
from qor_gnn.fit.labelled import u200, zu9eg
from qor_gnn.fit.labelled.rows import csv_rows
from qor_gnn.fit.labelled.u200_design import directives_of
from qor_gnn.fit.labelled.u200_program import Converted, convert
from qor_gnn.fit.labelled.u280 import design_rows

HEAD = "kernel,config,latency,lut,ff,dsp,II,IL\n"
GOOD = "atax,__lp2_n_1_f_lp4_p_1_f,100,10,10,0,,"


def refused(folder: Path, row: str, file: zu9eg.File = "kernels") -> InputError:
    good = GOOD if file == "kernels" else GOOD.replace("_lp4_p_1_f", "")
    (folder / f"{file}.csv").write_text(f"{HEAD}{good}\n{row}\n")
    with pytest.raises(InputError) as caught:
        list(map(zu9eg.kernel_of, zu9eg.samples(folder, file)))
    return caught.value


@pytest.mark.parametrize(
    ("row", "code", "message"),
    [
        (GOOD.replace("100", "inf"), "W511", "latency is 'inf', which is no figure of a design"),
        (GOOD.replace("100", "nan"), "W511", "latency is 'nan', which is no figure of a design"),
        (GOOD.replace("100", "-5"), "W511", "latency is '-5', which is no figure of a design"),
        (GOOD.replace("100", "1e400"), "W511", "latency is '1e400', which is no figure"),
        (GOOD.replace("100", "1e300"), "W511", "latency is '1e300', which is no figure"),
        (GOOD.replace("100", "1_00"), "W511", "latency is '1_00', which is no figure of a design"),
        (GOOD.replace("100", '"1,00"'), "W511", "latency is '1,00', which is no figure of a"),
        (GOOD.replace("100", "1.5"), "W511", "latency is 1.5, which is no whole number"),
        ("atax,__lp2_n_1_f,100", "W511", "no 'lut'"),
        ("atax", "W511", "no 'latency'"),
        ("atax,garbage__lp1_n,1,1,1,1", "W511", "'garbage__lp1_n' is no configuration"),
        ("atax,,1,1,1,1", "W511", "'' is no configuration"),
        ("atax,A_0_4__lp1_n_1_f,1,1,1,1", "W511", "'A_0_4__lp1_n_1_f' is no configuration"),
        ("atax,__lp1_n_0_f,1,1,1,1", "W511", "'__lp1_n_0_f' is no configuration"),
        ("atax,Q_1_2__lp1_n_1_f,1,1,1,1", "W206", "'Q_1_2__lp1_n_1_f': no array is called 'Q'"),
        ("atax,A_9_4__lp1_n_1_f,1,1,1,1", "W207", "'A_9_4__lp1_n_1_f': A has 2 dimensions"),
        ("atax,__lp9_p_1_f,1,1,1,1", "W201", "'__lp9_p_1_f': no loop is called 'lp9'"),
    ],
)
def test_a_row_that_is_no_design(tmp_path: Path, row: str, code: str, message: str) -> None:
    error = refused(tmp_path, row)
    assert error.code == code
    assert error.message.startswith(f"{tmp_path}/kernels.csv:3: {message}")


def test_a_loop_alone_is_one_of_the_kernel(tmp_path: Path) -> None:
    error = refused(tmp_path, "atax,__lp9_p_1_f,1,1,1,1,1,1", "loops_pipelined")
    assert error.message == f"{tmp_path}/loops_pipelined.csv:3: atax has no loop lp9"
    error = refused(tmp_path, "atax,__lp2_p_1_f,1,1,1,1,inf,1", "loops_pipelined")
    assert f"{tmp_path}/loops_pipelined.csv:3: II is 'inf'" in error.message


def test_what_spreadsheets_write(tmp_path: Path) -> None:
    path = tmp_path / "kernels.csv"
    path.write_text(f"{HEAD}{GOOD}\n", encoding="utf-8-sig")
    assert len(list(zu9eg.samples(tmp_path, "kernels"))) == 1
    for other in (";", "\t"):
        path.write_text(f"{HEAD}{GOOD}\n".replace(",", other))
        with pytest.raises(InputError) as caught:
            list(csv_rows(path))
        assert caught.value.code == "W511"
        assert "separated by commas" in str(caught.value.help)


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "kernels.csv"
    error = refused(tmp_path, "atax," + "a" * 200_000)
    assert (error.code, error.message.split(": ")[0]) == (
        "W511",
        f"{path}:3 is no row of a CSV file",
    )
    path.write_bytes(b"kernel\n\xff\xfe\n")
    with pytest.raises(InputError) as caught:
        list(zu9eg.samples(tmp_path, "kernels"))
    assert (caught.value.code, str(path) in caught.value.message) == ("W512", True)
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError) as caught:
        list(csv_rows(path))
    assert caught.value.message == f"cannot read {path}: Is a directory"
    with pytest.raises(FileNotFoundError):  # a folder of something else
        list(zu9eg.samples(path, "kernels"))


def test_a_row_of_u200(tmp_path: Path) -> None:
    head = "kernel,directives,latency,lut,ff,dsp,bram18,uram\n"
    for row, message in (
        ("k,none,-1,1,1,1,1,1", "latency is '-1', which is no figure of a design"),
        ("k,none,1,1", "a row of another length"),
    ):
        (tmp_path / "kernels.csv").write_text(f"{head}{row}\n")
        with pytest.raises(InputError) as caught:
            u200.designs(tmp_path)
        assert caught.value.message == f"{tmp_path}/kernels.csv:2: {message}"


def facts(**changed: object) -> u200.Facts:
    """A kernel with one loop, as ``nests.json`` has it."""
    data = {
        "args": [{"name": "a", "type": "int", "dims": [8]}],
        "local_arrays": [],
        "scalars": [],
        "body": [
            {
                "loop": "L1", "var": "i", "lo": "0", "hi": "8", "step": 1, "trip": 8,
                "body": [],
            }
        ],
    }  # fmt: skip
    return u200.Facts("k", "f", "g", "s", (), (), {**data, **changed})


@pytest.mark.parametrize("wrong", [{"args": None}, {"body": [{"loop": "L1"}]}, {"args": [{}]}])
def test_a_kernel_of_u200_that_is_not_described(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        convert(facts(**wrong))
    assert caught.value.code == "W511"
    assert "nests.json does not describe the kernel 'k': " in caught.value.message


def test_directives_name_loops_of_their_kernel() -> None:
    labels = u200.Labels(1, 1, 1, 1, 1, 1)
    kernel = convert(facts(body=[]))
    assert isinstance(kernel, Converted)
    for text, message in (
        ("L99:pipeline", "d.csv:7: k has no loop 'L99'"),
        ("L9", "d.csv:7: 'L9' in 'L9' is no directive"),
    ):
        with pytest.raises(InputError) as caught:
            directives_of(u200.Row("k", text, labels, "d.csv:7"), kernel)
        assert (caught.value.code, caught.value.message) == ("W511", message)


def test_a_row_of_u280(tmp_path: Path) -> None:
    (tmp_path / "designs.csv").write_text("suite\n" + "a" * 200_000 + "\n")
    with pytest.raises(InputError) as caught:
        design_rows(tmp_path)
    assert f"{tmp_path}/designs.csv:2 is no row of a CSV file" in caught.value.message
