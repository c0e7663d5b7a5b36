"""Running programs: arguments are not interpreted, limits hold, what happened is recorded."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backends.cxx import Cxx, find_cxx, need_cxx
from backends.process import LOG_BYTES, Limits, run_limited
from dsl.errors.errors import ToolError

QUICK = Limits(seconds=30)


def python(code: str, *arguments: str, limits: Limits = QUICK):
    return run_limited([sys.executable, "-I", "-c", code, *arguments], limits)


def test_arguments_are_not_interpreted_by_a_shell(tmp_path: Path) -> None:
    hostile = f"; touch {tmp_path}/x $(touch {tmp_path}/y) `touch {tmp_path}/z` *\n'\""
    run = python("import sys; print(ascii(sys.argv[1]))", hostile)
    assert run.ok
    assert run.log.strip() == ascii(hostile)
    assert not list(tmp_path.iterdir())


def test_status_output_and_time_are_recorded() -> None:
    run = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (run.returncode, run.ok, run.outcome) == (3, False, "exit status 3")
    assert set(run.tail()) == {"out", "err"}
    assert 0 < run.seconds < 30
    assert run.command[0] == sys.executable


def test_a_program_that_hangs_is_ended_with_its_children() -> None:
    code = (
        "import subprocess, sys; "
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        "print(p.pid, flush=True); p.wait()"
    )
    start = time.monotonic()
    run = python(code, limits=Limits(seconds=2))
    assert run.timed_out
    assert not run.ok
    assert "no answer in 2 s" in run.outcome
    assert time.monotonic() - start < 20
    child = int(run.log)
    for _ in range(100):  # the kernel takes a moment to end it
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or ") Z " in state.read_text():
            return
        time.sleep(0.05)
    pytest.fail("the child is still alive")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_program_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    """Whoever waits for a router may be killed: it must not go on for half an hour."""
    mark = tmp_path / "pid"
    inner = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    outer = (
        "import sys; from backends.process import Limits, run_limited; "
        f"run_limited([sys.executable, '-c', {inner!r}], Limits(seconds=60))"
    )
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen([sys.executable, "-c", outer], cwd=root) as waiting:
        for _ in range(600):
            if mark.exists() and mark.read_text():
                break
            time.sleep(0.05)
        waiting.kill()
    state = Path(f"/proc/{mark.read_text()}/stat")
    for _ in range(200):
        if not state.exists() or ") Z " in state.read_text():
            return
        time.sleep(0.05)
    pytest.fail("the program is still alive")


def test_memory_is_limited() -> None:
    run = python("x = bytearray(1 << 30)", limits=Limits(seconds=30, memory=256 << 20))
    assert not run.ok
    assert "MemoryError" in run.log


def test_a_signal_is_named() -> None:
    run = python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert run.outcome == "SIGSEGV"


def test_the_end_of_a_long_log_is_kept() -> None:
    run = python(f"print('x' * {2 * LOG_BYTES}); print('the end')")
    assert len(run.log) == LOG_BYTES
    assert run.log.endswith("the end\n")


def test_gxx_compiles_and_names_its_version(tmp_path: Path) -> None:
    source = tmp_path / "a b;c.cpp"
    source.write_text("int main() { float large[4000000]; large[7] = 1; return (int)large[7]; }")
    cxx = need_cxx()
    assert cxx.version[0].isdigit()
    done = cxx.compile([source], tmp_path / "out")
    assert done.ok, done.log
    # 16 MB of locals: more than the usual stack.
    assert run_limited([tmp_path / "out"], QUICK).returncode == 1


def test_an_error_of_the_compiler_is_a_result(tmp_path: Path) -> None:
    source = tmp_path / "bad.cpp"
    source.write_text("int main() { return x; }")
    done = need_cxx().compile([source], tmp_path / "out")
    assert not done.ok
    assert "was not declared" in done.log


def test_contraction_to_fused_multiply_adds_is_off(tmp_path: Path) -> None:
    assert "-ffp-contract=off" in need_cxx().compile([tmp_path / "no.cpp"], tmp_path / "x").command


def test_without_gxx_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CXX", raising=False)
    assert find_cxx() is None
    with pytest.raises(ToolError) as caught:
        need_cxx()
    assert caught.value.render() == (
        "error[W401]: g++ is not on PATH\n"
        "help: install it (Debian: apt install g++), or name a compiler in CXX"
    )


def test_a_compiler_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolError) as caught:
        find_cxx()
    assert caught.value.render() == (
        "error[W402]: the environment variable CXX names 'no-such-compiler', which is not there\n"
        "help: set it to the path of a C++ compiler, or unset it to use g++"
    )
    fake = tmp_path / "fake"
    fake.write_text("#!/bin/sh\necho hello\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CXX", os.fspath(fake))
    with pytest.raises(ToolError) as caught:
        find_cxx()
    assert caught.value.render() == (
        f"error[W402]: {fake} --version says nothing that g++ would say: 'hello'"
    )


def test_cxx_names_another_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "my g++"
    fake.write_text("#!/bin/sh\necho 'my g++ (special) 99.1.2'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CXX", os.fspath(fake))
    assert find_cxx() == Cxx(fake, "99.1.2")
