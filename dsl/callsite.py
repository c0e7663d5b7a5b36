"""The place in the user's file that called into Weft."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from types import CodeType

from dsl.errors import Span

_INSIDE = str(Path(__file__).parent)


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
