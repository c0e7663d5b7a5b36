"""A design space as rows: one for each legal order of each nest."""

from __future__ import annotations

from typing import Any

from dse.space.nests.nest import Order
from dse.space.space import Space


def rows(space: Space) -> list[dict[str, Any]]:
    """One row for each order of each nest."""
    return [
        {
            "variant": variant.name,
            "nest": " ".join(nest.statements),
            "order": _loops(nest.around, order),
            "skewed": order.skewed,
            "carried": " ".join(loop.name for loop in order.loops if loop.carries),
            "factors": " x ".join(str(len(loop.factors)) for loop in order.loops),
            "points": order.size,
        }
        for variant in space.variants
        for nest in variant.nests
        for order in nest.orders
    ]


def _loops(around: tuple[str, ...], order: Order) -> str:
    """``(t) i:248 j:~12``: loops shared with others in parentheses, extents or their average."""
    own = [
        f"{loop.name}:{loop.extent}"
        if loop.extent is not None
        else f"{loop.name}:~{loop.average:g}"
        for loop in order.loops
    ]
    shared = [f"({' '.join(around)})"] if around else []
    return " ".join([*shared, *own])
