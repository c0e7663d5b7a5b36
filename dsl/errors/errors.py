"""Errors: a value first (code, span, notes), text second.

Codes: W1xx the language, W2xx schedules and legality, W3xx the IR, W4xx export and tools,
W5xx the command line and files.
"""

from __future__ import annotations

import difflib
import linecache
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from dsl.errors.codes import HELPS


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source file: 1-based lines, 1-based columns, ``end_col`` exclusive.

    ``text`` is the line where the file is not to be opened: of a program that somebody else stored,
    the file is no more than a name.
    """

    file: str
    line: int
    col: int
    end_line: int
    end_col: int
    text: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}:{self.col}"

    def source_line(self) -> str:
        """The first of its lines; empty where the source is gone."""
        found = linecache.getline(self.file, self.line) if self.text is None else self.text
        return found.rstrip("\n")

    def excerpt(self) -> str:
        """The source line with a caret line under it; empty where the source is gone."""
        text = self.source_line()
        if not text:
            return ""
        end = self.end_col if self.end_line == self.line else len(text) + 1
        margin = f"{self.line:5d} | "
        indent = "".join("\t" if c == "\t" else " " for c in text[: self.col - 1])
        caret = " " * 5 + " | " + indent + "^" * max(1, end - self.col)
        return f"{margin}{text}\n{caret}"


@dataclass(frozen=True, slots=True)
class Note:
    """What is legal, and may not be what was meant."""

    message: str
    span: Span | None
    help: str

    def render(self) -> str:
        """As an error's text, see `WeftError.render`."""
        place = f"{self.span}: " if self.span else ""
        lines = [f"{place}note: {self.message}"]
        if self.span and (excerpt := self.span.excerpt()):
            lines.append(excerpt)
        return "\n".join([*lines, f"help: {self.help}"])


class WeftError(Exception):
    """Base of every error that a user can cause: a code, a place, and what to do about it."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        span: Span | None = None,
        notes: Iterable[str] = (),
        help: str | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.span = span
        self.notes = tuple(notes)
        self.help = help

    def at(self, where: str) -> InputError:
        """The same, of something that was read, with where that is in front."""
        return InputError(self.code, f"{where}: {self.message}", help=self.help)

    def render(self) -> str:
        """The full message: place, code, excerpt with caret, notes, help."""
        place = f"{self.span}: " if self.span else ""
        lines = [f"{place}error[{self.code}]: {self.message}"]
        if self.span and (excerpt := self.span.excerpt()):
            lines.append(excerpt)
        lines += [f"  {note}" for note in self.notes]
        if instead := self.help or HELPS.get(self.code):
            lines.append(f"help: {instead}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.render()


class LanguageError(WeftError):
    """W1xx: the kernel is not a program of the language."""


class ScheduleError(WeftError):
    """W2xx: a step names what is not there, or is not legal (see `polyhedral`)."""


class IRError(WeftError):
    """W3xx: the level 3 module is malformed or its annotations make no sense."""


class ToolError(WeftError):
    """W4xx: export, compilation or an external tool failed."""


class InputError(WeftError):
    """W5xx: a file, an option or a command line that does not fit."""


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A help line for a misspelt name, or the list of names when nothing is near."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"there is {', '.join(names)}" if names else None
