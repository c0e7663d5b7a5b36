"""Local arrays of which every access names the element along a dimension: each element is a bank.

Once loops are unrolled a subscript may be a number in every access of the design. Then Vitis HLS 2022.2 partitions
the dimension completely, up to a number of elements ("Partitioning array ... automatically"; the threshold is that of
UG902, ``config_array_partition -auto_promotion_threshold``, 64).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dsl.expressions.affine import Affine
from polyhedral.banks.splits import Split
from qor_gnn.design.region import Guard, Kernel, Loop, Memory, Node, Statement
from qor_gnn.memory.automatic_pipelines import Pipe


def promoted(
    kernel: Kernel, pipes: Iterable[Pipe], names: frozenset[str], most: int
) -> tuple[Memory, ...]:
    """The memories of a design, with the dimensions that the tool partitions for this reason.

    Args:
        kernel: with its directives.
        pipes: its pipelines.
        names: local arrays that are the tool's to partition.
        most: elements along a dimension.
    """
    gone = {id(x) for pipe in pipes for x in (*pipe.inner, *([pipe.loop] if pipe.straight else []))}
    moving: dict[str, set[int]] = {}
    for function in kernel.functions:
        for memory, indices, numbers in _accesses(function.body, frozenset(), gone):
            dims = moving.setdefault(memory, set())
            # What is no counter of an unrolled loop moves: another counter, data, an argument of the function.
            dims.update(d for d, i in enumerate(indices) if i.variables() - numbers)
    found = []
    for m in kernel.memories:
        known = {
            d
            for d, extent in enumerate(m.shape)
            if m.name in names and m.name in moving and d not in moving[m.name] and extent <= most
        }
        splits = (Split("cyclic", m.shape[d]) if d in known else s for d, s in enumerate(m.splits))
        found.append(replace(m, splits=tuple(splits)) if known else m)
    return tuple(found)


def _accesses(
    nodes: tuple[Node, ...], numbers: frozenset[str], gone: set[int]
) -> Iterator[tuple[str, tuple[Affine, ...], frozenset[str]]]:
    """Memory and subscripts of each access, with the counters of the unrolled loops around it."""
    for node in nodes:
        match node:
            case Statement():
                yield node.target.memory, node.target.indices, numbers
                for op in node.ops:
                    if op.access is not None:
                        yield op.access.memory, op.access.indices, numbers
            case Loop():
                within = numbers | {node.iv} if id(node) in gone else numbers - {node.iv}
                yield from _accesses(node.body, within, gone)
            case Guard():
                yield from _accesses(node.body, numbers, gone)
