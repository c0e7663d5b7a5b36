"""Values of users in messages: short, on one line, and never an error of their own."""

from __future__ import annotations

MAX_SHOWN = 60
MAX_BITS = 64


def shown(value: object) -> str:
    """What the value is, as it would be written in Python, cut where it is long.

    Python refuses to write integers of more than some thousand digits, inside of others too.
    """
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - it is the user's own __repr__, or an integer within
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."
