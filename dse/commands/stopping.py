"""Ctrl-C once asks to stop, twice stops."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator

from dse.views import console


@contextlib.contextmanager
def stop_once() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C is only noted; the second is Python's own.

    Yields:
        Whether there was one.
    """
    asked = False
    before = signal.getsignal(signal.SIGINT)

    def handler(*_: object) -> None:
        nonlocal asked
        asked = True
        # Not the handler before: what a shell starts in the background ignores the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        console.say("stopping after the evaluations under way; Ctrl-C again stops at once")

    signal.signal(signal.SIGINT, handler)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
