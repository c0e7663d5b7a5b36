"""The version of the code that gives figures: another digest, perhaps other figures."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
MODEL = (
    "dsl",
    "polyhedral",
    "qor_gnn",
    "backends/devices.py",
    "backends/rtl",  # whose scheduler answers for ECP5, from level 3
    "mlir_passes",
    "dse/estimation.py",
    "dse/prediction.py",
    "dse/evaluators",
)
TOOLS = (*MODEL, "backends", "dse/reduced.py")
_KINDS = (".py", ".h", ".json", ".safetensors")


@lru_cache(maxsize=4)
def code_version(parts: tuple[str, ...]) -> str:
    """A digest of every file that an evaluator's answer may depend on.

    Args:
        parts: `MODEL`, or `TOOLS` where code is emitted and compiled.
    """
    digest = hashlib.sha256()
    for part in parts:
        place = _ROOT / part
        for path in sorted(place.rglob("*")) if place.is_dir() else (place,):
            if path.suffix in _KINDS:
                digest.update(f"{path.relative_to(_ROOT)}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
