"""Where the lines of a C++ expression break: a layout and what it costs, in linear time.

Line breaks follow clang-format (LLVM style): after an operator, operands aligned. Each operand is
laid out once for each column that it may begin at; columns end at the limit, so that the time is
linear in the size of the expression, however deeply it is nested. What cannot be aligned within the
limit is filled line by line instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from mlir_passes.emit.cpp import INFIX, Cpp

LIMIT = 100
DEEPEST = 48
"""Levels of nesting that are aligned: each takes some columns, so that more would seldom fit."""

IN_BRACKETS = re.compile(r"\[[^\[\]]*\]")
HELD = "\0"
"""Stands for a space where a line must not end."""
_BREAKS = re.compile(r"(?<=[^\w)\]] )|(?<=\()|(?<=\))(?=\))")
"""Behind operators and commas, between parentheses."""

Rope = str | tuple["Rope", ...]
"""Text in pieces, joined when it is asked for: an operand's is part of many layouts."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Text with line breaks, from a definite column on.

    Attributes:
        rope: the text.
        lines: how many lines it has.
        past: characters past the limit, in all lines but the last.
        end: the column behind its last character.
    """

    rope: Rope
    lines: int
    past: int
    end: int

    @property
    def text(self) -> str:
        """The text in one piece."""
        parts, pending = [], [self.rope]
        while pending:
            rope = pending.pop()
            if isinstance(rope, str):
                parts.append(rope)
            else:
                pending.extend(reversed(rope))
        return "".join(parts)

    def fits(self, tail: int) -> bool:
        """Whether no line runs past the limit, ``tail`` characters behind the last included."""
        return self.past + _past(self.end + tail) == 0

    def cost(self, tail: int, more: int = 0) -> tuple[int, int]:
        """Characters past the limit (``tail`` of them follow), then lines (and ``more``)."""
        return self.past + _past(self.end + tail), self.lines + more


def laid_out(e: Cpp, column: int, tail: int) -> Layout:
    """The expression from ``column`` on, with line breaks where it does not fit.

    Args:
        e: the expression.
        column: where its first character stands, from 0.
        tail: how many characters follow on its last line.
    """
    found = aligned(e, column, tail)
    return found if found.fits(tail) else min(found, filled(e, column, tail), key=_cost_with(tail))


def aligned(e: Cpp, column: int, tail: int) -> Layout:
    """The expression with its operands aligned, which may run past the limit."""
    return _Aligner().laid_out(e, column, tail)


def filled(e: Cpp, column: int, tail: int) -> Layout:
    """The expression with as much on a line as fits, its structure aside: for deep nesting."""
    out = _Builder(column)
    pieces = _BREAKS.split(IN_BRACKETS.sub(lambda m: m[0].replace(" ", HELD), e.text))
    for n, piece in enumerate(pieces):
        behind = tail if n == len(pieces) - 1 else 0
        if out.end > column and out.end + len(piece.rstrip(" ")) + behind > LIMIT:
            out.newline(column)
        out.text(piece.replace(HELD, " "))
    return out.built()


def _cost_with(tail: int) -> Callable[[Layout], tuple[int, int]]:
    return lambda layout: layout.cost(tail)


def _past(column: int) -> int:
    return max(0, column - LIMIT)


def _line(text: str, column: int) -> Layout:
    return Layout(text, 1, 0, column + len(text))


@dataclass(slots=True)
class _Builder:
    """A layout that grows at its end."""

    end: int
    rope: list[Rope] = field(default_factory=list)
    lines: int = 1
    past: int = 0

    def text(self, text: str) -> None:
        self.rope.append(text)
        self.end += len(text)

    def newline(self, column: int) -> None:
        last = self.rope[-1]
        if isinstance(last, str) and last.endswith(" "):
            self.rope[-1] = last[:-1]
            self.end -= 1
        self.past += _past(self.end)
        self.rope.append("\n" + " " * column)
        self.lines += 1
        self.end = column

    def layout(self, part: Layout) -> None:
        self.rope.append(part.rope)
        self.lines += part.lines - 1
        self.past += part.past
        self.end = part.end

    def built(self) -> Layout:
        return Layout(tuple(self.rope), self.lines, self.past, self.end)


@dataclass(slots=True)
class _Aligner:
    """Lays an expression out with operands aligned; ``known`` are the layouts so far."""

    known: dict[tuple[int, int, int], Layout] = field(default_factory=dict)
    depth: int = 0

    def laid_out(self, e: Cpp, column: int, tail: int) -> Layout:
        if column + len(e.text) + tail <= LIMIT or column >= LIMIT or not e.op:
            return _line(e.text, column)
        if self.depth == DEEPEST:
            return _line(e.text, column)
        key = (id(e), column, tail)
        found = self.known.get(key)
        if found is None:
            self.depth += 1
            found = self.known[key] = self._broken(e, column, tail)
            self.depth -= 1
        return found

    def _broken(self, e: Cpp, column: int, tail: int) -> Layout:
        out = _Builder(column)
        match e.op:
            case "()":
                out.text(f"{e.head}(")
                items = [(a, "," if n < len(e.parts) - 1 else "") for n, a in enumerate(e.parts)]
                self._fill(out, items, tail + 1)
                out.text(")")
            case "?:":
                condition, then, orelse = e.parts
                out.layout(self.laid_out(condition, column, 0))
                for mark, part, behind in (("? ", then, 0), (": ", orelse, tail)):
                    out.newline(column + 4)
                    out.text(mark)
                    out.layout(self.laid_out(part, column + 6, behind))
            case "[]":
                out.text(e.head)
                for n, index in enumerate(e.parts):
                    if n:
                        out.newline(column + len(e.head))
                    out.text(f"[{index.text}]")
            case _:
                self._fill(out, _chain(e), tail)
        return out.built()

    def _fill(self, out: _Builder, items: list[tuple[Cpp, str]], tail: int) -> None:
        """Items with their separators, as many on a line as fit, lines aligned where it begins."""
        column, broken = out.end, False
        for n, (item, after) in enumerate(items):
            behind = len(after) if n < len(items) - 1 else tail
            here = out.end + bool(n)
            fits = not broken and here + len(item.text) + behind <= LIMIT
            if n and not fits and (broken or self._is_better_below(items, n, column, here, behind)):
                out.newline(column)
                here = column
            elif n:
                out.text(" ")
            part = self.laid_out(item, here, behind)
            broken = part.lines > 1
            out.layout(part)
            out.text(after)

    def _is_better_below(
        self, items: list[tuple[Cpp, str]], n: int, column: int, here: int, behind: int
    ) -> bool:
        """Whether an operand that does not fit on the line begins the next one."""
        item = items[n][0]
        below = self.laid_out(item, column, behind).cost(behind, 1)
        beside = self.laid_out(item, here, behind).cost(behind)
        return below < beside or (below == beside and _breaks_late(items[n - 1][1], item))


def _chain(e: Cpp) -> list[tuple[Cpp, str]]:
    """Operands of a chain of one precedence, each with the operator that follows it."""
    operands: list[tuple[Cpp, str]] = []
    pending = [(e, "")]
    while pending:
        part, following = pending.pop()
        if part.op in INFIX and part.prec == e.prec:
            pending += [(part.parts[1], following), (part.parts[0], f" {part.op}")]
        else:
            operands.append((part, following))
    return operands


def _breaks_late(separator: str, item: Cpp) -> bool:
    """Whether to break before an operand rather than in it, when both take as many lines."""
    if item.op == "[]":
        return True
    is_call = item.op == "()" and item.head != ""
    return not is_call and separator not in (" *", " /", " %")
