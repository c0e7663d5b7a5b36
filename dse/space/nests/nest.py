"""A nest: statements that share all their loops, and the orders that are legal for these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, prod

from dse.space.nests.factors import factors
from dsl.expressions.affine import Affine
from dsl.schedules.steps import Step
from qor_gnn.body.reassociation import carried_levels

_SHORT = 512  # iterations, in which a pipeline may wait for those before

Vector = tuple[int, ...]  # unroll factor of each loop of an order, outermost first


@dataclass(frozen=True, slots=True)
class Carry:
    """A loop hands a value on, which is needed ``distance`` iterations later.

    That takes ``delay`` cycles, and ``more`` for each further iteration in one body; of a sum that
    the tool makes a ``tree`` of, for each level of that. The old sum is added to the tree's root, but
    is a ``leaf`` of it for some tools where it is in ``logic``, or in a register: where it moves with no
    loop of the pipeline. ``moving`` names the loops that it moves with. ``flow`` is the least distance
    along the loop and along each one inside it; see `polyhedral.dependences.carried.Carried`. ``kept`` is
    the delay where it is in a register: of a local that moves with no loop of the pipeline, so that each of
    its elements has a bank. A ``reduction`` is of a sum: all of its terms in a body are in one chain, whatever loops
    they come from. ``anywhere``: values tell the element, so that a tool takes it to be that of the next iteration.
    """

    distance: int
    delay: float
    more: float
    tree: bool = False
    leaf: bool = True
    moving: frozenset[str] = frozenset()
    logic: bool = False
    flow: tuple[int, ...] = ()
    kept: float | None = None
    reduction: bool = False
    anywhere: bool = False

    def delay_in(self, pipeline: frozenset[str]) -> float:
        """``delay`` in a pipeline of these loops."""
        if self.kept is None or not self.moving or self.moving & pipeline:
            return self.delay
        return self.kept

    def same_sum(self, other: Carry) -> bool:
        """Whether another loop hands on what may be the same sum."""
        mine = (self.delay, self.more, self.tree, self.moving)
        both = self.reduction and other.reduction
        return both and mine == (other.delay, other.more, other.tree, other.moving)

    def around(self, sides: Sequence[tuple[float, int]]) -> float:
        """Iterations of a pipeline until the value is needed, at the least.

        Args:
            sides: blocks and copies in a block, of the loop and of each one inside it.
        """
        if self.anywhere:
            return 1.0
        inside = 1.0
        for blocks, _ in sides[1:]:
            inside *= blocks
        ahead = inside * max(1.0, self.distance / sides[0][1])
        if len(self.flow) < 2:
            return max(1.0, ahead)
        behind = 0.0
        for k, least in enumerate(self.flow[1:], 1):
            blocks, copies = sides[k]
            moved = max(1 - blocks, least // copies)
            if moved < 0:
                behind += moved * prod(b for b, _ in sides[k + 1 :])
        return max(1.0, ahead + behind)

    def links(self, copies: int, guarded: bool = False) -> float:
        """Cycles of so many copies in one body besides ``delay``; guarded ones make no tree."""
        terms = max(1, copies // self.distance)
        if self.tree and not guarded:
            return self.more * (terms.bit_length() - 1)  # ceil(log2(terms + 1)) levels
        return self.more * (terms - 1)

    def closing(self, copies: int, pipeline: frozenset[str], guarded: bool = False) -> float:
        """Cycles until the value is back, besides ``delay``, in a pipeline of these loops."""
        if not self.tree or guarded:
            return self.links(copies, guarded)
        if not self.leaf or (self.moving & pipeline and not self.logic):
            return 0
        return self.more * (carried_levels(max(1, copies // self.distance)) - 1)


@dataclass(frozen=True, slots=True)
class NestLoop:
    """A loop of a nest. ``ref`` addresses it in a schedule before it is split.

    ``extent`` is its trip count where it is always the same, else None; ``average`` is the trip
    count on average. ``unrolls`` says that its iterations may run inside all other loops;
    ``separates`` that its last iterations may run as a nest of their own, after all others;
    ``divides`` that only factors will do that divide its extent. ``inner`` loops are inside of what
    all statements of the nest share: all of their iterations are copies, of the most where their
    bounds vary (``varies``). Of a ``guarded`` loop some statements run in some iterations only, by
    conditions of the program. A loop ``jams`` where loops further in have bounds that move with it: its copies
    run inside of them, from the first to the last iteration that one of them has, each under a guard. There are
    at most ``most`` copies of it, where that is not 0. It may end early where ``trips`` are expected of it; 0 where it may not.
    """

    ref: str
    name: str
    extent: int | None
    average: float
    unrolls: bool
    separates: bool = True
    divides: bool = False
    inner: bool = False
    varies: bool = False
    guarded: bool = False
    jams: bool = False
    most: int = 0
    carries: tuple[Carry, ...] = ()
    trips: int = 0

    factors: tuple[int, ...] = field(init=False, compare=False, repr=False)
    """Factors worth trying."""

    def __post_init__(self) -> None:
        """Searches ask often."""
        object.__setattr__(self, "factors", self._factors())

    def _factors(self) -> tuple[int, ...]:
        if self.inner:
            return (self.extent or 1,)
        if not self.unrolls or self.extent is None:
            return (1,)
        found = [u for u in factors(self.extent) if u <= (self.most or self.extent)]
        return tuple(u for u in found if self.extent % u == 0 or not self.divides)


ANY = 1 << 20
"""Accesses in a cycle of arrays whose elements are apart, whatever is unrolled."""


@dataclass(frozen=True, slots=True)
class Use:
    """An access: subscripts over the loops of the nest and those around it.

    ``ports`` are the reads, the writes and the accesses in all that a bank does in a cycle. ``updating`` are the loops
    of a statement that reads the element which it writes, where it writes the same element in all of their iterations.
    """

    array: str
    indices: tuple[Affine, ...]
    write: bool
    shape: tuple[int, ...]
    ports: tuple[int, int, int]
    updating: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Inside:
    """The loops of a statement inside of its band, by name with their iterations, in a ``share`` of which it runs."""

    share: float = 1.0
    loops: tuple[tuple[str, int], ...] = ()

    def share_of(self, moving: frozenset[str]) -> float:
        """The share of the copies of an operation that are there, which moves with some loops only."""
        return min(1.0, self.share * prod(n for name, n in self.loops if name not in moving))


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator of a statement.

    Attributes:
        core: the kind of unit.
        dsp: of a unit; of logic what its LUTs count as (`dse.space.space.Space.logic`).
        loops: that it changes with.
        shared_from: the least interval of a pipeline at which operations in other cycles, or other
            nests, use the same unit.
        share: of the copies that loops inside the band make, which are there: its statement may run in some only.
    """

    core: str
    dsp: float
    loops: frozenset[str]
    shared_from: float = 1
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Fabric:
    """What an operator of a statement takes of the fabric.

    Attributes:
        core: the kind of unit.
        lut: LUTs of a unit.
        loops: that it changes with.
        shared: operations in other cycles, or other nests, use the same unit.
        guard: it is there only where copies run under a guard: it selects between a sum and its old value.
        share: of the copies that loops inside the band make, which are there: its statement may run in some only.
    """

    core: str
    lut: int
    loops: frozenset[str]
    shared: bool
    guard: bool = False
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class CaseLoop:
    """A loop around a case of a nest: iterations on average, whether nothing else is in the one around it, and whether
    it always has as many.
    """

    loop: str
    trips: float
    alone: bool
    constant: bool


Case = tuple[CaseLoop, ...]
"""Loops around statements of a nest that no other loop of the nest is inside of, outermost first."""


@dataclass(frozen=True, slots=True)
class Order:
    """One legal order of a nest's loops, outermost first.

    ``steps`` make it (skews and a reorder), from the loops as the structure leaves them.
    ``depth`` is about the latency of one iteration. ``apart`` says that the innermost loop is not to be
    flattened into those around. Without ``guards`` the last copies of a block are a nest of their own: a
    local that is private to an iteration would be handed on by a copy that does not run. ``inside`` is the
    most copies of a statement that an iteration of the band has anyway (found once: ranking asks often).
    A ``given`` order is all that there is: the loops are as a schedule says (`dse.space.start`), but for the interval of its
    ``pipeline``, if a structure made that and not a user. One of
    ``words`` copies those of a packed argument, and asks for no banks (`dse.space.memory.partitions.widened`). ``cases`` are the nests that conditions make of it
    without copies, where it is not one (`dse.space.nests.cases`).
    """

    steps: tuple[Step, ...]
    loops: tuple[NestLoop, ...]
    uses: tuple[Use, ...]
    operations: tuple[Operation, ...]
    depth: int
    apart: bool = False
    guards: bool = True
    inside: int = 1
    given: bool = False
    pipeline: str = ""
    words: bool = False
    fabric: tuple[Fabric, ...] = ()
    cases: tuple[Case, ...] = ()
    band: tuple[NestLoop, ...] = field(init=False, compare=False, repr=False)
    """The loops that all statements share."""
    drains: bool = field(init=False, compare=False, repr=False)
    """Whether the innermost loop is a pipeline of its own, drained before it starts again.

    Along a wavefront nothing waits; from one wavefront to the next, which may be short, it
    does: as one pipeline with the loops around, all iterations would be as slow as those. So it
    is from one row to the next where rows are short.
    """
    _hash: int = field(default=0, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Searches ask often."""
        object.__setattr__(self, "band", tuple(loop for loop in self.loops if not loop.inner))
        object.__setattr__(self, "drains", self.apart or (self.skewed and self.free > 0))

    def __hash__(self) -> int:
        """Found once: what is known of orders is kept by them."""
        if not self._hash:
            parts = self.steps, self.loops, self.uses, self.depth
            object.__setattr__(self, "_hash", hash(parts) or 1)
        return self._hash

    @property
    def skewed(self) -> bool:
        """Whether loops were skewed to make it legal."""
        return any(step.kind == "skew" for step in self.steps)

    @property
    def waits_for_rows(self) -> bool:
        """Whether the innermost loops carry nothing and are short, and one around them does carry."""
        free = self.free
        if self.skewed or not 0 < free < len(self.band):
            return False
        rows = [loop.extent for loop in self.band[-free:]]
        return all(rows) and prod(n or 1 for n in rows) <= _SHORT

    @property
    def free(self) -> int:
        """How many of the innermost loops carry nothing."""
        count = 0
        for loop in reversed(self.band):
            if loop.carries:
                break
            count += 1
        return count

    @property
    def waits(self) -> int:
        """Cycles that accumulators in registers wait for themselves, where copies need not wait for each
        other: some loops hand a sum on, others do not. So many copies share a unit anyway.
        """
        delays = [c.kept for loop in self.band for c in loop.carries if c.kept is not None]
        apart = any(not loop.carries and len(loop.factors) > 1 for loop in self.band)
        return max(1, ceil(max(delays))) if delays and apart else 1

    @property
    def waits_for_ports(self) -> bool:
        """Whether an iteration may access more elements of an array than a bank of it hands over in a cycle."""
        times = Counter(use.array for use in self.uses)
        return any(times[use.array] > use.ports[2] for use in self.uses)

    def copies(self, vector: Vector) -> int:
        """The most copies of a statement that an iteration has."""
        pairs = zip(self.loops, vector, strict=True)
        return self.inside * prod(u for loop, u in pairs if not loop.inner)

    @property
    def plain(self) -> Vector:
        """No unrolling but that of inner loops."""
        return tuple(loop.factors[0] for loop in self.loops)

    @property
    def size(self) -> int:
        """Number of vectors of factors."""
        return prod(len(loop.factors) for loop in self.loops)


@dataclass(frozen=True, slots=True)
class Nest:
    """Statements that share all their loops; ``leader`` is the first.

    ``runs`` is how often the nest is entered (by loops around that it shares with others),
    ``around`` names these loops; ``orders`` are the legal orders, the present one first.
    """

    leader: str
    statements: tuple[str, ...]
    runs: float
    around: tuple[str, ...]
    orders: tuple[Order, ...]
    _hash: int = field(default=0, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        """Found once: what is known of nests, some of hundreds of orders, is kept by them."""
        if not self._hash:
            parts = self.leader, self.statements, self.runs, self.around, self.orders
            object.__setattr__(self, "_hash", hash(parts) or 1)
        return self._hash

    @property
    def arrays(self) -> frozenset[str]:
        """What it accesses."""
        return frozenset(use.array for use in self.orders[0].uses)

    def shares_units(self, order: Order) -> bool:
        """Whether copies may share units, so that an interval is worth asking for: where sums wait anyway,
        and where what is unrolled anyway may be too much. See `dse.strategies.ladder`.
        """
        return order.inside > 1 or self.waits

    def may_ask(self, order: Order) -> bool:
        """Whether intervals above 1 are worth asking for: where copies share units, where sums wait for themselves
        anyway, and where nothing but a memory's ports makes iterations wait. How long other recurrences wait is known
        less well.
        """
        sums = [carry.reduction for loop in order.loops for carry in loop.carries]
        return self.shares_units(order) or any(sums) or (not sums and order.waits_for_ports)

    @property
    def waits(self) -> bool:
        """Whether every order carries sums, which are trees, in its innermost loop, and nothing else."""
        plain = [order for order in self.orders if not order.skewed]
        trees = (c.tree for order in plain for loop in order.loops for c in loop.carries)
        return bool(plain) and not any(order.free for order in plain) and all(trees)

    @property
    def size(self) -> int:
        """Number of choices."""
        return sum(order.size for order in self.orders)
