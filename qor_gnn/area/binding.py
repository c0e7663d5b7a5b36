"""How many units of each core a design has: operations share units as the tool shares them.

Regions never run at the same time, so a design has the most units that any of its regions needs.
Pipelines have their units from the schedule. A sequential body has as many as start in one state,
unless it is a reduction: there the tool holds back the terms that the chain cannot take yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from qor_gnn.body.body import Body, only_multiplexed, shares_unseen
from qor_gnn.body.graph import LOAD
from qor_gnn.body.longest_paths import register_paths
from qor_gnn.body.ports import at_once
from qor_gnn.design.region import READ_FROM_COPIES
from qor_gnn.schedule.alap import alap_times, waits_for_use
from qor_gnn.schedule.bank_switches import switch_stores
from qor_gnn.schedule.list_schedule import Times
from qor_gnn.schedule.pipeline import concurrency, operations
from qor_gnn.schedule.prologue import states_before
from qor_gnn.schedule.regions import Region

_WINDOW = 3  # terms that are issued together, besides one for each level of operators of a term
_FEW_TERMS = 8


def units_of(regions: Sequence[Region]) -> dict[str, int]:
    """Units of each core, shared by all regions and what is inside them."""
    most: dict[str, int] = {}
    stage: dict[str, int] = {}  # of the regions that run at the same time
    before: dict[str, int] = {}  # of what runs in front of the last of them, beside the next
    for position, region in enumerate(regions):
        own = region_units(region) if region.kind != "process" else units_of(region.children)
        if (
            region.body is not None
            and region.body.personality.composition.blocks == "raised"
            and (_overlaps_calls(regions, position))
        ):
            own = _sum(own, region_units(regions[position + 1]))
        if region.beside:
            stage = _sum(_sum(stage, own), before)
            before = hoisted_units(region)
        elif region.kind != "block" or region.latency:
            stage, before = own, hoisted_units(region)
        for core, n in (*own.items(), *stage.items(), *units_of(region.children).items()):
            most[core] = max(most.get(core, 0), n)
    return most


def _overlaps_calls(regions: Sequence[Region], position: int) -> bool:
    """A block in front of a pipeline that moves above the pipeline before it, and runs with it."""
    if regions[position].kind != "block" or not 0 < position < len(regions) - 1:
        return False
    return regions[position - 1].kind == regions[position + 1].kind == "pipeline"


def _sum(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    return {core: a.get(core, 0) + b.get(core, 0) for core in (*a, *b)}


def region_units(region: Region) -> dict[str, int]:
    """Units that one region needs by itself."""
    body, times = region.body, region.times
    if body is None or times is None:
        return {}
    match region.kind:
        case "pipeline":
            assert region.pipeline is not None
            found = dict(region.pipeline.units)
        case _ if waits_for_use(body):
            found = concurrency(body, alap_times(body, times))
            for core, n in _fed_at_once(body).items():
                found[core] = max(n, found.get(core, 0))
        case "sequential":
            found = _sequential(body, times)
        case _:
            found = concurrency(body, times)
    for core, n in hoisted_units(region).items():
        found[core] = max(n, found.get(core, 0))
    return found


def _fed_at_once(body: Body) -> dict[str, int]:
    """Operations of each core that the loads of one state feed, where copies follow each other in order
    and an array is read from copies of its own.
    """
    graph, table = body.graph, body.addresses
    if not body.in_order:
        return {}
    found: dict[str, int] = {}
    for n in body.nodes:
        if graph.kind[n] != LOAD or table.memory(graph.address[n]).storage != READ_FROM_COPIES:
            continue
        memory = table.shape(graph.address[n]).memory
        fed = Counter(_core(body, m) for m in graph.users()[n])
        for core in fed.keys() - {""}:
            at = fed[core] * at_once(graph, memory, LOAD, body.personality)
            found[core] = max(at, found.get(core, 0))
    return found


def hoisted_units(region: Region) -> dict[str, int]:
    """Units of what runs in front of a loop: one of each core, if it can start all operations there,
    one in each state that loads and arithmetic take.
    """
    body = region.body
    if body is None:
        return {}
    operators = (body.graph.operator[n] for n in body.hoisted)
    count = Counter(o.core for o in operators if o is not None and o.shared)
    states = max(1, states_before(body)) if count else 1
    return {core: -(-n // states) for core, n in count.items()}


def _sequential(body: Body, times: Times) -> dict[str, int]:
    found = concurrency(body, times)
    switches = switch_stores(body)
    chains = register_paths(body)
    multiplexed = any(only_multiplexed(body, n) for n in body.nodes if body.graph.kind[n] == LOAD)
    if not chains and body.personality.accesses.sequential == "alap":
        return found  # banks are unknown: else it `waits`
    if not chains:
        if len(switches) > 1:
            return _switched(body, found, len(switches))
        return _sums_of_two(body, times, found)
    if multiplexed:
        return found
    held = _Reduction(body, times, found).units()
    if body.personality.accesses.sequential == "alap":
        return {core: min(n, found.get(core, n)) for core, n in held.items()}
    return held


def _switched(body: Body, found: dict[str, int], count: int) -> dict[str, int]:
    """Stores that are switches, all else in one block: the operations before the last overlap."""
    address = next(iter(body.store_value))
    if shares_unseen(body, address):
        return found
    return {core: max(n, 1, count - 1) for core, n in found.items()}


# ------------------------------------------------------------------------------------- reductions


@dataclass(slots=True)
class _Reduction:
    """A body that carries accumulators from one iteration to the next."""

    body: Body
    times: Times
    concurrent: dict[str, int]

    def units(self) -> dict[str, int]:
        """Units of the chains' core and of those that make the terms."""
        body, total = self.body, operations(self.body)
        chains = register_paths(body)
        cores = {_core(body, n) for _, _, path in chains for n in path}
        terms = max(1, sum(len(path) for _, _, path in chains) // len(chains))
        found = {}
        for core, count in total.items():
            if core in cores:
                outside = count - terms * len(chains)
                found[core] = self._chain_units(len(chains), terms, outside, cores)
            else:
                found[core] = self._term_units(core, count, len(chains), terms)
        return found

    def _chain_units(self, chains: int, terms: int, outside: int, cores: set[str]) -> int:
        """One a chain, and one for each term in the window where a term is a sum itself."""
        levels = max((self._levels(c) for c in operations(self.body) if c not in cores), default=1)
        if outside <= 0 or (levels == 1 and chains == 1):
            return chains  # a chain leaves its unit free in most states
        window = self._window(levels, chains)
        issued = min(window, terms) + (1 if terms > window else 0)
        return max(chains, issued * max(1, outside // terms))

    def _term_units(self, core: str, count: int, chains: int, terms: int) -> int:
        levels = self._levels(core)
        window = self._window(levels, chains)
        parallel = max(1, count // max(1, terms * chains) // max(1, levels))
        if levels == 1 and chains == 1:
            return self._at_rate(core, count, terms, window)
        if terms <= window and chains == 1:
            return self.concurrent.get(core, 1)
        return min(count, min(window, terms) * parallel * chains)

    def _at_rate(self, core: str, count: int, terms: int, window: int) -> int:
        """One chain of plain products: their loads may come slower than the window."""
        rate = self._rate(terms)
        if rate == 1:
            return 1
        if rate == 2:
            switched = self._always_switched()
            few = terms <= _FEW_TERMS and (not switched or self._limited_are_switched(terms))
            return min(3, count) if few else 2
        return min(count, window, terms, rate or terms)

    def _window(self, levels: int, chains: int) -> int:
        window = _WINDOW + levels + (1 if self._always_switched() else 0)
        return -(-window // chains)

    def _loads(self) -> list[int]:
        graph = self.body.graph
        return [n for n in self.body.nodes if graph.kind[n] == LOAD]

    def _memory(self, load: int) -> int:
        return self.body.addresses.shape(self.body.graph.address[load]).memory

    def _switched(self, load: int) -> bool:
        """Its bank is only known at run time."""
        return not self.body.addresses.shape(self.body.graph.address[load]).known_bank

    def _always_switched(self) -> bool:
        """Of some memory every load passes a multiplexer of banks."""
        plain: set[int] = set()
        switched: set[int] = set()
        for load in self._loads():
            (switched if self._switched(load) else plain).add(self._memory(load))
        return bool(switched - plain)

    def _first_state(self) -> tuple[Counter[int], Counter[int]]:
        """Loads of each memory in the first state, and in all."""
        first: Counter[int] = Counter()
        total: Counter[int] = Counter()
        for load in self._loads():
            total[self._memory(load)] += 1
            first[self._memory(load)] += self.times.start[load] == 0
        return first, total

    def _rate(self, terms: int) -> int | None:
        """Terms a cycle that the ports of the slowest memory let through; None: all."""
        first, total = self._first_state()
        return min((first[m] for m in total if first[m] < min(total[m], terms)), default=None)

    def _limited_are_switched(self, terms: int) -> bool:
        first, total = self._first_state()
        return all(
            self._switched(n)
            for n in self._loads()
            if first[self._memory(n)] < total[self._memory(n)]
        )

    def _levels(self, core: str) -> int:
        """The most operations of a core one after the other in a term."""
        body, graph = self.body, self.body.graph
        level: dict[int, int] = {}
        most = 0
        for n in body.nodes:
            below = max((level.get(d, 0) for d in graph.deps[n]), default=0)
            mine = _core(body, n) == core
            level[n] = below + 1 if mine else below
            if mine:
                most = max(most, level[n])
        return most


def _core(body: Body, node: int) -> str:
    """The kind of unit of an operation; empty where it needs none."""
    operator = body.graph.operator[node]
    return operator.core if operator is not None and operator.shared else ""


# ----------------------------------------------------------------------------------- other bodies


def _sums_of_two(body: Body, times: Times, found: dict[str, int]) -> dict[str, int]:
    """Sums of two results of one core whose loads come at different rates: the faster waits."""
    graph = body.graph
    for n in body.nodes:
        core = _core(body, n)
        operands = graph.deps[n]
        if len(operands) != 2 or not core:
            continue
        below = {_core(body, d) for d in operands}
        if len(below) != 1 or below & {"", core}:
            continue
        (other,) = below
        first, second = (_first_load(body, d) for d in operands)
        if first is None or second is None or first not in times.start:
            return found
        one, two = _peak(body, times, first), _peak(body, times, second)
        if one < two:
            return {**found, other: 2 * found[core]}
        if one > two:
            return {**found, other: min(found[other], 2 * found[core] + 2)}
        return found
    return found


def _first_load(body: Body, node: int) -> int | None:
    return next((d for d in body.graph.deps[node] if body.graph.kind[d] == LOAD), None)


def _peak(body: Body, times: Times, load: int) -> int:
    """The most loads of a load's memory that start in one state."""
    graph, table = body.graph, body.addresses
    memory = table.shape(graph.address[load]).memory
    found: Counter[int] = Counter()
    for n in body.nodes:
        if graph.kind[n] == LOAD and table.shape(graph.address[n]).memory == memory:
            found[times.start[n]] += 1
    return max(found.values(), default=0)
