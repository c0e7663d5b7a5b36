"""Points that keep to what labels of the tool show, as far as structures and factors tell that."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

from dse.evaluators.base import Result, Status
from dse.space.costs.cost import cost
from dse.space.nests.nest import Nest, Order
from dse.space.space import Choice, Point, Space
from dse.strategies.search import Search
from dsl.schedules.steps import BindOp
from qor_gnn.support.labelled import Shown, shown
from qor_gnn.tools.operators.multipliers import FABRIC

_OUTSIDE = Result(Status.INFEASIBLE, detail="beyond labels")


@dataclass(slots=True)
class Within:
    """What labels of a tool allow in a space.

    Attributes:
        labels: what they show.
        whole: the space.
        divided: the same one with factors that divide: what others leave is mostly best done under a condition, and
            takes more than is planned. Its points are points of the other.
        tails: whether factors may leave iterations for a condition in a loop that had none.
    """

    labels: Shown
    whole: Space
    divided: Space
    tails: bool = True
    _known: dict[tuple[int, int, Choice], bool] = field(default_factory=dict)

    @property
    def space(self) -> Space:
        """The space that points are planned in."""
        return self.whole if self.tails else self.divided

    def even(self) -> Within:
        """The same of designs whose factors divide."""
        return replace(self, tails=False, _known={})

    def __call__(self, point: Point) -> bool:
        """Whether nothing is known to take a point out of the labels."""
        variant = self.whole.variants[point.variant]
        fabric = any(s.impl == FABRIC for s in variant.steps if isinstance(s, BindOp))
        return all(
            self._fits(point.variant, n, nest, choice, fabric)
            for n, (nest, choice) in enumerate(zip(variant.nests, point.choices, strict=True))
        )

    def _fits(self, variant: int, number: int, nest: Nest, choice: Choice, fabric: bool) -> bool:
        key = (variant, number, choice)
        if key not in self._known:
            order = nest.orders[choice.order]
            self._known[key] = self._plain(nest, order, choice) and self._sized(
                order, choice, fabric
            )
        return self._known[key]

    def _plain(self, nest: Nest, order: Order, choice: Choice) -> bool:
        """No structure that labels have not."""
        allowed = self.labels.structures
        if not self.tails and cost(nest, order, choice.vector).tail == "guard":
            return False
        for loop, u in zip(order.loops, choice.vector, strict=True):
            if u == 1:
                continue
            if (loop.varies or loop.extent is None) and "variable" not in allowed:
                return False
            if loop.guarded and "conditions" not in allowed:
                return False
        return True

    def _sized(self, order: Order, choice: Choice, fabric: bool) -> bool:
        sizes, copies = self.labels.sizes, order.copies(choice.vector)
        if choice.ii > max(1, self.labels.shared_interval):
            return False
        if fabric and copies > 1:
            shortest = self.labels.fabric_interval
            if shortest is None or choice.ii < shortest:
                return False
            if copies / choice.ii > sizes.get("fabric_adders", copies):
                return False
        operations = copies * len(order.operations)
        return copies <= sizes.get("copies", copies) and operations <= sizes.get(
            "operations", operations
        )


def within(space: Space) -> Within | None:
    """What labels allow in a space; None where the tool needs none."""
    labels = shown(space.tool)
    if labels is None:
        return None
    return Within(labels, space, _divided(space), tails="conditions" in labels.structures)


def _divided(space: Space) -> Space:
    """The space with those factors only that divide."""
    variants = tuple(
        replace(variant, nests=tuple(map(_dividing, variant.nests))) for variant in space.variants
    )
    return replace(space, variants=variants)


def _dividing(nest: Nest) -> Nest:
    orders = tuple(
        replace(order, loops=tuple(replace(loop, divides=True) for loop in order.loops))
        for order in nest.orders
    )
    return replace(nest, orders=orders)


def only(search: Search, allowed: Within) -> Search:
    """The same search, whose points beyond labels are answered as infeasible without a trial."""
    with suppress(StopIteration):
        points = next(search)
        while True:
            asked = tuple(point for point in points if allowed(point))
            found = dict(zip(asked, (yield asked), strict=True)) if asked else {}
            points = search.send([found.get(point, _OUTSIDE) for point in points])
