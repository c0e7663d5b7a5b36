"""Results by the digest of all that they depend on; any number of processes may share a folder."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cache:
    """One small JSON file a result, written whole.

    Only results that would come out the same again are kept: no crash and no time-out.
    """

    folder: Path

    def get(self, key: Sequence[str]) -> dict[str, object] | None:
        """What was kept; None where there is nothing that can be read."""
        try:
            found = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def put(self, key: Sequence[str], value: object) -> None:
        """Keep it."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(value, out)
        Path(temporary).replace(path)

    def _path(self, key: Sequence[str]) -> Path:
        digest = hashlib.sha256()
        for part in key:
            data = part.encode()
            digest.update(f"{len(data)}:".encode())
            digest.update(data)
        name = digest.hexdigest()
        return self.folder / name[:2] / f"{name}.json"
