"""``np.einsum``: sums of products of elements, by the letters of their subscripts."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.frontend.arrays.shapes import ArrayExpr, Exprs


def einsum(exprs: Exprs, node: ast.Call) -> ArrayExpr | None:
    """``np.einsum("ij,jk->ik", a, b)``; None of one that is a number (`einsum_total`)."""
    letters, arrays, output = _einsum_parts(exprs, node)
    if not output:
        return None
    extents = _extents(exprs, node, letters, arrays)
    rest = sorted({c for part in letters for c in part} - {*output})

    def at(places: Sequence[Affine]) -> ast.expr:
        known = dict(zip(output, places, strict=True))
        return _contracted(exprs, (letters, arrays), known, rest, extents)

    return ArrayExpr(tuple(extents[c] for c in output), at)


def einsum_total(exprs: Exprs, node: ast.Call) -> ast.expr | None:
    """One that is a number, ``np.einsum("i,i->", a, b)``; None of all others."""
    letters, arrays, output = _einsum_parts(exprs, node)
    if output:
        return None
    rest = sorted({c for part in letters for c in part})
    extents = _extents(exprs, node, letters, arrays)
    return _contracted(exprs, (letters, arrays), {}, rest, extents)


def _contracted(
    exprs: Exprs,
    parts: tuple[list[str], list[ArrayExpr]],
    known: dict[str, Affine],
    rest: list[str],
    extents: dict[str, int],
) -> ast.expr:
    """The sum over the letters ``rest`` of the product of the arrays."""
    letters, arrays = parts

    def term(k: Sequence[Affine]) -> ast.expr:
        places = {**known, **dict(zip(rest, k, strict=True))}
        factors = [a.at([places[c] for c in p]) for p, a in zip(letters, arrays, strict=True)]
        found = factors[0]
        for factor in factors[1:]:
            found = exprs.at(ast.BinOp(found, ast.Mult(), factor))
        return found

    if not rest:
        return term([])
    return exprs.total("sum", tuple(extents[c] for c in rest), term)


def _einsum_parts(exprs: Exprs, node: ast.Call) -> tuple[list[str], list[ArrayExpr], str]:
    text = exprs.ctx.evaluate(node.args[0]) if node.args else None
    arrays = [exprs.of(a) for a in node.args[1:]]
    if not isinstance(text, str) or "." in text or node.keywords or None in arrays or not arrays:
        raise _refused(exprs, node, 'write np.einsum("ij,jk->ik", a, b), of arrays')
    inputs, arrow, output = text.replace(" ", "").partition("->")
    letters = inputs.split(",")
    if not arrow:
        joined = "".join(letters)
        output = "".join(sorted(c for c in {*joined} if joined.count(c) == 1))
    known = [a for a in arrays if a is not None]
    if len(letters) != len(known) or not {*output} <= {*"".join(letters)}:
        raise _refused(exprs, node, 'write np.einsum("ij,jk->ik", a, b), of arrays')
    return letters, known, output


def _extents(
    exprs: Exprs, node: ast.Call, letters: list[str], arrays: list[ArrayExpr]
) -> dict[str, int]:
    found: dict[str, int] = {}
    for part, array in zip(letters, arrays, strict=True):
        if len(part) != len(array.shape):
            raise _refused(exprs, node, f"'{part}' is of an array of the shape {array.shape}")
        for letter, extent in zip(part, array.shape, strict=True):
            if found.setdefault(letter, extent) != extent:
                raise _refused(exprs, node, f"'{letter}' is {found[letter]} and {extent}")
    return found


def _refused(exprs: Exprs, node: ast.expr, instead: str) -> LanguageError:
    message = f"{exprs.ctx.source.text(node)} is no array of a kernel"
    return exprs.ctx.error("W142", message, node, instead)
