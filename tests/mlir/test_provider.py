"""What is missing is named."""

import ctypes
import subprocess
import sys

import pytest

from dsl.errors.errors import IRError
from mlir_passes import provider
from mlir_passes.cpu import jit


@pytest.fixture
def _no_bindings(monkeypatch):
    monkeypatch.setattr(provider, "_PACKAGES", ("no_such_package", "json"))
    provider.package.cache_clear()
    yield
    provider.package.cache_clear()


@pytest.mark.usefixtures("_no_bindings")
def test_a_missing_provider_is_named():
    with pytest.raises(IRError) as caught:
        provider.package()
    assert caught.value.render() == (
        "error[W300]: no MLIR Python bindings are installed\n"
        "  looked for the packages mlir (of the LLVM project) and torch_mlir\n"
        "help: pip install torch-mlir==20261001"
    )


def test_other_names_are_no_submodules():
    with pytest.raises(AttributeError, match="has no attribute 'tosa'"):
        _ = provider.tosa


def test_a_missing_compiler_runtime_is_named(monkeypatch):
    def missing(name, mode):
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(IRError) as caught:
        jit._load_compiler_runtime.__wrapped__()
    assert caught.value.render() == (
        "error[W301]: the compiler's runtime library cannot be loaded: "
        "libgcc_s.so.1: cannot open shared object file\n"
        "help: install it; the package is called libgcc or libgcc-s1"
    )


def test_the_bindings_load_without_numpy_and_leave_it_importable():
    code = """
import sys
from mlir_passes.dialect.attributes import context
context()
assert "numpy" not in sys.modules
import numpy
from mlir_passes.provider import affine
assert sys.modules["numpy"] is numpy
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert found.returncode == 0, found.stderr.decode()
