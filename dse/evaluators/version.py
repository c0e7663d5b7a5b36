"""The version of the code that gives figures: another digest, perhaps other figures."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from qor_gnn.fit.sources import version_of

_ROOT = Path(__file__).resolve().parents[2]
MODEL = (
    "dsl",
    "polyhedral",
    "qor_gnn",
    "backends/devices",
    "backends/rtl",  # whose scheduler answers for ECP5, from level 3
    "mlir_passes",
    "dse/estimates",
    "dse/evaluators",
)
TOOLS = (*MODEL, "backends", "dse/kernels/reduced.py")
_KINDS = (".py", ".h", ".json", ".safetensors")


@lru_cache(maxsize=4)
def code_version(parts: tuple[str, ...]) -> str:
    """A digest of every file that an evaluator's answer may depend on.

    Args:
        parts: `MODEL`, or `TOOLS` where code is emitted and compiled.
    """
    places = [_ROOT / part for part in parts]
    found = (p for at in places for p in (sorted(at.rglob("*")) if at.is_dir() else (at,)))
    return version_of(_ROOT, (p for p in found if p.suffix in _KINDS))
