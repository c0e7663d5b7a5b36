"""Arrays of NumPy that are made of others side by side, or repeated: ``np.stack``, ``np.vstack``, ``np.tile``, ``np.pad``.

An element is a choice among the parts by its subscripts. Each part is read inside of its bounds, whatever is chosen: at a
remainder of the subscript by its extent.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.frontend.arrays.shapes import ArrayExpr, Exprs


def joined(exprs: Exprs, name: str, node: ast.Call) -> ArrayExpr | None:
    """``np.concatenate`` along an axis, ``np.stack``, ``np.vstack``, ``np.hstack``, ``np.column_stack``.

    Raises:
        LanguageError: W142 shapes that do not go together.
    """
    if not node.args or not isinstance(node.args[0], ast.Tuple | ast.List):
        return None
    parts = [_part(exprs, p) for p in node.args[0].elts]
    known = [p for p in parts if p is not None]
    if not known or len(known) < len(parts):
        return None
    flat = all(len(p.shape) == 1 for p in known)
    axis = _axis(exprs, node) if name in ("concatenate", "stack") else 0
    if name not in ("concatenate", "stack") and (len(node.args) > 1 or node.keywords):
        raise _refused(exprs, node, f"write np.{name}((a, b)), which has no axis")
    match name:
        case "vstack" if flat:
            return _stacked(exprs, known, 0, node)
        case "column_stack" if flat:
            return _stacked(exprs, known, 1, node)
        case "stack":
            return _stacked(exprs, known, axis, node)
        case "hstack" | "column_stack":
            axis = 0 if flat else 1
        case "vstack":
            known = [_as_row(p) for p in known]
            axis = 0
    return _side_by_side(exprs, known, axis, node)


def _as_row(part: ArrayExpr) -> ArrayExpr:
    """A vector as a matrix of one row."""
    if len(part.shape) != 1:
        return part
    return ArrayExpr((1, *part.shape), lambda at: part.at(at[1:]))


def _axis(exprs: Exprs, node: ast.Call) -> int:
    others = [k for k in node.keywords if k.arg != "axis"]
    given = [k.value for k in node.keywords if k.arg == "axis"] or node.args[1:]
    axis = exprs.ctx.evaluate(given[0]) if given else 0
    if others or len(given) > 1 or type(axis) is not int:
        raise _refused(exprs, node, "say the axis as a number: axis=1")
    return axis


def _part(exprs: Exprs, node: ast.expr) -> ArrayExpr | None:
    """An array, or a list of numbers that is written there."""
    if not isinstance(node, ast.List | ast.Tuple):
        return exprs.of(node)
    items = node.elts
    if not items or any(exprs.of(i) is not None for i in items):
        return None
    return ArrayExpr((len(items),), lambda at: _chosen(exprs, items, at[0]))


def _chosen(exprs: Exprs, items: Sequence[ast.expr], place: Affine) -> ast.expr:
    """The item at a place."""
    found = items[-1]
    for n in reversed(range(len(items) - 1)):
        found = exprs.at(ast.IfExp(_less(exprs, place, n + 1), items[n], found))
    return found


def _stacked(exprs: Exprs, parts: Sequence[ArrayExpr], axis: int, node: ast.Call) -> ArrayExpr:
    """Along a new axis."""
    shape = parts[0].shape
    rank = len(shape) + 1
    if any(p.shape != shape for p in parts) or not -rank <= axis < rank:
        raise _refused(exprs, node, "its parts have one shape")
    d = axis % rank

    def at(places: Sequence[Affine]) -> ast.expr:
        rest = [*places[:d], *places[d + 1 :]]
        return _chosen(exprs, [p.at(rest) for p in parts], places[d])

    return ArrayExpr((*shape[:d], len(parts), *shape[d:]), at)


def _side_by_side(exprs: Exprs, parts: Sequence[ArrayExpr], axis: int, node: ast.Call) -> ArrayExpr:
    """Along an axis that they have."""
    rank = len(parts[0].shape)
    if not -rank <= axis < rank:
        raise _refused(exprs, node, f"the axis is 0 to {rank - 1}")
    d = axis % rank
    around = {(p.shape[:d], p.shape[d + 1 :]) for p in parts if len(p.shape) == rank}
    if len(around) != 1 or any(len(p.shape) != rank for p in parts):
        shapes = ", ".join(str(p.shape) for p in parts)
        raise _refused(exprs, node, f"its parts have the shapes {shapes}")
    extents = [p.shape[d] for p in parts]

    def at(places: Sequence[Affine]) -> ast.expr:
        last = sum(extents)
        found: ast.expr | None = None
        for part, extent in zip(reversed(parts), reversed(extents), strict=True):
            last -= extent
            inside = (places[d] - last) % extent if len(parts) > 1 else places[d]
            mine = part.at([*places[:d], inside, *places[d + 1 :]])
            if found is not None:
                mine = exprs.at(ast.IfExp(_less(exprs, places[d], last + extent), mine, found))
            found = mine
        assert found is not None
        return found

    shape = parts[0].shape
    return ArrayExpr((*shape[:d], sum(extents), *shape[d + 1 :]), at)


def repeated(exprs: Exprs, name: str, node: ast.Call) -> ArrayExpr | None:
    """``np.repeat(x, n)``, also along an axis, and ``np.tile(x, n)``."""
    array = exprs.of(node.args[0])
    if array is None:
        return None
    names = ("repeats", "axis") if name == "repeat" else ("reps",)
    given = dict(zip(names, node.args[1:], strict=False))
    given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
    known = {n: exprs.ctx.evaluate(g) for n, g in given.items()}
    times, axis, rank = known.get(names[0]), known.get("axis"), len(array.shape)
    if axis is None and rank == 1:
        axis = 0
    is_known = len(node.args) <= 1 + len(names) and known.keys() <= {*names}
    if type(times) is not int or times < 1 or type(axis) is not int or not is_known:
        what = "np.repeat(x, 2, axis=0)" if name == "repeat" else "np.tile(x, 2), of one dimension"
        raise _refused(exprs, node, f"write {what}")
    if not -rank <= axis < rank:
        raise _refused(exprs, node, f"the axis is 0 to {rank - 1}")
    d, count = axis % rank, times
    extent = array.shape[d]

    def at(places: Sequence[Affine]) -> ast.expr:
        place = places[d] // count if name == "repeat" else places[d] % extent
        return array.at([*places[:d], place, *places[d + 1 :]])

    return ArrayExpr((*array.shape[:d], extent * count, *array.shape[d + 1 :]), at)


def padded(exprs: Exprs, node: ast.Call) -> ArrayExpr | None:
    """``np.pad(m, 1)`` with a constant, of an array of several dimensions."""
    array = exprs.of(node.args[0]) if node.args else None
    if array is None or len(array.shape) < 2:
        return None
    given = {k.arg: k.value for k in node.keywords}
    rest = [*node.args[1:2], *([given["pad_width"]] if "pad_width" in given else [])]
    mode = [*node.args[2:3], *([given["mode"]] if "mode" in given else [])]
    known = {"pad_width", "mode", "constant_values"} >= given.keys() and len(node.args) <= 3
    is_constant = all(exprs.ctx.evaluate(m) == "constant" for m in mode)
    if len(rest) != 1 or not known or not is_constant:
        raise _refused(exprs, node, "write np.pad(m, ((1, 1), (2, 2)), constant_values=0)")
    ends = ends_of(exprs, rest[0], len(array.shape), node)
    value = given.get("constant_values", exprs.given(0))
    made = array

    def at(places: Sequence[Affine]) -> ast.expr:
        triples = [*zip(places, made.shape, ends, strict=True)]
        inside = [(p - before) % extent for p, extent, (before, _) in triples]
        tests: list[ast.expr] = []
        for p, extent, (before, after) in triples:
            if before:
                tests.append(exprs.at(ast.UnaryOp(ast.Not(), _less(exprs, p, before))))
            if after:
                tests.append(_less(exprs, p, before + extent))
        if not tests:
            return made.at(inside)
        test = tests[0] if len(tests) == 1 else exprs.at(ast.BoolOp(ast.And(), tests))
        return exprs.at(ast.IfExp(test, made.at(inside), value))

    shape = tuple(b + n + a for n, (b, a) in zip(array.shape, ends, strict=True))
    return ArrayExpr(shape, at)


def ends_of(exprs: Exprs, node: ast.expr, rank: int, call: ast.Call) -> list[tuple[int, int]]:
    """How much comes in front and behind, along each dimension."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    pairs = [p.elts if isinstance(p, ast.Tuple | ast.List) else [p] for p in parts]
    numbers = [[exprs.ctx.evaluate(n) for n in pair] for pair in pairs]
    if all(len(n) == 1 for n in numbers):  # one for all: 1, or (1, 2)
        numbers = [[n[0] for n in numbers]] * rank
    found = [(n[0], n[-1]) for n in numbers if all(isinstance(m, int) and m >= 0 for m in n)]
    if len(found) != rank or any(len(n) > 2 for n in numbers):
        raise _refused(exprs, call, "write np.pad(m, ((1, 1), (2, 2)), constant_values=0)")
    return found  # type: ignore[return-value]


def _less(exprs: Exprs, place: Affine, bound: int) -> ast.expr:
    return exprs.at(ast.Compare(exprs.given(place), [ast.Lt()], [exprs.given(bound)]))


def _refused(exprs: Exprs, node: ast.Call, instead: str) -> LanguageError:
    text = exprs.ctx.source.text(node)
    return exprs.ctx.error("W142", f"{text} is no array of a kernel", node, instead)
