"""Steps that are written for the HLS tool and keep the order of the program, beside those of `dsl.schedules.steps`.

docs/guide/schedules.md says of each whether estimates know it.
"""

from __future__ import annotations

from dataclasses import dataclass

from dsl.schedules.steps import PartitionKind, Step


@dataclass(frozen=True, slots=True)
class Reshape(Step):
    """Put ``factor`` elements of dimension ``dim`` (counted from 0) into one word of the memory of an array, which
    then has as many times fewer words: those that `Partition` would put into different memories.
    """

    kind = "reshape"
    other_names = ("array_reshape", "widen", "word_pack")
    array: str
    dim: int
    scheme: PartitionKind = "cyclic"
    factor: int = 0
