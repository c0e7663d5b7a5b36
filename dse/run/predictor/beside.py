"""The predictor beside a search: a process of its own that says what it thinks of designs.

The white box ranks, and its figures are those of a run. Of every design that reaches the front the predictor is
asked, too, and whether it keeps to the limits is decided by the upper end of what it predicts
(`Result.upper`). While the search is at work it is waited for only where the white box's own figures are
near a limit, for there the answer decides what is tried next. Where one design was near, the predictor is asked
about others as soon as they are tried, and answers while the white box does.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from dse.estimates.estimation import Setting
from dse.estimates.prediction import needs_libraries
from dse.evaluators.base import SURE, Limits, Result, Status
from dse.evaluators.gnn import NAME
from dse.run.folder.codec import result_from_json
from dse.run.folder.directory import RunDirectory
from dse.run.results.front import both_fronts
from dsl.errors.errors import InputError
from dsl.stored.kernel import StoredKernel, kernel_json
from qor_gnn.gnn.shipped_files import names
from qor_gnn.tools.operators.calibration import Calibration

COUNTS = ("lut", "ff", "bram18")
"""What is predicted, and limited, and not known exactly."""

_NEAR = 0.75  # of a limit, from which on the upper end of a prediction may be over it
_AHEAD = 2  # designs that the process is given at once: others may matter more when it has answered
_LINE = 2000  # bytes of errors that are looked at for the last line
_PATIENCE = 60.0  # seconds that an answer is waited for, beside the time that such designs take


def there_is(where: Setting) -> bool:
    """Whether a predictor comes with Weft for a tool, and what it needs is installed."""
    try:
        needs_libraries()
    except InputError:
        return False
    return where.tool.measured_as in names()


@dataclass(slots=True)
class Beside:
    """The predictor at work for one run.

    Attributes:
        run: open for writing.
        limits: that designs are held against.
        kernel: that they are designs of.
        device, clock, tool, calibration: what for, as of a `dse.evaluators.base.Request`.
        failure: why there is no predictor any more; empty while there is.
    """

    run: RunDirectory
    limits: Limits
    kernel: StoredKernel
    device: str
    clock: float
    tool: str | None
    calibration: Calibration | None
    failure: str = ""
    _process: _Process | None = None
    _ahead: bool = False
    _queue: deque[str] = field(default_factory=deque)
    _asked: set[str] = field(default_factory=set)
    _known: dict[str, Result] = field(default_factory=dict)

    def begin(self) -> None:
        """Have the process ready for the kernel's designs."""
        prepare()
        self._process = _idle.pop()
        self._process.send({"kernel": kernel_json(self.kernel, most=0)})

    def tried(self, key: str) -> None:
        """A design is about to be evaluated: it is in the run's folder."""
        if self._ahead:
            self._ask(key)

    def heed(self, key: str, result: Result) -> Result:
        """The result of a design of the run, with the upper ends of what is predicted where those decide."""
        near = self._is_near(result)
        self._ahead = self._ahead or near
        if result.status is not Status.OK or self.limits.excess(result):
            return result
        self._ask(key)
        return self._joined(key, result) if near else result

    def finish(self) -> None:
        """Ask of all designs on both fronts, those that come up in the place of others included."""
        while fresh := [d for d in both_fronts(self.run) if NAME not in d.promoted]:
            self._queue.clear()  # nobody wants the others any more
            for design in fresh:
                self._ask(design.key)
            for design in fresh:
                found = self._joined(design.key, design.result)
                if self.failure:
                    return
                if found != design.result:
                    self.run.keep(design.key, found)

    def close(self) -> None:
        """Leave the process to the next run."""
        if self._process is not None:
            self._process.leave()
            self._process = None

    def _is_near(self, result: Result) -> bool:
        limits = self.limits.resources
        return any(
            name in limits and result.resources.get(name, 0) > _NEAR * limits[name]
            for name in COUNTS
        )

    def _joined(self, key: str, result: Result) -> Result:
        """With what is predicted of the design, which is kept beside it."""
        if key in self._queue:  # before those that nobody waits for
            self._queue.remove(key)
            self._queue.appendleft(key)
        until = time.monotonic() + _PATIENCE + 2 * (_AHEAD + 1) * result.seconds
        while key not in self._known and not self.failure:
            self._receive(max(0.0, until - time.monotonic()))
            if time.monotonic() >= until:
                self._lose("no answer in time")
        found = self._known.get(key)
        if found is None:
            return result
        if NAME not in self.run.promoted(key):
            self.run.promote(key, NAME, found)
        return replace(result, upper=_upper(found))

    def _ask(self, key: str) -> None:
        if key not in self._asked and key not in self._queue:
            self._queue.append(key)
        self._receive(0.0)

    def _give(self) -> None:
        """Give the process what it is to be asked, as far as it is wanted soon."""
        while self._process is not None and self._queue and self._process.busy < _AHEAD:
            key = self._queue.popleft()
            self._asked.add(key)
            self._process.send(
                {
                    "key": key,
                    "schedule": self.run.schedule(key).to_json(),
                    "device": self.device,
                    "clock": self.clock,
                    "tool": self.tool,
                    "calibration": None
                    if self.calibration is None
                    else dict(self.calibration.facts),
                }
            )
            self._process.busy += 1

    def _receive(self, patience: float) -> None:
        if self._process is None:
            return
        try:
            self._give()
            for answer in self._process.received(patience):
                self._known[answer["key"]] = result_from_json(answer["result"])
            self._give()
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._lose(str(error))

    def _lose(self, why: str) -> None:
        """Go on without a predictor: a search does not end for it."""
        self.failure = f"the predictor has ended: {why}"
        if self._process is not None:
            self._process.end()
            self._process = None


def _upper(found: Result) -> Mapping[str, int]:
    """The upper ends of what was predicted; of an evaluation that failed none."""
    spread = found.spread
    return {
        name: round(found.resources[name] + SURE * spread.get(name, 0.0))
        for name in COUNTS
        if name in found.resources
    }


class _Process:
    """A `dse.run.predictor.predicting`; ``busy`` counts the designs that it has yet to say something of."""

    def __init__(self) -> None:
        # Not from the present folder: whatever is there is nobody's code.
        where = os.pathsep.join(path for path in sys.path if path)
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "dse.run.predictor.predicting"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
            env={**os.environ, "PYTHONPATH": where}, start_new_session=True,
        )  # fmt: skip
        self.busy = 0
        self._text = b""

    @property
    def alive(self) -> bool:
        """It has not ended."""
        return self._child.poll() is None

    def send(self, message: Mapping[str, object]) -> None:
        """Give it a line."""
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):  # that it has ended is seen where answers are read
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            self._child.stdin.flush()

    def received(self, patience: float) -> Iterator[dict[str, Any]]:
        """Answers that are there; waits for one, so many seconds at most.

        Raises:
            OSError: it has ended, ValueError: it has answered something else.
        """
        assert self._child.stdout is not None
        end = self._child.stdout.fileno()
        while select.select([end], [], [], patience)[0]:
            data = os.read(end, 1 << 16)
            if not data:
                raise OSError(f"exit status {self._child.wait()}{self._last_words()}")
            *lines, self._text = (self._text + data).split(b"\n")
            patience = 0.0 if lines else patience
            for line in lines:
                self.busy -= 1
                yield json.loads(line)

    def _last_words(self) -> str:
        """The last line of what it has written of errors."""
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - _LINE))
        lines = self._said.read().decode(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return f" ({said[-1]})" if said else ""

    def leave(self) -> None:
        """Keep it for the next run; what it has yet to answer nobody asks for then."""
        if self.alive:
            _idle.append(self)
        else:
            self.end()

    def end(self) -> None:
        """End it."""
        self._child.kill()
        self._child.communicate()
        self._said.close()


_idle: list[_Process] = []


def prepare() -> None:
    """Start a process, if there is none that has nothing to do: it takes seconds until it is ready."""
    for process in [process for process in _idle if not process.alive]:
        _idle.remove(process)
        process.end()
    if not _idle:
        _idle.append(_Process())


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end()
