"""Running one external program: a list of arguments, limits, and a record of what happened.

Every external tool goes through `run_limited`. There is no shell. The limits are set by a tiny
Python process that then becomes the program, so that they hold from its first instruction and no
code runs between fork and exec of a process that may have threads.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOG_BYTES = 1 << 20

# argv: the process that waits, memory and file size in bytes (0: as they are), stack in bytes, then the command. A soft
# limit never exceeds the hard one that this process was given.
_LIMITER = """
import os, resource, sys
parent, memory, size, stack, *command = sys.argv[1:]
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL: it must not outlive who waits for it
    if os.getppid() != int(parent):
        sys.exit(1)
def limit(what, wanted):
    hard = resource.getrlimit(what)[1]
    if wanted and hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if wanted:
        try:
            resource.setrlimit(what, (wanted, hard))
        except (ValueError, OSError):
            pass
limit(resource.RLIMIT_AS, int(memory))
limit(resource.RLIMIT_FSIZE, int(size))
limit(resource.RLIMIT_STACK, int(stack))
limit(resource.RLIMIT_CORE, 0)
os.execvp(command[0], command)
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use: wall-clock seconds, and bytes (0: no limit of ours).

    ``stack`` is raised above the usual 8 MiB because an HLS kernel keeps its local arrays there.
    """

    seconds: float
    memory: int = 4 << 30
    file_size: int = 4 << 30
    stack: int = 512 << 20


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a program.

    ``returncode`` is negative for the number of the signal that ended it; ``log`` is the end of
    standard output and standard error together (at most 1 MiB).
    """

    command: tuple[str, ...]
    returncode: int
    log: str
    seconds: float
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """It ended by itself, with status 0."""
        return self.returncode == 0 and not self.timed_out

    @property
    def outcome(self) -> str:
        """How it ended, for people: ``exit status 1``, ``SIGSEGV``, ``no answer in 60 s``."""
        if self.timed_out:
            return f"no answer in {self.seconds:.0f} s"
        if self.returncode < 0:
            return signal.Signals(-self.returncode).name
        return f"exit status {self.returncode}"

    def tail(self, lines: int = 12) -> tuple[str, ...]:
        """The last lines of the log that are not empty."""
        return tuple(line for line in self.log.splitlines() if line.strip())[-lines:]


def run_limited(
    command: Sequence[str | Path],
    limits: Limits,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Run:
    """Run a program to its end, or to its time limit: then its whole process group is killed.

    Args:
        command: The program (looked up on PATH where it has no slash) and its arguments.
        limits: Time, memory, file size and stack.
        cwd: Where it runs; here by default.
        env: Variables added to this process's environment.

    Raises:
        FileNotFoundError: There is no such program; callers look it up first.
    """
    words = tuple(map(str, command))
    bounds = (os.getpid(), limits.memory, limits.file_size, limits.stack)
    start = time.monotonic()
    with tempfile.TemporaryFile() as log:
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LIMITER, *map(str, bounds), *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        ) as process:
            timed_out = False
            try:
                process.wait(timeout=limits.seconds)
            except subprocess.TimeoutExpired:
                timed_out = True
            finally:
                # Also when interrupted: a compiler's children must not outlive us.
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        seconds = time.monotonic() - start
        end = log.seek(0, os.SEEK_END)
        log.seek(max(0, end - LOG_BYTES))
        text = log.read().decode("utf-8", errors="replace")
    return Run(words, process.returncode, text, seconds, timed_out)
