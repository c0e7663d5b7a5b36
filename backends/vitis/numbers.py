"""Numbers as reports print them, and as spreadsheets, editors and other locales leave them.

A decimal comma, separators of thousands (comma, point, apostrophe or a blank, no-break ones too), blanks around.
Of a real number a single comma or point is decimal; of a whole number it separates thousands, as none has decimals.
"""

from __future__ import annotations

import re

_BLANKS = " \t\u00a0\u2009\u202f"
_MARKS = rf".,'\u2019{_BLANKS}"
REAL = rf"\d[\d{_MARKS}]{{0,24}}"
"""A real number in an expression that looks for one; what is behind it may be blank."""

_GROUPED = re.compile(rf"([+-]?)(\d{{1,3}})((?:[{_MARKS}]\d{{3}}){{1,5}})")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_DECIMALS = re.compile(r"(.*?)(?:[.,](\d{0,12}))?([eE][+-]?\d{1,3})?")


def whole(text: str) -> int | None:
    """A whole number; None where the text is none."""
    text = text.strip(_BLANKS)
    grouped = _GROUPED.fullmatch(text)
    if grouped is not None and len({c for c in grouped[3] if not c.isdigit()}) == 1:
        text = grouped[1] + "".join(c for c in text if c.isdigit())
    return int(text) if text.isascii() and _WHOLE.fullmatch(text) else None


def real(text: str) -> float | None:
    """A real number; None where the text is none."""
    text = text.strip(_BLANKS)
    if not text.isascii() and not set(text) <= set(f"0123456789+-{_MARKS}"):
        return None
    marks = [c for c in text if c in ".,"]
    if len(marks) > 1 and len(set(marks)) == 1:  # thousands, and no decimals
        number = whole(text)
        return None if number is None else float(number)
    parts = _DECIMALS.fullmatch(text)
    if parts is None:
        return None
    before, behind, power = parts[1], parts[2] or "", parts[3] or ""
    number = whole(before) if before.strip("+-") else 0
    if number is None or not (before.strip("+-") or behind):
        return None
    sign = "-" if before.startswith("-") else ""
    return float(f"{sign}{abs(number)}.{behind or 0}{power}")
