"""The version of the code that gives figures: another digest, perhaps other figures."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_PARTS = (
    "dsl",
    "polyhedral",
    "mlir_passes",
    "backends",
    "qor_gnn",
    "dse/evaluators",
    "dse/estimation.py",
)
_KINDS = (".py", ".h", ".json")


@lru_cache(maxsize=1)
def code_version() -> str:
    """A digest of every file that an evaluator's answer may depend on."""
    digest = hashlib.sha256()
    for part in _PARTS:
        place = _ROOT / part
        for path in sorted(place.rglob("*")) if place.is_dir() else (place,):
            if path.suffix in _KINDS:
                digest.update(f"{path.relative_to(_ROOT)}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
