"""Places in the user's files: what called into Weft, what raised an exception."""

from __future__ import annotations

import linecache
import sys
import traceback
from itertools import islice
from pathlib import Path
from types import CodeType

from dsl.errors.errors import Span

_INSIDE = str(Path(__file__).parents[1])


def caller_span() -> Span | None:
    """The place of the innermost call that was not made by this package itself."""
    depth = 1
    while True:
        try:
            frame = sys._getframe(depth)
        except ValueError:  # the whole stack is ours
            return None
        if not frame.f_code.co_filename.startswith(_INSIDE):
            return _span(frame.f_code, frame.f_lasti)
        depth += 1


def _span(code: CodeType, offset: int) -> Span | None:
    positions = next(islice(code.co_positions(), offset // 2, None), (None,) * 4)
    line, end_line, col, end_col = positions
    if line is None or end_line is None or col is None or end_col is None:
        return None
    return Span(code.co_filename, line, col + 1, end_line, end_col + 1)


def line_span(file: str, line: int) -> Span:
    """A whole line, less its indentation."""
    text = linecache.getline(file, line).rstrip()
    start = len(text) - len(text.lstrip()) + 1
    return Span(file, line, start, line, max(start, len(text)) + 1)


def raised_in(error: BaseException, file: str | Path) -> Span | None:
    """The innermost line of a file that an exception came through."""
    wanted, span = Path(file).resolve(), None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.lineno is not None and Path(frame.filename).resolve() == wanted:
            span = line_span(frame.filename, frame.lineno)
    return span
