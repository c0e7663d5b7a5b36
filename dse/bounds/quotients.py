"""Divisions of floats that may be products with a reciprocal, where floats may be rounded otherwise.

`reciprocal` makes one division of all that a loop does by the same. Bounds take the cheaper of both for every one that may be such
by its subscripts, and leave out the division that is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dse.bounds.roofline import Operations
from dsl.programs.program import Loop, Program, Stmt
from dsl.programs.reciprocals import quotients
from qor_gnn.design.region import Op, Statement

EITHER = "fdiv or fmul"
"""The core of what either does."""


def is_quotient(op: Op) -> bool:
    """Whether an operation is a division of floats."""
    return op.kind == "div" and op.type != "int"


def as_product(op: Op) -> Op:
    """The product in the place of a quotient."""
    return replace(op, kind="mul")


def either(quotient: Operations | None, product: Operations | None) -> Operations | None:
    """A unit of one kind or of the other; None where one of them costs nothing that is known."""
    if quotient is None or product is None:
        return None
    return Operations(0, tuple(dict.fromkeys((*quotient.ways, *product.ways))))


def maybe_products(program: Program, statements: Mapping[str, Statement]) -> frozenset[int]:
    """The identities of operations that may be products.

    Args:
        program: the kernel.
        statements: its operations.
    """
    found = {name for name in _dividing(program) if name in statements}
    return frozenset(id(op) for name in found for op in statements[name].ops if is_quotient(op))


def _dividing(program: Program) -> Iterator[str]:
    """Statements of which a loop around may keep what they divide by."""
    for node, around in program.walk():
        if not isinstance(node, Stmt):
            continue
        loops = [loop.var for loop in around if isinstance(loop, Loop)]
        for quotient in quotients(program, node):
            if any(v not in quotient.moving for v in loops[quotient.scope :]):
                yield node.name
                break
