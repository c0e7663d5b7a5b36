"""Which elements of a partitioned array share a bank, as a relation of isl."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from dsl.expressions.affine import Affine
from polyhedral.banks.splits import Split
from polyhedral.isl.text import affine_text, conjunction, dims, map_of


def same_bank(name: str, depth: int, shape: Sequence[int], splits: Sequence[Split]) -> isl.Map:
    """Pairs of elements that lie in one bank, of any iterations of the loops around.

    Args:
        name: of the array's space.
        depth: loops around its declaration: the first dimensions of its space.
        shape: of the array.
        splits: of each dimension.
    """
    x, y = (dims(depth + len(shape), prefix) for prefix in ("x", "y"))
    same: list[str] = []
    for k, (split, extent) in enumerate(zip(splits, shape, strict=True), depth):
        if split.factor > 1:
            a, b = (
                affine_text(split.bank(Affine.of(point[k]), extent), {point[k]: point[k]})
                for point in (x, y)
            )
            same.append(f"{a} = {b}")
    return map_of(f"{{ {name}[{', '.join(x)}] -> {name}[{', '.join(y)}] : {conjunction(same)} }}")
