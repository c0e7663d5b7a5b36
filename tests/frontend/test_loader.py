"""Kernels from files: ``path/to/file.py:name``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import weft
from dsl.errors.errors import InputError, LanguageError
from dsl.kernels.loader import load, load_kernels, split_spec

KERNELS = """\
import weft
from sizes import N
from weft import f32


@weft.kernel
def scale(A: f32[N]):
    for i in range(N):
        A[i] *= 2


@weft.kernel
def add(A: f32[N], B: f32[N]):
    for i in range(N):
        A[i] += B[i]


number = 3


def plain(A):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernels.py").write_text(KERNELS, encoding="utf-8")
    (tmp_path / "sizes.py").write_text("N = 7\n", encoding="utf-8")
    return tmp_path


def test_a_file_may_import_its_neighbours(folder: Path) -> None:
    path = list(sys.path)
    kernel = load(f"{folder}/kernels.py:scale")
    assert kernel.name == "scale"
    assert str(kernel.program.arguments[0].type) == "f32[7]"
    assert sys.path == path
    sys.modules.pop("sizes")


def test_all_kernels_of_a_file(folder: Path) -> None:
    assert list(load_kernels(folder / "kernels.py")) == ["scale", "add"]
    sys.modules.pop("sizes")


def test_a_file_with_one_kernel_needs_no_name(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text("import weft\np = weft.Program('built')\n", encoding="utf-8")
    assert load(str(file)).name == "built"


def test_two_files_of_one_name_do_not_meet(tmp_path: Path) -> None:
    kernels = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "k.py"
        text = f"import weft\n@weft.kernel\ndef {folder}(A: weft.f32[4]):\n    A[0] = 1\n"
        file.write_text(text, encoding="utf-8")
        kernels.append(load(f"{file}:{folder}"))
    assert [k.program.name for k in kernels] == ["a", "b"]


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    for size in (10, 200):
        text = f"import weft\n@weft.kernel\ndef k(A: weft.f32[{size}]):\n    A[0] = {size}\n"
        file.write_text(text, encoding="utf-8")
        program = load(f"{file}:k").program
        assert program.arguments[0].shape == (size,)
        assert program.statements()[0].source == f"A[0] = {size}"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "{f}/kernels.py:scael",
            "error[W503]: {f}/kernels.py defines no kernel 'scael'\nhelp: did you mean 'scale'?",
        ),
        (
            "{f}/kernels.py:number",
            "error[W503]: 'number' in {f}/kernels.py is an int, not a kernel\n"
            "help: its kernels are add, scale",
        ),
        (
            "{f}/kernels.py:plain",
            "error[W503]: 'plain' in {f}/kernels.py is a function, not a kernel\n"
            "help: put @weft.kernel above its 'def'",
        ),
        (
            "{f}/kernels.py",
            "error[W501]: {f}/kernels.py defines 2 kernels, and which one is meant is not said\n"
            "help: write {f}/kernels.py:NAME; its kernels are add, scale",
        ),
        ("{f}/sizes.py", "error[W503]: {f}/sizes.py defines no kernel\nhelp: a kernel is"),
        (
            "{f}/kernel.py:scale",
            "error[W502]: there is no file {f}/kernel.py\nhelp: did you mean 'kernels.py'?",
        ),
        (
            "gemm",
            "error[W501]: 'gemm' is not the name of a kernel\n"
            "help: a kernel is named path/to/file.py:name",
        ),
        ("{f}/kernels.py:", "error[W501]: '{f}/kernels.py:' is not the name of a kernel"),
        ("kernels.py:a-b", "error[W501]: 'kernels.py:a-b' is not the name of a kernel"),
    ],
)
def test_refused(folder: Path, spec: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(spec.format(f=folder))
    sys.modules.pop("sizes", None)
    assert caught.value.render().startswith(message.format(f=folder))


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("x = 1\ny = x + z\n", "NameError: name 'z' is not defined", "y = x + z"),
        ("def f():\n    raise ValueError('no')\nf()\n", "ValueError: no", "raise ValueError('no')"),
        ("x = (1,\n", "SyntaxError: '(' was never closed", "x = (1,"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3", "sys.exit(3)"),
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'", "import"),
        ("(" * 300 + ")" * 300, "SyntaxError: too many nested parentheses", "((("),
        ("x = " + "-" * 20_000 + "1", "MemoryError", ""),
    ],
)  # fmt: skip
def test_an_error_in_the_file_is_shown(tmp_path: Path, text: str, message: str, place: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(f"{file}:k")
    rendered = caught.value.render()
    assert f"error[W504]: {file} cannot be loaded: {message}" in rendered
    assert caught.value.span is None or place in rendered
    assert not [name for name in sys.modules if name.startswith("weft_file_broken")]


def test_an_error_of_the_language_passes_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    text = "import weft\n@weft.kernel\ndef k(A: weft.f32[4]):\n    A[0] = x\nk.program\n"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LanguageError, match=r"error\[W130\]: unknown name 'x'"):
        load(f"{file}:k")


def test_specs() -> None:
    assert split_spec("a/b.py:c") == (Path("a/b.py"), "c")
    assert split_spec("C:/b.py:c") == (Path("C:/b.py"), "c")
    assert split_spec("a/b.py") == (Path("a/b.py"), None)
    assert weft.load is load


@pytest.mark.parametrize(("name", "told"), [("u6", True), ("fixed", True), ("nothing", False)])
def test_a_type_that_was_not_imported_is_named(tmp_path: Path, name: str, told: bool) -> None:
    file = tmp_path / "k.py"
    file.write_text(f"import weft\n\n@weft.kernel\ndef k(x: {name}[4]):\n    x[0] = 1\n")
    with pytest.raises(InputError) as error:
        load(str(file))
    assert (error.value.help == f"from weft import {name}") is told


def test_a_link_that_leads_to_itself(tmp_path):
    link = tmp_path / "k.py"
    link.symlink_to(link)
    with pytest.raises(InputError, match="is a link that leads to itself"):
        load(f"{link}:k")


def test_a_file_in_another_encoding_that_python_runs(tmp_path):
    file = tmp_path / "k.py"
    file.write_bytes(b"import weft\n# caf\xe9\n@weft.kernel\ndef k(x: weft.i8[4]):\n    x[0] = 1\n")
    with pytest.raises(LanguageError, match="is not UTF-8"):
        _ = load(f"{file}:k").program
