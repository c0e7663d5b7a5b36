"""What a machine cannot do is an error of the command line with a code, not a fault of Weft."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dse import cli

AXPY = f"{Path(__file__).resolve().parents[2]}/examples/tutorial/axpy.py:axpy"


@pytest.mark.parametrize(
    "arguments",
    [
        ["compile", "x" * 5000 + ".py:k"],
        ["verify", "--all", "x" * 5000],
        ["explore", AXPY, "--out", "x" * 5000, "--trials", "2"],
    ],
)
def test_names_that_no_file_has(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(arguments) == 1
    assert "error[W502]: no file has a name as long as 'xxx" in capsys.readouterr().err


@pytest.mark.parametrize("link", ["loop", "loop/x"])
def test_a_folder_that_is_a_link_to_itself(
    link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert cli.run(["export", AXPY, "--out", str(tmp_path / link)]) == 1
    told = capsys.readouterr().err
    assert "error[W508]: Symlink loop" in told or "Too many levels of symbolic links" in told


def test_no_room_for_temporary_files(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    monkeypatch.setattr(tempfile, "tempdir", None)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        code = cli.run(["verify", AXPY])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    said = capsys.readouterr().err
    assert code == 1, said
    assert "error[W508]: no folder for temporary files can be written" in said
    assert "help: make room in one, and name it: TMPDIR=/folder weft ..." in said


@pytest.mark.parametrize(
    ("size", "body", "message"),
    [
        (
            "8",
            "for a, b, c in weft.grid(9000, 9000, 9000):\n        A[0] += a",
            "729,000,000,000 iterations",
        ),
        ("2**30", "A[0] = 1.0", "1,073,741,824 elements"),
    ],
)
def test_what_is_too_large_to_be_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, size: str, body: str, message: str
) -> None:
    file = tmp_path / "k.py"
    file.write_text(f"import weft\n\n\n@weft.kernel\ndef k(A: weft.f64[{size}]):\n    {body}\n")
    assert cli.run(["verify", f"{file}:k"]) == 1
    text = capsys.readouterr().err
    assert f"error[W167]: 'k' has {message}, which is too many to be run" in text
    assert cli.run(["verify", f"{file}:k", "--equivalence"]) == 0  # as its help says


def test_more_memory_than_there_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backends.run_size.MOST_ELEMENTS", 1 << 64)
    file = tmp_path / "k.py"
    file.write_text(
        "import weft\n\n\n@weft.kernel\ndef k(A: weft.f64[2000000000, 2000000000]):\n    A[0, 0] = 1.0\n"
    )
    assert cli.run(["verify", f"{file}:k", "--no-cxx"]) == 1
    text = capsys.readouterr().err
    assert "error[W116]: this needs more memory than there is" in text
    assert text.rstrip().endswith("help: take a smaller size of the kernel, as with --size N=64")


def test_a_time_limit_while_native_modules_are_loaded(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "weft", "explore", AXPY, "--trials", "2", "--timeout", "0.1"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "run")], capture_output=True, timeout=300
    )
    assert done.returncode in (0, 1, 3), done.stderr  # and not by a signal
