"""How deep expressions and statements may be nested: one limit, at both front doors.

Expressions are walked by recursive functions, which take up to `FRAMES` frames for each level.
Python's own limit is meant for runaway recursion; a program within `MAX_DEPTH` levels is none, so
that its front door makes room for it. The frames of Python functions are not on the C stack.
"""

from __future__ import annotations

import sys

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.expr import Expr, children

MAX_DEPTH = 200
"""Levels; clang, on which HLS tools are built, refuses more than 256 brackets in each other."""
MAX_SIZE = 10_000
FRAMES = 12
AROUND = 1000
"""Frames for what is around: commands, tests, notebooks, servers."""


def admit(levels: int, span: Span | None) -> None:
    """Let a program of that nesting in, and make room for walking it.

    Raises:
        LanguageError: W108 where it is nested deeper than `MAX_DEPTH`.
    """
    if levels > MAX_DEPTH:
        raise LanguageError(
            "W108",
            f"this is nested more than {MAX_DEPTH} levels deep",
            span=span,
            help="compute it in several statements through local scalars",
        )
    sys.setrecursionlimit(max(sys.getrecursionlimit(), AROUND + FRAMES * levels))


def admit_value(expr: Expr, span: Span | None) -> None:
    """`admit` of the value of a statement, which also has a bounded number of operations.

    A part that is used several times (``x ** 64``, a term of a builder) counts as often.

    Raises:
        LanguageError: W108 where it is too deep or too large.
    """
    sizes: dict[int, tuple[int, int]] = {}
    pending = [expr]
    while pending:
        parts = children(pending[-1])
        unknown = [p for p in parts if id(p) not in sizes]
        if unknown:
            pending += unknown
            continue
        known = [sizes[id(p)] for p in parts]
        found = 1 + sum(n for n, _ in known), 1 + max((d for _, d in known), default=0)
        sizes[id(pending.pop())] = found
    size, depth = sizes[id(expr)]
    admit(depth, span)
    if size > MAX_SIZE:
        raise LanguageError(
            "W108",
            f"this value has more than {MAX_SIZE} operations and operands",
            span=span,
            help="compute it in several statements through local scalars",
        )
