"""``while`` loops that end after a number of iterations that is known, made into ``for`` loops.

Before::

    j = i - 1
    while j >= 0 and x[j] > key:
        x[j + 1] = x[j]
        j -= 1

After::

    j = i - 1
    for j_at in range(i - 1, -1, -1):
        if not x[j_at] > key:
            break
        x[j_at + 1] = x[j_at]
        j = j_at + -1

Known are: a counter that only the last statement changes, by a constant; a number that is halved each time (``n >>= 1``),
from its type; Euclid's remainders, by Lamé's theorem; and a bisection between two numbers.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

Placed = TypeVar("Placed", bound=ast.AST)
_COUNTED: dict[type[ast.cmpop], tuple[int, int]] = {
    ast.Lt: (1, 0),
    ast.LtE: (1, 1),
    ast.Gt: (-1, 0),
    ast.GtE: (-1, -1),
}
"""For a comparison of a counter with a bound: the sign of its step, and what is added to the bound for a range."""


class Most(ast.Constant):
    """The most iterations of a loop: ``of`` is what is halved, or the two ends of a bisection.

    ``is_gcd``: remainders are taken, of which Lamé's theorem counts the steps. ``is_positive``: the loop ends as soon as
    the number is not above 0.
    """

    def __init__(
        self, of: Sequence[ast.expr], *, is_gcd: bool = False, is_positive: bool = False
    ) -> None:
        super().__init__(0)
        self.of = tuple(of)
        self.is_gcd = is_gcd
        self.is_positive = is_positive


@dataclass(frozen=True, slots=True)
class Whiles:
    """Makes ``for`` loops of a function; ``unique`` gives names that it does not have."""

    function: ast.FunctionDef
    unique: Callable[[str], str]

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with ``for`` in the place of each ``while`` that is known to end."""
        found: list[ast.stmt] = []
        for s in statements:
            for name in ("body", "orelse"):
                inner = getattr(s, name, None)
                if isinstance(inner, list) and isinstance(
                    s, ast.For | ast.If | ast.While | ast.With
                ):
                    setattr(s, name, self.block(inner))
            made = (
                self._counted(s, found) or self._bounded(s, found)
                if isinstance(s, ast.While)
                else None
            )
            found += made or [s]
        return found

    # ------------------------------------------------------------------------------- counters

    def _counted(self, loop: ast.While, before: list[ast.stmt]) -> list[ast.stmt] | None:
        """A loop whose counter is changed by the last statement only."""
        test, rest = _split(loop.test)
        step = _step(loop.body[-1])
        if step is None or _continues(loop.body):
            return None
        name, amount = step
        match test:
            case ast.Compare(left=ast.Name(id=left), ops=[op], comparators=[bound]) if left == name:
                sign, more = _COUNTED.get(type(op), (0, 0))
            case _:
                return None
        first = _first(name, before)
        inside = {*_stored(loop.body[:-1])}
        names = {n.id for n in ast.walk(bound) if isinstance(n, ast.Name)}
        if sign * amount <= 0 or first is None or name in inside or names & {*inside, name}:
            return None

        def at(node: Placed) -> Placed:
            return ast.copy_location(node, loop.test)

        var = self.unique(f"{name}_at")
        end = bound if not more else at(ast.BinOp(bound, ast.Add(), at(ast.Constant(more))))
        args = [copy.deepcopy(first), end, at(ast.Constant(amount))]
        renamed = _Renamed(name, var)
        body = [renamed.visit(copy.deepcopy(s)) for s in loop.body[:-1]]
        if rest is not None:
            body.insert(0, self._unless(renamed.visit(copy.deepcopy(rest))))
        if self._is_read_outside(name, loop):
            last = loop.body[-1]
            value = ast.BinOp(ast.Name(var, ast.Load()), ast.Add(), ast.Constant(amount))
            update = ast.Assign([ast.Name(name, ast.Store())], value)
            body.append(_placed(update, last))
        called = at(ast.Call(at(ast.Name("range", ast.Load())), args, []))
        target = at(ast.Name(var, ast.Store()))
        nothing: list[ast.stmt] = [at(ast.Pass())]
        return [ast.copy_location(ast.For(target, called, body or nothing, loop.orelse), loop)]

    def _is_read_outside(self, name: str, loop: ast.While) -> bool:
        inside = {id(n) for n in ast.walk(loop)}
        return any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
            for n in ast.walk(self.function)
            if id(n) not in inside
        )

    # --------------------------------------------------------------------------------- bounds

    def _bounded(self, loop: ast.While, before: list[ast.stmt]) -> list[ast.stmt] | None:
        """A loop that ends after as many iterations as there are bits."""
        most = _halved(loop) or _remainders(loop) or _bisected(loop, before)
        if most is None:
            return None
        ast.copy_location(most, loop.test)
        var = ast.copy_location(ast.Name(self.unique("step"), ast.Store()), loop.test)
        function = ast.copy_location(ast.Name("range", ast.Load()), loop.test)
        called = ast.copy_location(ast.Call(function, [most], []), loop.test)
        body = [self._unless(loop.test), *loop.body]
        return [ast.copy_location(ast.For(var, called, body, loop.orelse), loop)]

    def _unless(self, test: ast.expr) -> ast.stmt:
        """``if not test: break``."""
        opposite = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
        leave = ast.copy_location(ast.Break(), test)
        return ast.copy_location(ast.If(opposite, [leave], []), test)


class _Renamed(ast.NodeTransformer):
    """Another name for what is read under a name."""

    def __init__(self, old: str, new: str) -> None:
        self._old = old
        self._new = new

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return (
            ast.copy_location(ast.Name(self._new, node.ctx), node) if node.id == self._old else node
        )


def _placed(node: ast.stmt, place: ast.stmt) -> ast.stmt:
    for part in ast.walk(node):
        if isinstance(part, ast.stmt | ast.expr):
            ast.copy_location(part, place)
    return node


def _split(test: ast.expr) -> tuple[ast.expr, ast.expr | None]:
    """The first of the conditions that ``and`` joins, and the others."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return test, None
    first, *rest = test.values
    others = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(ast.And(), rest), test)
    return first, others


def _step(last: ast.stmt) -> tuple[str, int] | None:
    """The name and the amount of ``i += 2``, ``i -= 1`` and ``i = i + 1``."""
    match last:
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=ast.Constant(value=int() as by)):
            pass
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.BinOp(left=ast.Name(id=left), op=op, right=ast.Constant(value=int() as by)),
        ) if left == name:
            pass
        case _:
            return None
    if not isinstance(op, ast.Add | ast.Sub):
        return None
    return name, by if isinstance(op, ast.Add) else -by


def _first(name: str, before: Sequence[ast.stmt]) -> ast.expr | None:
    """What a name is assigned in front of a loop; None where that is not seen, or changed since."""
    changed: set[str] = set()
    for s in reversed(before):
        match s:
            case ast.Assign(targets=[ast.Name(id=known)], value=value) if known == name:
                found: ast.expr | None = value
            case ast.AnnAssign(target=ast.Name(id=known), value=ast.expr() as value) if (
                known == name
            ):
                found = value
            case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Tuple(elts=parts)):
                pairs = [(g, p) for g, p in zip(goals, parts, strict=False) if _is_name(g, name)]
                found = pairs[0][1] if pairs else None
            case _:
                found = None
        stored = {*_stored([s])}
        if found is not None:
            read = {n.id for n in ast.walk(found) if isinstance(n, ast.Name)}
            return None if read & (changed | stored) else found
        if name in stored:
            return None
        changed |= stored
    return None


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _stored(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """The names that statements assign, also elements of."""
    for s in statements:
        for n in ast.walk(s):
            if isinstance(n, ast.Name | ast.Subscript) and isinstance(n.ctx, ast.Store):
                base: ast.expr = n
                while isinstance(base, ast.Subscript):
                    base = base.value
                if isinstance(base, ast.Name):
                    yield base.id


def _continues(statements: Sequence[ast.stmt]) -> bool:
    """Whether ``continue`` leaves an iteration early."""
    for s in statements:
        if isinstance(s, ast.Continue):
            return True
        inner = [*getattr(s, "body", []), *getattr(s, "orelse", [])]
        if isinstance(s, ast.If) and _continues(inner):
            return True
        if isinstance(s, ast.For | ast.While) and _continues(s.orelse):
            return True
    return False


def _halved(loop: ast.While) -> Most | None:
    """``while n:`` or ``n > 0`` with one ``n >>= 1``, ``n //= 2`` or ``n &= n - 1`` in each iteration."""
    test, _ = _split(loop.test)
    match test:
        case ast.Name(id=name):
            pass
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[ast.Gt() | ast.NotEq()],
            comparators=[ast.Constant(value=0)],
        ):
            pass
        case _:
            return None
    if [*_stored(loop.body)].count(name) != 1 or _continues(loop.body):
        return None
    if any(_halves(s, name) for s in loop.body):
        positive = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Gt)
        of = [ast.copy_location(ast.Name(name, ast.Load()), test)]
        return Most(of, is_positive=positive)
    return None


def _halves(s: ast.stmt, name: str) -> bool:
    match s:
        case ast.AugAssign(target=ast.Name(id=target), op=op, value=by):
            pass
        case ast.Assign(
            targets=[ast.Name(id=target)], value=ast.BinOp(left=ast.Name(id=left), op=op, right=by)
        ):
            target = target if left == target else ""
        case _:
            return False
    if target != name:
        return False
    match op, by:
        case ast.RShift(), ast.Constant(value=int() as amount):
            return amount >= 1
        case ast.FloorDiv(), ast.Constant(value=int() as amount):
            return amount >= 2
        case ast.BitAnd(), ast.BinOp(
            left=ast.Name(id=left), op=ast.Sub(), right=ast.Constant(value=1)
        ):
            return left == name
    return False


def _remainders(loop: ast.While) -> Most | None:
    """``while b: a, b = b, a % b``."""
    match loop:
        case ast.While(
            test=ast.Name(id=b)
            | ast.Compare(
                left=ast.Name(id=b),
                ops=[ast.NotEq() | ast.Gt()],
                comparators=[ast.Constant(value=0)],
            ),
            body=[
                ast.Assign(
                    targets=[ast.Tuple(elts=[ast.Name(id=a), ast.Name(id=b2)])],
                    value=ast.Tuple(
                        elts=[
                            ast.Name(id=b3),
                            ast.BinOp(left=ast.Name(id=a2), op=ast.Mod(), right=ast.Name(id=b4)),
                        ]
                    ),
                )
            ],
        ) if b == b2 == b3 == b4 and a == a2 and a != b:
            return Most([ast.copy_location(ast.Name(b, ast.Load()), loop.test)], is_gcd=True)
    return None


def _bisected(loop: ast.While, before: Sequence[ast.stmt]) -> Most | None:
    """``while lo < hi:`` with ``mid = (lo + hi) // 2``, and one end moved to it on each way."""
    test, _ = _split(loop.test)
    match test:
        case ast.Compare(
            left=ast.Name(id=low), ops=[ast.Lt() | ast.LtE() as op], comparators=[ast.Name(id=high)]
        ):
            pass
        case _:
            return None
    middles = [s for s in loop.body if _middle(s, low, high) is not None]
    if len(middles) != 1 or loop.body[0] is not middles[0]:
        return None
    mid = _middle(middles[0], low, high)
    strict = isinstance(op, ast.Lt)
    if [*_stored(loop.body)].count(mid or "") != 1 or not _moves(
        loop.body[1:], (low, high, mid or ""), strict
    ):
        return None
    ends = [_first(low, before), _first(high, before)]
    known = [end for end in ends if end is not None]
    return Most(known) if len(known) == 2 else None


def _middle(s: ast.stmt, low: str, high: str) -> str | None:
    """The name of the middle that a statement finds."""
    match s:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            text = ast.unparse(value)
        case _:
            return None
    sums = (f"{low} + {high}", f"{high} + {low}")
    halves = [f"({s}) // 2" for s in sums] + [f"{s} >> 1" for s in sums]
    halves += [f"{low} + ({high} - {low}) // 2", f"{low} + ({high} - {low} >> 1)"]
    return name if text in halves else None


def _moves(statements: Sequence[ast.stmt], names: tuple[str, str, str], strict: bool) -> bool:
    """Whether every way through the statements leaves the loop, or moves an end over the middle, and nothing else does."""
    low, high, mid = names
    good = {f"{low} = {mid} + 1", f"{high} = {mid} - 1"} | (
        {f"{high} = {mid}"} if strict else set()
    )
    for n, s in enumerate(statements):
        if isinstance(s, ast.Break | ast.Return):
            return True
        if isinstance(s, ast.Continue):
            return False
        if (isinstance(s, ast.If) and {low, high} & {*_stored([s])}) or _leaves(s):
            assert isinstance(s, ast.If)
            rest = statements[n + 1 :]
            return _moves([*s.body, *rest], names, strict) and _moves(
                [*s.orelse, *rest], names, strict
            )
        if {low, high} & {*_stored([s])}:
            return ast.unparse(s) in good and not {low, high} & {*_stored(statements[n + 1 :])}
    return False


def _leaves(s: ast.stmt) -> bool:
    return isinstance(s, ast.If) and any(
        isinstance(n, ast.Break | ast.Return | ast.Continue) for n in ast.walk(s)
    )
