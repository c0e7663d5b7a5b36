"""C++ expressions as text with just the parentheses they need; `emit_layout` breaks their lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

_PRIMARY, _UNARY, _TERNARY = 16, 15, 2
INFIX = {
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


def extents(shape: tuple[int, ...]) -> str:
    """``[200][240]``: of a declaration."""
    return "".join(f"[{n}]" for n in shape)


def conjunction(tests: Sequence[Cpp]) -> Cpp:
    """``a && b && c``, of at least one."""
    return reduce(partial(infix, "&&"), tests)


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
    prec = INFIX[op]
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
    if inner not in INFIX:
        return False
    if op in _BITWISE:
        return inner != op or op in ("<<", ">>")
    if op == "||":
        return inner == "&&"
    return op in _COMPARISONS and inner in _COMPARISONS
