"""How often each statement runs: exact counts from the loops, by arithmetic series and sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dsl.expressions.affine import Affine
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop

_BUDGET = 200_000  # evaluations of bounds for one statement


class TooManyError(ValueError):
    """The count would need more evaluations than are worth it."""


def instance_counts(tree: LoopTree) -> dict[str, int | None]:
    """Statement name to the exact number of its executions; None where it takes too long.

    A loop on which no inner bound depends is multiplied; an innermost loop with affine bounds in
    the one around it is an arithmetic series; the rest is summed up iteration by iteration.
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
    evaluations: int = 0

    def count(self, k: int, env: dict[str, int]) -> int:
        """Iterations of ``nodes[k:]`` for given values of the loops outside."""
        if k == len(self.nodes):
            return 1
        key = (k, tuple(env[v] for v in sorted(self.used(k) & env.keys())))
        if key not in self.memo:
            self.memo[key] = self._count(k, env)
        return self.memo[key]

    def used(self, k: int) -> set[str]:
        """Variables that bounds and conditions of ``nodes[k:]`` ask for."""
        return {v for node in self.nodes[k:] for e in _expressions(node) for v in e.variables()}

    def _count(self, k: int, env: dict[str, int]) -> int:
        self.evaluations += 1
        if self.evaluations > _BUDGET:
            raise TooManyError
        node = self.nodes[k]
        if isinstance(node, TreeGuard):
            return self.count(k + 1, env) if all(c.holds(env) for c in node.constraints) else 0
        values = _values(node, env)
        if not values:
            return 0
        if node.iv not in self.used(k + 1):
            return len(values) * self.count(k + 1, env)
        if (series := self._series(k, values, env)) is not None:
            return series
        return sum(self.count(k + 1, {**env, node.iv: v}) for v in values)

    def _series(self, k: int, values: range, env: dict[str, int]) -> int | None:
        """The sum where the next loop's trips are linear in this one and nothing else depends."""
        outer, inner = self.nodes[k], self.nodes[k + 1]
        if not isinstance(outer, TreeLoop) or not isinstance(inner, TreeLoop):
            return None
        single = len(inner.lowers) == len(inner.uppers) == inner.step == 1
        if not single or {outer.iv, inner.iv} & self.used(k + 2):
            return None
        extent = inner.uppers[0] - inner.lowers[0]
        if not extent.is_linear:
            return None
        first = extent.evaluate({**env, outer.iv: values[0]})
        last = extent.evaluate({**env, outer.iv: values[-1]})
        if first < 0 or last < 0:
            return None
        rest = self.count(k + 2, env)
        return len(values) * (first + last) // 2 * rest


def _expressions(node: TreeLoop | TreeGuard) -> tuple[Affine, ...]:
    if isinstance(node, TreeGuard):
        return tuple(c.expr for c in node.constraints)
    return (*node.lowers, *node.uppers)


def _values(loop: TreeLoop, env: dict[str, int]) -> range:
    low = max(b.evaluate(env) for b in loop.lowers)
    return range(low, min(b.evaluate(env) for b in loop.uppers), loop.step)
