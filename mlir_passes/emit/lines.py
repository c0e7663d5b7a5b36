"""Lines of C++: statements and headers of loops and conditions, broken where they are too long."""

from __future__ import annotations

import textwrap
from itertools import pairwise

from mlir_passes.emit.cpp import Cpp
from mlir_passes.emit.layout import HELD, IN_BRACKETS, LIMIT, aligned, laid_out

INDENT = 2


def statement(head: str, e: Cpp, indent: int) -> str:
    """``head e;`` at an indent; ``head`` ends in ``=`` or the like and may stand on its own line."""
    pad, column, below = " " * indent, indent + len(head) + 1, indent + 2 * INDENT
    if column + len(e.text) + 1 <= LIMIT:
        return f"{pad}{head} {e.text};"
    here, lower = aligned(e, column, 1), aligned(e, below, 1)
    if not here.fits(1) and not lower.fits(1):
        lower = laid_out(e, below, 1)
    cost_here, cost_lower = here.cost(1), lower.cost(1, 1)
    if cost_here == cost_lower:
        breaks = _inner_breaks(lower.text, below) < _inner_breaks(here.text, column)
        is_lower = lower.lines == 1 or breaks
    else:
        is_lower = cost_lower < cost_here
    return f"{pad}{head}\n{' ' * below}{lower.text};" if is_lower else f"{pad}{head} {here.text};"


def _inner_breaks(text: str, column: int) -> int:
    """How many lines begin inside of an operand of the outermost sum."""
    lines = text.split("\n")
    return sum(
        len(line) - len(line.lstrip()) != column or before.endswith(("*", "/"))
        for before, line in pairwise(lines)
    )


def assignment(place: Cpp, op: str, e: Cpp, indent: int) -> str:
    """``place op e;``, where ``op`` is ``=`` or a compound one."""
    if indent + len(place.text) + 1 + len(op) <= LIMIT:
        return statement(f"{place.text} {op}", e, indent)
    below = indent + len(place.head) + 2 * INDENT
    first = laid_out(place, indent, len(op) + 1)
    return f"{' ' * indent}{first.text} {op}\n{' ' * below}{laid_out(e, below, 1).text};"


def loop_header(declaration: str, start: Cpp, test: str, limit: Cpp, step: str, indent: int) -> str:
    """``for (declaration = start; test limit; step) {``, broken after the semicolons."""
    pad = " " * indent
    flat = f"{pad}for ({declaration} = {start}; {test} {limit}; {step}) {{"
    if len(flat) <= LIMIT:
        return flat
    column = indent + len("for (")
    first = laid_out(start, column + len(declaration) + 3, 1)
    second = laid_out(limit, column + len(test) + 1, 1)
    inner = "\n" + " " * column
    text = f"{pad}for ({declaration} = {first.text};{inner}{test} {second.text};"
    last = len(text) - text.rindex("\n") - 1
    separator = " " if last + len(step) + 4 <= LIMIT and second.lines == 1 else inner
    return f"{text}{separator}{step}) {{"


def if_header(condition: Cpp, indent: int) -> str:
    """``if (condition) {``."""
    inside = laid_out(condition, indent + len("if ("), len(") {"))
    return f"{' ' * indent}if ({inside.text}) {{"


def comment(text: str, indent: int) -> list[str]:
    """``// text``, wrapped outside of brackets. No line ends in a backslash, which would continue it."""
    flat = " ".join(text.split()).rstrip("\\ ")
    held = IN_BRACKETS.sub(lambda m: m[0].replace(" ", HELD), flat)
    width = LIMIT - indent - len("// ")
    lines = textwrap.wrap(held, width, break_long_words=False, break_on_hyphens=False) or [""]
    lines = [line.replace(HELD, " ").rstrip("\\ ") for line in lines]
    return [f"{' ' * indent}// {line}".rstrip() for line in lines]
