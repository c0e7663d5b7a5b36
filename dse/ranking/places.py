"""Where the nests of a design stand: one after the other, and in loops that they share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dse.space.nests.nest import Nest
from polyhedral.looptree.tree import TreeLoop, TreeNode, statements_in


@dataclass(frozen=True, slots=True)
class Around:
    """A loop that several nests share: how often it runs, and what is in it."""

    loop: TreeLoop
    trips: float
    body: tuple[Part, ...]


Part = Around | int  # or the number of a nest


def plan_of(nodes: tuple[TreeNode, ...], nests: Sequence[Nest]) -> tuple[Part, ...] | None:
    """Where the nests stand in a tree; None where one is in several places, or under a guard."""
    whose = {name: n for n, nest in enumerate(nests) for name in nest.statements}
    found: list[Part] = []
    for node in nodes:
        inside = {whose[stmt.name] for stmt in statements_in(node)}
        if len(inside) == 1:
            found.append(inside.pop())
            continue
        if not isinstance(node, TreeLoop):
            return None
        body = plan_of(node.body, nests)
        if body is None:
            return None
        trips = float(node.constant_trip or 0)
        if node.constant_trip is None:
            if node.trip is None:
                return None
            trips = node.trip.average
        found.append(Around(node, trips, body))
    numbers = [n for n in nests_in(found) if nests[n].orders[0].band]
    return tuple(found) if len(numbers) == len(set(numbers)) else None


def processes_in(around: Around, nests: Sequence[Nest]) -> list[list[Part]]:
    """What each process of a loop has whose body is a dataflow region, in order."""
    numbers = {name: n for n, names in enumerate(around.loop.processes) for name in names}
    found: dict[int, list[Part]] = {}
    for part in around.body:
        first = next(nests_in((part,)))
        found.setdefault(numbers[nests[first].statements[0]], []).append(part)
    return [found[n] for n in sorted(found)]


def nests_in(parts: Iterable[Part]) -> Iterator[int]:
    """Their numbers, in order."""
    for part in parts:
        if isinstance(part, int):
            yield part
        else:
            yield from nests_in(part.body)


def place_of(
    nodes: tuple[TreeNode, ...], plan: Sequence[Part], n: int
) -> tuple[tuple[TreeLoop, ...], TreeNode] | None:
    """The loops around a nest, and its own node."""
    for node, part in zip(nodes, plan, strict=True):
        if part == n:
            return (), node
        if isinstance(part, Around) and n in nests_in((part,)) and isinstance(node, TreeLoop):
            inner = place_of(node.body, part.body, n)
            return None if inner is None else ((node, *inner[0]), inner[1])
    return None


def filled_with(
    parts: Sequence[Part], nodes: Sequence[TreeNode], inside: Mapping[int, Sequence[TreeNode]]
) -> tuple[TreeNode, ...]:
    """The nodes of some parts, with others in the places of some nests."""
    found: list[TreeNode] = []
    for part, node in zip(parts, nodes, strict=True):
        if not isinstance(part, Around):
            found += inside.get(part, (node,))
        else:
            assert isinstance(node, TreeLoop)
            found.append(replace(node, body=filled_with(part.body, node.body, inside)))
    return tuple(found)
