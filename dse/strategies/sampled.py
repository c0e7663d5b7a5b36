"""Points as parameters that are suggested one by one: all choices, or structures alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Protocol

from dse.space.nests.nest import Order, Vector
from dse.space.space import Choice, Point, Space
from dse.strategies.ladder import SHARING, longest, vectors
from dse.strategies.solve import Solution, solve

INTERVAL = ":ii"
"""What the parameter of an interval is called behind its order. Those of loops are behind a dot: loops may be called
``ii``, too."""


class Pick(Protocol):
    """The part of an Optuna trial that picks from lists."""

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """A whole number, both ends included."""


class Suggest(Pick, Protocol):
    """The part of an Optuna trial that is used here."""

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        """A number between the ends."""


def sampled_point(trial: Pick, space: Space, *, shared: bool = False) -> Point:
    """Every choice of a point as a parameter of its own, named after variant, statement and loop.

    Factors are suggested by their place in the ascending list of those worth trying.

    Args:
        trial: suggests.
        space: of the point.
        shared: where copies may share units, the interval that is asked for is suggested too; else it
            is 1. Few intervals are of use, and those follow from the factors and the budget (`solve`).
    """
    number = _pick(trial, "variant", len(space.variants))
    choices: list[Choice] = []
    for nest in space.variants[number].nests:
        name = f"{number}.{nest.leader}"
        order = _pick(trial, f"{name}.order", len(nest.orders))
        vector = tuple(
            loop.factors[_pick(trial, f"{name}.{order}.{loop.name}", len(loop.factors))]
            for loop in nest.orders[order].loops
        )
        interval = 1
        if shared and (most := longest(nest, nest.orders[order])) > 1:
            interval = trial.suggest_int(f"{name}.{order}{INTERVAL}", 1, most, log=True)
        choices.append(Choice(order, vector, interval))
    return Point(number, tuple(choices))


def parameters(point: Point, space: Space) -> dict[str, int]:
    """What would have to be suggested for a point, as `sampled_point` asks for it with ``shared``.

    Raises:
        LookupError, ValueError: the space does not have the point.
    """
    number = point.variant
    found = {"variant": number}
    for nest, choice in zip(space.variants[number].nests, point.choices, strict=True):
        name = f"{number}.{nest.leader}"
        found[f"{name}.order"] = choice.order
        for loop, u in zip(nest.orders[choice.order].loops, choice.vector, strict=True):
            found[f"{name}.{choice.order}.{loop.name}"] = loop.factors.index(u)
        if not 1 <= choice.ii <= SHARING:
            raise ValueError(f"an interval is 1 to {SHARING}, not {choice.ii}")
        found[f"{name}.{choice.order}{INTERVAL}"] = choice.ii
    return found


def has_point(space: Space, point: Point) -> bool:
    """Whether a point is one of a space: another version's, or a stranger's, may not be."""
    try:
        parameters(point, space)
    except (LookupError, ValueError):
        return False
    return True


def sampled_structure(trial: Suggest, space: Space, budget: int) -> Solution | None:
    """Variant, orders and a share of the budget are suggested; the factors are solved for these.

    None where nothing fits.
    """
    number = _pick(trial, "variant", len(space.variants))
    nests = space.variants[number].nests
    orders = [_pick(trial, f"{number}.{n.leader}.order", len(n.orders)) for n in nests]
    share = trial.suggest_float("share", 0.02, 1.0, log=True)
    found = solve(space, number, max(1, round(share * budget)), orders, width=4)
    return found[0] if found else None


def _pick(trial: Pick, name: str, count: int) -> int:
    return trial.suggest_int(name, 0, count - 1) if count > 1 else 0


def all_points(space: Space, copies: int) -> Iterator[Point]:
    """Every point of at most so many copies a nest, in a fixed order."""
    return points(space, lambda order: vectors(order, copies))


def points(space: Space, factors: Callable[[Order], Iterable[Vector]]) -> Iterator[Point]:
    """Every point whose nests have such factors, in a fixed order.

    Args:
        space: of the points.
        factors: the vectors of an order's loops.
    """
    for number, variant in enumerate(space.variants):
        options = [
            [Choice(k, vector) for k, order in enumerate(nest.orders) for vector in factors(order)]
            for nest in variant.nests
        ]
        for choices in product(*options):
            yield Point(number, choices)
