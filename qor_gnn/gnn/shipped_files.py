"""The weights that come with Weft: which there are is known without loading PyTorch."""

from __future__ import annotations

from pathlib import Path

SHIPPED = Path(__file__).parent / "shipped"
SUFFIX = ".safetensors"


def names() -> tuple[str, ...]:
    """Tool personalities that there are weights for."""
    return tuple(sorted(path.name.removesuffix(SUFFIX) for path in SHIPPED.glob(f"*{SUFFIX}")))
