"""Runs of Vitis HLS: what is called, with which limits, and what is read afterwards.

The tool cannot be installed here. Its place is taken by scripts that are called as it is (the
classic one reads our Tcl with a real interpreter) and that leave reports in its format.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from backends.devices import device
from backends.vitis.config import hls_config
from backends.vitis.files import ProjectFiles
from backends.vitis.run import run_vitis
from backends.vitis.tcl import run_hls_tcl
from dsl.errors.errors import ToolError

REPORTS = Path(__file__).parent / "reports"
FILES = ProjectFiles("toy", device("xczu9eg"), 10.0, data=("data/00_x.in.bin",))

VITIS_HLS = """\
#!/usr/bin/env tclsh
set log [open calls.txt w]
foreach name {open_project set_top add_files open_solution set_part create_clock close_project} {
    proc $name {args} {}
}
proc csim_design {args} { puts $::log csim }
proc csynth_design {args} {
    puts $::log csynth
    file mkdir hls/solution1/syn/report
    file copy -force @REPORTS@/csynth.xml hls/solution1/syn/report/csynth.xml
}
proc cosim_design {args} {
    puts $::log cosim
    file mkdir hls/solution1/sim/report
    file copy -force @REPORTS@/toy_cosim.rpt hls/solution1/sim/report/toy_cosim.rpt
}
proc export_design {args} {
    puts $::log $args
    file mkdir hls/solution1/impl/report/verilog
    file copy -force @REPORTS@/export_impl.xml hls/solution1/impl/report/verilog/export_impl.xml
}
if {[lindex $argv 0] ne "-f"} { exit 9 }
source [lindex $argv 1]
"""

UNIFIED = """\
#!@PYTHON@
import json, pathlib, shutil, sys
with open("calls.txt", "a") as log:
    print(json.dumps([pathlib.Path(sys.argv[0]).name, *sys.argv[1:]]), file=log)
work = pathlib.Path(sys.argv[sys.argv.index("--work_dir") + 1]) / "hls"
reports = pathlib.Path("@REPORTS@")
def leave(name, folder, path):
    (work / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(reports / name, work / folder / path)
if sys.argv[0].endswith("v++"):
    leave("csynth.xml", "syn/report", "toy_csynth.xml")
elif "--cosim" in sys.argv:
    leave("toy_cosim.rpt", "sim/report", "toy_cosim.rpt")
elif "--impl" in sys.argv:
    leave("export_impl.rpt", "impl/report/verilog", "export_impl.rpt")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "the project"
    (folder / "data").mkdir(parents=True)
    (folder / "run_hls.tcl").write_text(run_hls_tcl(FILES))
    (folder / "hls_config.cfg").write_text(hls_config(FILES))
    return folder


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a script of this text on PATH under a name, with nothing else but tclsh there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    tclsh = shutil.which("tclsh")
    if tclsh is not None:
        (folder / "tclsh").symlink_to(tclsh)
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, text: str) -> None:
        script = folder / name
        text = text.replace("@REPORTS@", str(REPORTS)).replace("@PYTHON@", sys.executable)
        script.write_text(text.replace("/usr/bin/env tclsh", str(folder / "tclsh")))
        script.chmod(0o755)

    return put


needs_tclsh = pytest.mark.skipif(shutil.which("tclsh") is None, reason="needs tclsh on PATH")


@needs_tclsh
@pytest.mark.parametrize(
    ("step", "calls"),
    [
        ("csynth", ["csynth"]),
        ("cosim", ["csynth", "cosim"]),
        ("impl", ["csynth", "-flow impl -rtl verilog -format ip_catalog"]),
    ],
)
def test_the_classic_tool(project: Path, install, step, calls: list[str]) -> None:
    install("vitis_hls", VITIS_HLS)
    done = run_vitis(project, FILES, step)
    assert (project / "calls.txt").read_text().splitlines() == calls
    assert done.tool == "vitis_hls"
    assert [run.command for run in done.runs] == [
        ("vitis_hls", "-f", "run_hls.tcl", *dict.fromkeys(["csynth", step]))
    ]
    assert done.csynth.latency_max == 834
    assert (done.cosim is not None) is (step == "cosim")
    assert (done.impl is not None) is (step == "impl")
    if done.cosim is not None:
        assert (done.cosim.passed, done.cosim.latency_max) == (True, 133)
    if done.impl is not None:
        assert done.impl.used.lut == 1004
    assert done.seconds > 0


@pytest.mark.parametrize("step", ["csynth", "cosim", "impl"])
def test_the_unified_tools(project: Path, install, step) -> None:
    install("v++", UNIFIED)
    install("vitis-run", UNIFIED)
    done = run_vitis(project, FILES, step)
    shared = ["--mode", "hls", "--config", "hls_config.cfg", "--work_dir", "work"]
    calls = [json.loads(line) for line in (project / "calls.txt").read_text().splitlines()]
    expected = [["v++", "-c", *shared]]
    if step != "csynth":
        expected.append(["vitis-run", f"--{step}", *shared])
    assert calls == expected
    assert done.tool == "v++"
    assert done.csynth.estimated_clock == 7.256
    if step == "impl":
        assert done.impl is not None
        assert done.impl.achieved == 6.412


def test_without_the_tool_the_error_names_it(project: Path, install) -> None:
    with pytest.raises(ToolError) as caught:
        run_vitis(project, FILES, "cosim")
    assert caught.value.render() == (
        "error[W420]: Vitis HLS is not on PATH, so --run cosim cannot run: neither vitis_hls, "
        "nor v++ with vitis-run\n"
        "help: source the settings64.sh of your Vitis installation; --csim needs g++ only"
    )


def test_v_plus_plus_alone_can_synthesise_only(project: Path, install) -> None:
    install("v++", UNIFIED)
    assert run_vitis(project, FILES, "csynth").csynth.top == "toy"
    with pytest.raises(ToolError, match="W420"):
        run_vitis(project, FILES, "impl")


def test_a_failure_shows_the_tools_own_errors(project: Path, install) -> None:
    install(
        "vitis_hls",
        f"#!{sys.executable}\nprint('INFO: x')\nprint('ERROR: [HLS 207-1] no such thing')\n"
        "raise SystemExit(1)\n",
    )
    with pytest.raises(ToolError) as caught:
        run_vitis(project, FILES, "csynth")
    assert caught.value.render() == (
        "error[W421]: vitis_hls -f run_hls.tcl csynth failed: exit status 1\n"
        "  ERROR: [HLS 207-1] no such thing\n"
        f"help: its working directory is {project}"
    )


def test_a_tool_that_takes_too_long_is_ended(project: Path, install) -> None:
    install("vitis_hls", f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    with pytest.raises(ToolError, match="failed: no answer in 1 s"):
        run_vitis(project, FILES, "csynth", seconds=1)


def test_a_tool_that_leaves_no_report(project: Path, install) -> None:
    install("vitis_hls", f"#!{sys.executable}\n")
    with pytest.raises(ToolError, match="W422"):
        run_vitis(project, FILES, "csynth")
