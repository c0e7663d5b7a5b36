"""How far apart the iterations of a pipelined loop are that hand a value on, where no tool sees it.

A tool compares subscripts that move alike. Of remainders (``s[k % 4]``), and of subscripts that move
differently, it knows nothing and takes the next iteration to wait for this one. The least distance,
proven over the loops' bounds, says more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, loads
from polyhedral.dependences.axes import Axis, Spot
from polyhedral.dependences.least_distance import least_distance
from polyhedral.looptree.tree import Instance, TreeGuard, TreeLoop, TreeNode


def distances(
    body: tuple[TreeNode, ...], in_words: Collection[str] = ()
) -> tuple[tuple[str, str, int], ...]:
    """Triples (array, iv of a pipelined loop, iterations from a store to the next load of what it
    stored, at least 2), where the distance cannot be read off the subscripts.

    They are counted along the perfect nest that ends in the loop, into which a tool may flatten it,
    and so hold for the loop alone too. Nothing is said of arrays ``in_words`` of several elements, which wait for
    each other.
    """
    found: list[tuple[str, str, int]] = []
    for outer, chain in _pipelined(body, (), ()):
        if any(loop.unroll is not None for loop in chain):
            continue
        accesses = _Accesses([], [])
        _collect(chain[-1].body, (), accesses)
        arrays = dict.fromkeys(array for array, _ in accesses.stores if array not in in_words)
        least = ((array, _least(outer, chain, accesses, array)) for array in arrays)
        found += [(array, chain[-1].iv, d) for array, d in least if d is not None and d > 1]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Accesses:
    """Of the body of a loop: arrays with the element that is stored or loaded."""

    stores: list[tuple[str, Spot]]
    loads: list[tuple[str, Spot]]


Around = tuple[TreeLoop, ...]


def _pipelined(
    nodes: tuple[TreeNode, ...], outer: Around, chain: Around
) -> Iterator[tuple[Around, Around]]:
    """Each pipelined loop, as the perfect nest that ends in it and the loops around that."""
    for node in nodes:
        match node:
            case TreeLoop():
                kept, nest = (outer, chain) if len(nodes) == 1 else ((*outer, *chain), ())
                if node.pipeline_ii is not None:
                    yield kept, (*nest, node)
                else:
                    yield from _pipelined(node.body, kept, (*nest, node))
            case TreeGuard():
                yield from _pipelined(node.body, (*outer, *chain), ())
            case Instance():
                pass


def _collect(
    nodes: tuple[TreeNode, ...], around: tuple[TreeGuard | TreeLoop, ...], found: _Accesses
) -> None:
    """Gather the accesses of the body of a pipelined loop; loops inside are part of an iteration."""
    for node in nodes:
        if isinstance(node, Instance):
            found.stores.append(_spot(node, node.stmt.target, around))
            found.loads.extend(_spot(node, a, around) for a in loads(node.stmt.value))
        else:
            _collect(node.body, (*around, node), found)


def _spot(
    instance: Instance, access: Access, around: tuple[TreeGuard | TreeLoop, ...]
) -> tuple[str, Spot]:
    values = dict(instance.bindings)
    indices = tuple(e.substitute(values) for e in access.indices)
    where = tuple(c for node in around if isinstance(node, TreeGuard) for c in node.constraints)
    inside = _axes([node for node in around if isinstance(node, TreeLoop)])
    return access.array, Spot(indices, where, inside)


def _least(outer: Around, chain: Around, accesses: _Accesses, array: str) -> int | None:
    """The least distance; None where nothing is handed on, or any tool sees how far."""
    stores, loaded = (
        [spot for name, spot in side if name == array] for side in (accesses.stores, accesses.loads)
    )
    moving = {loop.iv for loop in chain}
    pairs = [(s, t) for s in stores for t in loaded]
    if all(_plain(s, t, moving) for s, t in pairs):
        return None
    axes, around = _axes(chain), _axes(outer)
    found = (least_distance(around, axes, s, t) for s, t in pairs)
    return min((d for d in found if d is not None), default=None)


def _plain(s: Spot, t: Spot, moving: set[str]) -> bool:
    """All subscripts are linear and move alike with the pipeline: of the copies of loops inside a
    tool compares each two.
    """
    return all(
        _moves(a, moving) == _moves(b, moving) is not None
        for a, b in zip(s.indices, t.indices, strict=True)
    )


def _moves(index: Affine, moving: set[str]) -> tuple[tuple[object, int], ...] | None:
    if not index.is_linear:
        return None
    return tuple((atom, k) for atom, k in index.terms if atom in moving)


def _axes(loops: Sequence[TreeLoop]) -> tuple[Axis, ...]:
    return tuple(Axis(loop.iv, loop.lowers, loop.uppers, loop.step) for loop in loops)
