"""Steps that give an array more ports, beside partitions, which `dsl.schedules.steps` has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dsl.schedules.steps import Step

SpreadKind = Literal["block", "cyclic"]


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


@dataclass(frozen=True, slots=True)
class Mirror(Step):
    """Keep what reads of an array find, that are written ``access`` over the loops (``T[k, j]``), in a second array too,
    which they read then: it has banks of its own. It is called ``name``, ``<array>_mirror`` by default.
    """

    kind = "mirror"
    other_names = ("second_copy", "shadow")
    array: str
    access: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Spread(Step):
    """Cut a loop into ``ports`` parts that run side by side, as the innermost loop, unrolled: each reaches arrays in memory
    outside through a pointer of its own, where they have as many (`Interface`, ``also``). Parts are blocks of neighbouring
    iterations, which the ports divide, or with ``cyclic`` take turns.
    """

    kind = "spread"
    other_names = ("multiport", "multi_port", "split_bundles")
    loop: str
    ports: int = 2
    scheme: SpreadKind = "block"
