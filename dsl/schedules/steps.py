"""The vocabulary of schedules: one frozen record per step, addressing things by name only.

A loop is addressed by its name, or as ``S1.i`` (the loop ``i`` around statement ``S1``) where the
name alone is ambiguous. What each step does to a nest is shown in `polyhedral.transforms`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from dsl.errors.errors import Span
from dsl.schedules.loop_requests import PipelineStyle

Tail = Literal["remainder", "guard"]
PartitionKind = Literal["cyclic", "block", "complete"]

STEPS: dict[str, type[Step]] = {}
"""Every step, by its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What all steps share: the place in the user's file that asked for it.

    ``kind`` is the step's name, ``other_names`` are those that it has in other tools. A subclass
    is known by its kind: see `STEPS`.
    """

    kind: ClassVar[str]
    other_names: ClassVar[tuple[str, ...]] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    def __init_subclass__(cls) -> None:
        # With slots, a dataclass is made twice: the second one stays.
        STEPS[cls.kind] = cls

    @property
    def reassociated(self) -> frozenset[str]:
        """The statements whose reduction it allows to be done in any order."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class Interchange(Step):
    """Swap two loops of one nest."""

    kind = "interchange"
    other_names = ("swap",)
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Reorder(Step):
    """Put the named loops of one nest in this order, in the places they occupy now."""

    kind = "reorder"
    other_names = ("permute",)
    loops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Split(Step):
    """Strip-mine: ``loop`` becomes ``outer`` over blocks of ``factor`` and ``inner`` within one.

    Default names are ``<loop>_0`` and ``<loop>_1``. Extents that ``factor`` does not divide get a
    remainder nest, or with ``tail="guard"`` a full inner loop with a guarded body.
    """

    kind = "split"
    other_names = ("stripmine",)
    loop: str
    factor: int
    outer: str | None = None
    inner: str | None = None
    tail: Tail = "remainder"


@dataclass(frozen=True, slots=True)
class Tile(Step):
    """Split each loop by its factor, then put all block loops outside of all point loops."""

    kind = "tile"
    loops: tuple[str, ...]
    factors: tuple[int, ...]
    tail: Tail = "remainder"


@dataclass(frozen=True, slots=True)
class Skew(Step):
    """``inner := inner + factor * outer`` (the new inner variable)."""

    kind = "skew"
    outer: str
    inner: str
    factor: int


@dataclass(frozen=True, slots=True)
class Reverse(Step):
    """Run a loop backwards."""

    kind = "reverse"
    loop: str


@dataclass(frozen=True, slots=True)
class Shift(Step):
    """Delay one statement by ``amount`` iterations of a loop that it may share with others."""

    kind = "shift"
    stmt: str
    loop: str
    amount: int


@dataclass(frozen=True, slots=True)
class Fuse(Step):
    """Let the nests of the statements share their outermost ``depth`` loops (POM's ``after``), where the first of them
    stands, or with ``last`` where the last one does.
    """

    kind = "fuse"
    other_names = ("compute_at", "merge")
    stmts: tuple[str, ...]
    depth: int
    last: bool = False


@dataclass(frozen=True, slots=True)
class Distribute(Step):
    """Give the statements loops of their own below the outermost ``depth`` (loop fission)."""

    kind = "distribute"
    other_names = ("fission",)
    stmts: tuple[str, ...]
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Align(Step):
    """Give the statements of a nest one common loop below the outermost ``depth``, at whose iteration
    ``times[n]``, an affine expression of its loops, ``stmts[n]`` runs (a row of a schedule). In an
    iteration they run in the order named, each in the rest of its loops. ``loop`` names the new loop;
    by default it has the name of a loop that becomes it. With ``promote`` those of the rest that run a single
    iteration, which the loops around tell, are left out; they have no name then.
    """

    kind = "align"
    other_names = ("affine_fuse", "set_schedule")
    stmts: tuple[str, ...]
    times: tuple[str, ...]
    loop: str | None = None
    depth: int = 0
    promote: bool = False


@dataclass(frozen=True, slots=True)
class Reassociate(Step):
    """Allow the reduction of one statement to be done in any order."""

    kind = "reassociate"
    stmt: str

    @property
    def reassociated(self) -> frozenset[str]:
        """Its statement."""
        return frozenset({self.stmt})


@dataclass(frozen=True, slots=True)
class PartialSums(Step):
    """Spread the reduction of one statement over ``count`` accumulators, which take turns along
    ``loop``, each for ``block`` iterations, and are added up behind it, or behind ``around``, a loop around it. It
    implies `Reassociate`.
    """

    kind = "partial_sums"
    other_names = ("tree_reduce",)
    stmt: str
    loop: str
    count: int
    block: int = 1
    around: str = ""
    reassociated = Reassociate.reassociated


@dataclass(frozen=True, slots=True)
class Expand(Step):
    """Give a local an element for each iteration of ``loop``, and of the loops from there to its
    declaration: their iterations then share no storage.
    """

    kind = "expand"
    other_names = ("privatize", "array_expand", "scalar_expand")
    array: str
    loop: str


@dataclass(frozen=True, slots=True)
class Buffer(Step):
    """Work on local copies of the parts (tiles) of an array that an iteration of ``at`` touches,
    copied in before the body of that loop and out after it as needed; without a loop, on a copy of
    all that the kernel touches. ``name`` is that of the copy, ``<array>_buf`` by default. With an
    ``access``, as it is written over the loops (``A[i, k]``), only what is accessed so is copied. ``apart``:
    what is copied in has a copy of its own, from which the one that is worked on starts: then copying in,
    working and copying out can be three processes (`Dataflow`).
    """

    kind = "buffer"
    other_names = ("cache_read", "cache_write", "stage_mem", "buffer_at")
    array: str
    at: str = ""
    name: str = ""
    access: str = ""
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Reuse(Step):
    """Keep the elements of an array that iterations of ``at``, and of the loops inside that move
    through the array with it, read again: in rows (line buffers) ``<array>_line`` and in a window of
    registers ``<array>_window``. Each element is then read from the array once.
    """

    kind = "reuse"
    other_names = ("reuse_at", "line_buffer", "window_buffer", "shift_register")
    array: str
    at: str


@dataclass(frozen=True, slots=True)
class Unroll(Step):
    """Unroll a loop by ``factor``; 0 is completely. ``skip_exit_check``: no copy is asked whether it is the
    last, which is proven: the factor divides every trip count.
    """

    kind = "unroll"
    other_names = ("parallel", "parallelize", "vectorize")
    loop: str
    factor: int = 0
    tail: Tail = "remainder"
    skip_exit_check: bool = False


@dataclass(frozen=True, slots=True)
class Pipeline(Step):
    """Pipeline a loop at initiation interval ``ii``; all loops inside are unrolled by the tool. The loop ``"return"`` is
    the function: a call begins every ``ii`` cycles.

    ``style``: it stalls as a whole (``stp``), flushes (``flp``), or runs free (``frp``). ``rewind``: the
    next call begins before this one has ended.
    """

    kind = "pipeline"
    loop: str
    ii: int = 1
    style: PipelineStyle = ""
    rewind: bool = False


@dataclass(frozen=True, slots=True)
class Flatten(Step):
    """Ask for (or forbid) flattening the perfect nest above a loop."""

    kind = "flatten"
    other_names = ("loop_flatten",)
    loop: str
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Partition(Step):
    """Split dimension ``dim`` (counted from 0) of an array over ``factor`` memories."""

    kind = "partition"
    other_names = ("bank", "array_partition")
    array: str
    dim: int
    scheme: PartitionKind = "cyclic"
    factor: int = 0


@dataclass(frozen=True, slots=True)
class AutoPartition(Step):
    """Partition an array as the copies of the bodies that access it want, but for dimensions that are
    partitioned by hand.
    """

    kind = "auto_partition"
    other_names = ("infer_partition", "auto_bank")
    array: str


@dataclass(frozen=True, slots=True)
class BindStorage(Step):
    """Choose the memory of an array, e.g. ``("ram_2p", "bram")``."""

    kind = "bind_storage"
    other_names = ("resource",)
    array: str
    type: str
    impl: str = "auto"
    latency: int = -1


@dataclass(frozen=True, slots=True)
class BindOp(Step):
    """Choose the implementation of an operator of one statement, e.g. ``("fadd", "fabric")``."""

    kind = "bind_op"
    other_names = ("bind",)
    stmt: str
    op: str
    impl: str = "auto"
    latency: int = -1


@dataclass(frozen=True, slots=True)
class Interface(Step):
    """Choose the interface of an argument: ``m_axi``, ``ap_memory``, ``bram``, ``s_axilite`` …

    Through ``axis``, ``ap_fifo`` and ``ap_hs`` each element passes once, in the order of memory.
    The argument ``"return"`` is the control of the function: ``s_axilite``, ``ap_ctrl_hs``,
    ``ap_ctrl_chain`` or ``ap_ctrl_none``. ``m_axi`` puts a local array into memory outside, too, if it is
    declared in front of all loops: the caller provides the memory, and neither fills nor reads it.

    Attributes:
        argument: its name, or that of a local array, or ``"return"``.
        mode: as the tool calls it.
        bundle: of ``m_axi`` and ``s_axilite``: the port that several arguments share.
        width: of ``m_axi``: bits of its data bus, to which accesses may be widened; 0 here and
            below: as the tool does by itself.
        burst: beats of its longest burst.
        outstanding: requests that may be on their way, of reads and of writes.
        latency: cycles in which memory is expected to answer; -1: as the tool does.
        offset: where the address comes from: ``slave`` (a register of ``s_axilite``), ``direct``
            (a port), ``off`` (it is 0).
        bank: memory outside that it is connected to: ``HBM[0]``, ``HBM[0:3]``, ``DDR[1]``.
        reads: of ``m_axi``: the bundle of a second pointer to the array, through which it is read: what
            reads and what writes can then be two processes (`Dataflow`). The kernel never reads what it wrote.
        also: of ``m_axi``: the bundles of further pointers to the array, which loops that are cut for as many ports
            go through (`dsl.schedules.port_steps.Spread`). What is written of it and read, or written again, is so in nests
            that run one after the other and go through all pointers, or is read through pointers of its own.
    """

    kind = "interface"
    argument: str
    mode: str
    bundle: str = ""
    width: int = 0
    burst: int = 0
    outstanding: int = 0
    latency: int = -1
    offset: str = ""
    bank: str = ""
    reads: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pack(Step):
    """Hold an array outside in words of ``bits``, several elements each, rows padded to whole words.
    Its copies (`Buffer`) are then made word by word.
    """

    kind = "pack"
    other_names = ("vectorize_port", "data_pack")
    array: str
    bits: int


@dataclass(frozen=True, slots=True)
class Dataflow(Step):
    """Run nests at the same time, each as a process of its own: those of the function, or with ``at``
    those of a loop, of which an iteration then begins before the one before it is done.

    The nests of one statement (its main and remainder parts) are one process. ``processes`` names
    statements that share one; those it leaves out have a process a nest.
    """

    kind = "dataflow"
    other_names = ("concurrent", "double_buffer", "ping_pong", "overlap")
    processes: tuple[tuple[str, ...], ...] = ()
    at: str = ""


@dataclass(frozen=True, slots=True)
class Stream(Step):
    """Hand an array from one process to the next in a FIFO of ``depth`` words a memory."""

    kind = "stream"
    other_names = ("fifo",)
    array: str
    depth: int = 2
