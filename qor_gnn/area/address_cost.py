"""DSP slices of a body's addresses: products with the lengths of rows, divisions by banks.

With a policy of divisions (docs/lab/u200.md, 7e) an index of few bits is
multiplied in logic, a wider one takes a slice, for each place that it is multiplied or divided at.
Modules share none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qor_gnn.body.bank_divisions import divided_along, neighbours, switched_stores, wide
from qor_gnn.body.body import Body
from qor_gnn.memory.addresses import Terms
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.policies.indices import IndexDivision


def address_dsp(body: Body) -> int:
    """DSP slices that the addresses of a body take."""
    row_dsp, policy = body.personality.indices.row_dsp, body.personality.division
    if policy is None:
        return body.row_slices
    used = {body.graph.address[n] for n in body.nodes if body.graph.address[n] >= 0}
    if body.linear:
        return 0
    wide = sum(policy.in_slices(one.extent) for one in divisions(body, policy) if not one.rest)
    return row_dsp * _rows(body, used, policy) + policy.dsp * wide


def _rows(body: Body, used: set[int], policy: IndexDivision) -> int:
    """Products of a row's number with its length in a flattened nest.

    The innermost counter steps evenly, so that one of the rows that it runs through takes none,
    unless it has to be divided first.
    """
    if len(body.variables) < 2:
        return 0
    table, moving = body.addresses, set(body.variables)
    found: dict[tuple[Terms, int, int], set[int]] = defaultdict(set)
    for a in used:
        shape, memory = table.shape(a), table.memory(a)
        if memory.in_registers:
            continue
        words = 1
        for d in reversed(range(len(memory.shape))):
            factor = memory.splits[d].factor
            terms = tuple(t for t in shape.terms[d] if t[0] in moving)
            if terms and words & (words - 1) and policy.in_slices(memory.shape[d]):
                found[terms, words, factor].add(table.consts[a][d] // factor)
            words *= -(-memory.shape[d] // factor)
    inner = {body.variables[-1]}
    return sum(
        len(rows) - (factor == 1 and {t for t, _ in terms} == inner)
        for (terms, _, factor), rows in found.items()
    )


@dataclass(frozen=True, slots=True)
class Division:
    """A subscript that is divided by a number of banks.

    Attributes:
        terms: what moves of it; ``place`` what is added to that, or where in the bank that is.
        factor: the banks; ``extent`` of the dimension.
        wide: the tool knows no bound of it.
        rest: multiples of the number of banks move besides, so that what is left to divide is narrow.
    """

    terms: Terms
    place: int
    factor: int
    extent: int
    wide: bool = False
    rest: bool = False


def divisions(body: Body, policy: IndexDivision) -> set[Division]:
    """Divisions of subscripts by numbers of banks that are no powers of two.

    Where the bank is known, subscripts in the same place of it have one quotient. A counter that
    takes every element in turn, in a loop by itself, is divided by counting, unless it is so narrow
    that logic divides it, and so are neighbours, unless a store is a switch over banks. Of
    subscripts without a bound one is divided.
    """
    table = body.addresses
    found: set[Division] = set()
    alone = len(body.variables) == 1
    along = neighbours(body.graph, body.nodes, body.variables)
    stores = switched_stores(body.graph, body.nodes, along)
    counted = {body.graph.address[n] for n in along}
    if stores and wide(body.graph, stores):
        address = body.graph.address[stores[0]]
        memory, d = table.memory(address), divided_along(body.graph, stores[0]) or 0
        one = table.shape(address).terms[d]
        return {Division(one, 0, memory.splits[d].factor, memory.shape[d], wide=True)}
    for a in {body.graph.address[n] for n in body.nodes if body.graph.address[n] >= 0}:
        shape, consts = table.shape(a), table.consts[a]
        memory = table.memory(a)
        for d, split in enumerate(memory.splits):
            factor, terms = split.factor, shape.terms[d]
            if not terms or split.kind != "cyclic" or factor >= memory.shape[d]:
                continue
            if not factor & (factor - 1):
                continue
            steps = (
                alone and terms == ((body.variables[0], 1),) and policy.in_slices(memory.shape[d])
            )
            if alone and (shape.resolved[d] or (not stores and (steps or a in counted))):
                continue
            rest = any(c % factor == 0 for _, c in terms) and not shape.resolved[d]
            place = consts[d] // factor if shape.resolved[d] else consts[d]
            found.add(Division(terms, place, factor, memory.shape[d], rest=rest))
    return found


def exits_dsp(regions: Sequence[Region]) -> int:
    """DSP slices of divisions behind exits: loops share them."""
    return max((max(_exit_dsp(r), exits_dsp(r.children)) for r in regions), default=0)


def _exit_dsp(region: Region) -> int:
    """Of the copies of a loop around others, those behind the exit that it may end at.

    There the tool does not know how large the counter is: an index that is divided by a number of
    banks, and that no copy in front of the exit has divided, has all of its bits.
    """
    bodies = [r.body for r in region.children if r.body is not None]
    loop = region.loops[-1] if region.loops else None
    if loop is None or not bodies or region.kind != "nest":
        return 0
    if (policy := bodies[0].personality.division) is None:
        return 0
    copies, inside = loop.factor, loop.trips.maximum % loop.factor
    if not inside or len(bodies) % copies:
        return 0
    each = len(bodies) // copies
    known, new = (
        {d for body in some for d in _divided(body, loop.iv)}
        for some in (bodies[: each * inside], bodies[each * inside :])
    )
    return policy.exit_dsp * len(new - known)


def _divided(body: Body, counter: str) -> Iterator[tuple[Terms, int, int]]:
    """Subscripts with a counter that are divided by a number of banks."""
    table = body.addresses
    for a in {a for a in body.graph.address if a >= 0}:
        memory, shape = table.memory(a), table.shape(a)
        for d, split in enumerate(memory.splits):
            if split.factor >= memory.shape[d] or not split.factor & (split.factor - 1):
                continue
            if any(atom == counter for atom, _ in shape.terms[d]):
                yield shape.terms[d], table.consts[a][d], split.factor
