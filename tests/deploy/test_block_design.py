"""Scripts of boards and cards: a real Tcl interpreter reads them, ports are connected once."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from backends.devices import device
from tests.deploy.making import export

TCLSH = shutil.which("tclsh")


STUBS = """
foreach name {create_project set_property update_ip_catalog create_bd_design apply_bd_automation assign_bd_address
              validate_bd_design save_bd_design add_files launch_runs wait_on_run open_run report_utilization
              report_timing_summary close_project} {
    proc $name {args} "puts \\"$name \\[regsub -all {\\\\s+} \\$args { }\\]\\""
}
proc get_ipdefs {args} { return "vendor:lib:[lindex $args end end]:1.0" }
proc create_bd_cell {args} { puts "create_bd_cell $args"; return [lindex $args end] }
proc get_board_parts {args} { if {[info exists ::env(NONE)]} { return {} }; return [lindex $args end] }
proc get_bd_intf_pins {name} { return $name }
proc get_files {name} { return $name }
proc make_wrapper {args} { return wrapper.v }
proc current_project {} { return project }
proc current_fileset {} { return sources }
proc get_runs {name} { return $name }
rename exit done
proc exit {status} { puts "exit $status"; done $status }
proc get_property {what of} { return "100%" }
"""


def vivado(folder: Path, **environment: str) -> tuple[int, list[str]]:
    """What a Tcl interpreter makes of the script, the commands of Vivado written out."""
    assert TCLSH is not None
    script = (folder / "block_design.tcl").read_text()
    (folder / "traced.tcl").write_text(STUBS + script)
    (folder.parent / "hls/solution1/impl/ip").mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [TCLSH, str(folder / "traced.tcl")], capture_output=True, text=True, timeout=60,
        env={**os.environ, **environment},
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).splitlines()


@pytest.mark.skipif(TCLSH is None, reason="needs tclsh on PATH")
@pytest.mark.parametrize("onto", ["pynq-z2", "zedboard", "kv260", "zcu104"])
def test_each_port_is_connected_once(onto, tmp_path):
    folder = export("gemm", onto, tmp_path / "made")
    status, lines = vivado(folder)
    assert status == 0, lines
    masters = [line.split("Master ")[1].split()[0] for line in lines if "bd_rule:axi4" in line]
    for bundle in ("gmem0", "gmem1", "gmem2"):
        assert masters.count(f"/gemm_0/m_axi_{bundle}") == 1
    slaves = [line.split("Slave ")[1].split()[0] for line in lines if "bd_rule:axi4" in line]
    assert len(set(slaves)) == len(slaves) == 4
    assert "/gemm_0/s_axi_control" in slaves
    config = next(line for line in lines if "CONFIG." in line)
    zynq7 = device(onto).family.startswith("zynq") and "uplus" not in device(onto).family
    used = "CONFIG.PCW_USE_S_AXI_HP" if zynq7 else "CONFIG.PSU__USE__S_AXI_GP"
    assert config.count(used) == 4
    assert config.count("{") == config.count("}")
    text = " ".join(lines)
    assert ("processing_system7" if zynq7 else "zynq_ultra_ps_e") in text
    assert "write_bitstream" in text


@pytest.mark.skipif(TCLSH is None, reason="needs tclsh on PATH")
def test_without_board_files_the_part_is_used_and_without_the_ip_it_says_so(tmp_path):
    folder = export("gemm", "pynq-z2", tmp_path / "made")
    status, lines = vivado(folder, NONE="1")
    assert status == 0
    assert any("the part xc7z020clg400-1 alone is used" in line for line in lines)
    assert not any(line.startswith("set_property board_part") for line in lines)
    shutil.rmtree(folder.parent / "hls")
    (folder.parent / "hls").write_text("")
    done = subprocess.run([TCLSH or "", str(folder / "traced.tcl")], capture_output=True, text=True)
    assert done.returncode == 1
    assert "run `make export` first" in done.stderr


def test_ports_of_a_card_are_connected_to_its_memory(tmp_path):
    export("gemm", "u280", tmp_path / "hbm")
    export("mlp", "u200", tmp_path / "ddr")
    assert "sp=gemm_1.B:HBM[1]" in (tmp_path / "hbm/link.cfg").read_text()
    banks = [line.split(":")[-1] for line in (tmp_path / "ddr/link.cfg").read_text().splitlines()
             if line.startswith("sp=")]  # fmt: skip
    assert banks == [f"DDR[{n % 4}]" for n in range(len(banks))]
    text = (tmp_path / "hbm/deploy/Makefile").read_text()
    assert "xilinx_u280_gen3x16_xdma_1_202211_1" in text
    assert "MHZ       ?= 100" in text


def test_the_same_export_has_the_same_bytes_and_says_what_is_there(tmp_path):
    for name in ("a", "b"):
        export("gemm", "kv260", tmp_path / name)
    files = sorted(
        p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*") if p.is_file()
    )
    assert Path("deploy/run.ipynb") in files
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert "| `deploy/` |" in (tmp_path / "a/README.md").read_text()
