"""Types of values of which a program has recurrences whose functions compose."""

from __future__ import annotations

from dsl.programs.composed import Kind
from polyhedral.legality.recurrences import NoScanError
from polyhedral.legality.scans import running
from polyhedral.scop.scop import Scop, Statement
from qor_gnn.design.operations import type_of

_BLOCK = 2  # iterations of the smallest block


def composed_types(scop: Scop) -> frozenset[str]:
    """The types, in the words of `qor_gnn.design.region.Op`, of recurrences that can run in blocks and are more than a sum.

    Blocks of their functions are computed in any order, so that operators of several classes make one tree.
    """
    return frozenset(t for s in scop.statements if s.loops and (t := _composed(scop, s)))


def _composed(scop: Scop, statement: Statement) -> str:
    try:
        family = running(scop, statement.name, len(statement.loops) - 1, _BLOCK).family
    except NoScanError:
        return ""
    plain = family.kind is Kind.KEEP and not family.has("keep")
    return "" if plain else type_of(family.dtype)[0]
