"""One `weft` command in a process of its own, with a time limit and the memory that it took."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POLL_S = 0.05
GRACE_S = 10.0  # between the wish to stop, which an exploration heeds, and the end
_KIB = 1024 if sys.platform != "darwin" else 1


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        code: its exit status; negative for the number of the signal that ended it.
        late: whether it was stopped at the time limit.
        seconds: of wall clock.
        cpu_seconds: of processor time, its own processes included.
        peak_mib: most memory that was resident, of the largest of its processes.
        out: what it wrote to standard output.
        err: and to standard error.
    """

    code: int
    late: bool
    seconds: float
    cpu_seconds: float
    peak_mib: float
    out: str
    err: str


def weft(arguments: Sequence[str], limit_s: float) -> Ended:
    """Run ``weft ARGUMENTS``, at most so many seconds: then it is interrupted, and later killed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "weft.py"), *arguments],
            stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
        late = killed = False
        try:
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                took = time.monotonic() - start
                if pid:
                    break
                if took > limit_s and not late:
                    late = True
                    os.killpg(process.pid, signal.SIGINT)
                if took > limit_s + GRACE_S and not killed:
                    killed = True
                    os.killpg(process.pid, signal.SIGKILL)
                time.sleep(POLL_S)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        process.returncode = code = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    peak = usage.ru_maxrss * _KIB / 2**20
    cpu = usage.ru_utime + usage.ru_stime
    return Ended(code, late, took, cpu, peak, texts[0], texts[1])
