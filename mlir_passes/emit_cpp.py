"""C++ expressions as text with just the parentheses they need, and lines broken at 100 columns.

Line breaks follow clang-format (LLVM style): after an operator, operands aligned.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

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
    before it), ``"?:"``, or empty for what is never broken.
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
    return Cpp(array + "".join(f"[{i.text}]" for i in indices))


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
    if not inner or inner in ("()", "?:"):
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
    for n, (item, after) in enumerate(items):
        behind = len(after) if n < len(items) - 1 else tail
        if n:
            fits_here = at + 1 + len(item.text) + behind <= LIMIT
            fits_below = column + len(item.text) + behind <= LIMIT
            if fits_here or not fits_below:
                out, at = out + " ", at + 1
            else:
                out, at = out + "\n" + " " * column, column
        text = laid_out(item, at, behind) + after
        out += text
        at = at + len(text) if "\n" not in text else len(text) - text.rindex("\n") - 1
    return out


def statement(head: str, e: Cpp, indent: int) -> str:
    """``head e;`` at an indent; ``head`` ends in ``=`` or the like and may stand on its own line."""
    column = indent + len(head) + 1
    text = laid_out(e, column, 1)
    if "\n" in text or column + len(text) + 1 > LIMIT:
        below = laid_out(e, indent + 2 * INDENT, 1)
        if below.count("\n") < text.count("\n") or ("\n" not in text):
            return f"{' ' * indent}{head}\n{' ' * (indent + 2 * INDENT)}{below};"
    return f"{' ' * indent}{head} {text};"


def comment(text: str, indent: int) -> list[str]:
    """``// text``, wrapped. A backslash at the end would continue the comment: it goes."""
    flat = " ".join(text.split()).rstrip("\\ ")
    lines = textwrap.wrap(
        flat, LIMIT - indent - 3, break_long_words=False, break_on_hyphens=False
    ) or [""]
    return [f"{' ' * indent}// {line.rstrip(chr(92) + ' ')}".rstrip() for line in lines]
