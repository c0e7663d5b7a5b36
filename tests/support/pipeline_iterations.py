"""The iterations of a pipeline, of a region tree, one after the other on integers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from qor_gnn.design.region import Guard, Loop, Node, Statement, loops_in

Place = tuple[object, ...]
"""Where an operation stands in the body of a pipeline, all copies told apart."""


def _values(loop: Loop, env: Mapping[str, int]) -> range:
    low = max(b.evaluate(env) for b in loop.lowers)
    return range(low, min(b.evaluate(env) for b in loop.uppers), loop.step)


def entries(nodes: tuple[Node, ...], env: dict[str, int], iv: str) -> Iterator[dict[str, int]]:
    """The values of the loops around a loop, each time that it is entered."""
    for node in nodes:
        match node:
            case Loop() if node.iv == iv:
                yield env
            case Loop() if any(inner.iv == iv for inner in loops_in(node.body)):
                for value in _values(node, env):
                    yield from entries(node.body, {**env, node.iv: value}, iv)
            case Guard() if all(c.holds(env) for c in node.constraints):
                yield from entries(node.body, env, iv)
            case _:
                pass


Instance = tuple[Place, Statement, dict[str, int]]


def _body(nodes: tuple[Node, ...], env: dict[str, int], place: Place) -> Iterator[Instance]:
    """The statements of straight-line code: all loops are unrolled."""
    for n, node in enumerate(nodes):
        match node:
            case Statement():
                yield (*place, n), node, env
            case Guard():
                if all(c.holds(env) for c in node.constraints):
                    yield from _body(node.body, env, (*place, n))
            case Loop():
                for copy, value in enumerate(_values(node, env)):
                    yield from _body(node.body, {**env, node.iv: value}, (*place, n, copy))


def iterations(chain: tuple[Loop, ...], env: dict[str, int]) -> Iterator[list[Instance]]:
    """The statements of each iteration of a flattened nest. What is around an inner loop runs in
    its first iteration or its last one.
    """
    outer, inner = chain[:-1], chain[-1]

    def levels(n: int, env: dict[str, int]) -> Iterator[tuple[dict[str, int], int, int]]:
        """Values of the outer loops; how many of the innermost ones begin, and end, here."""
        if n == len(outer):
            yield env, 0, 0
            return
        values = _values(outer[n], env)
        for value in values:
            inside = [*levels(n + 1, {**env, outer[n].iv: value})]
            for k, (own, first, last) in enumerate(inside):
                begins = first + 1 if k == 0 and first == len(outer) - 1 - n else first
                ends = last + 1 if k == len(inside) - 1 and last == len(outer) - 1 - n else last
                yield own, begins, ends

    for own, begins, ends in levels(0, env):
        values = [*_values(inner, own)]
        groups = [values[k : k + inner.factor] for k in range(0, len(values), inner.factor)]
        for k, group in enumerate(groups):
            found: list[Instance] = []
            if k == 0:
                found += _around(chain, own, begins, behind=False)
            for copy, value in enumerate(group):
                found += _body(inner.body, {**own, inner.iv: value}, ("in", copy))
            if k == len(groups) - 1:
                found += _around(chain, own, ends, behind=True)
            yield found


def _around(
    chain: tuple[Loop, ...], env: dict[str, int], count: int, *, behind: bool
) -> Iterator[Instance]:
    """Statements in front of (or behind) the innermost ``count`` loops of a nest but the last."""
    pairs = [*pairwise(chain)][len(chain) - 1 - count :] if count else []
    for outer, loop in reversed(pairs) if behind else pairs:
        at = next(n for n, node in enumerate(outer.body) if node == loop)
        nodes = outer.body[at + 1 :] if behind else outer.body[:at]
        yield from _body(nodes, env, ("behind" if behind else "before", outer.iv))
