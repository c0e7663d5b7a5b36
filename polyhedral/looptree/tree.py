"""`LoopTree`: the scheduled program as plain loops, the hand-over from isl to MLIR.

It is what `polyhedral.codegen.generate` makes of isl's AST: counted loops with quasi-affine bounds,
guards, and statement instances that say which iteration of the original domain they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine, Constraint
from dsl.programs.program import Program, Stmt
from dsl.schedules.loop_requests import NO_REQUESTS, LoopRequests
from dsl.schedules.pragma_steps import Cache, Reshape, Stable
from dsl.schedules.steps import BindOp, BindStorage, Interface, Pack, Partition, Pipeline, Stream


@dataclass(frozen=True, slots=True)
class TripCount:
    """Exact trip counts of a loop over all its executions."""

    minimum: int
    maximum: int
    average: float


@dataclass(frozen=True, slots=True)
class TreeLoop:
    """``for iv = max(lowers); iv < min(uppers); iv += step`` (step > 0).

    ``iv`` is unique in the tree. ``name`` is the loop's name in the schedule: copies of a loop (a
    remainder nest) share it. ``pipeline_ii`` is None where the loop is not pipelined; ``unroll`` is
    None, 0 for complete, or the factor. ``flatten`` is None where nothing was asked.
    ``sequential`` forbids the tool to pipeline it by itself. ``trip`` is given wherever the trip count is not constant. ``processes`` are the statements of each
    process where the body is a dataflow region; empty where it is none.
    """

    iv: str
    name: str
    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    step: int
    body: tuple[TreeNode, ...]
    pipeline_ii: int | None = None
    unroll: int | None = None
    flatten: bool | None = None
    trip: TripCount | None = None
    processes: tuple[tuple[str, ...], ...] = ()
    sequential: bool = False
    requests: LoopRequests = NO_REQUESTS
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def constant_trip(self) -> int | None:
        """The trip count where both bounds are constants, else None."""
        if all(b.is_const for b in (*self.lowers, *self.uppers)):
            extent = min(b.const for b in self.uppers) - max(b.const for b in self.lowers)
            return max(0, -(-extent // self.step))
        return None


@dataclass(frozen=True, slots=True)
class TreeGuard:
    """``if all constraints: body``."""

    constraints: tuple[Constraint, ...]
    body: tuple[TreeNode, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """One execution of a statement; ``bindings`` gives each original loop variable as an
    expression of the loop ivs around.

    ``place`` and ``time`` say which instant of level 2 it is, ``[place[0], time[0], place[1], …]``:
    the piece that stands at ``place`` runs its iteration ``time``, an expression of the ivs for
    each scheduled loop. It is what `polyhedral.codegen.tree_order` proves the order of the tree by.
    """

    stmt: Stmt
    bindings: tuple[tuple[str, Affine], ...]
    place: tuple[int, ...] = field(default=(), compare=False, repr=False)
    time: tuple[Affine, ...] = field(default=(), compare=False, repr=False)


TreeNode = TreeLoop | TreeGuard | Instance


@dataclass(frozen=True, slots=True)
class LocalPlacement:
    """A local array may be declared inside the loop ``iv`` (None: at the top of the function)."""

    array: str
    iv: str | None


@dataclass(frozen=True, slots=True)
class LoopTree:
    """A scheduled program: loops, and what was asked of its arrays and operators.

    ``independent`` lists (array, loop iv) pairs for which it is proven that no dependence through
    the array is carried by the loop, where a tool could not see it by itself; ``distances`` (array,
    loop iv, iterations) triples of how far apart those are that it carries. ``processes`` are the
    statements of each process of a dataflow region, in order; empty where there is none. ``auto_partitions``
    are arrays that get the partitions that their accesses want.
    """

    program: Program
    body: tuple[TreeNode, ...]
    partitions: tuple[Partition, ...] = ()
    storage: tuple[BindStorage, ...] = ()
    operators: tuple[BindOp, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    placements: tuple[LocalPlacement, ...] = ()
    independent: tuple[tuple[str, str], ...] = ()
    processes: tuple[tuple[str, ...], ...] = ()
    streams: tuple[Stream, ...] = ()
    distances: tuple[tuple[str, str, int], ...] = ()
    packs: tuple[Pack, ...] = ()
    auto_partitions: tuple[str, ...] = ()
    reshapes: tuple[Reshape, ...] = ()
    stables: tuple[Stable, ...] = ()
    caches: tuple[Cache, ...] = ()
    pipeline: Pipeline | None = None

    def walk(self) -> Iterator[tuple[TreeNode, tuple[TreeLoop | TreeGuard, ...]]]:
        """Every node in execution order with the loops and guards around it."""
        yield from _walk(self.body, ())


def below(node: TreeNode) -> Iterator[TreeNode]:
    """A node and all that it holds, in execution order."""
    yield node
    if not isinstance(node, Instance):
        for inner in node.body:
            yield from below(inner)


def statements_in(node: TreeNode) -> Iterator[Stmt]:
    """The statement of each instance at or below a node, in execution order."""
    return (one.stmt for one in below(node) if isinstance(one, Instance))


def _walk(
    nodes: tuple[TreeNode, ...], around: tuple[TreeLoop | TreeGuard, ...]
) -> Iterator[tuple[TreeNode, tuple[TreeLoop | TreeGuard, ...]]]:
    for node in nodes:
        yield node, around
        if not isinstance(node, Instance):
            yield from _walk(node.body, (*around, node))
