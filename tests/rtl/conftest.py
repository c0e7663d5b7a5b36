"""Fixtures of the tests of the RTL backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.rtl.tools import find_nextpnr, find_yosys


@pytest.fixture(scope="session")
def warm_tools() -> None:
    """Yosys and nextpnr have compiled themselves: minutes, once for a machine."""
    find_yosys()
    find_nextpnr()


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Verilator's compiled runtime is kept: shared by all workers of a test run."""
    base = tmp_path_factory.getbasetemp()
    # The parent is the same for each of xdist's workers.
    return (base.parent if base.name.startswith("popen-") else base) / "verilated"
