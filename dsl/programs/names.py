"""Names: what anything may be called, and new ones for what a program does not name itself."""

from __future__ import annotations

import re
from collections.abc import Collection

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What may be called anything in C++ as well."""


def unused(base: str, taken: Collection[str]) -> str:
    """``base``, or with the first number behind it that is not taken."""
    result, n = base, 1
    while result in taken:
        n += 1
        result = f"{base}{'' if base.endswith('_') else '_'}{n}"
    return result
