"""Loop headers: ``range`` with affine bounds (``max`` and ``min`` included), and `weft.grid`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from dsl.expressions.affine import Affine
from dsl.expressions.intrinsics import grid, intrinsic_of
from dsl.frontend.arrays.subscript import not_affine
from dsl.frontend.context import Context
from dsl.frontend.extrema import Bound, Kind, bound_of, extreme
from dsl.frontend.operands import value
from dsl.frontend.syntax.unsupported import EXPRESSIONS
from dsl.programs.program import MAX_EXTENT

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Header:
    """One loop: ``for var in [max(lowers), min(uppers))`` by ``step`` (see `dsl.programs.program.Loop`)."""

    target: ast.Name
    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    step: int


def interval(header: Header, ranges: Mapping[str, Range]) -> Range:
    """A range that holds the loop variable's values, both ends included; of a loop that never runs, of one value."""
    low, high = _between(header, ranges)
    first = header.lowers if header.step > 0 else header.uppers
    if len(first) == 1 and first[0].is_const:  # the last one that a step gets to
        over = (high - low) % abs(header.step)
        low, high = (low, high - over) if header.step > 0 else (low + over, high)
    return low, max(low, high)


def runs(header: Header, ranges: Mapping[str, Range]) -> bool:
    """Whether a loop may have an iteration."""
    low, high = _between(header, ranges)
    return low <= high


def _between(header: Header, ranges: Mapping[str, Range]) -> Range:
    low = max(bound.interval(ranges)[0] for bound in header.lowers)
    high = min(bound.interval(ranges)[1] for bound in header.uppers) - 1
    return low, high


_RANGE_HELP = "write 'for i in range(start, stop, step):' or 'for i, j in weft.grid(n, m):'"


def headers(ctx: Context, node: ast.For) -> tuple[Header, ...]:
    """The loops that a ``for`` stands for, outermost first.

    Raises:
        LanguageError: W109 for other iterables and targets, W141 and W143 for the bounds.
    """
    called = ctx.evaluate(node.iter.func) if isinstance(node.iter, ast.Call) else None
    if called is not range and intrinsic_of(called) is not grid and not _is_product(called):
        text = ctx.source.text(node.iter)
        message = f"a loop runs over range(...), weft.grid(...) or arrays, not over {text}"
        raise ctx.error("W109", message, node.iter, _RANGE_HELP)
    assert isinstance(node.iter, ast.Call)
    if node.iter.keywords:
        raise ctx.error("W109", "a range takes no keyword arguments", node.iter, _RANGE_HELP)
    if called is range:
        if not isinstance(node.target, ast.Name):
            message = "range(...) gives one loop variable"
            raise ctx.error("W109", message, node.target, "use weft.grid(n, m) for several")
        return (_range(ctx, node.target, node.iter),)
    return _grid(ctx, node.target, node.iter)


def is_plain_range(ctx: Context, node: ast.For) -> bool:
    """Whether a loop of one variable runs over ``range`` with one to three arguments."""
    call = node.iter
    if not isinstance(call, ast.Call) or not isinstance(node.target, ast.Name) or call.keywords:
        return False
    return ctx.evaluate(call.func) is range and 1 <= len(call.args) <= 3


def _is_product(called: object) -> bool:
    """Whether it is ``itertools.product`` or ``np.ndindex``, which give what `weft.grid` does."""
    module, name = getattr(called, "__module__", ""), getattr(called, "__name__", "")
    return called is itertools.product or (name == "ndindex" and str(module).startswith("numpy"))


def _grid(ctx: Context, target: ast.expr, node: ast.Call) -> tuple[Header, ...]:
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    if len(targets) != len(node.args) or not node.args:
        message = f"{_count(len(targets), 'loop variable')} for {_count(len(node.args), 'extent')}"
        raise ctx.error("W109", message, target, "write for i, j in weft.grid(n, m):")
    _check_grid(ctx, targets, node)
    found = []
    for name, extent in zip(targets, node.args, strict=True):
        if not isinstance(name, ast.Name):
            message = "a loop variable is a plain name"
            raise ctx.error("W109", message, name, _RANGE_HELP)
        if isinstance(extent, ast.Call) and ctx.evaluate(extent.func) is range:
            found.append(_range(ctx, name, extent))
        else:
            upper = bound(ctx, extent)
            found.append(_interval(ctx, name, [extent], Bound("", (Affine(),)), upper, 1))
    return tuple(found)


def _check_grid(ctx: Context, targets: list[ast.expr], node: ast.Call) -> None:
    """The extents are evaluated before any of the loops begins, as in Python."""
    own = {n.id for n in targets if isinstance(n, ast.Name)} - ctx.names.visible()
    for extent in node.args:
        for part in ast.walk(extent):
            if isinstance(part, ast.Name) and part.id in own:
                message = f"this extent uses '{part.id}', a variable of the same weft.grid"
                instead = f"write nested loops: for {part.id} in range(...): and in it the other"
                raise ctx.error("W132", message, part, instead)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _range(ctx: Context, target: ast.Name, node: ast.Call) -> Header:
    args = node.args
    if not 1 <= len(args) <= 3:
        message = f"range takes 1 to 3 arguments, not {len(args)}"
        raise ctx.error("W109", message, node, _RANGE_HELP)
    step = _step(ctx, args[2]) if len(args) == 3 else 1
    if len(args) == 1:
        return _interval(ctx, target, args, Bound("", (Affine(),)), bound(ctx, args[0]), step)
    start, stop = bound(ctx, args[0]), bound(ctx, args[1])
    if step > 0:
        return _interval(ctx, target, args[:2], start, stop, step)
    # Counting down from start to above stop is the interval [stop + 1, start + 1) backwards.
    low, high = stop.map(lambda p: p + 1), start.map(lambda p: p + 1)
    return _interval(ctx, target, [args[1], args[0]], low, high, step)


def _step(ctx: Context, node: ast.expr) -> int:
    step = value(ctx, node)
    if isinstance(step, bool) or not isinstance(step, int) or step == 0:
        text = ctx.source.text(node)
        message = f"the step {text} is not an integer constant other than 0"
        raise ctx.error("W143", message, node, "write the number, or a captured size")
    return step


def _interval(
    ctx: Context, target: ast.Name, nodes: list[ast.expr], low: Bound, high: Bound, step: int
) -> Header:
    """``[low, high)``; ``nodes`` are where the bounds are written (one: the lower is 0)."""
    if low.kind == "min":
        raise ctx.error(
            "W143",
            "a range that begins at a minimum is not one interval",
            nodes[0],
            "begin at one of them and guard the body with 'if'",
        )
    if high.kind == "max":
        raise ctx.error(
            "W143",
            "a range that ends at a maximum is not one interval",
            nodes[-1],
            "end at one that is never less, and guard the body with 'if'",
        )
    first = low if step > 0 else high
    if abs(step) != 1 and len(first.parts) > 1:
        node = nodes[0] if step > 0 else nodes[-1]
        raise ctx.error(
            "W143",
            f"a range with step {step} begins at a single value, not at a {first.kind}",
            node,
            "use step 1 and guard the body with 'if'",
        )
    for part in (*low.parts, *high.parts):
        if abs(part.const) > MAX_EXTENT:
            message = f"the bound {part} does not fit into 32 bits, as loop variables do"
            raise ctx.error("W108", message, nodes[-1], "split the loop into two")
    return Header(target, low.parts, high.parts, step)


# ------------------------------------------------------------------------------------ bounds


def bound(ctx: Context, node: ast.expr) -> Bound:
    """A bound: affine, or ``min`` and ``max`` of affine expressions, shifted and scaled."""
    match node:
        case ast.Starred():
            what, instead = EXPRESSIONS[ast.Starred]
            raise ctx.error("W105", f"{what} is not supported in a kernel", node, instead)
        case ast.Call() if (kind := _extremum(ctx, node)) is not None:
            return _joined(ctx, kind, node)
        case ast.BinOp(left=left, right=right) if _has_extremum(ctx, node):
            return _combined(ctx, node, bound(ctx, left), bound(ctx, right))
        case ast.UnaryOp(op=ast.USub(), operand=operand) if _has_extremum(ctx, node):
            return bound(ctx, operand).map(lambda p: -p, flip=True)
        case _:
            _check_growth(ctx, node)
            found = bound_of(value(ctx, node))
            if found is None:
                raise not_affine(ctx, "W141", "the bound of this loop", node)
            return found


def _check_growth(ctx: Context, node: ast.expr) -> None:
    """Refuse a power or a shift by a loop variable (W141), as the stages of a transform have them."""
    for part in ast.walk(node):
        match part:
            case ast.BinOp(op=ast.Pow() | ast.LShift() | ast.RShift(), right=ast.Name() as name):
                if isinstance(ctx.evaluate(name), Affine):
                    raise ctx.error(
                        "W141",
                        "the bound of this loop is not affine: "
                        f"{ctx.source.text(part)} is no multiple of {name.id}",
                        part,
                        f"a loop over at most 64 values of {name.id} is written out; split this one, or let a loop "
                        "of Python write the loops: see weft.Program",
                    )


def _extremum(ctx: Context, node: ast.Call) -> Kind | None:
    intrinsic = intrinsic_of(ctx.evaluate(node.func))
    if intrinsic is None or intrinsic.name not in ("min", "max") or node.keywords:
        return None
    return "min" if intrinsic.name == "min" else "max"


def _has_extremum(ctx: Context, node: ast.expr) -> bool:
    """Whether a minimum or maximum is among the operands, and the operators can carry it."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv()):
            return _has_extremum(ctx, node.left) or _has_extremum(ctx, node.right)
        case ast.UnaryOp(op=ast.USub()):
            return _has_extremum(ctx, node.operand)
        case ast.Call():
            return _extremum(ctx, node) is not None
        case _:
            return False


def _joined(ctx: Context, kind: Kind, node: ast.Call) -> Bound:
    """``max(a, b, …)`` or ``min(a, b, …)``, those inside of one kind joined, constants folded."""
    if len(node.args) < 2:
        message = f"{kind}() takes two or more values, not {len(node.args)}"
        raise ctx.error("W150", message, node, f"write {kind}(a, b)")
    parts: list[Affine] = []
    for arg in node.args:
        part = bound(ctx, arg)
        if part.kind not in ("", kind):
            message = "a minimum and a maximum in one bound are not one interval"
            raise ctx.error("W143", message, node, "guard the body with 'if' instead")
        parts += part.parts
    return extreme(kind, parts)


def _combined(ctx: Context, node: ast.BinOp, left: Bound, right: Bound) -> Bound:
    """``left op right`` where one of them may be a minimum or maximum."""
    if right.kind == "":
        other = right.parts[0]
        match node.op:
            case ast.Add():
                return left.map(lambda p: p + other)
            case ast.Sub():
                return left.map(lambda p: p - other)
            case ast.Mult() if other.is_const:
                return left.map(lambda p: p * other.const, flip=other.const < 0)
            case ast.FloorDiv() if other.is_const and other.const > 0:
                return left.map(lambda p: p // other.const)
    elif left.kind == "":
        other = left.parts[0]
        match node.op:
            case ast.Add():
                return right.map(lambda p: p + other)
            case ast.Sub():
                return right.map(lambda p: other - p, flip=True)
            case ast.Mult() if other.is_const:
                return right.map(lambda p: p * other.const, flip=other.const < 0)
    raise ctx.error(
        "W141",
        f"the bound of this loop is not affine: {ctx.source.text(node)}",
        node,
        "add constants to min(...) and max(...), or put the expression inside of them",
    )
