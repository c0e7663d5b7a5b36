"""What a command does when it is asked to end: by ``kill``, a batch system or a container that stops, a closed terminal.

Python's own answer is to be gone at once: compilers and placers that it runs go on, and their folders stay. So the
request is an exception, as Ctrl-C is, and everything on the way out is cleaned up.
"""

from __future__ import annotations

import os
import signal
from typing import NoReturn

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Terminated(SystemExit):
    """The signal that asked for it decides on the exit code, 143 of SIGTERM: 128 and its number."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)


def end_when_asked() -> None:
    """Raise `Terminated` on such a signal from here on; forks of this process end as others do.

    What is ignored stays so, as under ``nohup``.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _ended)
    os.register_at_fork(after_in_child=_as_others)


def _ended(number: int, _frame: object) -> NoReturn:
    raise Terminated(number)


def _as_others() -> None:
    for number in _SIGNALS:
        if signal.getsignal(number) is _ended:
            signal.signal(number, signal.SIG_DFL)
