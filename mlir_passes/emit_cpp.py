"""C++ expressions as text with just the parentheses they need, and lines broken at 100 columns.

Line breaks follow clang-format (LLVM style): after an operator, operands aligned.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from itertools import pairwise

LIMIT = 100
INDENT = 2

_PRIMARY, _UNARY, _TERNARY = 16, 15, 2
_INFIX = {
    "*": 13,
    "/": 13,
    "%": 13,
    "+": 12,
    "-": 12,
    "<<": 11,
    ">>": 11,
    "<": 9,
    "<=": 9,
    ">": 9,
    ">=": 9,
    "==": 8,
    "!=": 8,
    "&": 7,
    "^": 6,
    "|": 5,
    "&&": 4,
    "||": 3,
}
_BITWISE = frozenset({"&", "^", "|", "<<", ">>"})
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})


@dataclass(frozen=True, slots=True)
class Cpp:
    """An expression: its text on one line, and its structure for breaking that line.

    ``op`` is an infix operator, ``"()"`` for a call or a parenthesis (``head`` is what stands
    before it), ``"[]"``, ``"?:"``, or empty for what is never broken.
    """

    text: str
    prec: int = _PRIMARY
    op: str = ""
    parts: tuple[Cpp, ...] = ()
    head: str = ""

    def __str__(self) -> str:
        return self.text


def name(text: str) -> Cpp:
    """A name, a literal or anything else that binds as tightly."""
    return Cpp(text)


def call(head: str, *args: Cpp) -> Cpp:
    """``head(args)``: a function call or a functional cast."""
    return Cpp(f"{head}({', '.join(a.text for a in args)})", _PRIMARY, "()", args, head)


def member(operand: Cpp, suffix: str) -> Cpp:
    """``operand.suffix``."""
    return Cpp(f"{_at_least(operand, _PRIMARY).text}.{suffix}")


def subscript(array: str, indices: tuple[Cpp, ...]) -> Cpp:
    """``array[i][j]``."""
    text = array + "".join(f"[{i.text}]" for i in indices)
    return Cpp(text, _PRIMARY, "[]" if len(indices) > 1 else "", indices, array)


def negative_literal(text: str) -> Cpp:
    """``-5``: no operand of a tighter operator without parentheses."""
    return Cpp(f"-{text}", _UNARY)


def prefix(op: str, operand: Cpp) -> Cpp:
    """``-x``, ``!x``, ``~x``; ``-(-x)`` keeps its parentheses."""
    inner = _at_least(operand, _UNARY)
    if op == "-" and inner.text.startswith("-"):
        inner = _parenthesised(operand)
    return Cpp(op + inner.text, _UNARY)


def infix(op: str, lhs: Cpp, rhs: Cpp) -> Cpp:
    """``lhs op rhs`` evaluated as given: ``a * (b * c)`` keeps its parentheses."""
    prec = _INFIX[op]
    associative = op in ("&&", "||")
    left = _at_least(lhs, prec)
    right = _at_least(rhs, prec if associative and rhs.op == op else prec + 1)
    if _is_confusing(op, left):
        left = _parenthesised(lhs)
    if _is_confusing(op, right):
        right = _parenthesised(rhs)
    return Cpp(f"{left.text} {op} {right.text}", prec, op, (left, right))


def ternary(condition: Cpp, then: Cpp, orelse: Cpp) -> Cpp:
    """``condition ? then : orelse``."""
    c, a, b = (_at_least(e, _TERNARY + 1) for e in (condition, then, orelse))
    return Cpp(f"{c.text} ? {a.text} : {b.text}", _TERNARY, "?:", (c, a, b))


def _parenthesised(e: Cpp) -> Cpp:
    return Cpp(f"({e.text})", _PRIMARY, "()", (e,))


def without_parentheses(e: Cpp) -> Cpp:
    """What stands between parentheses that are no longer needed."""
    return e.parts[0] if e.op == "()" and not e.head else e


def _at_least(e: Cpp, prec: int) -> Cpp:
    return e if e.prec >= prec else _parenthesised(e)


def _is_confusing(op: str, operand: Cpp) -> bool:
    """Whether compilers warn of (and readers stumble over) an operand without parentheses."""
    inner = operand.op
    if inner not in _INFIX:
        return False
    if op in _BITWISE:
        return inner != op or op in ("<<", ">>")
    if op == "||":
        return inner == "&&"
    return op in _COMPARISONS and inner in _COMPARISONS


# --------------------------------------------------------------------------------- line breaks


def laid_out(e: Cpp, column: int, tail: int) -> str:
    """The text from ``column`` on, with line breaks where it does not fit.

    Args:
        e: the expression.
        column: where its first character stands, from 0.
        tail: how many characters follow on its last line.
    """
    if column + len(e.text) + tail <= LIMIT:
        return e.text
    if e.op == "()":
        start = column + len(e.head) + 1
        items = [(a, "," if n < len(e.parts) - 1 else "") for n, a in enumerate(e.parts)]
        return f"{e.head}({_filled(items, start, tail + 1)})"
    if e.op == "?:":
        c, a, b = e.parts
        pad = "\n" + " " * (column + 4)
        condition = laid_out(c, column, 0)
        return (
            f"{condition}{pad}? {laid_out(a, column + 6, 0)}{pad}: {laid_out(b, column + 6, tail)}"
        )
    if e.op == "[]":
        pad = "\n" + " " * (column + len(e.head))
        return e.head + pad.join(f"[{i.text}]" for i in e.parts)
    if e.op:
        return _filled(_chain(e), column, tail)
    return e.text


def _chain(e: Cpp) -> list[tuple[Cpp, str]]:
    """Operands of a left-associative chain, each with the operator that follows it."""
    prec, following, operands = e.prec, "", []
    while e.op in _INFIX and e.prec == prec:
        operands.append((e.parts[1], following))
        following = f" {e.op}"
        e = e.parts[0]
    return [(e, following), *operands[::-1]]


def _filled(items: list[tuple[Cpp, str]], column: int, tail: int) -> str:
    """Items with their separators, as many on a line as fit, lines aligned at ``column``."""
    out = ""
    at = column
    broken = False
    for n, (item, after) in enumerate(items):
        behind = len(after) if n < len(items) - 1 else tail
        text = laid_out(item, at + bool(n), behind)
        if n and (broken or at + 1 + len(item.text) + behind > LIMIT):
            below = laid_out(item, column, behind)
            cost_below = _cost(below, column, behind, 1)
            cost_here = _cost(text, at + 1, behind, 0)
            if (
                broken
                or cost_below < cost_here
                or (cost_below == cost_here and _breaks_late(items[n - 1][1], item))
            ):
                text = "\n" + " " * column + below
            else:
                text = " " + text
        elif n:
            text = " " + text
        broken = "\n" in text.strip()
        out += text + after
        at = len(out) - out.rindex("\n") - 1 if "\n" in out else column + len(out)
    return out


def _breaks_late(separator: str, item: Cpp) -> bool:
    """Whether to break before an operand rather than in it, when both take as many lines."""
    if item.op == "[]":
        return True
    is_call = item.op == "()" and item.head != ""
    return not is_call and separator not in (" *", " /", " %")


def _cost(text: str, column: int, tail: int, more: int) -> tuple[int, int]:
    """What a layout costs: characters past the limit, then lines."""
    lines = text.split("\n")
    lengths = [column + len(lines[0]), *map(len, lines[1:])]
    lengths[-1] += tail
    return sum(max(0, n - LIMIT) for n in lengths), len(lines) + more


def statement(head: str, e: Cpp, indent: int) -> str:
    """``head e;`` at an indent; ``head`` ends in ``=`` or the like and may stand on its own line."""
    pad, column, below = " " * indent, indent + len(head) + 1, indent + 2 * INDENT
    if column + len(e.text) + 1 <= LIMIT:
        return f"{pad}{head} {e.text};"
    here, lower = laid_out(e, column, 1), laid_out(e, below, 1)
    cost_here, cost_lower = _cost(here, column, 1, 0), _cost(lower, below, 1, 1)
    if cost_here == cost_lower:
        ties = "\n" not in lower or _inner_breaks(lower, below) < _inner_breaks(here, column)
    else:
        ties = cost_lower < cost_here
    return f"{pad}{head}\n{' ' * below}{lower};" if ties else f"{pad}{head} {here};"


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
    return f"{' ' * indent}{first} {op}\n{' ' * below}{laid_out(e, below, 1)};"


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
    text = f"{pad}for ({declaration} = {first};{inner}{test} {second};"
    last = len(text) - text.rindex("\n") - 1
    separator = " " if last + len(step) + 4 <= LIMIT and "\n" not in second else inner
    return f"{text}{separator}{step}) {{"


def if_header(condition: Cpp, indent: int) -> str:
    """``if (condition) {``."""
    return f"{' ' * indent}if ({laid_out(condition, indent + len('if ('), len(') {'))}) {{"


_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_HELD = "\0"  # stands for a space where a line must not end


def comment(text: str, indent: int) -> list[str]:
    """``// text``, wrapped outside of brackets. No line ends in a backslash, which would continue it."""
    flat = " ".join(text.split()).rstrip("\\ ")
    held = _IN_BRACKETS.sub(lambda m: m[0].replace(" ", _HELD), flat)
    width = LIMIT - indent - len("// ")
    lines = textwrap.wrap(held, width, break_long_words=False, break_on_hyphens=False) or [""]
    lines = [line.replace(_HELD, " ").rstrip("\\ ") for line in lines]
    return [f"{' ' * indent}// {line}".rstrip() for line in lines]
