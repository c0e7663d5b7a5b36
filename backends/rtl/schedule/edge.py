"""Order between operations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edge:
    """``dst`` starts at least ``latency`` cycles after ``src`` of ``distance`` iterations before."""

    src: int
    dst: int
    latency: int
    distance: int
