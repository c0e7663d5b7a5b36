"""Imports go downward only, and what is heavy is imported late."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("dsl", "polyhedral", "mlir_passes", "backends", "qor_gnn", "dse")
PRESENT = tuple(layer for layer in LAYERS if (ROOT / layer).is_dir())

# What `weft --help` and `import weft` must not wait for.
HEAVY = ("islpy", "mlir", "networkx", "numpy", "optuna", "torch", "torch_mlir")


@cache
def imports(path: Path) -> frozenset[str]:
    """Top-level name of every module that a file imports, in functions as well."""
    return frozenset(_imports(ast.parse(path.read_text(encoding="utf-8"))))


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def reaches(path: Path, module: str) -> bool:
    """Whether a file imports `module`, or names it and imports by name."""
    if module in imports(path):
        return True
    text = path.read_text(encoding="utf-8")
    if "import_module" not in text or module not in text:
        return False
    nodes = list(ast.walk(ast.parse(text)))
    strings = {node.value for node in nodes if isinstance(node, ast.Constant)}
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name)}
    return module in strings and "import_module" in names


def python(code: str) -> str:
    """What Python prints running `code` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_contracts_of_the_layers_hold() -> None:
    lint = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [str(lint), "--no-cache"], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("layer", PRESENT)
def test_a_layer_imports_only_from_below(layer: str) -> None:
    above = {*LAYERS[LAYERS.index(layer) + 1 :], "weft", "benchmarks", "examples", "tests"}
    wrong = {
        path.relative_to(ROOT).as_posix(): sorted(above & imports(path))
        for path in (ROOT / layer).rglob("*.py")
        if above & imports(path)
    }
    assert not wrong


def test_one_file_knows_the_provider_of_mlir() -> None:
    files = [path for layer in PRESENT for path in (ROOT / layer).rglob("*.py")]
    knowing = [path for path in files if reaches(path, "torch_mlir")]
    assert [path.relative_to(ROOT).as_posix() for path in knowing] == ["mlir_passes/provider.py"]
    assert not [path for path in files if path not in knowing and reaches(path, "mlir")]


def test_examples_import_the_public_api_only() -> None:
    files = (ROOT / "examples").rglob("*.py")
    allowed = {"weft", "numpy", *sys.stdlib_module_names}
    wrong = {path.name: imports(path) - allowed for path in files}
    assert not {name: extra for name, extra in wrong.items() if extra}


START_UP = {
    "import weft": "import weft",
    "weft --help": """
import sys
sys.argv = ["weft", "--help"]
from dse.cli import main
try:
    main()
except SystemExit:
    pass
""",
}


@pytest.mark.parametrize("start", START_UP)
def test_start_up_imports_nothing_heavy(start: str) -> None:
    report = f"import sys; print('loaded:', *sorted(set({HEAVY!r}) & set(sys.modules)))"
    assert python(f"{START_UP[start]}\n{report}").splitlines()[-1] == "loaded:"
