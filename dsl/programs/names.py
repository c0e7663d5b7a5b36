"""Names for what a program does not name itself."""

from __future__ import annotations

from collections.abc import Collection


def unused(base: str, taken: Collection[str]) -> str:
    """``base``, or with the first number behind it that is not taken."""
    result, n = base, 1
    while result in taken:
        n += 1
        result = f"{base}{'' if base.endswith('_') else '_'}{n}"
    return result
