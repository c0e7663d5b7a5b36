"""Affine expressions of names as they are written in schedules: ``2*t + i``, ``39 - j``."""

from __future__ import annotations

import re

from dsl.expressions.affine import Affine

_NUMBER, _NAME = r"[0-9]{1,10}", r"[^\W\d]\w*"
_TERM = re.compile(rf"\s*([+-])?\s*(?:({_NUMBER})\s*\*\s*({_NAME})|({_NUMBER})|({_NAME}))\s*")


def read_affine(text: str) -> Affine:
    """The expression that a text says: a sum of names, multiples of names and whole numbers.

    It reads what ``str`` of a linear `Affine` writes.

    Raises:
        ValueError: it says something else.
    """
    found, at = Affine(), 0
    while at < len(text) or at == 0:
        term = _TERM.match(text, at)
        if term is None or (at > 0 and term[1] is None):
            raise ValueError(f"no sum of names and whole numbers: {text[:80]!r}")
        sign, factor, scaled, number, name = term.groups()
        atom = Affine.of(int(number)) if number else Affine.of(scaled or name)
        found += atom * (int(factor or 1) * (-1 if sign == "-" else 1))
        at = term.end()
    return found
