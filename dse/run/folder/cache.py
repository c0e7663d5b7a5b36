"""Results by their keys, which are digests of all that they depend on: shared by runs and machines.

One file a result, written whole, so any number of processes may read and write one folder.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from dse.evaluators.base import Result, Status
from dse.run.folder.codec import result_from_json, result_to_json
from dse.run.folder.directory import write_whole
from dse.run.folder.json_text import json_in

_KEPT = (Status.OK, Status.ILLEGAL)  # the others may go otherwise another time or elsewhere


@dataclass(slots=True)
class ResultCache:
    """Results found before.

    Attributes:
        folder: where they are kept; None to keep none.
        found: more of them, which are in no folder.
    """

    folder: Path | None = None
    found: dict[str, Result] = field(default_factory=dict)

    def get(self, key: str) -> Result | None:
        """The result under a key; None where there is none that can be read."""
        if key in self.found or self.folder is None:
            return self.found.get(key)
        try:
            return result_from_json(json_in(self._path(key)))
        except (OSError, KeyError, TypeError, ValueError, AttributeError):
            return None

    def put(self, key: str, result: Result) -> None:
        """Keep a result, if it is one that holds everywhere.

        Raises:
            InputError: W508 the folder cannot be written.
        """
        if self.folder is not None and result.status in _KEPT:
            write_whole(self._path(key), json.dumps(result_to_json(result)) + "\n")

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        assert re.fullmatch(r"[0-9a-f]{32}", key), "keys are digests"
        return self.folder / key[:2] / f"{key}.json"
