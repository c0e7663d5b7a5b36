"""Running code of ours that may crash, in a child process: a crash becomes a result."""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "error", "crash", "timeout"]


@dataclass(frozen=True, slots=True)
class Isolated:
    """What a child left: its bytes, or how it ended."""

    status: Status
    data: bytes = b""
    detail: str = ""


def in_child(work: Callable[[], bytes], seconds: float) -> Isolated:
    """Run `work` in a fork of this process and return what it returns.

    The child shares nothing that it writes. It must need no thread of this process and print
    nothing; JIT-compiled code does neither. An exception in it comes back as ``error``.

    Args:
        work: Called in the child.
        seconds: The child is killed after that.
    """
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of forks of processes with threads; MLIR's idle workers hold no locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _be_the_child(work, write_end)
    os.close(write_end)
    try:
        data = _read_all(read_end, time.monotonic() + seconds)
    except BaseException:
        _end(pid)
        raise
    finally:
        os.close(read_end)
    if data is None:
        _end(pid)
        return Isolated("timeout", detail=f"no answer in {seconds:.0f} s")
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return Isolated("crash", detail=signal.Signals(os.WTERMSIG(status)).name)
    if os.WEXITSTATUS(status) == 0:
        return Isolated("ok", data)
    return Isolated("error", detail=data.decode("utf-8", errors="replace"))


def _be_the_child(work: Callable[[], bytes], write_end: int) -> None:
    """Never returns: neither ``atexit`` nor buffered output of the parent may run twice."""
    code = 1
    faulthandler.disable()  # the parent tells of a crash
    try:
        try:
            answer, code = work(), 0
        except Exception as error:  # noqa: BLE001 - it is reported by the parent
            answer = f"{type(error).__name__}: {error}".encode()
        view = memoryview(answer)
        while view:
            view = view[os.write(write_end, view) :]
    finally:
        os._exit(code)


def _read_all(fd: int, deadline: float) -> bytes | None:
    """Everything until the other end is closed; None when the deadline passes first."""
    parts: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return None
        part = os.read(fd, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
