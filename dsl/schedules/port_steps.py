"""Steps that give an array more ports, beside partitions, which `dsl.schedules.steps` has."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.schedules.steps import Step


@dataclass(frozen=True, slots=True)
class Replicate(Step):
    """Keep ``count`` copies of an array, all of them written, at which the reads in ``loop`` take turns: each read of
    an iteration, and iteration after iteration.
    """

    kind = "replicate"
    other_names = ("duplicate", "copies")
    array: str
    loop: str
    count: int
