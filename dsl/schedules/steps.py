"""The vocabulary of schedules: one frozen record per step, addressing things by name only.

A loop is addressed by its name, or as ``S1.i`` (the loop ``i`` around statement ``S1``) where the
name alone is ambiguous. What each step does to a nest is shown in `polyhedral.transforms`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from dsl.errors.errors import Span

Tail = Literal["remainder", "guard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBase:
    """What all steps share: the place in the user's file that asked for it."""

    kind: ClassVar[str]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Interchange(StepBase):
    """Swap two loops of one nest."""

    kind = "interchange"
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Reorder(StepBase):
    """Put the named loops of one nest in this order, in the places they occupy now."""

    kind = "reorder"
    loops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Split(StepBase):
    """Strip-mine: ``loop`` becomes ``outer`` over blocks of ``factor`` and ``inner`` within one.

    Default names are ``<loop>_0`` and ``<loop>_1``. Extents that ``factor`` does not divide get a
    remainder nest, or with ``tail="guard"`` a full inner loop with a guarded body.
    """

    kind = "split"
    loop: str
    factor: int
    outer: str | None = None
    inner: str | None = None
    tail: Tail = "remainder"


@dataclass(frozen=True, slots=True)
class Tile(StepBase):
    """Split each loop by its factor, then put all block loops outside of all point loops."""

    kind = "tile"
    loops: tuple[str, ...]
    factors: tuple[int, ...]
    tail: Tail = "remainder"


@dataclass(frozen=True, slots=True)
class Skew(StepBase):
    """``inner := inner + factor * outer`` (the new inner variable)."""

    kind = "skew"
    outer: str
    inner: str
    factor: int


@dataclass(frozen=True, slots=True)
class Reverse(StepBase):
    """Run a loop backwards."""

    kind = "reverse"
    loop: str


@dataclass(frozen=True, slots=True)
class Shift(StepBase):
    """Delay one statement by ``amount`` iterations of a loop that it may share with others."""

    kind = "shift"
    stmt: str
    loop: str
    amount: int


@dataclass(frozen=True, slots=True)
class Fuse(StepBase):
    """Let the nests of the statements share their outermost ``depth`` loops (POM's ``after``)."""

    kind = "fuse"
    stmts: tuple[str, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Distribute(StepBase):
    """Give the statements loops of their own below the outermost ``depth`` (loop fission)."""

    kind = "distribute"
    stmts: tuple[str, ...]
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Reassociate(StepBase):
    """Allow the reduction of one statement to be done in any order."""

    kind = "reassociate"
    stmt: str


@dataclass(frozen=True, slots=True)
class PartialSums(StepBase):
    """Spread the reduction of one statement over ``count`` accumulators, which take turns along
    ``loop``, each for ``block`` iterations, and are added up behind it. It implies `Reassociate`.
    """

    kind = "partial_sums"
    stmt: str
    loop: str
    count: int
    block: int = 1


@dataclass(frozen=True, slots=True)
class Unroll(StepBase):
    """Unroll a loop by ``factor``; 0 is completely."""

    kind = "unroll"
    loop: str
    factor: int = 0
    tail: Tail = "remainder"


@dataclass(frozen=True, slots=True)
class Pipeline(StepBase):
    """Pipeline a loop at initiation interval ``ii``; all loops inside are unrolled by the tool."""

    kind = "pipeline"
    loop: str
    ii: int = 1


@dataclass(frozen=True, slots=True)
class Flatten(StepBase):
    """Ask for (or forbid) flattening the perfect nest above a loop."""

    kind = "flatten"
    loop: str
    enabled: bool = True


PartitionKind = Literal["cyclic", "block", "complete"]


@dataclass(frozen=True, slots=True)
class Partition(StepBase):
    """Split dimension ``dim`` (counted from 0) of an array over ``factor`` memories."""

    kind = "partition"
    array: str
    dim: int
    scheme: PartitionKind = "cyclic"
    factor: int = 0


@dataclass(frozen=True, slots=True)
class BindStorage(StepBase):
    """Choose the memory of an array, e.g. ``("ram_2p", "bram")``."""

    kind = "bind_storage"
    array: str
    type: str
    impl: str = "auto"
    latency: int = -1


@dataclass(frozen=True, slots=True)
class BindOp(StepBase):
    """Choose the implementation of an operator of one statement, e.g. ``("fadd", "fabric")``."""

    kind = "bind_op"
    stmt: str
    op: str
    impl: str = "auto"
    latency: int = -1


@dataclass(frozen=True, slots=True)
class Interface(StepBase):
    """Choose the interface of an argument: ``m_axi``, ``ap_memory``, ``bram``, ``s_axilite`` …

    Through ``axis``, ``ap_fifo`` and ``ap_hs`` each element passes once, in the order of memory.
    """

    kind = "interface"
    argument: str
    mode: str
    bundle: str = ""


@dataclass(frozen=True, slots=True)
class Dataflow(StepBase):
    """Run the nests of the function at the same time, each as a process of its own.

    The nests of one statement (its main and remainder parts) are one process. ``processes`` names
    statements that share one; those it leaves out have a process a nest.
    """

    kind = "dataflow"
    processes: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Stream(StepBase):
    """Hand an array from one process to the next in a FIFO of ``depth`` words a memory."""

    kind = "stream"
    array: str
    depth: int = 2


Step = (
    Interchange
    | Reorder
    | Split
    | Tile
    | Skew
    | Reverse
    | Shift
    | Fuse
    | Distribute
    | Reassociate
    | PartialSums
    | Unroll
    | Pipeline
    | Flatten
    | Partition
    | BindStorage
    | BindOp
    | Interface
    | Dataflow
    | Stream
)
STEPS: dict[str, type[Step]] = {cls.kind: cls for cls in Step.__args__}
