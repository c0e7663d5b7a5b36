"""FIFO dataflow designs of the U280 data: what Stream-HLS made of PolyBench, read off the reports.

The reports give no source. Of each process (``node0``, ``node1``, …) they say its trip count, its
operators and its ports, and that determines its tiles: `shared_tiles` tries all factors, and few
fit. What a process computes follows from the kernel; which arrays are FIFOs from the kinds of its
ports; where sums are added in logic from its operators. `u280_flow_program` writes that down.

Two things cannot be read off. The depths of the FIFOs: here they hold all words, so that nothing
waits for room. The order of the loops: of those whose streams are legal, with the sum innermost
where the interval says that it is, `ORDERS` has the one that the model finds fastest (as Stream-HLS
chose by a model of its own); the labels were not looked at for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod
from pathlib import Path

from qor_gnn.fit.labelled import u280
from qor_gnn.fit.labelled.u280 import DesignRow, LoopRow

TOOL = "streamhls"
INNERMOST = 4  # the interval of a sum that each iteration adds to

Indices = str
"""The loops that index an array, a letter each."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An array and the loops that index it."""

    array: str
    loops: Indices


@dataclass(frozen=True, slots=True)
class Node:
    """A process: ``out[loops] = sum over total of the product of the operands``.

    Without ``total`` it is ``out = first`` of one operand, ``alpha * first + beta * second`` of two.
    """

    name: str
    out: Operand
    operands: tuple[Operand, ...]
    total: str = ""

    @property
    def loops(self) -> Indices:
        """All its loops."""
        return self.out.loops + self.total


def _node(name: str, out: str, operands: str, total: str = "") -> Node:
    """``_node("node2", "v:ij", "A:ik B:kj", "k")``."""
    found = [Operand(*text.split(":")) for text in (out, *operands.split())]
    return Node(name, found[0], tuple(found[1:]), total)


# The processes in the order in which data flows, and the extents of the loops.
KERNELS: Mapping[str, tuple[Mapping[str, int], tuple[Node, ...]]] = {
    "gemm": (
        {"i": 200, "j": 220, "k": 240},
        (
            _node("node2", "v:ij", "A:ik B:kj", "k"),
            _node("node1", "w:ij", "v:ij C:ij"),
            _node("node0", "out:ij", "w:ij"),
        ),
    ),
    "2mm": (
        {"i": 180, "j": 190, "k": 210, "l": 220},
        (
            _node("node3", "tmp:ij", "A:ik B:kj", "k"),
            _node("node2", "v:il", "tmp:ij C:jl", "j"),
            _node("node1", "w:il", "v:il D:il"),
            _node("node0", "out:il", "w:il"),
        ),
    ),
    "3mm": (
        {"i": 180, "j": 190, "k": 200, "l": 210, "m": 220},
        (
            _node("node3", "E:ij", "A:ik B:kj", "k"),
            _node("node2", "F:jl", "C:jm D:ml", "m"),
            _node("node1", "G:il", "E:ij F:jl", "j"),
            _node("node0", "out:il", "G:il"),
        ),
    ),
    "atax": (
        {"i": 390, "j": 410},
        (
            _node("node3", "tmp:i", "A:ij x:j", "j"),
            _node("node2", "copy:ij", "A:ij"),
            _node("node1", "y:j", "copy:ij tmp:i", "i"),
            _node("node0", "out:j", "y:j"),
        ),
    ),
    "bicg": (
        {"i": 410, "j": 390},
        (
            _node("node3", "s:j", "A:ij r:i", "i"),
            _node("node2", "q:i", "A:ij p:j", "j"),
            _node("node1", "out1:j", "s:j"),
            _node("node0", "out0:i", "q:i"),
        ),
    ),
    "gesummv": (
        {"i": 250, "j": 250},
        (
            _node("node3", "tmp:i", "A:ij x:j", "j"),
            _node("node2", "y:i", "B:ij x:j", "j"),
            _node("node1", "w:i", "tmp:i y:i"),
            _node("node0", "out:i", "w:i"),
        ),
    ),
    "mvt": (
        {"i": 400, "j": 400},
        (
            _node("node4", "s:i", "A:ij y1:j", "j"),
            _node("node3", "copy:ij", "A:ij"),
            _node("node2", "q:j", "copy:ij y2:i", "i"),
            _node("node1", "out1:i", "s:i"),
            _node("node0", "out0:j", "q:j"),
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """How a process runs: its loops from the outermost, how much of each is unrolled, and whether
    its sums are added in logic.
    """

    order: Indices
    tile: Mapping[str, int]
    fabric: bool = False


def tiles_of(node: Node, row: LoopRow, extents: Mapping[str, int]) -> list[dict[str, int]]:
    """Every tile of a process that has its trip count, its products and its ports."""
    loops = node.loops
    divisors = [[d for d in range(1, extents[x] + 1) if extents[x] % d == 0] for x in loops]
    reads = row.mem_rd_ports + row.fifo_rd_ports
    found = []
    for factors in product(*divisors):
        tile = dict(zip(loops, factors, strict=True))
        if prod(extents[x] // tile[x] for x in loops) != row.trip_count:
            continue
        writes = prod(tile[x] for x in node.out.loops)
        if row.fifo_wr_ports and row.fifo_wr_ports != writes:
            continue
        if node.total and reads:
            sizes = [prod(tile[x] for x in o.loops) for o in node.operands]
            if reads != sum(sizes) and reads not in sizes:
                continue
        found.append(tile)
    return found


def shared_tiles(kernel: str, rows: Mapping[str, LoopRow]) -> dict[str, dict[str, int]]:
    """The tile of each process: those of both ends of a channel cut its array alike.

    Args:
        kernel: one of `KERNELS`.
        rows: of ``loops.csv`` by process.

    Raises:
        ValueError: the rows fit no tiles.
    """
    extents, nodes = KERNELS[kernel]
    sums = [n for n in nodes if n.total]
    options = [tiles_of(n, rows[n.name], extents) for n in sums]
    for choice in product(*options):
        tiles = {n.name: tile for n, tile in zip(sums, choice, strict=True)}
        if _agree(sums, tiles):
            break
    else:
        raise ValueError(f"no tiles of {kernel} have these trip counts and ports")
    made = {n.out.array: n for n in nodes}
    for node in nodes:
        if node.total:
            continue
        near = [n for n in sums if node.out.array in (o.array for o in n.operands)]
        near += [made[o.array] for o in node.operands if o.array in made]
        tile = tiles[near[0].name]
        tiles[node.name] = {x: tile[x] for x in node.loops}
    return tiles


def _agree(nodes: Sequence[Node], tiles: Mapping[str, Mapping[str, int]]) -> bool:
    made = {n.out.array: n for n in nodes}
    return all(
        tiles[node.name][x] == tiles[made[o.array].name][x]
        for node in nodes
        for o in node.operands
        if o.array in made
        for x in o.loops
    )


# -------------------------------------------------------------------------------------- the orders

# Of the processes that sum, in the order of `KERNELS`; the others follow these.
ORDERS: Mapping[str, Mapping[str, str]] = {
    "gemm": {
        "220_DSPs/opt5": "ikj",
        "2560_DSPs/opt1": "ijk",
        "2560_DSPs/opt2": "ikj",
        "2560_DSPs/opt3": "ijk",
        "2560_DSPs/opt4": "jki",
        "2560_DSPs/opt5": "jki",
        "9024_DSPs/opt5": "jki",
    },
    "2mm": {
        "220_DSPs/opt5": "ikj ijl",
        "2560_DSPs/opt1": "ijk ilj",
        "2560_DSPs/opt2": "jki jil",
        "2560_DSPs/opt3": "ijk ilj",
        "2560_DSPs/opt4": "ikj ijl",
        "2560_DSPs/opt5": "ikj ijl",
        "9024_DSPs/opt5": "ikj ijl",
    },
    "3mm": {
        "220_DSPs/opt5": "jki jml jli",
        "2560_DSPs/opt1": "ijk jlm ilj",
        "2560_DSPs/opt2": "jki jml jil",
        "2560_DSPs/opt3": "ijk jlm ilj",
        "2560_DSPs/opt4": "jki jml jli",
        "2560_DSPs/opt5": "jki jml jli",
        "9024_DSPs/opt5": "jki jml jli",
    },
}
"""Kernels of one sum a process have a single order each."""


def orders(kernel: str, rows: Mapping[str, LoopRow]) -> Iterator[dict[str, Indices]]:
    """The orders of the loops that a design may have, by process; not all have legal streams."""
    nodes = KERNELS[kernel][1]
    sums = [n for n in nodes if n.total]
    for choice in product(*(_own_orders(n, rows[n.name]) for n in sums)):
        yield all_orders(kernel, choice)


def _own_orders(node: Node, row: LoopRow) -> list[Indices]:
    in_logic = row.n_fadd_lat4 > 0
    innermost = in_logic and (row.ii_achieved or 0) >= INNERMOST
    found = ("".join(p) for p in permutations(node.loops))
    return [order for order in found if (order[-1] == node.total) == innermost]


def all_orders(kernel: str, sums: Sequence[Indices]) -> dict[str, Indices]:
    """The orders of all processes: one that only passes on follows whom it is next to."""
    nodes = KERNELS[kernel][1]
    made = {n.out.array: n for n in nodes}
    found = dict(zip((n.name for n in nodes if n.total), sums, strict=True))
    for node in nodes:
        if not node.total:
            near = [made[o.array].name for o in node.operands if o.array in made]
            near += [n.name for n in nodes if node.out.array in (o.array for o in n.operands)]
            found[node.name] = "".join(x for x in found[near[0]] if x in node.loops)
    return found


# ------------------------------------------------------------------------------------- the designs


@dataclass(frozen=True, slots=True)
class FlowDesign:
    """A design of the data: its label, its processes' rows and how they run."""

    label: DesignRow
    rows: Mapping[str, LoopRow]
    shapes: Mapping[str, Shape]
    streams: frozenset[str]

    @property
    def kernel(self) -> str:
        """One of `KERNELS`."""
        return self.label.kernel


def designs(folder: Path) -> Iterator[FlowDesign]:
    """The FIFO dataflow designs of the seven kernels.

    Raises:
        InputError: W532, the data are not there.
    """
    modules: dict[tuple[str, str], dict[str, LoopRow]] = {}
    for row in u280.loop_rows(folder):
        if row.tool == TOOL and row.kernel in KERNELS:
            modules.setdefault((row.kernel, row.design), {})[row.module] = row
    for label in u280.design_rows(folder):
        if label.tool == TOOL and label.kernel in KERNELS:
            rows = modules[label.kernel, label.design]
            found = ORDERS.get(label.kernel, {}).get(label.design)
            chosen = (
                next(orders(label.kernel, rows))
                if found is None
                else all_orders(label.kernel, found.split())
            )
            yield FlowDesign(
                label, rows, shapes_of(label.kernel, rows, chosen), streams_of(label.kernel, rows)
            )


def shapes_of(
    kernel: str, rows: Mapping[str, LoopRow], chosen: Mapping[str, Indices]
) -> dict[str, Shape]:
    """How the processes run in an order."""
    tiles = shared_tiles(kernel, rows)
    return {
        name: Shape(order, tiles[name], rows[name].n_fadd_lat4 > 0)
        for name, order in chosen.items()
    }


def streams_of(kernel: str, rows: Mapping[str, LoopRow]) -> frozenset[str]:
    """The arrays between processes that are written through ports of FIFOs."""
    nodes = KERNELS[kernel][1]
    used = {o.array for n in nodes for o in n.operands}
    return frozenset(
        n.out.array for n in nodes if n.out.array in used and rows[n.name].fifo_wr_ports > 0
    )
