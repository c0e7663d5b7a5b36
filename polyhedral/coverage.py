"""Do the loops of a nest run exactly the iterations that they should, each once?

isl's AST generation loses iterations on some domains with strides, so what it builds is checked;
`domain_guards` is what a nest is built from where the check fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import islpy as isl

from dsl.affine import Affine, And, Cond, Constraint, Or
from polyhedral.ast_expr import Conjunction, complement
from polyhedral.isl_text import (
    affine_text,
    conjunction,
    constraint_text,
    dims,
    map_of,
    positional,
)
from polyhedral.looptree import Instance, TreeGuard, TreeLoop, TreeNode
from polyhedral.scheduled import Piece
from polyhedral.scop import Statement, origin_of


def covers(nodes: tuple[TreeNode, ...], pieces: list[Piece]) -> bool:
    """Whether the nodes run the iterations of the pieces, each exactly once."""
    wanted: dict[str, isl.Set] = {}
    for piece in pieces:
        own = piece.times.domain()
        name = piece.name
        wanted[name] = wanted[name].union(own) if name in wanted else own
    index = {p.name: p.statement.index for p in pieces}
    found: dict[str, isl.Set] = {}
    for instance, around in _instances(nodes, ()):
        name = instance.stmt.name
        runs = _runs(instance, around, index[name])
        if not runs.is_injective():
            return False
        image = runs.range()
        if name in found and not found[name].is_disjoint(image):
            return False
        found[name] = found[name].union(image) if name in found else image
    return found.keys() == wanted.keys() and all(
        found[name].is_equal(iterations) for name, iterations in wanted.items()
    )


def _instances(
    nodes: tuple[TreeNode, ...], around: tuple[TreeLoop | TreeGuard, ...]
) -> Iterator[tuple[Instance, tuple[TreeLoop | TreeGuard, ...]]]:
    for node in nodes:
        if isinstance(node, Instance):
            yield node, around
        else:
            yield from _instances(node.body, (*around, node))


def _runs(instance: Instance, around: tuple[TreeLoop | TreeGuard, ...], index: int) -> isl.Map:
    """Loop variables to the statement's iterations, over all that the loops and guards let pass."""
    loops = [node for node in around if isinstance(node, TreeLoop)]
    names = positional([loop.iv for loop in loops])
    where: list[str] = []
    for node in around:
        if isinstance(node, TreeGuard):
            where += [constraint_text(c, names) for c in node.constraints]
            continue
        iv = names[node.iv]
        lowers = [affine_text(e, names) for e in node.lowers]
        where += [f"{iv} >= {low}" for low in lowers]
        where += [f"{iv} < {affine_text(e, names)}" for e in node.uppers]
        if node.step > 1:
            first = lowers[0] if len(lowers) == 1 else f"max({', '.join(lowers)})"
            where.append(f"({iv} - ({first})) mod {node.step} = 0")
    values = ", ".join(affine_text(e, names) for _, e in instance.bindings)
    space = ", ".join(dims(len(loops)))
    return map_of(f"{{ [{space}] -> s{index}[{values}] : {conjunction(where)} }}")


def relaxed(hull: isl.Set) -> isl.Set:
    """A set without strides that contains the hull, within the hull's bounding box."""
    outer = hull.remove_divs().convex_hull()
    kind = isl.dim_type.set
    for k in range(hull.dim(kind)):
        outer = isl.Set.from_basic_set(outer) if isinstance(outer, isl.BasicSet) else outer
        outer = outer.lower_bound_val(kind, k, hull.dim_min_val(k))
        outer = outer.upper_bound_val(kind, k, hull.dim_max_val(k))
    return isl.Set.from_basic_set(outer) if isinstance(outer, isl.BasicSet) else outer


def domain_guards(statement: Statement) -> list[Conjunction]:
    """The domain of a statement, over its loop variables, as conjunctions that exclude each other."""
    always: list[Constraint] = []
    for loop in statement.loops:
        var = Affine.of(loop.var)
        always += [Constraint(var - low) for low in loop.lowers]
        always += [Constraint(high - var - 1) for high in loop.uppers]
        if abs(loop.step) > 1:
            origin, step = origin_of(loop)
            always.append(Constraint((var - origin) % abs(step), "=="))
    parts = product(*(_alternatives(cond) for cond in statement.conds))
    return [(*always, *(c for part in choice for c in part)) for choice in parts]


def _alternatives(cond: Cond) -> list[Conjunction]:
    match cond:
        case Constraint():
            return [(cond,)]
        case And(parts):
            choices = product(*(_alternatives(p) for p in parts))
            return [tuple(c for part in choice for c in part) for choice in choices]
        case Or(parts):
            found: list[Conjunction] = []
            for p in parts:
                rest = complement(found)
                found += [(*outer, *inner) for outer in rest for inner in _alternatives(p)]
            return found
