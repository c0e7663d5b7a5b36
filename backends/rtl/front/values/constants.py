"""Multiplication and division by constants without a multiplier, or without a divider."""

from __future__ import annotations

WIDEST = 34
"""Bits of the widest dividend that is multiplied by a reciprocal instead."""


def two_digits(factor: int) -> tuple[int, int, bool] | None:
    """``(i, j, minus)`` where the factor is ``2**i + 2**j``, or ``2**i - 2**j`` if ``minus``."""
    if factor < 1:
        return None
    low = (factor & -factor).bit_length() - 1
    rest = factor - (1 << low)
    if rest == 0:
        return None
    if rest & (rest - 1) == 0:
        return rest.bit_length() - 1, low, False
    above = factor + (1 << low)
    if above & (above - 1) == 0:
        return above.bit_length() - 1, low, True
    return None


def reciprocal(low: int, high: int, divisor: int) -> tuple[int, int, int]:
    """``(m, b, s)`` with ``floor(a / divisor) == (a * m + b) >> s`` for ``a`` in ``low..high``.

    With ``m = (2**s + e) / divisor`` the product is ``a / divisor`` and an error of
    ``a * e / (divisor * 2**s)``. Where ``b`` keeps it from being negative and ``s`` is large enough
    it stays below ``1 / divisor``, the least by which a quotient misses the next integer.
    (Granlund and Montgomery, Division by invariant integers using multiplication, 1994.)
    """
    least, most = max(0, -low), max(0, high)
    shift = divisor.bit_length()
    while True:
        m = -(-(1 << shift) // divisor)
        error = m * divisor - (1 << shift)
        b = -(-least * error // divisor)
        if most * error + b * divisor < 1 << shift:
            return m, b, shift
        shift += 1
