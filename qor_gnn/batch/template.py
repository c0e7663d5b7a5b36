"""A loop tree with factors as parameters: any member of a family without isl.

The integers of a tree (bounds, coefficients) are products of a constant with powers −1, 0 or 1 of
the factors of splits and tiles. The exponents are read off by building the tree at the family's own
point and once more for each factor. Other factors are annotations: they are put on the loops that
the same probes show. A tree whose integers are no such products has no template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine, Constraint
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Split, Step, Tile, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.simplify.single_trip import only_value
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode
from polyhedral.schedule import apply
from qor_gnn.batch.family import Family, Slot, factor_in, with_factor
from qor_gnn.batch.integers import integers_of, loops_in, rebuilt, spans, upper_places
from qor_gnn.design.from_tree import kernel_of_tree

Points = NDArray[np.int64]
Env = Mapping[str, Affine]
_RATIOS = (Fraction(2), Fraction(1, 2), Fraction(3), Fraction(1, 3), Fraction(4), Fraction(5))


class NoTemplateError(Exception):
    """The family's trees are not one tree with factors in it."""


@dataclass(frozen=True, slots=True)
class Template:
    """The tree at the family's own point, and how its integers follow from the factors.

    Attributes:
        family: whose it is.
        slots: all slots of factors, in the order of the columns here.
        columns: for each slot the parameter of the family that gives it.
        tree: at the base: loops cut by the family's own factors, nothing unrolled.
        base: the factors of the slots there.
        exponents: (integers of the tree, slots).
        integers: of the tree at the base.
        unrolled, pipelined: position of a loop (in order) to the slot of its factor or interval.
        guarded: slots of unrolls that leave the loop whole where the factor does not divide.
        spans: of each top-level node the first of its integers, the first of the next node's, and
            the position of its first loop.
    """

    family: Family
    slots: tuple[Slot, ...]
    columns: tuple[int, ...]
    tree: LoopTree
    base: tuple[int, ...]
    exponents: NDArray[np.int64]
    integers: tuple[int, ...]
    unrolled: dict[int, int]
    pipelined: dict[int, int]
    guarded: frozenset[int]
    spans: tuple[tuple[int, int, int], ...]

    def values(self, points: Points) -> Points:
        """(n, parameters) to (n, slots)."""
        return points[:, list(self.columns)]

    def regular(self, points: Points) -> NDArray[np.bool_]:
        """Which points (n, parameters) have this structure: no remainder nests."""
        values = self.values(points)
        good = (values >= 1).all(axis=1)
        divided = np.flatnonzero((self.exponents < 0).any(axis=1))
        top, bottom = self._integers(values, divided)
        good &= (top % np.maximum(bottom, 1) == 0).all(axis=1)
        loops = loops_in(self.tree.body)
        for position, slot in self.unrolled.items():
            if slot in self.guarded or loops[position].constant_trip is None:
                continue
            top, bottom = self._integers(values, np.array([self._trip(position)]))
            trips = (top // np.maximum(bottom, 1))[:, 0]
            factor = np.maximum(values[:, slot], 1)
            good &= (factor >= trips) | (trips % factor == 0)
        for s, slot_ in enumerate(self.slots):
            step = self.family.schedule.steps[slot_.step]
            if isinstance(step, Partition):
                extent = self.family.program.array(step.array).shape[step.dim]
                good &= values[:, s] <= extent
        return np.asarray(good, np.bool_)

    def _integers(self, values: Points, places: Points | None = None) -> tuple[Points, Points]:
        """Some of the tree's integers at some points, as numerators and denominators."""
        chosen = np.arange(len(self.integers)) if places is None else places
        exponents = self.exponents[chosen]
        top = np.tile(np.array(self.integers, np.int64)[chosen], (len(values), 1))
        bottom = np.ones_like(top)
        for s, b in enumerate(self.base):
            up, down = exponents[:, s] > 0, exponents[:, s] < 0
            if up.any():
                top[:, up] *= values[:, [s]]
                bottom[:, up] *= b
            if down.any():
                top[:, down] *= b
                bottom[:, down] *= values[:, [s]]
        return top, bottom

    def _trip(self, position: int) -> int:
        """The place of a loop's upper bound among the integers, where both bounds are constant."""
        return upper_places(self.tree.body)[position]

    def at(self, point: Sequence[int], nodes: Sequence[int] | None = None) -> LoopTree:
        """The tree of one regular point, or some of its top-level nodes.

        Args:
            point: a value for each parameter.
            nodes: positions in the tree's body; None for all.
        """
        values = [int(point[c]) for c in self.columns]
        kept = range(len(self.tree.body)) if nodes is None else nodes
        found: tuple[TreeNode, ...] = ()
        for n in kept:
            first, end, position = self.spans[n]
            top, bottom = self._integers(np.array([values], np.int64), np.arange(first, end))
            node = _renumbered(self.tree.body[n], iter((top[0] // bottom[0]).tolist()))
            found += self._annotated(node, values, count(position), {})
        return replace(self.tree, body=found, partitions=self._partitions(values))

    def _annotated(
        self, node: TreeNode, values: Sequence[int], counter: Iterator[int], env: Env
    ) -> tuple[TreeNode, ...]:
        """The node with its factors; a loop of one iteration is its body, unless it is pipelined."""
        match node:
            case TreeLoop():
                position = next(counter)
                lowers = tuple(b.substitute(env) for b in node.lowers)
                uppers = tuple(b.substitute(env) for b in node.uppers)
                ii = values[self.pipelined[position]] if position in self.pipelined else None
                # isl leaves out such a loop whatever its unroll factor is.
                only = only_value(Bounds(lowers, uppers, node.step), ii, None, node.flatten)
                if only is not None:
                    return self._all(node.body, values, counter, {**env, node.iv: only})
                changes: dict[str, int | None] = {}
                if position in self.unrolled:
                    changes["unroll"] = _unroll(node, values[self.unrolled[position]])
                if ii is not None:
                    changes["pipeline_ii"] = ii
                body = self._all(node.body, values, counter, env)
                new = replace(node, lowers=lowers, uppers=uppers, body=body)
                return (replace(new, **changes),)  # type: ignore[arg-type]
            case TreeGuard(constraints, inside):
                held = tuple(Constraint(c.expr.substitute(env), c.kind) for c in constraints)
                return (TreeGuard(held, self._all(inside, values, counter, env)),)
            case Instance(bindings=bindings):
                placed = tuple((v, e.substitute(env)) for v, e in bindings)
                return (replace(node, bindings=placed),)
            case _:
                assert_never(node)

    def _all(
        self, nodes: Iterable[TreeNode], values: Sequence[int], counter: Iterator[int], env: Env
    ) -> tuple[TreeNode, ...]:
        return tuple(new for n in nodes for new in self._annotated(n, values, counter, env))

    def _partitions(self, values: Sequence[int]) -> tuple[Partition, ...]:
        """As `polyhedral.transforms.partition` records them."""
        found: tuple[Partition, ...] = ()
        for step in _with(self.family.schedule, self.slots, values):
            if isinstance(step, Partition):
                kept = tuple(p for p in found if (p.array, p.dim) != (step.array, step.dim))
                one = step.scheme != "complete" and step.factor == 1
                whole = replace(step, factor=0) if step.scheme == "complete" else step
                found = kept if one else (*kept, whole)
        return found


def _renumbered(node: TreeNode, numbers: Iterator[int]) -> TreeNode:
    """A node with its integers replaced in turn."""
    (found,) = rebuilt((node,), lambda _: next(numbers))
    return found


def _unroll(loop: TreeLoop, factor: int) -> int | None:
    """As `polyhedral.transforms.unroll` marks it."""
    if factor == 1:
        return None
    trips = loop.constant_trip
    return 0 if trips is not None and factor >= trips else factor


# -------------------------------------------------------------------------------------- probing


def template_of(family: Family) -> Template:
    """Read the template off one point and one more for each factor.

    The point is the family's own, or, where that leaves remainders, blocks of two iterations.

    Raises:
        NoTemplateError: a factor cannot be varied, or an integer is no product of factors.
        ScheduleError: the family's schedule is not legal.
    """
    slots = tuple(slot for own in family.slots for slot in own)
    steps = family.schedule.steps
    own = tuple(
        1 if isinstance(steps[s.step], Unroll | Partition | Pipeline)
        else factor_in(steps[s.step], s.position)
        for s in slots
    )  # fmt: skip
    try:
        return _template(family, slots, own)
    except NoTemplateError:
        return _template(family, slots, tuple(min(value, 2) for value in own))


def _template(family: Family, slots: tuple[Slot, ...], base: tuple[int, ...]) -> Template:
    columns = tuple(c for c, own in enumerate(family.slots) for _ in own)
    tree = _built(family, slots, base)
    integers = integers_of(tree.body)
    exponents = np.zeros((len(integers), len(slots)), np.int64)
    unrolled: dict[int, int] = {}
    pipelined: dict[int, int] = {}
    guarded = set()
    for s, slot in enumerate(slots):
        match family.schedule.steps[slot.step]:
            case Tile() | Split():
                exponents[:, s] = _exponents(family, slots, base, s, tree)
            case Unroll(tail=tail):
                for position in _marked(family, slots, base, s, tree, "unroll"):
                    unrolled[position] = s
                if tail == "guard":
                    guarded.add(s)
            case Pipeline():
                for position in _marked(family, slots, base, s, tree, "pipeline_ii"):
                    pipelined[position] = s
            case _:
                pass
    found = Template(
        *(family, slots, columns, tree, base, exponents, integers),
        *(unrolled, pipelined, frozenset(guarded), spans(tree.body)),
    )
    _check(found)
    return found


def _with(schedule: Schedule, slots: Sequence[Slot], values: Sequence[int]) -> tuple[Step, ...]:
    steps = list(schedule.steps)
    for slot, value in zip(slots, values, strict=True):
        steps[slot.step] = with_factor(steps[slot.step], slot.position, value)
    return tuple(steps)


def _built(family: Family, slots: Sequence[Slot], values: Sequence[int]) -> LoopTree:
    """The tree by the exact road; unrolls keep their loops whole."""
    steps = _with(family.schedule, slots, values)
    whole = (replace(s, tail="guard") if isinstance(s, Unroll) else s for s in steps)
    return loop_tree(apply(family.program, Schedule(tuple(whole))))


def _exponents(
    family: Family, slots: Sequence[Slot], neutral: Sequence[int], s: int, tree: LoopTree
) -> list[int]:
    """The power of one factor in each of the tree's integers."""
    before = integers_of(tree.body)
    for ratio in _RATIOS:
        value = neutral[s] * ratio
        if value.denominator != 1 or value <= 1:
            continue
        try:
            other = _built(family, slots, [*neutral[:s], int(value), *neutral[s + 1 :]])
        except ScheduleError:
            continue
        after = integers_of(other.body)
        if _shape(other.body) != _shape(tree.body) or len(after) != len(before):
            continue
        powers = [_power(a, b, ratio) for a, b in zip(before, after, strict=True)]
        if all(p is not None for p in powers):
            return [p or 0 for p in powers]
    raise NoTemplateError(f"factor {neutral[s]} cannot be varied within one structure")


def _shape(nodes: tuple[TreeNode, ...]) -> tuple[TreeNode, ...]:
    return rebuilt(nodes, lambda _: 1)


def _power(before: int, after: int, ratio: Fraction) -> int | None:
    for power in (0, 1, -1):
        if Fraction(after) == before * ratio**power:
            return power
    return None


def _marked(
    family: Family,
    slots: Sequence[Slot],
    neutral: Sequence[int],
    s: int,
    tree: LoopTree,
    field: str,
) -> list[int]:
    """The loops whose annotation one factor is."""
    other = _built(family, slots, [*neutral[:s], 2, *neutral[s + 1 :]])
    pairs = zip(loops_in(tree.body), loops_in(other.body), strict=True)
    return [n for n, (a, b) in enumerate(pairs) if getattr(a, field) != getattr(b, field)]


def _check(template: Template) -> None:
    """Points in which all factors are others, by both roads."""
    family = template.family
    points = np.array([family.point, [1] * len(family.names), [4] * len(family.names)], np.int64)
    for point in points[template.regular(points)].tolist():
        exact = loop_tree(apply(family.program, family.at(point)))
        if kernel_of_tree(template.at(point)) != kernel_of_tree(exact):
            raise NoTemplateError(f"the point {point} is not what the template says")
