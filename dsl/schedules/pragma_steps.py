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


@dataclass(frozen=True, slots=True)
class Sequential(Step):
    """Run the iterations of a loop one after the other: a tool that pipelines loops by itself leaves it alone."""

    kind = "sequential"
    other_names = ("pipeline_off", "no_pipeline")
    loop: str


@dataclass(frozen=True, slots=True)
class Latency(Step):
    """Let an iteration of a loop take ``min`` cycles or more, and ``max`` or less if the tool can; 0: nothing is said."""

    kind = "latency"
    loop: str
    min: int = 0
    max: int = 0


@dataclass(frozen=True, slots=True)
class Performance(Step):
    """Let the tool choose what it takes for a loop to begin again after ``target_ti`` cycles: how it is unrolled and
    pipelined, and banks of arrays. No estimate knows what it chooses.
    """

    kind = "performance"
    loop: str
    target_ti: int


@dataclass(frozen=True, slots=True)
class Unbalanced(Step):
    """Leave the sums in a loop in the order in which they are written, where a tool would add integers in a tree."""

    kind = "unbalanced"
    other_names = ("expression_balance", "expression_balance_off")
    loop: str


@dataclass(frozen=True, slots=True)
class Allocation(Step):
    """Let a loop have ``limit`` units of an operator at the most, e.g. ``("fmul", 2)``."""

    kind = "allocation"
    other_names = ("limit", "resource_limit")
    loop: str
    op: str
    limit: int


@dataclass(frozen=True, slots=True)
class Leave(Step):
    """Let a loop end where data say so: at a bound that is read, or behind a ``break``. Its iterations from there on do
    nothing, which is proven. ``trips`` is how many an execution is expected to have, for estimates: half of all where
    nothing is said.
    """

    kind = "leave"
    other_names = ("early_exit", "exit_early", "variable_bound", "loop_tripcount")
    loop: str
    trips: int = 0


@dataclass(frozen=True, slots=True)
class Stable(Step):
    """Let processes read an argument without waiting for each other: the caller leaves it as it is while the kernel runs."""

    kind = "stable"
    argument: str


@dataclass(frozen=True, slots=True)
class Cache(Step):
    """Put a cache of ``lines`` lines of ``depth`` elements in front of an argument in memory outside that is only read;
    0: as the tool does by itself.
    """

    kind = "cache"
    argument: str
    lines: int = 1
    depth: int = 0
