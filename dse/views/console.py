"""Messages to a person, on standard error: errors, progress, colours where they are wanted."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from dsl.errors.errors import WeftError

if TYPE_CHECKING:
    from dsl.programs.program import Program

REPORT_TO = "the issue tracker of the Weft project"


def colours(stream: TextIO) -> bool:
    """Whether escape sequences are welcome: a terminal, and neither NO_COLOR nor TERM=dumb."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of a line or end it."""


def printable(text: str) -> str:
    """The text without control characters: what a file of somebody else's says could hold some,
    and a terminal would obey them: it would show another text than is written."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def say(message: str) -> None:
    """One line (or a few) on standard error."""
    _print(printable(message))


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - this is the place that prints


def painted(text: str) -> str:
    """A rendered error with its ``error[W203]:``, carets and ``help:`` in colour."""
    text = re.sub(r"error\[W\d+\]:", "\x1b[1;31m\\g<0>\x1b[0m", text, count=1)
    text = re.sub(r"(?m)^( +\| +)(\^+)$", "\\1\x1b[1;31m\\2\x1b[0m", text, count=1)
    return re.sub(r"(?m)^help:", "\x1b[1;36mhelp:\x1b[0m", text)


def show_error(error: WeftError) -> None:
    """An error of the user's, as `WeftError.render` writes it."""
    text = printable(error.render())
    _print(painted(text) if colours(sys.stderr) else text)


def show_notes(program: Program) -> None:
    """What is legal in a kernel, and may not be what was meant."""
    from dsl.programs.narrowed import narrowed

    for note in narrowed(program):
        _print(printable(note.render()))


def show_internal_error(error: BaseException) -> None:
    """A fault of ours: what happened, that it is not the user's, and where to send it."""
    import traceback

    trace = "".join(traceback.format_exception(error))
    say(
        f"{trace}\n"
        f"internal error: {type(error).__name__}: {error}\n"
        "This is a fault in Weft, not in your program. Please send the lines above, the command\n"
        f"and, if you can, the kernel to {REPORT_TO}."
    )


@contextlib.contextmanager
def progress(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """Progress of a long task: a bar on a terminal, else a line now and then.

    Yields:
        A function to call with the number done, the number in all (0: not known) and a word.
    """
    if sys.stderr.isatty():
        with _bar(what) as update:
            yield update
        return
    last = time.monotonic()

    def line(done: int, total: int, word: str) -> None:
        nonlocal last
        if time.monotonic() - last >= 5:
            last = time.monotonic()
            say(f"{what}: {done} of {total}, {word}" if total else f"{what}: {done}, {word}")

    yield line


@contextlib.contextmanager
def stages(what: str, every: float = 30.0) -> Iterator[Callable[[str], None]]:
    """Progress of a task of a few long stages: a bar on a terminal, else a line for each stage as it
    begins, and now and then one that it is still going on.

    Args:
        what: the task.
        every: seconds between two lines on one stage.

    Yields:
        A function to call with the name of a stage.
    """
    if sys.stderr.isatty():
        with _bar(what) as update:
            yield lambda stage: update(0, 0, stage)
        return
    begun, ended, at = time.monotonic(), threading.Event(), ""

    def line(stage: str) -> None:
        nonlocal at
        at = stage
        say(f"{what}: {stage}")

    def still() -> None:
        while not ended.wait(every):
            say(f"{what}: {at}, {time.monotonic() - begun:.0f} s so far")

    telling = threading.Thread(target=still, daemon=True)
    telling.start()
    try:
        yield line
    finally:
        ended.set()
        telling.join()


@contextlib.contextmanager
def patience(what: str, after: float = 5.0, every: float = 30.0) -> Iterator[None]:
    """A line on standard error where a task takes long, and now and then that it goes on.

    Args:
        what: the task, why it may take long, and what would be quicker.
        after: seconds until the first line.
        every: seconds between two lines.
    """
    begun, ended = time.monotonic(), threading.Event()

    def tell() -> None:
        wait = after
        while not ended.wait(wait):
            say(f"{what}, {time.monotonic() - begun:.0f} s so far")
            wait = every

    telling = threading.Thread(target=tell, daemon=True)
    telling.start()
    try:
        yield
    finally:
        ended.set()
        telling.join()


@contextlib.contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[count]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[word]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, count="", word="")

        def update(done: int, total: int, word: str) -> None:
            count = f"{done}/{total}" if total else str(done)
            bar.update(task, completed=done, total=total or None, count=count, word=word)

        yield update
