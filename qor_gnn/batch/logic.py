"""LUTs and flip-flops of one part of a design: its own, and what it may share with other parts.

A part is a top-level nest with the statements before it. Most terms of `qor_gnn.area.resources` belong
to one body. What bodies of several parts have in common is here as `Share`s: registers, operand
multiplexers and ports of the function's own bodies, ports of banks and units that modules share.
What shares of one thing cost together, `together` says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from qor_gnn.area.binding import units_of
from qor_gnn.area.control import kept_out, loop_control, states_of
from qor_gnn.area.logic import (
    accesses_of,
    bank_uses,
    logic,
    module_logic,
    operand_slots,
    port_multiplexers,
    port_uses,
)
from qor_gnn.area.modules import OWN, Leaf, called_pipelines, leaves
from qor_gnn.area.multiplexers import multiplexer
from qor_gnn.area.registers import Pools, registers
from qor_gnn.area.resources import Coefficients, terms_of
from qor_gnn.area.sharing import (
    SHARED_PORTS,
    bank_users,
    module_units,
    shared_port,
    shared_units,
)
from qor_gnn.area.terms import Sums
from qor_gnn.schedule.regions import Region

Kind = Literal["registers", "operands", "ports", "banks", "units"]
Amounts = frozenset[tuple[Any, float]]
"""How much a part has of each thing; what the things are depends on the kind of share."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What parts may share.

    Attributes:
        kind: registers of one source; operands of one core; ports of one memory in the function's
            own bodies; banks of one memory in all modules; units of one core.
        what: of which term and source, core, memory.
    """

    kind: Kind
    what: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PartLogic:
    """What logic a part has.

    Attributes:
        lut, ff: what it shares with no other part.
        states: of the function's state machine, without those in front of its regions.
        pipelines: how many it has.
        straight: bodies that belong to the function itself.
        alone: LUTs more where its body is the only one of the function itself.
        shared: how much it has of what other parts may have too.
    """

    lut: float
    ff: float
    states: int
    pipelines: int
    straight: int
    alone: float
    shared: tuple[tuple[Shared, Amounts], ...]


def part_logic(regions: Sequence[Region], costs: Coefficients) -> PartLogic:
    """The logic of one part of several.

    Args:
        regions: of the part.
        costs: of the terms.
    """
    bodies = leaves(regions, among_others=True)
    sums = Sums()
    pools: Pools = {}
    for leaf in bodies:
        registers(leaf, sums, pools)
        kept_out(leaf, sums, pools)
        logic(leaf, sums)
        if leaf.module != OWN:
            module_logic([leaf], sums)
    loop_control(regions, bodies, sums)
    own = [leaf for leaf in bodies if leaf.module == OWN]
    found = _registers(pools, sums) | _operands(own) | _ports(own) | _banks(bodies) | _units(bodies)
    alone = 0.0
    if len(own) == 1:
        alone = _port_luts(port_uses(own[0]), costs) - _port_luts(
            bank_uses(accesses_of(own)), costs
        )
    return PartLogic(
        *totals(sums, costs),
        sum(states_of(r) - r.prologue for r in regions),
        called_pipelines(bodies),
        len(own),
        alone,
        tuple((shared, frozenset(amounts.items())) for shared, amounts in found.items()),
    )


def whole_logic(regions: Sequence[Region], costs: Coefficients) -> PartLogic:
    """The logic of a part that is all of a design: everything is its own."""
    lut, ff = totals(terms_of([regions], units_of(regions)), costs)
    return PartLogic(lut, ff, 0, 0, 0, 0.0, ())


def totals(sums: Sums, costs: Coefficients) -> tuple[float, float]:
    """LUTs and flip-flops, not rounded."""
    lut = sum(n * costs.lut.get(name, 0.0) for name, n in sums.lut.items())
    ff = sum(n * costs.ff.get(name, 0.0) for name, n in sums.ff.items())
    return sums.lut_fixed + lut, sums.ff_fixed + ff


# ------------------------------------------------------------------------------ what a part shares

Found = dict[Shared, dict[Any, float]]


def _registers(pools: Pools, sums: Sums) -> Found:
    """By term and source: of each bank class, or of the source. Pipelines share none of theirs."""
    found: Found = defaultdict(dict)
    for (name, *place), amount in pools.items():
        if place and place[0] != OWN:
            sums.ff[str(name)] += amount
        elif amount:
            found[Shared("registers", (name, *place[1:2]))][tuple(place[2:])] = amount
    return found


def _operands(own: Sequence[Leaf]) -> Found:
    """By core: 1 of each register that an operand comes from, and how many come from no register."""
    found: Found = defaultdict(dict)
    for leaf in own:
        free: set[tuple[object, int]] = set()
        for slot, source in operand_slots(leaf):
            here = found[Shared("operands", (slot[0],))]
            if source in leaf.register:
                here[slot, leaf.register[source]] = 1
            elif (slot, source) not in free:
                free.add((slot, source))
                here[slot, None] = here.get((slot, None), 0) + 1
    return found


def _ports(own: Sequence[Leaf]) -> Found:
    """By memory: accesses of each kind, by what is known of their bank."""
    found: Found = defaultdict(dict)
    for (memory, kind, residues), count in accesses_of(own).items():
        found[Shared("ports", (memory,))][kind, residues] = count
    return found


def _banks(bodies: Sequence[Leaf]) -> Found:
    """By memory and direction: how many pipelines use a bank, and 1 where the function itself does."""
    found: Found = defaultdict(dict)
    for ((memory, bank), store), modules in bank_users(bodies).items():
        here = found[Shared("banks", (memory, store))]
        if pipelines := len(modules - {OWN}):
            here[bank, "pipelines"] = pipelines
        if OWN in modules:
            here[bank, "function"] = 1
    return found


def _units(bodies: Sequence[Leaf]) -> Found:
    """By core: the units of each pipeline, most first, and those of the function itself."""
    found: Found = {}
    for core, modules in module_units(bodies).items():
        counts = sorted((n for at, n in modules.items() if at != OWN), reverse=True)
        here: dict[Any, float] = dict(enumerate(counts))
        if OWN in modules:
            here["function"] = modules[OWN]
        found[Shared("units", (core,))] = here
    return found


# ------------------------------------------------------------------------------- what shares cost


def together(shared: Shared, had: Sequence[Amounts], costs: Coefficients) -> tuple[float, float]:
    """LUTs and flip-flops of what some parts have of one thing."""
    match shared.kind:
        case "registers":
            most = _most(had)
            return 0.0, costs.ff.get(shared.what[0], 0.0) * sum(most.values())
        case "operands":
            return costs.lut["operands"] * _operand_luts(had), 0.0
        case "ports":
            (memory,) = shared.what
            seen = Counter[Any]()
            for amounts in had:
                for (kind, residues), count in amounts:
                    seen[memory, kind, residues] += int(count)
            return _port_luts(bank_uses(seen), costs), 0.0
        case "banks":
            store = shared.what[1]
            return costs.lut[SHARED_PORTS[store]] * _bank_luts(store, had), 0.0
        case "units":
            return costs.lut["shared_units"] * _unit_luts(had), 0.0
        case _:
            assert_never(shared.kind)


def _most(had: Iterable[Amounts]) -> dict[Any, float]:
    most: dict[Any, float] = {}
    for amounts in had:
        for thing, amount in amounts:
            if amount > most.get(thing, 0.0):
                most[thing] = amount
    return most


def _operand_luts(had: Sequence[Amounts]) -> float:
    """A register is one input however many parts take it; what is in none is one each time."""
    sources: dict[Any, set[Any]] = defaultdict(set)
    free: Counter[Any] = Counter()
    for amounts in had:
        for (slot, source), count in amounts:
            if source is None:
                free[slot] += int(count)
            else:
                sources[slot].add(source)
    inputs = {slot: len(sources.get(slot, ())) + free[slot] for slot in {*sources, *free}}
    return sum(multiplexer(count + 1) for count in inputs.values() if count > 1)


def _port_luts(uses: Mapping[tuple[str, object], int], costs: Coefficients) -> float:
    return sum(costs.lut[name] * amount for name, amount in port_multiplexers(uses))


def _bank_luts(store: bool, had: Sequence[Amounts]) -> float:
    modules: Counter[Any] = Counter()
    function = set()
    for amounts in had:
        for (bank, whose), count in amounts:
            if whose == "function":
                function.add(bank)
            else:
                modules[bank] += int(count)
    modules.update(function)
    return sum(shared_port(store, n) for n in modules.values() if n > 1)


def _unit_luts(had: Sequence[Amounts]) -> float:
    own = _most([frozenset(a for a in amounts if a[0] == "function") for amounts in had])
    counts = [int(n) for amounts in had for whose, n in amounts if whose != "function"]
    return shared_units([*counts, *(int(n) for n in own.values())])
