"""Tasks in processes of their own: a task that crashes or hangs is a result, the others go on."""

from __future__ import annotations

import contextlib
import fcntl
import math
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

_PATIENCE = 3  # seconds for a worker to clean up before it is killed

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Ended(Generic[Task, Result]):
    """A task and what it returned; where it did not, None and how it ended.

    ``failure`` is empty, or the name of a signal, a word on time (``late`` is set then), or the
    trace of an exception.
    """

    task: Task
    result: Result | None
    failure: str = ""
    late: bool = False


@dataclass(slots=True)
class _Running(Generic[Task]):
    task: Task
    process: Any
    pipe: Connection
    deadline: float


class Pool(Generic[Task, Result]):
    """Calls of one function, each in a fresh process, as many at once as there are jobs.

    A process is a fork of a server that has imported the modules in ``preload`` and nothing else,
    so it starts within milliseconds and no thread is ever forked. ``close`` ends what still runs.
    """

    def __init__(
        self,
        function: Callable[[Task], Result],
        jobs: int,
        seconds: float,
        preload: Sequence[str] = (),
    ) -> None:
        """Nothing is started yet.

        Args:
            function: A function of a module (not a lambda), as are the classes of tasks and
                results.
            jobs: Processes at once.
            seconds: Limit for each.
            preload: Modules that the server imports once.
        """
        self._function = function
        self.jobs = jobs
        self.seconds = seconds
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(list(preload))
        self._running: dict[Connection, _Running[Task]] = {}

    @property
    def busy(self) -> int:
        """Calls under way."""
        return len(self._running)

    @property
    def free(self) -> int:
        """Calls that could begin now."""
        return self.jobs - len(self._running)

    def begin(self, task: Task) -> None:
        """Start a call; at most `free` of them."""
        ours, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_call, args=(self._function, task, theirs), daemon=True
        )
        process.start()
        theirs.close()
        deadline = time.monotonic() + self.seconds
        self._running[ours] = _Running(task, process, ours, deadline)

    def ended(self, patience: float = math.inf) -> list[Ended[Task, Result]]:
        """Calls that have ended or run out of time, in that order; waits for the first.

        Args:
            patience: seconds to wait at most; the list is empty where none has ended by then.
        """
        if not self._running:
            return []
        soonest = min(r.deadline for r in self._running.values()) - time.monotonic()
        ready = wait(list(self._running), max(0.0, min(soonest, patience)))
        found = [
            _finished(self._running.pop(pipe)) for pipe in list(self._running) if pipe in ready
        ]
        for late in [r for r in self._running.values() if r.deadline <= time.monotonic()]:
            del self._running[late.pipe]
            _stop(late)
            found.append(Ended(late.task, None, f"no answer in {self.seconds:.0f} s", late=True))
        return found

    def close(self) -> None:
        """End what still runs, compilers and folders of it with it."""
        for left in self._running.values():
            left.process.terminate()  # all at once: each may take a while to clean up
        for left in self._running.values():
            _stop(left)
        self._running.clear()


def run_tasks(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    jobs: int,
    seconds: float,
    preload: Sequence[str] = (),
) -> Iterator[Ended[Task, Result]]:
    """Call a function for each task, at most `jobs` at once, and yield in the order of finishing.

    The arguments are those of a `Pool`, and the tasks.
    """
    with contextlib.closing(Pool(function, jobs, seconds, preload)) as pool:
        waiting = list(reversed(tasks))
        while waiting or pool.busy:
            while waiting and pool.free:
                pool.begin(waiting.pop())
            yield from pool.ended()


def _call(function: Callable[[Any], Any], task: object, pipe: Connection) -> None:
    # The parent ends us, politely: compilers that we run and folders of ours go with us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    _end_with_parent()
    try:
        answer = (function(task), "")
    except Exception:  # noqa: BLE001 - the parent is told, with the trace
        answer = (None, traceback.format_exc())
    pipe.send(answer)
    pipe.close()


def _end_with_parent() -> None:
    """Have the kernel end us where the parent is killed and can end nobody any more.

    The sentinel of a parent is a pipe that only the parent holds open. A signal, not a thread that
    waits for it: tasks fork, and what forks should have one thread.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    pipe = parent.sentinel
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGTERM)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if wait([pipe], 0):  # it was killed before
        sys.exit(1)


def _finished(running: _Running[Task]) -> Ended[Task, Any]:
    try:
        result, failure = running.pipe.recv()
    except EOFError:
        running.process.join()
        code = running.process.exitcode
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return Ended(running.task, None, how)
    finally:
        running.pipe.close()
    running.process.join()
    return Ended(running.task, result, failure)


def _stop(running: _Running[Task]) -> None:
    running.process.terminate()
    running.process.join(_PATIENCE)
    if running.process.is_alive():
        running.process.kill()
        running.process.join()
    running.pipe.close()
