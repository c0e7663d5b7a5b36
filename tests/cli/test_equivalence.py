"""``weft verify --equivalence``, and the proof that ``weft export`` asks for."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import weft as weft_api
from mlir_passes import pipeline
from mlir_passes.dialect.attributes import top_function
from mlir_passes.loop_bounds import Names, bounds_of
from mlir_passes.rewrite import with_bounds
from tests.cli.conftest import Weft

REASON = "a store to 'y' does not say which iteration of a statement it is"


@dataclass(frozen=True)
class Forgetful:
    """A pass with a fault: it drops the last iteration of the first loop."""

    name: ClassVar[str] = "forgetful"

    def apply(self, module: Any) -> bool:
        with module.context:
            names = Names()
            loop = next(
                op.operation
                for op in top_function(module).regions[0].blocks[0].operations
                if op.operation.name == "affine.for"
            )
            bounds = bounds_of(loop, names)
            fewer = tuple(u - 1 for u in bounds.uppers)
            with_bounds(loop, type(bounds)(bounds.lowers, fewer, bounds.step), names)
        return True


@dataclass(frozen=True)
class Silent:
    """A pass that drops what is said of stores."""

    name: ClassVar[str] = "silent"

    def apply(self, module: Any) -> bool:
        def visit(op: Any) -> None:
            if "hls.iteration" in op.attributes:
                del op.attributes["hls.iteration"]
            for region in op.regions:
                for block in region.blocks:
                    for inner in block.operations:
                        visit(inner.operation)

        visit(module.operation)
        return True


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES, Silent()))


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES, Forgetful()))


def test_one_kernel_is_proven(weft: Weft, kernels: Path) -> None:
    words = ["--schedule", "fast", "--equivalence", "--format", "json"]
    done = weft("verify", f"{kernels}:axpy", *words)
    assert done.code == 0, done.err
    [row] = json.loads(done.out)["rows"]
    assert (row["kernel"], row["schedule"], row["status"], row["detail"]) == (
        "axpy", "fast", "proven", "",
    )  # fmt: skip
    assert row["seconds"] > 0
    table = weft("verify", f"{kernels}:axpy", "--equivalence").out
    assert table.splitlines()[0].split() == ["kernel", "schedule", "size", "status", "seconds"]


@pytest.mark.usefixtures("faulty")
def test_a_fault_is_shown_with_what_proves_it(weft: Weft, kernels: Path) -> None:
    done = weft("verify", f"{kernels}:axpy", "--equivalence")
    assert done.code == 1
    assert "refuted" in done.out
    assert "axpy -: kernels.py:11:9: error[W336]: S0[15] is never executed" in done.err
    assert "y[i] += a * x[i]" in done.err
    assert "help: this is a fault of Weft: the design must not be used" in done.err


def test_all_kernels_of_a_file(weft: Weft, kernels: Path) -> None:
    words = ["--equivalence", "--format", "csv", "--jobs", "1"]
    done = weft("verify", "--all", kernels, *words)
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(r["kernel"], r["schedule"], r["status"], r["detail"]) for r in rows] == [
        ("axpy", "-", "proven", ""),
        ("axpy", "fast", "proven", ""),
        ("copy", "-", "proven", ""),
    ]
    assert "verify: 3 of 3 proven" in done.err


@pytest.mark.usefixtures("silent")
def test_what_is_left_open_is_neither_proven_nor_a_failure(weft: Weft, kernels: Path) -> None:
    done = weft("verify", f"{kernels}:axpy", "--equivalence")
    assert done.code == 0
    assert "not proven" in done.out
    assert f"axpy -: {REASON}" in done.err


def test_an_illegal_schedule_is_an_error(weft: Weft, kernels: Path) -> None:
    kernels.write_text(
        kernels.read_text() + '\n\n@copy.schedule\ndef no(s):\n    s.split("z", 2)\n'
    )
    done = weft("verify", "--all", kernels, "--equivalence", "--format", "json", "--jobs", "1")
    assert done.code == 1
    [row] = [r for r in json.loads(done.out)["rows"] if r["schedule"] == "no"]
    assert row["status"] == "failed"
    assert "error[W201]" in row["detail"]


@pytest.mark.parametrize(
    "words", [["--seed", "1"], ["--trials", "2"], ["--no-cxx"], ["--sanitize"]]
)
def test_options_of_running_do_not_go_with_it(weft: Weft, kernels: Path, words: list[str]) -> None:
    done = weft("verify", f"{kernels}:axpy", "--equivalence", *words)
    assert done.code == 2
    assert f"{words[0]} does not go with --equivalence, which runs nothing" in done.err


def test_an_export_says_that_it_is_proven(weft: Weft, kernels: Path, tmp_path: Path) -> None:
    done = weft("export", f"{kernels}:axpy", "--out", tmp_path / "p", "--format", "json")
    assert done.code == 0, done.err
    first = json.loads(done.out)["rows"][0]
    assert (first["what"], first["status"]) == ("equivalence", "proven")
    facts = json.loads((tmp_path / "p" / "weft.json").read_text())
    assert facts["equivalence"] == {"verdict": "proven"}
    readme = (tmp_path / "p" / "README.md").read_text()
    assert (
        "That the loops of the design do what the kernel says is proven, for all inputs" in readme
    )


def test_the_same_in_python(kernels: Path, tmp_path: Path) -> None:
    axpy = weft_api.load(f"{kernels}:axpy")
    assert weft_api.equivalence(axpy, "fast").verdict == "proven"
    made = weft_api.export(axpy, tmp_path / "p", "fast")
    assert json.loads(made.files["weft.json"])["equivalence"] == {"verdict": "proven"}


@pytest.mark.usefixtures("faulty")
def test_a_refuted_design_is_not_exported_in_python(kernels: Path, tmp_path: Path) -> None:
    axpy = weft_api.load(f"{kernels}:axpy")
    assert not weft_api.equivalence(axpy).ok
    with pytest.raises(weft_api.IRError, match=r"S0\[15\] is never executed"):
        weft_api.export(axpy, tmp_path / "p")
    assert not (tmp_path / "p").exists()
    assert (
        "equivalence"
        not in weft_api.export(axpy, tmp_path / "p", prove=False).files["weft.json"].decode()
    )


@pytest.mark.usefixtures("silent")
def test_an_export_says_what_is_left_open(weft: Weft, kernels: Path, tmp_path: Path) -> None:
    done = weft("export", f"{kernels}:axpy", "--out", tmp_path / "p")
    assert done.code == 0, done.err
    assert f"note: not proven to do what the kernel says: {REASON}" in done.err
    facts = json.loads((tmp_path / "p" / "weft.json").read_text())
    assert facts["equivalence"] == {"verdict": "not proven", "detail": REASON}
    assert f"is not proven: {REASON}." in (tmp_path / "p" / "README.md").read_text()


@pytest.mark.usefixtures("faulty")
def test_a_refuted_design_is_not_exported(weft: Weft, kernels: Path, tmp_path: Path) -> None:
    done = weft("export", f"{kernels}:axpy", "--out", tmp_path / "p")
    assert done.code == 1
    assert done.err.startswith("kernels.py:11:9: error[W336]: S0[15] is never executed")
    assert not (tmp_path / "p").exists()
    done = weft("export", f"{kernels}:axpy", "--out", tmp_path / "p", "--no-equivalence")
    assert done.code == 0, done.err
    facts = json.loads((tmp_path / "p" / "weft.json").read_text())
    assert "equivalence" not in facts
    assert "was not looked at (`--no-equivalence`)" in (tmp_path / "p" / "README.md").read_text()
