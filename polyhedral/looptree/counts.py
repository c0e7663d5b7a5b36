"""How often each statement runs: exact counts from the loops, by arithmetic series and sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dsl.expressions.affine import Affine, Constraint
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop

_BUDGET = 200_000  # evaluations of bounds for one statement


class TooManyError(ValueError):
    """The count would need more evaluations than are worth it."""


def instance_counts(tree: LoopTree) -> dict[str, int | None]:
    """Statement name to the exact number of its executions; None where it takes too long.

    A loop on which no inner bound depends is multiplied; an innermost loop with affine bounds in
    the one around it is an arithmetic series; the rest is summed up iteration by iteration. Conditions
    directly inside of a loop are bounds of it.
    """
    counts: dict[str, int | None] = {s.name: 0 for s in tree.program.statements()}
    for node, around in tree.walk():
        if isinstance(node, Instance):
            name, before = node.stmt.name, counts[node.stmt.name]
            try:
                more = _Path(around).count(0, {})
            except TooManyError:
                counts[name] = None
            else:
                counts[name] = None if before is None else before + more
    return counts


@dataclass(slots=True)
class _Path:
    """The loops and guards around one instance, outermost first."""

    nodes: Sequence[TreeLoop | TreeGuard]
    memo: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict)
    asked: dict[int, frozenset[str]] = field(default_factory=dict)
    evaluations: int = 0

    def count(self, k: int, env: dict[str, int]) -> int:
        """Iterations of ``nodes[k:]`` for given values of the loops outside."""
        if k == len(self.nodes):
            return 1
        used = self.used(k)
        key = (k, tuple(value for name, value in env.items() if name in used))
        if key not in self.memo:
            self.memo[key] = self._count(k, env)
        return self.memo[key]

    def used(self, k: int) -> frozenset[str]:
        """Variables that bounds and conditions of ``nodes[k:]`` ask for."""
        if k not in self.asked:
            every = (e for node in self.nodes[k:] for e in _expressions(node))
            self.asked[k] = frozenset(str(v) for e in every for v in e.variables())
        return self.asked[k]

    def _count(self, k: int, env: dict[str, int]) -> int:
        self.evaluations += 1
        if self.evaluations > _BUDGET:
            raise TooManyError
        node = self.nodes[k]
        if isinstance(node, TreeGuard):
            return self.count(k + 1, env) if all(c.holds(env) for c in node.constraints) else 0
        values, inside = self._values(k, node, env)
        if not values:
            return 0
        if node.iv not in self.used(inside):
            return len(values) * self.count(inside, env)
        if (series := self._series(node, inside, values, env)) is not None:
            return series
        return sum(self.count(inside, {**env, node.iv: v}) for v in values)

    def _values(self, k: int, loop: TreeLoop, env: dict[str, int]) -> tuple[range, int]:
        """The iterations of a loop in which the conditions directly inside hold, and the position behind these."""
        values = _values(loop, env)
        inside = k + 1
        while inside < len(self.nodes) and isinstance(guard := self.nodes[inside], TreeGuard):
            cut = values
            for constraint in guard.constraints:
                limited = _limited(cut, loop.iv, constraint, env)
                if limited is None:
                    return values, inside
                cut = limited
            values, inside = cut, inside + 1
        return values, inside

    def _series(self, outer: TreeLoop, at: int, values: range, env: dict[str, int]) -> int | None:
        """The sum where the next loop's trips are linear in this one and nothing else depends."""
        inner = self.nodes[at]
        if not isinstance(inner, TreeLoop):
            return None
        single = len(inner.lowers) == len(inner.uppers) == inner.step == 1
        if not single or {outer.iv, inner.iv} & self.used(at + 1):
            return None
        extent = inner.uppers[0] - inner.lowers[0]
        if not extent.is_linear:
            return None
        first = extent.evaluate({**env, outer.iv: values[0]})
        last = extent.evaluate({**env, outer.iv: values[-1]})
        if first < 0 or last < 0:
            return None
        rest = self.count(at + 1, env)
        return len(values) * (first + last) // 2 * rest


def _expressions(node: TreeLoop | TreeGuard) -> tuple[Affine, ...]:
    if isinstance(node, TreeGuard):
        return tuple(c.expr for c in node.constraints)
    return (*node.lowers, *node.uppers)


def _values(loop: TreeLoop, env: dict[str, int]) -> range:
    low = max(b.evaluate(env) for b in loop.lowers)
    return range(low, min(b.evaluate(env) for b in loop.uppers), loop.step)


def _limited(values: range, iv: str, constraint: Constraint, env: dict[str, int]) -> range | None:
    """The iterations in which a condition holds; None where they are no range that is known at once."""
    if constraint.kind == "==" or not constraint.expr.is_linear or values.step != 1:
        return None
    slope = constraint.expr.coefficient(iv)
    rest = constraint.expr.evaluate({**env, iv: 0})
    if slope == 0:
        return values if rest >= 0 else values[:0]
    border = -(rest // slope) if slope > 0 else rest // -slope
    if slope > 0:
        return range(max(values.start, border), values.stop)
    return range(values.start, min(values.stop, border + 1))
