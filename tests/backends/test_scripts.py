"""The scripts of a project: Tcl read by a real Tcl interpreter, cfg and Makefile by their rules."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.devices import device
from backends.vitis.config import hls_config
from backends.vitis.files import ProjectFiles, checked_name
from backends.vitis.makefile import makefile
from backends.vitis.tcl import run_hls_tcl, tcl_word
from dsl.errors.errors import ToolError

TCLSH = shutil.which("tclsh")
needs_tclsh = pytest.mark.skipif(TCLSH is None, reason="needs tclsh on PATH")

FILES = ProjectFiles(
    "gemm",
    device("xcu280"),
    3.33,
    data=("data/00_A.in.bin", "data/01_C.in.bin", "data/01_C.out.bin"),
    headers=("gemm.h", "weft_tb.h"),
    ap_types=True,
)

# Each command of the tool becomes a procedure that writes its name and arguments as JSON.
STUBS = r"""
fconfigure stdout -encoding utf-8
proc quoted {s} {
    set s [string map [list \\ \\\\ \" \\\" \n \\n \r \\r \t \\t] $s]
    return \"$s\"
}
foreach name {open_project set_top add_files open_solution set_part create_clock csim_design
              config_compile csynth_design cosim_design export_design close_project} {
    proc $name {args} [string map [list @NAME@ $name] {
        set words [list [quoted @NAME@]]
        foreach a $args { lappend words [quoted $a] }
        puts "\[[join $words ,]\]"
        if {[info exists ::env(FAIL)] && $::env(FAIL) eq "@NAME@"} { error "@NAME@ failed" }
    }]
}
"""


def tclsh(
    script: Path, *words: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    assert TCLSH is not None
    environment = {k: v for k, v in os.environ.items() if k not in ("WEFT_STEPS", "FAIL")}
    return subprocess.run(
        [TCLSH, str(script), *words], capture_output=True, text=True, timeout=60,
        encoding="utf-8", env={**environment, **(env or {})}, cwd="/",
    )  # fmt: skip


def run_script(
    folder: Path, *words: str, files: ProjectFiles = FILES, env: dict[str, str] | None = None
) -> tuple[int, list[list[str]], str]:
    script = folder / "run_hls.tcl"
    script.write_text(STUBS + run_hls_tcl(files), encoding="utf-8")
    done = tclsh(script, *words, env=env)
    calls = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, calls, done.stderr


@needs_tclsh
def test_the_calls_are_those_of_the_flow(tmp_path: Path) -> None:
    code, calls, _ = run_script(tmp_path, "csim", "csynth", "cosim", "export", "impl")
    assert code == 0
    assert calls == [
        ["open_project", "-reset", "hls"],
        ["set_top", "gemm"],
        ["add_files", "gemm.cpp"],
        ["add_files", "-tb", "tb_gemm.cpp"],
        ["add_files", "-tb", "data/00_A.in.bin"],
        ["add_files", "-tb", "data/01_C.in.bin"],
        ["add_files", "-tb", "data/01_C.out.bin"],
        ["open_solution", "-reset", "solution1", "-flow_target", "vivado"],
        ["set_part", "xcu280-fsvh2892-2L-e"],
        ["create_clock", "-period", "3.33", "-name", "default"],
        ["csim_design"],
        ["csynth_design"],
        ["cosim_design", "-rtl", "verilog"],
        ["export_design", "-rtl", "verilog", "-format", "ip_catalog"],
        ["export_design", "-flow", "impl", "-rtl", "verilog", "-format", "ip_catalog"],
        ["close_project"],
    ]


@needs_tclsh
def test_pipelines_flush_where_processes_wait_for_each_other(tmp_path: Path) -> None:
    code, calls, _ = run_script(tmp_path, files=replace(FILES, flushing=True))
    assert code == 0
    assert ["config_compile", "-pipeline_style", "flp"] in calls
    line = "syn.compile.pipeline_style=flp"
    assert line in hls_config(replace(FILES, flushing=True)).splitlines()
    assert line not in hls_config(FILES)


@needs_tclsh
def test_nothing_is_pipelined_unasked_where_figures_say_so(tmp_path: Path) -> None:
    option, line = ["config_compile", "-pipeline_loops", "0"], "syn.compile.pipeline_loops=0"
    for asked in (True, False):
        files = replace(FILES, only_asked=asked)
        code, calls, _ = run_script(tmp_path, files=files)
        assert code == 0
        assert (option in calls) is asked
        assert (line in hls_config(files).splitlines()) is asked


@needs_tclsh
def test_unsafe_math_is_asked_for_where_a_sum_may_be_reordered(tmp_path: Path) -> None:
    _, before, _ = run_script(tmp_path)
    code, calls, _ = run_script(tmp_path, files=replace(FILES, unsafe_math=True))
    assert code == 0
    option = ["config_compile", "-unsafe_math_optimizations"]
    assert option not in before
    assert calls.index(option) < calls.index(["csynth_design"])
    line = "syn.compile.unsafe_math_optimizations=1"
    assert line in hls_config(replace(FILES, unsafe_math=True)).splitlines()
    assert line not in hls_config(FILES)


def steps(calls: list[list[str]]) -> list[str]:
    return [c[0].removesuffix("_design") for c in calls if c[0].endswith("_design")]


@needs_tclsh
@pytest.mark.parametrize(
    ("words", "env", "expected"),
    [
        ((), {}, ["csim", "csynth"]),
        (("csynth",), {}, ["csynth"]),
        # vitis_hls hands its own arguments on
        (("-f", "run_hls.tcl", "csynth", "cosim"), {}, ["csynth", "cosim"]),
        ((), {"WEFT_STEPS": "csim"}, ["csim"]),
        (("csim",), {"WEFT_STEPS": "csynth impl"}, ["csynth", "export"]),
        # a later step brings the synthesis that it needs
        (("csim", "cosim"), {}, ["csim", "csynth", "cosim"]),
    ],
)
def test_steps_are_chosen(tmp_path: Path, words: tuple, env: dict, expected: list[str]) -> None:
    code, calls, _ = run_script(tmp_path, *words, env=env)
    assert code == 0
    assert steps(calls) == expected


@needs_tclsh
def test_an_earlier_synthesis_is_built_on(tmp_path: Path) -> None:
    (tmp_path / "hls" / "solution1" / "syn").mkdir(parents=True)
    _, calls, _ = run_script(tmp_path, "cosim")
    assert steps(calls) == ["cosim"]
    assert calls[0] == ["open_project", "hls"]


@needs_tclsh
def test_an_unknown_step_is_refused(tmp_path: Path) -> None:
    code, calls, said = run_script(tmp_path, "csynth", "simulate")
    assert (code, calls) == (2, [])
    assert "no step is called 'simulate'; there is csim csynth cosim export impl" in said


@needs_tclsh
def test_a_failing_command_ends_the_run_with_status_1(tmp_path: Path) -> None:
    code, calls, said = run_script(tmp_path, "csynth", "cosim", env={"FAIL": "csynth_design"})
    assert code == 1
    assert calls[-1] == ["csynth_design"]
    assert "csynth_design failed" in said


@needs_tclsh
def test_a_folder_with_any_name_is_fine(tmp_path: Path) -> None:
    folder = tmp_path / "a b [exec touch x] $HOME {;} \\"
    folder.mkdir()
    code, calls, said = run_script(folder, "csynth")
    assert code == 0, said
    assert steps(calls) == ["csynth"]
    assert [p.name for p in folder.iterdir()] == ["run_hls.tcl"]


HOSTILE = [
    "gemm; exec touch x", "[exec touch x]", "$env(HOME)", "a b", "a\nb", "{", "}", 'a"b', "a\\",
    "../gemm", "/etc/passwd", "", "1x", "naïve", "a" * 201, "x.cpp", "-reset",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_never_gets_into_a_script(name: str) -> None:
    with pytest.raises(ToolError) as caught:
        checked_name(name)
    assert caught.value.code == "W404"
    with pytest.raises(ToolError):
        ProjectFiles(name, device("xcu280"), 5.0, data=())


def test_the_refusal_of_a_name_is_helpful() -> None:
    with pytest.raises(ToolError) as caught:
        checked_name("a b")
    assert caught.value.render() == (
        "error[W404]: the kernel's name 'a b' cannot name a C++ function\n"
        "help: use up to 200 ASCII letters, digits and underscores, no digit first"
    )


@pytest.mark.parametrize("path", ["../x.bin", "/x.bin", "data/../../x", "a b.bin", "data/;x", ""])
def test_a_path_that_leaves_the_project_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="no plain relative path"):
        ProjectFiles("gemm", device("xcu280"), 5.0, data=(path,))


@needs_tclsh
def test_a_word_of_tcl_means_itself(tmp_path: Path) -> None:
    words = [*HOSTILE, "\t\r\n", "€", "#x", "*", "~", "a]b", "\u2028", "\\n", "\\u0041", "$"]
    script = tmp_path / "words.tcl"
    lines = [f"quoted_out {tcl_word(word)}" for word in words]
    show = "proc quoted_out {w} { puts [binary encode hex [encoding convertto utf-8 $w]] }\n"
    script.write_text(show + "\n".join(lines), encoding="utf-8")
    done = tclsh(script)
    assert done.returncode == 0, done.stderr
    assert [bytes.fromhex(line).decode() for line in done.stdout.splitlines()] == words


@given(st.text(st.characters(min_codepoint=1, max_codepoint=0xD7FF), max_size=20))
def test_a_word_of_tcl_holds_nothing_active(text: str) -> None:
    word = tcl_word(text)
    unescaped = word.replace("\\\\", "")
    active = [c for n, c in enumerate(unescaped) if c in ' \t\n;$["{}]' and word != "{}"
              and (n == 0 or unescaped[n - 1] != "\\")]  # fmt: skip
    assert not active
    assert word.isascii()


def test_the_config_is_what_the_unified_flow_reads() -> None:
    general, _, hls = hls_config(FILES).partition("[hls]\n")
    assert [line for line in general.splitlines() if line and line[0] != "#"] == [
        "part=xcu280-fsvh2892-2L-e"
    ]
    pairs = [line.partition("=")[::2] for line in hls.splitlines()]
    assert dict(pairs[:4]) == {
        "flow_target": "vivado", "clock": "3.33ns", "syn.top": "gemm", "syn.file": "gemm.cpp",
    }  # fmt: skip
    assert [v for k, v in pairs if k == "tb.file"] == ["tb_gemm.cpp", *FILES.data]
    known = {
        "flow_target", "clock", "syn.top", "syn.file", "tb.file", "cosim.rtl",
        "package.output.format", "vivado.flow", "vivado.rtl",
    }  # fmt: skip
    assert {k for k, _ in pairs} <= known
    parser = configparser.ConfigParser(strict=False)
    parser.read_string("[general]\n" + hls_config(FILES))
    assert parser["hls"]["vivado.flow"] == "impl"


def test_the_makefile_runs_the_tools(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(makefile(FILES))
    for name in ("gemm.cpp", "tb_gemm.cpp", "gemm.h", "weft_tb.h"):
        (tmp_path / name).write_text("")

    def dry(*targets: str) -> str:
        done = subprocess.run(
            ["make", "-n", "AP_TYPES=/with space/ap", *targets],
            capture_output=True, text=True, timeout=60, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert '-isystem "/with space/ap"' in dry("csim")
    assert "./build/tb_gemm data" in dry("csim")
    assert dry("cosim").strip() == "vitis_hls -f run_hls.tcl cosim"
    assert dry("unified-impl").splitlines() == [
        "v++ -c --mode hls --config hls_config.cfg --work_dir work",
        "vitis-run --mode hls --impl --config hls_config.cfg --work_dir work",
    ]


def test_the_makefile_finds_the_headers(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(makefile(FILES) + "\nshow:\n\t@echo '$(AP_TYPES)'\n")
    found = {}
    python = shutil.which("python3") or "python3"
    for root, options in (("", " -S"), ("/opt/hls", "")):
        done = subprocess.run(
            ["make", "-s", "show", f"PYTHON={python}{options}"],
            capture_output=True, text=True, timeout=60, cwd=tmp_path,
            env={**os.environ, "XILINX_HLS": root},
        )  # fmt: skip
        found[root] = done.stdout.strip(), done.stderr
    assert found["/opt/hls"] == ("/opt/hls/include", "")
    nowhere, said = found[""]  # without its packages
    assert nowhere == ""
    assert "no ap_int.h: neither" in said
    assert "make AP_TYPES=FOLDER" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("clock", [0, -1, 1e9, float("nan")])
def test_a_clock_that_is_none_is_refused(clock: float) -> None:
    with pytest.raises(ToolError) as caught:
        ProjectFiles("gemm", device("xcu280"), clock, data=())
    assert caught.value.render() == (
        f"error[W405]: a clock period of {clock:g} ns is not between 0.1 and 1000"
    )


def test_a_device_of_another_vendor_is_refused() -> None:
    with pytest.raises(ToolError) as caught:
        ProjectFiles("gemm", device("ecp5-85k"), 10, data=())
    assert caught.value.render() == (
        "error[W403]: Vitis HLS does not know the device 'ecp5-85k' (LFE5U-85F-6BG756C)\n"
        "help: choose an AMD device"
    )
