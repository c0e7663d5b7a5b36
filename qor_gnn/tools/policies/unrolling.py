"""Unrolling by a factor: the last iteration of a loop whose trip count that does not divide, and its copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Unrolling:
    """What becomes of an unrolled loop that can end between the copies of its body.

    Attributes:
        last_iteration: what a partial last iteration takes. ``partial``: its share. ``whole``: as long as
            any other; none at all in a loop around a single other one whose counter starts late.
        compares_copies: elements that different copies of a loop access are told apart, also where the counter
            starts late and the loop can end between its copies. Otherwise such copies are blocks of code
            with exits between them, each of which may access any element of another one's.
    """

    last_iteration: Literal["partial", "whole"] = "partial"
    compares_copies: bool = True
