"""Terms of what modules share: units, and the ports of banks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product

from qor_gnn.area.access_places import banks_of, fewer_banks
from qor_gnn.area.modules import OWN, Leaf
from qor_gnn.area.multiplexers import multiplexer
from qor_gnn.area.terms import Sums
from qor_gnn.body.graph import STORE
from qor_gnn.tools.operators import Operator

_READ, _WRITE = 2, 4  # multiplexers of a port: address and enable; and data and byte enable
_UNIT = 3  # of a unit: two operands and enable

SHARED_PORTS = ("shared_reads", "shared_writes")
"""Terms of ports that modules share: of those that are read, of those that are written."""

Bank = tuple[int, tuple[int, ...]]


def shared_ports(own: Sequence[Leaf], sums: Sums) -> None:
    """Banks that more than one module of a function uses."""
    if len({leaf.module for leaf in own}) < 2 and not any(
        leaf.body.prologue_loads or leaf.body.epilogue for leaf in own
    ):
        return
    for (_, store), modules in bank_users(own).items():
        if len(modules) > 1:
            sums.lut[SHARED_PORTS[store]] += shared_port(store, len(modules))


def shared_port(store: bool, modules: int) -> float:
    """LUTs of a bank's port that so many modules use."""
    return (_WRITE if store else _READ) * multiplexer(modules + 1)


def bank_users(own: Sequence[Leaf]) -> dict[tuple[Bank, bool], set[int]]:
    """The modules that read a bank, or store to it."""
    users: dict[tuple[Bank, bool], set[int]] = defaultdict(set)
    done: set[tuple[object, ...]] = set()
    for leaf in own:
        table, graph, module = leaf.body.addresses, leaf.body.graph, leaf.module
        fewer: dict[int, bool] = {}
        seen = [(graph.address[n], graph.kind[n] == STORE, module) for n in leaf.accesses()]
        seen += [(graph.address[n], False, OWN) for n in leaf.body.prologue_loads]
        seen += [(address, True, OWN) for address in leaf.body.epilogue]
        for address, store, at in dict.fromkeys(seen):
            memory = table.shapes[table.shape_of[address]].memory
            if table.memories[memory].in_registers:
                continue
            shape = table.shape_of[address]
            if shape not in fewer:
                fewer[shape] = fewer_banks(table, address, leaf.steps)
            where = table.consts[address] if fewer[shape] else ()
            if (key := (shape, table.residues[address], where, store, at)) not in done:
                done.add(key)
                for bank in product(*banks_of(table, address, leaf.steps)):
                    users[(memory, bank), store].add(at)
    return users


def top_ports(found: Sequence[Sequence[Leaf]], sums: Sums) -> None:
    """Banks that more than one function uses."""
    users: dict[tuple[str, bool], set[int]] = defaultdict(set)
    banks: dict[str, int] = {}
    for number, own in enumerate(found):
        for leaf in own:
            table, graph = leaf.body.addresses, leaf.body.graph
            shapes = {
                (table.shape_of[a], graph.kind[n] == STORE)
                for n, a in enumerate(graph.address)
                if a >= 0
            }
            shapes |= {(table.shape_of[a], True) for a in leaf.body.registers}
            for shape, store in shapes:
                memory = table.memories[table.shapes[shape].memory]
                users[memory.name, store].add(number)
                banks[memory.name] = memory.banks
    for (name, store), functions in users.items():
        if len(functions) > 1:
            term = "top_writes" if store else "top_reads"
            each = (_WRITE if store else _READ) * multiplexer(len(functions) + 1)
            sums.lut[term] += banks[name] * each


def units(most: Mapping[str, int], found: Sequence[Sequence[Leaf]], sums: Sums) -> None:
    """The units themselves, and the multiplexers in front of those that modules share.

    Args:
        most: units of each core that the design has.
        found: the bodies of each function.
        sums: where to add them.
    """
    operators: dict[str, Operator] = {}
    nests: dict[str, dict[object, list[int]]] = defaultdict(lambda: defaultdict(list))
    for own in found:
        for leaf in own:
            for operator in leaf.body.graph.operator:
                if operator is not None:
                    operators[operator.core] = operator
        home = {leaf.module: _chooses(leaf) for leaf in own}
        for core, counts in module_units(own).items():
            for module, n in counts.items():
                nests[core][home[module]].append(n)
    for core, n in most.items():
        sums.lut_fixed += n * operators[core].lut
        sums.ff_fixed += n * operators[core].ff
    for groups in nests.values():
        for several in (*groups.values(), [max(group) for group in groups.values()]):
            sums.lut["shared_units"] += shared_units(several)


def _chooses(leaf: Leaf) -> object:
    """What has a multiplexer of its own in front of units: a nest, whose modules that chooses among, or all.

    Copies of a loop that is unrolled completely are one nest.
    """
    if not leaf.body.personality.binding.nests_choose:
        return None
    return tuple([loop.iv for loop in (leaf.around[0] if leaf.around else leaf.region).loops])


def module_units(own: Sequence[Leaf]) -> dict[str, dict[int, int]]:
    """Units of each core that each module of a function uses."""
    modules: dict[str, dict[int, int]] = defaultdict(dict)
    for leaf in own:
        for core, n in leaf.units.items():
            counts = modules[core]
            counts[leaf.module] = max(n, counts.get(leaf.module, 0))
    return modules


def shared_units(counts: Iterable[int]) -> float:
    """LUTs in front of the units of a core of which modules use so many each."""
    total, order = 0.0, sorted(counts, reverse=True)
    for several, (n, fewer) in enumerate(pairwise([*order, 0]), start=1):
        if several > 1:
            total += (n - fewer) * _UNIT * multiplexer(several + 1)
    return total
