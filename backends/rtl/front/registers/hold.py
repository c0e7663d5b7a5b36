"""Elements that live in registers from before a pipeline until after it.

    for i:                                  for i:
        C[i] = 0                                r = 0
        pipelined for j:                        pipelined for j:
            C[i] = C[i] + A[i, j]                   r = r + A[i, j]
                                                C[i] = r

Unlike `promote`, the pipeline itself has no port of the array then: what is left are loops that run
one after the other, but where many elements share a bank each iteration of the pipeline is short.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from backends.rtl.front.accesses.promote import Indices, Touch, exists, suffix
from backends.rtl.front.blocks.block import Context, touches
from backends.rtl.front.flat import Flat, FlatLoop, Leaf
from backends.rtl.front.tree import Expr, Statement
from backends.rtl.front.values.scope import Scope
from backends.rtl.graph import Array, Memory

Key = tuple[str, Indices]


@dataclass(frozen=True, slots=True)
class Held:
    """A loop's body with elements in registers, and these: what they hold an element of."""

    body: tuple[Flat, ...]
    registers: tuple[tuple[Array, str], ...]


def held(node: FlatLoop, inside: Scope, context: Context, taken: int) -> Held | None:
    """The body of a loop around one pipelined nest, with what that accumulates in registers.

    Args:
        node: the outer loop.
        inside: the scope of its body.
        context: arrays.
        taken: how many registers have names already.

    Returns:
        None where no element can be held.
    """
    loops = [n for n, child in enumerate(node.body) if not isinstance(child, Leaf)]
    if len(loops) != 1:
        return None
    chain = _chain(node.body[loops[0]])
    deepest: Scope | None = inside
    for loop in chain:
        deepest = None if deepest is None else deepest.inside(loop.counter)
    if not chain or deepest is None:
        return None
    before = [n for n in node.body[: loops[0]] if isinstance(n, Leaf)]
    after = [n for n in node.body[loops[0] + 1 :] if isinstance(n, Leaf)]
    leaves = [n for n in chain[-1].body if isinstance(n, Leaf)]
    around = [t for leaf in (*before, *after) for t in touches(leaf, inside)]
    within = [t for leaf in leaves for t in touches(leaf, deepest)]
    keys = _elements(around, within, len(chain), deepest, context)
    if not keys:
        return None
    names = {key: f"{key[0]}$h{taken + n}" for n, key in enumerate(keys)}
    rewrite = Rewrite(names)
    written = _written_first(before, inside)
    first = [k for k in keys if k not in written]
    widths = {k: context.arrays[k[0]].width for k in keys}
    body: list[Flat] = [copy(widths[k], k, (names[k], ())) for k in first]
    body += [rewrite.leaf(leaf, inside) for leaf in before]
    inner = replace(chain[-1], body=tuple(rewrite.leaf(leaf, deepest) for leaf in leaves))
    for loop in reversed(chain[:-1]):
        inner = replace(loop, body=(inner,))
    body.append(inner)
    body += [rewrite.leaf(leaf, inside) for leaf in after]
    body += [copy(widths[k], (names[k], ()), k) for k in keys]
    made = tuple(
        (Array(name, widths[k], (), (), Memory.REGISTERS, False), k[0]) for k, name in names.items()
    )
    return Held(tuple(body), made)


def _chain(node: Flat) -> list[FlatLoop]:
    """The loops of a perfect nest down to the pipelined one; none if it is no such nest."""
    found: list[FlatLoop] = []
    while isinstance(node, FlatLoop):
        found.append(node)
        if node.ii is not None:
            return found
        if len(node.body) != 1:
            break
        node = node.body[0]
    return []


def _elements(
    around: Sequence[Touch], inner: Sequence[Touch], depth: int, scope: Scope, context: Context
) -> list[Key]:
    """What the inner loops, so many, accumulate, and nothing else may touch."""
    found: list[Key] = []
    every = {(t.array, t.indices) for t in (*around, *inner)}
    by_array: dict[str, set[Indices]] = {}
    for array, indices in every:
        by_array.setdefault(array, set()).add(indices)
    for array, indices in dict.fromkeys((t.array, t.indices) for t in inner if t.is_store):
        info = context.arrays[array]
        if (
            any(i.is_data for i in indices)
            or info.memory is Memory.REGISTERS
            or suffix(indices, scope.counters[-depth:])
            or not exists(indices, info, scope)
        ):
            continue
        others = by_array[array]
        shape = tuple(i.terms for i in indices)
        if all(
            other == indices
            or tuple(i.terms for i in other) == shape  # they differ by a constant
            or scope.distinct(other, indices)
            for other in others
        ):
            found.append((array, indices))
    return found


def _written_first(before: Iterable[Leaf], scope: Scope) -> set[Key]:
    """Elements that are written before they are read."""
    seen: set[Key] = set()
    found: set[Key] = set()
    for leaf in before:
        for touch in touches(leaf, scope):
            key = (touch.array, touch.indices)
            if key not in seen and touch.is_store and not touch.guard:
                found.add(key)
            seen.add(key)
    return found


def copy(width: int, source: Key, target: Key) -> Leaf:
    """A statement that copies an element."""
    expr = Expr("affine.load", width, False, (), *source)
    return Leaf(Statement("", (expr,), *target), {}, {}, ())


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Statements with registers for the elements that these are named for."""

    names: Mapping[Key, str]

    def leaf(self, leaf: Leaf, scope: Scope) -> Leaf:
        """The statement with registers for elements."""
        stmt = leaf.stmt
        ops = tuple(
            replace(e, array=name, indices=())
            if e.name == "affine.load" and (name := self._name(leaf, e.array, e.indices, scope))
            else e
            for e in stmt.ops
        )
        target = self._name(leaf, stmt.array, stmt.indices, scope)
        array, indices = (target, ()) if target else (stmt.array, stmt.indices)
        return replace(leaf, stmt=Statement(stmt.name, ops, array, indices, stmt.subscripts))

    def _name(self, leaf: Leaf, array: str, indices: Indices, scope: Scope) -> str | None:
        place = tuple(scope.simplified(i.substitute(leaf.env)) for i in indices)
        return self.names.get((leaf.names.get(array, array), place))
