"""JSON that a process that was killed, a disk or an editor may have damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def json_of(data: bytes) -> Any:
    """What the bytes say, if they are what we write: JSON in UTF-8, without halves of characters.

    Raises:
        ValueError: they are not.
    """
    text = data.decode("utf-8")
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if "\\ud" in text or "\\uD" in text:  # half of a character cannot be shown or written
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


def json_in(path: Path) -> Any:
    """What a file says.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not what we write.
    """
    return json_of(path.read_bytes())
