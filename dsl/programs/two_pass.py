"""Sums that are rescaled to a running extremum, as two passes: the extremum first, then the sums at its last value.

Before, with ``two_pass(["S3"], "i")``::

    for i in range(N):
      S2: higher = max(top, x[i])
      S3: total = total * exp(top - higher) + exp(x[i] - higher)
      S4: top = higher

After::

    top_start: top_before = top
    for i in range(N):
      S4: top = max(top, x[i])
    top_factor: top_scale = exp(top_before - top)
    S3_start: total = total * top_scale
    for i in range(N):
      S3: total = total + exp(x[i] - top)

Where a sum is 0 in front of the loop, nothing is rescaled there. That all of it comes to the same is
for `polyhedral.legality.rescaled` to find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dsl.expressions import typing
from dsl.expressions.expr import Access, BinaryOp, Expr, Load, UnaryOp
from dsl.programs.located import filtered
from dsl.programs.names import unused
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage, has_statement
from dsl.programs.scopes import ordered_locals


@dataclass(frozen=True, slots=True)
class Rescaled:
    """A loop whose sums are rescaled to a running extremum.

    Attributes:
        level: of the loop, counted from the outermost.
        extremum: the running extremum; it is the same element in all iterations of the loop.
        around: loops inside of the loop whose variables say which extremum it is.
        first: the statements of the first pass, as they are there.
        second: those of the second pass.
        starts: what is not 0 in front of the loop, and must be rescaled there.
    """

    level: int
    extremum: Load
    around: tuple[Loop, ...]
    first: Mapping[str, Stmt]
    second: Mapping[str, Stmt]
    starts: tuple[Start, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """A sum that is not 0 in front of the loop.

    Attributes:
        stmt: the name of the statement that adds to it.
        element: the sum.
        loops: inside of those of the extremum, whose variables say which of several sums it is.
        factor: of the difference of two extrema, in whose exponential sums are multiplied; None for 1.
        negative: whether it is ``exp(last - before)``, not ``exp(before - last)``.
    """

    stmt: str
    element: Load
    loops: tuple[Loop, ...]
    factor: Expr | None = None
    negative: bool = False

    def exponent(self, before: Load, last: Load) -> Expr:
        """By what exponential the sum is multiplied behind the first pass."""
        a, b = (last, before) if self.negative else (before, last)
        difference = typing.binary(BinaryOp.SUB, a, b)
        if self.factor is None:
            return difference
        return typing.binary(BinaryOp.MUL, self.factor, difference)


def with_two_passes(program: Program, name: str, found: Rescaled) -> Program:
    """The program with two loops in the place of one.

    Args:
        program: the kernel.
        name: a statement of the loop.
        found: what becomes of it.
    """
    made = _Made.of(program, name, found)
    arrays = (*program.arrays, *made.arrays(program))
    body = made.nodes(program.body, found.level + 1)
    return ordered_locals(replace(program, arrays=arrays, body=body))


@dataclass(frozen=True, slots=True)
class _Made:
    """Names of what is new: the extremum in front of the loop, and what sums of each exponent are multiplied by."""

    name: str
    found: Rescaled
    before: str
    scales: tuple[str, ...]
    stmts: Sequence[str]

    @staticmethod
    def of(program: Program, name: str, found: Rescaled) -> _Made:
        arrays = [a.name for a in program.arrays]
        extremum = found.extremum.access.array
        before = unused(f"{extremum}_before", arrays)
        scales: list[str] = []
        for _ in dict.fromkeys((start.factor, start.negative) for start in found.starts):
            scales.append(unused(f"{extremum}_scale", [*arrays, *scales]))
        return _Made(name, found, before, tuple(scales), [s.name for s in program.statements()])

    def arrays(self, program: Program) -> list[Array]:
        """The locals that are new, one element for each extremum."""
        of = program.array(self.found.extremum.access.array)
        names = (self.before, *self.scales) if self.found.starts else ()
        return [
            Array(n, of.dtype, of.shape, Storage.LOCAL, False, of.scope_depth, of.span)
            for n in names
        ]

    def nodes(self, nodes: tuple[Node, ...], down: int) -> tuple[Node, ...]:
        """The nodes, the loop that is ``down`` loops further in as two."""
        made: list[Node] = []
        for node in nodes:
            if not has_statement(node, self.name):
                made.append(node)
                continue
            match node:
                case If(then=then, orelse=orelse):
                    sides = self.nodes(then, down), self.nodes(orelse, down)
                    made.append(replace(node, then=sides[0], orelse=sides[1]))
                case Loop(body=body) if down > 1:
                    made.append(replace(node, body=self.nodes(body, down - 1)))
                case Loop():
                    made += self._passes(node)
                case Stmt():
                    raise AssertionError("a statement is in the loop of its passes")
        return tuple(made)

    def _passes(self, loop: Loop) -> tuple[Node, ...]:
        first, second = _only(loop, self.found.first), _only(loop, self.found.second)
        if not self.found.starts:
            return (*first, *second)
        start = self._stmt("start", self._element(self.before), self.found.extremum)
        return (self._nest(start, ()), *first, *self._rescaled(), *second)

    def _rescaled(self) -> list[Node]:
        """What sums are multiplied by, once for each extremum and exponent, and the products."""
        before, extremum = self._element(self.before), self.found.extremum
        made: list[Node] = []
        exponents = [start.exponent(before, extremum) for start in self.found.starts]
        for scale, exponent in zip(self.scales, dict.fromkeys(exponents), strict=True):
            value = typing.unary(UnaryOp.EXP, exponent)
            made.append(self._nest(self._stmt("factor", self._element(scale), value), ()))
        for start, exponent in zip(self.found.starts, exponents, strict=True):
            scale = self.scales[list(dict.fromkeys(exponents)).index(exponent)]
            element = start.element
            value = typing.binary(BinaryOp.MUL, element, self._element(scale))
            name = unused(f"{start.stmt}_start", self.stmts)
            text = f"{element.access} *= {self._element(scale).access}"
            stmt = Stmt(name, element.access, value, element.access.span, text)
            made.append(self._nest(stmt, start.loops))
        return made

    def _element(self, array: str) -> Load:
        access = self.found.extremum.access
        return Load(Access(array, access.indices, access.span), self.found.extremum.dtype)

    def _stmt(self, word: str, target: Load, value: Expr) -> Stmt:
        extremum = self.found.extremum.access
        number = self.scales.index(target.access.array) if word == "factor" else 0
        word = f"{word}_{number + 1}" if number else word
        name = unused(f"{extremum.array}_{word}", self.stmts)
        text = "" if word.startswith("factor") else f"{target.access} = {extremum}"
        return Stmt(name, target.access, value, extremum.span, text)

    def _nest(self, stmt: Stmt, loops: Sequence[Loop]) -> Node:
        """The statement in loops over extrema, and over sums of each."""
        node: Node = stmt
        for loop in reversed((*self.found.around, *loops)):
            node = replace(loop, body=(node,))
        return node


def _only(loop: Loop, kept: Mapping[str, Stmt]) -> tuple[Node, ...]:
    """The loop with some of its statements alone, each as it is there."""
    return filtered(loop, lambda stmt: stmt.name in kept, lambda stmt: kept[stmt.name])
