"""An access of a memory in an iteration of a nest."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expressions.affine import Affine, Constraint


@dataclass(frozen=True, slots=True)
class Touch:
    """An access that an iteration makes where its guard holds."""

    indices: tuple[Affine, ...]
    guard: tuple[Constraint, ...]
    stores: bool
