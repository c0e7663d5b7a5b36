"""Loops whose bounds are data, of which a range is known: they run as often as they may at most, under a condition.

Before, with ``row`` of ``u8``::

    for k in range(min(count[i], 16)):
        s += x[k]
    for k in range(row[i], min(row[i + 1], row[i] + 4)):
        s += x[k]

After::

    end = min(count[i], 16)
    for k in range(0, 16):
        if k < end:
            s += x[k]
    first, end = row[i], min(row[i + 1], row[i] + 4)
    for step in range(0, 4):
        k = first + step
        if k < end:
            s += x[k]

What each iteration reads at ``k`` is inside of its array, and so is ``k``: ``range(row[i], row[i + 1])`` with ``value[k]`` in it,
of 40 elements, is ``range(max(row[i], 0), min(row[i + 1], 40))``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial

from dsl.errors.errors import LanguageError
from dsl.expressions import values
from dsl.expressions.affine import Affine
from dsl.expressions.conversions import bare
from dsl.expressions.expr import Access, Binary, BinaryOp, Const, Expr, loads
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.expressions.values import Value
from dsl.frontend.arrays.extents import extent_of
from dsl.frontend.context import Context
from dsl.frontend.operands import value
from dsl.frontend.syntax.certain import subscripts_by
from dsl.frontend.syntax.loop_parts import stored
from dsl.frontend.trip_bounds import MOST_TRIPS
from dsl.programs.program import MAX_EXTENT, Array, Node


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What the arguments of a range are: as written, their values, and the step."""

    nodes: tuple[ast.expr, ast.expr]
    start: Value
    stop: Value
    step: int

    @property
    def is_up(self) -> bool:
        """Whether it counts up."""
        return self.step > 0


def data_bounded(ctx: Context, loop: ast.For) -> tuple[Node, ...] | None:
    """The nodes of such a loop; None where no bound of the loop is data.

    Raises:
        LanguageError: W141 it may run more than `MOST_TRIPS` times.
    """
    if not isinstance(loop.iter, ast.Call) or not isinstance(loop.target, ast.Name):
        return None
    if ctx.evaluate(loop.iter.func) is not range or not _may_be_data(loop.iter):
        return None
    try:
        bounds = _bounds(ctx, loop.iter)
    except LanguageError:
        return None  # who reads the header of an affine loop says what is wrong with it
    if bounds is None:
        return None
    return _Bounded(ctx, loop, loop.target.id, bounds, _within(ctx, loop, loop.target.id)).nodes()


def _within(ctx: Context, loop: ast.For, name: str) -> Range:
    """The least and the most that the variable of a loop may be, by the elements that each iteration reads."""
    low, high = -MAX_EXTENT, MAX_EXTENT
    for found in subscripts_by(name, [], loop.body, partial(_runs, ctx)):
        try:
            extent = extent_of(ctx, found.base, found.dim)
        except LanguageError:
            continue  # what is declared in the body, for example
        if extent is not None:
            low, high = max(low, -found.offset), min(high, extent - 1 - found.offset)
    return low, high


def _runs(ctx: Context, loop: ast.For) -> bool:
    """Whether a loop over a range of numbers has an iteration."""
    call = loop.iter
    if not isinstance(call, ast.Call) or call.keywords or not 1 <= len(call.args) <= 3:
        return False
    if not all(isinstance(argument, ast.Constant | ast.Name) for argument in call.args):
        return False
    try:
        ends = [ctx.evaluate(argument) for argument in call.args]
        if ctx.evaluate(call.func) is not range:
            return False
    except LanguageError:
        return False  # a name of the body, for example
    numbers = [end for end in ends if isinstance(end, int) and not isinstance(end, bool)]
    return len(numbers) == len(ends) and numbers[2:] != [0] and len(range(*numbers)) > 0


def _may_be_data(call: ast.Call) -> bool:
    """Whether it has arguments of a range, and something in them that data can be."""
    plain = 1 <= len(call.args) <= 3 and not call.keywords
    return plain and any(
        isinstance(n, ast.Name | ast.Subscript) for a in call.args for n in ast.walk(a)
    )


def _bounds(ctx: Context, call: ast.Call) -> _Bounds | None:
    args = call.args
    if any(isinstance(n, ast.Starred) for a in args for n in ast.walk(a)):
        return None
    zero = ast.copy_location(ast.Constant(0), call)
    start, stop = (zero, args[0]) if len(args) == 1 else (args[0], args[1])
    ends = [value(ctx, start), value(ctx, stop)]
    step = value(ctx, args[2]) if len(args) == 3 else 1
    if not isinstance(step, int) or isinstance(step, bool) or step == 0:
        return None
    if not any(_is_data(end) for end in ends) or not all(map(_is_integer, ends)):
        return None
    return _Bounds((start, stop), ends[0], ends[1], step)


def _is_data(end: Value) -> bool:
    return isinstance(end, Expr) and any(True for _ in loads(end))


def _is_integer(end: Value) -> bool:
    if isinstance(end, Expr):
        return isinstance(end.dtype, IntType | IndexType)
    return isinstance(end, int | Affine) and not isinstance(end, bool)


@dataclass(frozen=True, slots=True)
class _Bounded:
    ctx: Context
    loop: ast.For
    name: str
    bounds: _Bounds
    within: Range

    def nodes(self) -> tuple[Node, ...]:
        """See the module."""
        made = self._statements()
        before = dict(self.ctx.held)
        if self.name not in stored(self.loop.body):
            low, high = self._ends()
            self.ctx.held[self.name] = low, max(low, high - 1)
        try:
            return tuple(node for s in made for node in self.ctx.read(s))
        finally:
            self.ctx.held = before

    def _statements(self) -> list[ast.stmt]:
        first, stop = self._limited()
        step, is_up = self.bounds.step, self.bounds.is_up
        most = self._most()
        made: list[ast.stmt] = []
        stop = self._kept(stop, f"{self.name}_end", made)
        test = ast.Lt() if is_up else ast.Gt()
        inside: list[ast.stmt] = [
            ast.If(ast.Compare(ast.Name(self.name, ast.Load()), [test], [stop]), self.loop.body, [])
        ]
        if _is_data(self.bounds.start):
            first = self._kept(first, f"{self.name}_first", made)
            target = self.ctx.names.unique_loop(f"{self.name}_step", self.ctx.names.loops())
            moved = ast.BinOp(ast.Name(target, ast.Load()), ast.Mult(), ast.Constant(step))
            convert = self._given(self._counter(most))
            now = ast.Call(convert, [ast.BinOp(first, ast.Add(), moved)], [])
            inside.insert(0, ast.Assign([ast.Name(self.name, ast.Store())], now))
            args: list[ast.expr] = [ast.Constant(most)]
        else:
            target = self.name
            low, high = self._stops()
            args = [first, ast.Constant(high if is_up else low), ast.Constant(step)]
        called = ast.Call(self._given(range), args, [])
        goal = ast.Name(target, ast.Store())
        loop = ast.For(goal, called, inside, self.loop.orelse)
        if self.loop in self.ctx.flags:
            self.ctx.flags[loop] = self.ctx.flags[self.loop]
        made.append(loop)
        return [self._placed(s) for s in made]

    def _counter(self, most: int) -> IntType:
        """A type in which no iteration wraps the variable, not even one behind the bound."""
        low, high = self._range(self.bounds.start)
        limit, nearest = (max, self.within[0]) if self.bounds.is_up else (min, self.within[1])
        low, high = limit(low, nearest), limit(high, nearest)
        ends = (low, high, low + most * self.bounds.step, high + most * self.bounds.step)
        return IntType(max(32, *(end.bit_length() + 1 for end in ends)))

    def _kept(self, node: ast.expr, name: str, made: list[ast.stmt]) -> ast.expr:
        """What a bound is in front of the loop: itself where the body does not change it."""
        if isinstance(node, ast.Constant) or (
            isinstance(node, ast.Name) and node.id not in {self.name, *stored(self.loop.body)}
        ):
            return node
        unique = self.ctx.names.unique(name)
        made.append(ast.Assign([ast.Name(unique, ast.Store())], node))
        return ast.Name(unique, ast.Load())

    def _given(self, found: object) -> ast.expr:
        made = ast.Name("range", ast.Load())
        self.ctx.given[made] = found
        return made

    def _placed(self, s: ast.stmt) -> ast.stmt:
        """The statement, of which what is made here is where the loop's header is."""
        for part in ast.walk(s):
            if isinstance(part, ast.stmt | ast.expr) and not hasattr(part, "lineno"):
                ast.copy_location(part, self.loop.iter)
        return s

    # ---------------------------------------------------------------------------------- ranges

    def _range(self, end: Value) -> Range:
        affine = values.as_affine(end)
        if affine is not None:
            return affine.interval(self.ctx.names.ranges())
        assert isinstance(end, Expr)
        return value_range(end, self.ctx.names.ranges(), self._stored)

    def _stored(self, access: Access, dtype: DType) -> Range:
        for name, held in self.ctx.held.items():
            found = self.ctx.names.find(name)
            if isinstance(found, Array) and found.name == access.array:
                return held
        return type_range(dtype)

    def _limited(self) -> tuple[ast.expr, ast.expr]:
        """The bounds, with ``max`` and ``min`` around those that may be outside of what is read."""
        first, stop = self.bounds.nodes
        start, end = self._range(self.bounds.start), self._range(self.bounds.stop)
        least, most = self.within
        if self.bounds.is_up:
            first = self._call("max", first, least) if start[0] < least else first
            return first, self._call("min", stop, most + 1) if end[1] > most + 1 else stop
        first = self._call("min", first, most) if start[1] > most else first
        return first, self._call("max", stop, least - 1) if end[0] < least - 1 else stop

    def _call(self, name: str, node: ast.expr, limit: int) -> ast.expr:
        return ast.Call(self._given(min if name == "min" else max), [node, ast.Constant(limit)], [])

    def _stops(self) -> Range:
        """What the second bound is, as it is limited."""
        low, high = self._range(self.bounds.stop)
        least, most = self.within
        return (low, min(high, most + 1)) if self.bounds.is_up else (max(low, least - 1), high)

    def _ends(self) -> Range:
        """The interval that holds all iterations, without its end: counting down, it is walked backwards."""
        (first, last), (low, high) = self._range(self.bounds.start), self._stops()
        least, most = self.within
        if self.bounds.is_up:
            return max(first, least), high
        return low + 1, min(last, most) + 1

    def _most(self) -> int:
        """How often the loop runs at most."""
        start, stop, step = self.bounds.start, self.bounds.stop, self.bounds.step
        low, high = self._ends()
        apart = _apart(start, stop) if self.bounds.is_up else None
        length = high - low if apart is None else min(high - low, apart)
        trips = max(1, -(-length // abs(step)))
        if trips > MOST_TRIPS or max(abs(low), abs(high)) > MAX_EXTENT:
            raise self._refused(trips)
        return trips

    def _refused(self, trips: int) -> Exception:
        ctx, (start, stop) = self.ctx, self.bounds.nodes
        if not _is_data(self.bounds.stop):
            text = f"max({ctx.source.text(start)}, 0)"
            instead = f"say the least that it begins at, e.g. {text}"
        else:
            least = f"{ctx.source.text(start)} + " if _is_data(self.bounds.start) else ""
            instead = (
                f"say the most: min({ctx.source.text(stop)}, {least}64) is at most 64 iterations, all of "
                "which are counted where no leave() ends the loop"
            )
        node = stop if _is_data(self.bounds.stop) else start
        text = ctx.source.text(node)
        message = f"the bound of this loop is data, {text}, and by its type the loop may run {trips} times"
        return ctx.error("W141", message, node, instead)


def _apart(start: Value, stop: Value) -> int | None:
    """How far a stop is behind the start at most, where it is the start and a constant; None where that is not seen."""
    if not isinstance(start, Expr) or not isinstance(stop, Expr):
        return None
    start, stop = bare(start), bare(stop)
    match stop:
        case Binary(BinaryOp.MIN, a, b):
            found = [d for d in (_apart(start, a), _apart(start, b)) if d is not None]
            return min(found, default=None)
        case Binary(BinaryOp.ADD, a, b):
            for one, other in ((a, b), (b, a)):
                by = bare(other)
                if bare(one) == start and isinstance(by, Const):
                    return int(by.value)
    return 0 if stop == start else None
