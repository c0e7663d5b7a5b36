"""Numbers of banks that keep the accesses of an iteration apart (docs/qor-u200.md, section 5)."""

from __future__ import annotations

_MOST_WINDOWS = 128  # banks for the windows of a stencil


def for_ports(accesses: int, copies: int) -> int:
    """Banks for so many accesses of two ports a bank: a divisor of the unroll factor if it can."""
    need = -(-accesses // 2)
    for factor in range(1, copies + 1):
        if copies % factor == 0 and factor >= need:
            return factor
    return copies * -(-need // copies)


def scattered(offsets: list[int], copies: int, written: bool) -> int | None:
    """Banks for elements that do not follow each other: the least number that keeps them apart, or
    half of it for reads, if it is even. None where that is too many.
    """
    factor = _apart(offsets, len(offsets))
    if factor > _MOST_WINDOWS and len(offsets) > 2 * copies:
        return None
    return factor // 2 if factor % 2 == 0 and not written else factor


def _apart(offsets: list[int], least: int) -> int:
    """The least modulus from ``least`` on that keeps the offsets apart."""
    factor = least
    while len({o % factor for o in offsets}) < len(offsets):
        factor += 1
    return factor
