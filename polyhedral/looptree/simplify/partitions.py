"""The partitions of arrays that are to have what their accesses want: ``auto_partition``.

The loops have to be plain already: copies are counted as the module has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, loads
from dsl.schedules.steps import Partition
from polyhedral.banks.splits import splits_in
from polyhedral.banks.wanted import Use, factors
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.told import Told
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode


def inferred(
    array: str, shape: tuple[int, ...], uses: Iterable[Use], given: Sequence[Partition]
) -> tuple[Partition, ...]:
    """The partitions of an array that its accesses want, beside those that it is given.

    Args:
        array: its name.
        shape: its extents.
        uses: accesses, of any arrays.
        given: partitions, of any arrays; what one says of a dimension stays.
    """
    splits = splits_in(array, shape, given)
    fixed = {p.dim: splits[p.dim].factor for p in given if p.array == array}
    wanted = factors(shape, (use for use in uses if use.array == array), fixed)
    found: list[Partition] = []
    for dim, (factor, extent) in enumerate(zip(wanted, shape, strict=True)):
        if factor > 1 and dim not in fixed:
            complete = Partition(array, dim, "complete")
            cyclic = Partition(array, dim, "cyclic", factor)
            found.append(complete if factor == extent else cyclic)
    return tuple(found)


def partitioned(tree: LoopTree) -> LoopTree:
    """The tree with partitions in the place of requests for them."""
    if not tree.auto_partitions:
        return tree
    uses = list(_uses(tree.body, Told()))
    made = [
        partition
        for array in tree.program.arrays
        if array.name in tree.auto_partitions
        for partition in inferred(array.name, array.shape, uses, tree.partitions)
    ]
    return replace(tree, partitions=(*tree.partitions, *made), auto_partitions=())


def _uses(nodes: tuple[TreeNode, ...], told: Told) -> Iterator[Use]:
    for node in nodes:
        match node:
            case TreeLoop(iv=iv, lowers=lowers, uppers=uppers, step=step):
                most = node.trip.maximum if node.trip is not None else None
                inside = told.inside(
                    iv, Bounds(lowers, uppers, step), node.pipeline_ii, node.unroll, most
                )
                yield from _uses(node.body, inside)
            case TreeGuard(body=body):
                yield from _uses(body, told)
            case Instance():
                bindings = dict(node.bindings)
                for access in (*loads(node.stmt.value), node.stmt.target):
                    yield told.use(access.array, _over_loops(access, bindings))


def _over_loops(access: Access, bindings: dict[str, Affine]) -> tuple[Affine, ...]:
    return tuple(index.substitute(bindings) for index in access.indices)
