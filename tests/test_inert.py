"""Data are read, not run: what could run them is nowhere in the packages but where it says why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("dsl", "polyhedral", "mlir_passes", "backends", "qor_gnn", "dse")

MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve",
           "yaml", "code", "codeop", "runpy", "imp", "pty", "telnetlib"}  # fmt: skip
"""Modules that run, or make objects of, what they read."""

CALLS = {"eval", "exec", "compile", "__import__", "breakpoint", "input"}
ATTRIBUTES = {
    ("os", "system"), ("os", "popen"), ("os", "startfile"), ("torch", "load"), ("np", "load"),
    ("numpy", "load"), ("jit", "load"), ("importlib", "import_module"), ("pd", "read_pickle"),
    ("util", "spec_from_file_location"), ("util", "module_from_spec"), ("loader", "exec_module"),
    ("ctypes", "CDLL"), ("subprocess", "run"), ("subprocess", "Popen"), ("subprocess", "call"),
    ("subprocess", "check_output"), ("subprocess", "check_call"), ("storages", "RedisStorage"),
}  # fmt: skip

# The file and what it does, and why that is no data of a stranger's.
ALLOWED = {
    (
        "dsl/kernels/loader.py",
        "util.spec_from_file_location",
    ): "a kernel's file, which the user names",
    ("dsl/kernels/loader.py", "util.module_from_spec"): "the same",
    ("dsl/kernels/loader.py", "loader.exec_module"): "the same",
    ("dse/cli.py", "importlib.import_module"): "a command of the list of commands",
    (
        "dse/run/workers/fanout.py",
        "importlib.import_module",
    ): "the bindings of MLIR, ahead of a time limit",
    ("dse/libraries.py", "importlib.import_module"): "a database's driver or Dask, by our name",
    ("mlir_passes/provider.py", "importlib.import_module"): "the bindings of MLIR",
    ("mlir_passes/cpu/jit.py", "ctypes.CDLL"): "the runtime library of the compiler",
    (
        "dse/run/predictor/beside.py",
        "subprocess.Popen",
    ): "our own module, by our own interpreter; JSON to it and back",
    ("backends/process.py", "subprocess.Popen"): "tools, by a list of words without a shell",
    ("weft.py", "importlib.import_module"): "our own modules, when a name of theirs is asked for",
    ("weft.py", "compile"): "Weft's own function of that name",
}


def files() -> list[Path]:
    found = [p for package in PACKAGES for p in sorted((ROOT / package).rglob("*.py"))]
    return [*found, ROOT / "weft.py"]


def name_of(node: ast.expr) -> str:
    match node:
        case ast.Attribute(value=value, attr=attr):
            return f"{name_of(value)}.{attr}"
        case ast.Name(id=name):
            return name
        case _:
            return ""


def uses(tree: ast.AST) -> Iterator[str]:
    """What could run data, by the names that `ALLOWED` has."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (a.name for a in names if a.name.partition(".")[0] in MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                if module.partition(".")[0] in MODULES:
                    yield module
                last = "" if module.startswith("safetensors.") else module.rpartition(".")[2]
                yield from (f"{last}.{a.name}" for a in names if (last, a.name) in ATTRIBUTES)
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                yield name
            case ast.Call(keywords=keywords):
                for keyword in keywords:
                    true = isinstance(keyword.value, ast.Constant) and keyword.value.value is True
                    if keyword.arg in ("shell", "allow_pickle") and true:
                        yield f"{keyword.arg}=True"
            case ast.Attribute():
                parts = tuple(name_of(node).split("."))[-2:]
                if parts in ATTRIBUTES:
                    yield ".".join(parts)


def found() -> set[tuple[str, str]]:
    return {
        (path.relative_to(ROOT).as_posix(), use)
        for path in files()
        for use in uses(ast.parse(path.read_text("utf-8")))
    }


def test_nothing_runs_data():
    assert found() - ALLOWED.keys() == set()


def test_every_exception_is_one():
    assert ALLOWED.keys() - found() == set()


@pytest.mark.parametrize(
    "text",
    ["import pickle", "from pickle import loads", "import torch\ntorch.load(f)", "eval(x)",
     "import yaml", "f(x, shell=True)", "np.load(f, allow_pickle=True)", "os.system(x)",
     "from importlib import import_module", "from os import system", "__import__(x)",
     "subprocess.run(x)", "spec.loader.exec_module(m)"],
)  # fmt: skip
def test_what_runs_data_is_found(text):
    assert list(uses(ast.parse(text)))
