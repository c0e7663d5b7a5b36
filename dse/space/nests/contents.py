"""What the statements of a nest do: their accesses and operators, and how long these take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from dse.space.nests.look_ups import anywhere
from dse.space.nests.nest import ANY, Carry, Fabric, Inside, Operation, Use
from dsl.expressions.affine import Affine
from dsl.programs.program import Storage
from polyhedral.dependences.carried import Carried
from polyhedral.looptree.settled import settled_instance
from polyhedral.looptree.tree import Instance
from polyhedral.scop.scheduled import Piece, ScheduledScop
from qor_gnn.body.multiply_adds import within
from qor_gnn.design.from_tree import statement_of
from qor_gnn.design.region import Access, Statement
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.personality import Personality


def lowered(state: ScheduledScop, piece: Piece, short: bool = False) -> Statement:
    """The statement's operations, subscripts over the loops that it now runs in: over those of one iteration too
    where they are not left out (``short``), as they move nothing.
    """
    return statement_of(state.scop.program, _instance(piece, short), state.operators)


def _instance(piece: Piece, short: bool) -> Instance:
    """The statement in the loops that it now runs in."""
    ranges: dict[str, tuple[int, int]] = {}
    for k, dim in enumerate(piece.dims):
        low, high = piece.domain.dim_min_val(k), piece.domain.dim_max_val(k)
        if low.is_int() and high.is_int():
            ranges[dim.name] = (low.to_python(), high.to_python())
    bindings = piece.bindings
    if short:
        once = {name: Affine((), low) for name, (low, high) in ranges.items() if low == high}
        bindings = tuple((v, value.substitute(once)) for v, value in bindings)
    instance = Instance(piece.statement.stmt, bindings)
    return settled_instance(instance, ranges)


def accesses_in(statement: Statement) -> list[Access]:
    """What it writes, and then what it reads; a subscript that is data moves with all loops, in no way that
    banks could follow. Of what is updated where values tell, both are of one element.
    """
    loaded = [op.access for op in statement.ops if op.kind == "load" and op.access is not None]
    found = [statement.target, *loaded]
    if not statement.scatters and not any(op.gathers for op in statement.ops):
        return found
    accesses = [op.access for op in statement.ops if op.access is not None]
    subscripts = [e for a in (statement.target, *accesses) for e in a.indices if not e.is_data]
    moving = {v for e in subscripts for v in e.variables()}
    number = {a: n for n, a in reversed(list(enumerate(found)))}
    return [
        replace(
            a, indices=tuple(anywhere(moving, number[a]) if e.is_data else e for e in a.indices)
        )
        for a in found
    ]


def use_of(
    state: ScheduledScop,
    access: Access,
    updated: frozenset[str] | None,
    tool: Personality,
    placed: bool = False,
) -> Use:
    """An access, with the ports of the memory that it goes to.

    Args:
        state: the program.
        access: the array and its subscripts.
        updated: None for a read; of a write the loops around it where it is of an element that is read as well.
        tool: whose memories they are.
        placed: copies are in different banks, whatever is unrolled.
    """
    array = state.scop.program.array(access.memory)
    ports = tool.memories.ports(None, array.storage is Storage.ARGUMENT)
    each = (ANY, ANY, ANY) if placed else (ports.read, ports.write, ports.both)
    moved = {v for index in access.indices for v in index.variables()}
    updating = (updated or frozenset()) - moved
    return Use(access.memory, access.indices, updated is not None, array.shape, each, updating)


def uses_of(
    state: ScheduledScop,
    statements: Iterable[tuple[Piece, Statement]],
    tool: Personality,
    placed: Collection[str],
) -> tuple[Use, ...]:
    """What the statements of a nest access, each once; what is updated with the loops of all statements that do.

    Args:
        state: the program.
        statements: each with its piece.
        tool: that schedules them.
        placed: arrays whose elements are apart, whatever is unrolled.
    """
    found: dict[Use, frozenset[str]] = {}
    for piece, statement in statements:
        target, *read = accesses_in(statement)
        every = frozenset(piece.names) if target in read else frozenset[str]()
        for n, access in enumerate((target, *read)):
            if access.indices:
                updated = every if n == 0 else None
                use = use_of(state, access, updated, tool, access.memory in placed)
                alike = replace(use, updating=frozenset())
                found[alike] = found.get(alike, frozenset()) | use.updating
    return tuple(replace(use, updating=loops) for use, loops in found.items())


@dataclass(frozen=True, slots=True)
class Delays:
    """Of one statement, in states: its longest path of operators, that from what it accumulates
    into, and what passing through memory, or a register, adds; combinational operators take their
    part of a state. ``moving`` are the loops that its target moves with, ``logic`` says that it
    accumulates in a unit without DSP slices, ``integer`` that it is of integers alone, ``adds`` that
    sums are all there is from what it accumulates into on: a minimum makes no tree, nor do sums of many elements
    that are told by values. ``register`` is what
    passing through a register adds, which its target is where it is a local with a bank for each element.
    ``through_memory`` says that values tell its target: the next copy takes what this one has stored.
    """

    whole: float
    accumulating: float
    memory: int
    moving: frozenset[str]
    logic: bool = False
    integer: bool = False
    adds: bool = True
    register: int | None = None
    through_memory: bool = False


def delays_of(
    statement: Statement, tool: Personality, registers: frozenset[str], arrays: frozenset[str]
) -> Delays:
    """How long a statement takes.

    Args:
        statement: with its operations.
        tool: that schedules it.
        registers: locals whose values pass through no memory.
        arrays: locals that do, unless each of their elements has a bank.
    """
    whole: list[float] = []
    onto: list[float] = []
    logic, integer, adds = False, True, not statement.scatters
    for op in statement.ops:
        own = 0.0
        before = max((onto[k] for k in op.operands), default=-1.0)
        if op.computes:
            operator = tool.operator_of(op)
            own = operator.distance or operator.delay / tool.usable_ns
            integer &= operator.integer
            adds &= before < 0 or op.kind in ("add", "sub")
            logic |= before >= 0 and operator.shared and not operator.dsp
        whole.append(max((whole[k] for k in op.operands), default=0.0) + own)
        started = op.access == statement.target
        onto.append(0.0 if started else before + own if before >= 0 else -1.0)
    moving = frozenset(v for index in statement.target.indices for v in index.variables())
    memory = tool.recurrences.memory
    if statement.target.memory in registers:
        memory = -tool.recurrences.closing
    fixed = statement.target.memory in arrays and not statement.scatters
    register = -tool.recurrences.closing if fixed else None
    if not whole:
        return Delays(0, 0, memory, moving)
    accumulating = onto[-1] if onto[-1] >= 0 else whole[-1]
    return Delays(
        whole[-1], accumulating, memory, moving, logic, integer, adds, register, statement.scatters
    )


def carry_of(found: Carried, delays: Mapping[str, Delays], trees: bool, leaves: bool) -> Carry:
    """What a loop hands on, in states."""
    source, sink = delays[found.source], delays[found.sink]
    if found.reduction:
        around = max(0.0, sink.accumulating + sink.memory)
        more = around if sink.through_memory else sink.accumulating
        tree = sink.adds and (trees or sink.integer)
        kept = None if sink.register is None else max(0.0, sink.accumulating + sink.register)
        return Carry(
            found.distance,
            around,
            more,
            tree,
            leaves,
            sink.moving,
            sink.logic,
            found.flow,
            kept,
            reduction=True,
            anywhere=sink.through_memory,
        )
    most = max(source.whole, sink.whole)
    return Carry(found.distance, max(0.0, most + sink.memory), most, flow=found.flow)


def operations_of(
    statements: Sequence[Statement],
    tool: Personality,
    loops: Sequence[frozenset[str]],
    inside: Sequence[Inside],
    logic: float = 0.0,
) -> Iterator[Operation]:
    """The operators of a nest that take DSP slices, or else LUTs, of which ``logic`` count as a slice.

    Args:
        statements: of the nest, in their order.
        tool: whose operators they are.
        loops: of each statement.
        inside: of each those inside the band.
        logic: LUTs; 0 where they are not planned with.
    """
    for n, operator, mine in _once(statements, tool, loops):
        share = inside[n].share_of(mine)
        if operator.dsp:
            yield Operation(operator.core, operator.dsp, mine, _shared_from(operator, tool), share)
        elif logic and operator.lut and not operator.registered:
            yield Operation(operator.core, operator.lut / logic, mine, inf, share)


def fabric_of(
    statements: Sequence[Statement],
    tool: Personality,
    loops: Sequence[frozenset[str]],
    inside: Sequence[Inside],
) -> Iterator[Fabric]:
    """What the operators of a nest take of the fabric, and what chooses between what is accumulated and what was there.

    Args:
        statements: of the nest, in their order.
        tool: whose operators they are.
        loops: of each statement.
        inside: of each those inside the band.
    """
    for n, operator, mine in _once(statements, tool, loops):
        if operator.lut:
            share = inside[n].share_of(mine)
            yield Fabric(operator.core, operator.lut, mine, operator.shared, share=share)
    for statement, every, inner in zip(statements, loops, inside, strict=True):
        target, *loaded = accesses_in(statement)
        if statement.ops and target in loaded:
            result = statement.ops[-1]
            chosen = tool.operator("select", result.type, result.width)
            share = inner.share_of(every)
            yield Fabric(chosen.core, chosen.lut, every, shared=False, guard=True, share=share)


def _once(
    statements: Sequence[Statement], tool: Personality, loops: Sequence[frozenset[str]]
) -> Iterator[tuple[int, Operator, frozenset[str]]]:
    """The operators of a nest, each with the number of its statement and the loops that it changes with: what computes
    the same of the same values is there once. What is loaded of an array that the nest writes moves with all loops.
    """
    written = {s.target.memory for s in statements}
    stores: Counter[str] = Counter()
    known: set[object] = set()
    for n, (statement, every) in enumerate(zip(statements, loops, strict=True)):
        operators = iter(tuple(_operators(statement, tool, written, every)))
        values: list[object] = []
        for op in statement.ops:
            version = stores[op.access.memory] if op.access is not None else 0
            operands = tuple([values[k] for k in op.operands])
            value = hash((op.kind, op.type, op.width, op.value, op.access, version, operands))
            values.append(value)
            if not op.computes:
                continue
            operator, mine = next(operators)
            if value not in known:
                yield n, operator, mine
            known.add(value)
        stores[statement.target.memory] += 1


def _operators(
    statement: Statement, tool: Personality, written: set[str], every: frozenset[str]
) -> Iterator[tuple[Operator, frozenset[str]]]:
    """The operators, each with the loops that it changes with."""
    loops: list[frozenset[str]] = []
    in_slices = within(statement, tool)
    for n, op in enumerate(statement.ops):
        mine: set[str] = set()
        for k in op.operands:
            mine |= loops[k]
        if op.access is not None:
            mine |= {v for index in op.access.indices for v in index.variables()}
            if op.access.memory in written:
                mine |= every
        loops.append(frozenset(mine))
        if op.computes:
            operator = tool.operator_of(op)
            # One that is in slices anyway has as many, and its sum.
            yield operator if operator.dsp else in_slices.get(n, operator), loops[-1]


def all_logic(state: ScheduledScop, tool: Personality) -> bool:
    """Whether no operator of a program takes a DSP slice."""
    return not any(
        tool.operator_of(op).dsp
        for piece in state.pieces
        for op in lowered(state, piece).ops
        if op.computes
    )


def _shared_from(operator: Operator, tool: Personality) -> float:
    """See `Operation`: pipelines of the open backend that start every cycle have units of their own."""
    if operator.alone:
        return inf
    return 2 if tool.is_open else 1
