"""Whether two iterations have the same values of some subscripts."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from dsl.expressions.affine import Affine
from polyhedral.isl.text import affine_text, map_of, positional
from polyhedral.scop.scop import Statement


def coincide(
    one: Statement, subscripts: Sequence[Affine], other: Statement, others: Sequence[Affine]
) -> bool:
    """Whether an iteration of one statement has the values that another iteration, of the same or of another statement,
    has of as many subscripts.

    Args:
        one, other: the statements.
        subscripts: over the loop variables of ``one``, none of them data.
        others: over those of ``other``.
    """
    pairs = _values(one, subscripts).apply_range(_values(other, others).reverse())
    if one is other:
        pairs = pairs.subtract(isl.Map.identity(pairs.get_space()))
    return not pairs.is_empty()


def _values(statement: Statement, subscripts: Sequence[Affine]) -> isl.Map:
    names = positional(statement.variables)
    texts = ", ".join(affine_text(index, names) for index in subscripts)
    return map_of(f"{{ {statement.space} -> [{texts}] }}").intersect_domain(statement.domain)
