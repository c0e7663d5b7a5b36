"""Tasks in processes of their own: a task that crashes or hangs is a result, the others go on."""

from __future__ import annotations

import multiprocessing
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

    ``failure`` is empty, or the name of a signal, a word on time, or the trace of an exception.
    """

    task: Task
    result: Result | None
    failure: str = ""


@dataclass(slots=True)
class _Running(Generic[Task]):
    task: Task
    process: Any
    pipe: Connection
    deadline: float


def run_tasks(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    jobs: int,
    seconds: float,
    preload: Sequence[str] = (),
) -> Iterator[Ended[Task, Result]]:
    """Call a function for each task, at most `jobs` at once, and yield in the order of finishing.

    Each call is in a fresh process, a fork of a server that has imported the modules in `preload`
    and nothing else, so it starts within milliseconds and no thread is ever forked.

    Args:
        function: A function of a module (not a lambda), as are the classes of tasks and results.
        tasks: Its arguments.
        jobs: Processes at once.
        seconds: Limit for each.
        preload: Modules that the server imports once.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    waiting = list(reversed(tasks))
    running: dict[Connection, _Running[Task]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                task = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_call, args=(function, task, theirs), daemon=True)
                process.start()
                theirs.close()
                running[ours] = _Running(task, process, ours, time.monotonic() + seconds)
            soonest = min(r.deadline for r in running.values())
            ready = wait(list(running), max(0.0, soonest - time.monotonic()))
            for pipe in [p for p in running if p in ready]:
                yield _finished(running.pop(pipe))
            for late in [r for r in running.values() if r.deadline <= time.monotonic()]:
                del running[late.pipe]
                _stop(late)
                yield Ended(late.task, None, f"no answer in {seconds:.0f} s")
    finally:
        for left in running.values():
            _stop(left)


def _call(function: Callable[[Any], Any], task: object, pipe: Connection) -> None:
    # The parent ends us, politely: compilers that we run and folders of ours go with us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        answer = (function(task), "")
    except Exception:  # noqa: BLE001 - the parent is told, with the trace
        answer = (None, traceback.format_exc())
    pipe.send(answer)
    pipe.close()


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
