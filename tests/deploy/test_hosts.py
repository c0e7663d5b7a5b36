"""Hosts that run, here with the kernel's own C++ in the place of the board or the card."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from tests.deploy.making import KERNELS, export, make
from tests.support.amount import sample

XRT = Path("/usr/include/xrt/xrt/xrt_bo.h")

# ------------------------------------------------------------------------------------- hosts that run


@pytest.mark.parametrize(
    ("onto", "name"),
    [
        *(("u280", name) for name in sample([*KERNELS], 2)),
        ("pynq-z2", "gemm"),
        ("pynq-z2", "odd"),
        ("kv260", "mlp"),
    ],
)
def test_hosts_pass_the_testbenchs_data_and_check_what_comes_back(onto, name, tmp_path):
    folder = export(name, onto, tmp_path / "made")
    done = make(folder, "software")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED" in done.stdout
    assert " ms" in done.stdout


@pytest.mark.parametrize("onto", ["u280", "pynq-z2"])
def test_a_wrong_result_is_found(onto, tmp_path):
    folder = export("gemm", onto, tmp_path / "made")
    source = tmp_path / "made" / "gemm.cpp"
    text = source.read_text()
    assert "+=" in text
    source.write_text(text.replace("+=", "-="))
    done = make(folder, "software")
    assert done.returncode != 0
    assert "FAILED" in done.stdout


@pytest.mark.skipif(not XRT.exists(), reason="needs libxrt-dev")
@pytest.mark.parametrize("name", ["gemm", "odd"])
def test_the_host_of_a_card_is_compiled_and_linked_with_xrt(name, tmp_path):
    folder = export(name, "u55c", tmp_path / "made")
    done = make(folder, "host")
    assert done.returncode == 0, done.stderr
    environment = {k: v for k, v in os.environ.items() if k != "XILINX_XRT"}
    ran = subprocess.run(
        ["./build/host", "none.xclbin"], cwd=folder, capture_output=True, text=True, timeout=60,
        env=environment,
    )  # fmt: skip
    assert ran.returncode == 3  # there is no card here
    assert ran.stderr.startswith("host: ")
    for words in ([], ["x", "--runs", "0"], ["x", "--runs"], ["x", "y"], ["x", "--nothing", "1"]):
        wrong = subprocess.run(["./build/host", *words], cwd=folder, capture_output=True, text=True)
        assert wrong.returncode == 2
        assert wrong.stderr.startswith("usage: ")


def test_runs_are_many_where_that_is_asked(tmp_path):
    folder = export("gemm", "u250", tmp_path / "made")
    assert make(folder, "build/software").returncode == 0
    done = subprocess.run(
        ["./build/software", "none", "--runs", "3"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "the best of 3" in done.stdout


# -------------------------------------------------------- the protocol of registers, and the notebook


class Registers:
    """What a host writes by name."""

    CTRL = None

    def __init__(self, names: list[str]) -> None:
        for name in names:
            setattr(self, name, None)


class Logic:
    """The kernel behind its registers: a call where START is written, by the addresses that are there then."""

    def __init__(self, library: Path, arguments: list[dict]) -> None:
        self.call = ctypes.CDLL(str(library)).gemm
        self.arguments, self.starts = arguments, 0
        names = []
        for a in arguments:
            names += [f"{a['port']}_1", f"{a['port']}_2"] if a["shape"] else [a["port"]]
        self.register_map = Registers(names)

    def write(self, offset: int, value: int) -> None:
        assert (offset, value) == (0, 1)
        self.starts += 1
        given: list[object] = []
        for a in self.arguments:
            if a["shape"]:
                low = getattr(self.register_map, f"{a['port']}_1")
                given.append(
                    ctypes.c_void_p(getattr(self.register_map, f"{a['port']}_2") << 32 | low)
                )
            else:
                bits = np.uint32(getattr(self.register_map, a["port"]))
                given.append(ctypes.c_float(float(bits.view(np.float32))))
        self.call(*given)

    def read(self, offset: int) -> int:
        assert offset == 0
        return 0x6 if self.starts else 0x0


class Shared(np.ndarray):
    """Memory that both sides see."""

    flushed = invalidated = 0

    def flush(self) -> None:
        self.flushed += 1

    def invalidate(self) -> None:
        self.invalidated += 1

    @property
    def physical_address(self) -> int:
        return int(self.ctypes.data)


@pytest.fixture
def host(tmp_path, monkeypatch):
    """``run.py`` of gemm, as a module, with a stand-in for PYNQ whose logic is the kernel's C++."""
    folder = export("gemm", "pynq-z2", tmp_path / "made")
    assert make(folder, "build/gemm.so").returncode == 0
    module = types.ModuleType("run")
    module.__file__ = str(folder / "run.py")
    exec(compile((folder / "run.py").read_text(), "run.py", "exec"), module.__dict__)
    pynq = types.ModuleType("pynq")

    def overlay(path: str) -> types.SimpleNamespace:
        assert path.endswith("gemm.bit")
        return types.SimpleNamespace(gemm_0=Logic(folder / "build/gemm.so", module.ARGUMENTS))

    def allocate(shape: tuple, dtype: np.dtype) -> np.ndarray:
        return np.zeros(shape, dtype).view(Shared)

    pynq.Overlay, pynq.allocate = overlay, allocate  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynq", pynq)
    monkeypatch.setitem(sys.modules, "run", module)
    monkeypatch.chdir(folder)
    return module


def test_the_host_of_a_board_writes_the_registers_that_the_kernel_reads(host, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["run.py", "--runs", "2"])
    assert host.main() == 0
    assert "PASSED" in capsys.readouterr().out
    design = host.Design("gemm.bit")
    inputs = {a["name"]: host.read(a["initial"], a, Path("../data")) for a in host.ARGUMENTS}
    twice = {**inputs, "beta": np.float32(0), "alpha": np.float32(2)}
    found = design(twice)["C"]
    right = 2 * inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64)
    np.testing.assert_allclose(found, right, rtol=1e-4)
    with pytest.raises(KeyError, match="reads A"):
        design({"alpha": 1.0, "beta": 1.0, "C": inputs["C"], "B": inputs["B"]})


def test_the_notebook_runs(host, capsys):
    book = json.loads(Path("run.ipynb").read_text())
    assert book["nbformat"] == 4
    scope: dict[str, object] = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), scope)
    assert "C 0.0" in capsys.readouterr().out
