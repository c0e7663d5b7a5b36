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

Known are: a counter that one statement changes, by a constant, also as a factor; a number that is halved each time (``n >>= 1``),
from its type; Euclid's remainders, by Lamé's theorem; a bisection between two numbers; and what comes nearer to its end in
each iteration (see `dsl.frontend.syntax.progress`).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dsl.frontend.syntax.bisections import bisected
from dsl.frontend.syntax.conjuncts import opposite
from dsl.frontend.syntax.folds import folded
from dsl.frontend.syntax.geometric import Geometric, counter_of
from dsl.frontend.syntax.halvings import halved
from dsl.frontend.syntax.jumps import continues, jumps_in
from dsl.frontend.syntax.loop_parts import (
    Most,
    Placed,
    Renamed,
    first_value,
    placed,
    since,
    split,
    step_of,
    stored,
)
from dsl.frontend.syntax.progress import Trips, progressing
from dsl.frontend.syntax.steady import is_steady

_COUNTED: dict[type[ast.cmpop], tuple[int, int]] = {
    ast.Lt: (1, 0),
    ast.LtE: (1, 1),
    ast.Gt: (-1, 0),
    ast.GtE: (-1, -1),
}
"""For a comparison of a counter with a bound: the sign of its step, and what is added to the bound for a range."""


@dataclass(frozen=True, slots=True)
class Whiles:
    """Makes ``for`` loops of a function; ``unique`` gives names that it does not have.

    ``written`` is the function as it was, of which loops that are made already do not look as they were written.
    """

    function: ast.FunctionDef
    unique: Callable[[str], str]
    written: ast.FunctionDef

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with ``for`` in the place of each ``while`` that is known to end."""
        found: list[ast.stmt] = []
        for s in statements:
            most = (
                progressing(s, found, self.written) if isinstance(s, ast.While) else None
            )  # of the loops in it as they are written
            for name in ("body", "orelse"):
                inner = getattr(s, name, None)
                if isinstance(inner, list) and isinstance(
                    s, ast.For | ast.If | ast.While | ast.With
                ):
                    setattr(s, name, self.block(inner))
            if not isinstance(s, ast.While):
                found.append(s)
                continue
            ahead, orelse = self._else_apart(s)
            made = self._ended(s, [*found, *ahead], most)
            if made is None:
                found.append(s)
            else:
                found += [*ahead, *made, *orelse]
        return found

    def _else_apart(self, loop: ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """What stands in front of a loop and behind it in the place of its ``else``, which runs but after a ``break``.

        The loop is left by ``break`` where its condition does not hold, and its ``else`` runs then.
        """
        orelse, loop.orelse = loop.orelse, []
        if not orelse or not any(isinstance(j, ast.Break) for j in jumps_in(loop.body)):
            return [], orelse
        flag = self.unique("left")
        loop.body = _noting_breaks(loop.body, flag)
        test = ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load()))
        ahead, behind = _set(flag, False), ast.If(test, orelse, [])
        return [placed(ahead, loop)], [_around(behind, loop)]

    def _ended(
        self, loop: ast.While, before: list[ast.stmt], most: Trips | None
    ) -> list[ast.stmt] | None:
        """The loops that one stands for; None where it is not known to end."""
        return (
            self._counted(loop, before)
            or self._geometric(loop, before, most)
            or self._bounded(loop, before)
            or (None if most is None else self._at_most(loop, most))
        )

    def _geometric(
        self, loop: ast.While, before: list[ast.stmt], most: Trips | None
    ) -> list[ast.stmt] | None:
        """A loop whose counter is multiplied or divided by a constant."""
        found = counter_of(loop)
        if found is None or isinstance(loop.test, ast.BoolOp) or [*jumps_in(loop.body)]:
            return None
        counter, place = found
        name, first = counter.name, first_value(counter.name, before)
        inside = {*stored([*loop.body[:place], *loop.body[place + 1 :]])}
        names = {n.id for n in ast.walk(counter.bound) if isinstance(n, ast.Name)}
        if first is None or name in inside or names & {*inside, name}:
            return None
        if not self._are_steady(name, (first, counter.bound), loop, before):
            return None
        again = copy.deepcopy(loop)
        otherwise = self._bounded(again, before)
        if otherwise is None and most is not None:
            otherwise = self._at_most(again, most)
        var = self.unique(f"{name}_at")
        following = ast.BinOp(ast.Name(var, ast.Load()), counter.step, ast.Constant(counter.by))
        body = self._renamed_body(loop, place, (name, var), following)
        values = Geometric.made(counter, copy.deepcopy(first), loop, otherwise)
        target = ast.Name(var, ast.Store())
        for part in (values, target):
            ast.copy_location(part, loop.test)
        return [ast.copy_location(ast.For(target, values, body, []), loop)]

    def _renamed_body(
        self, loop: ast.While, place: int, names: tuple[str, str], following: ast.expr
    ) -> list[ast.stmt]:
        """The body for one value of a counter, which the statement at ``place`` changes to the ``following`` one."""
        name, var = names
        placed(following, loop.body[place])
        now = Renamed(name, ast.Name(var, ast.Load()))
        after = Renamed(name, following)
        body = [now.visit(copy.deepcopy(s)) for s in loop.body[:place]]
        if self._is_read_outside(name, loop):
            update = ast.Assign([ast.Name(name, ast.Store())], copy.deepcopy(following))
            body.append(placed(update, loop.body[place]))
        body += [after.visit(copy.deepcopy(s)) for s in loop.body[place + 1 :]]
        return body or [ast.copy_location(ast.Pass(), loop)]

    # ------------------------------------------------------------------------------- counters

    def _counted(self, loop: ast.While, before: list[ast.stmt]) -> list[ast.stmt] | None:
        """A loop whose counter one statement of the body changes, by a constant."""
        test, rest = split(loop.test)
        match test:
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[bound]):
                sign, more = _COUNTED.get(type(op), (0, 0))
            case _:
                return None
        places = [n for n, s in enumerate(loop.body) if (step_of(s) or ("",))[0] == name]
        if len(places) != 1 or continues(loop.body):
            return None
        (place,) = places
        _, amount = step_of(loop.body[place]) or ("", 0)
        first = first_value(name, before)
        inside = {*stored([*loop.body[:place], *loop.body[place + 1 :]])}
        names = {n.id for n in ast.walk(bound) if isinstance(n, ast.Name)}
        if sign * amount <= 0 or first is None or name in inside or names & {*inside, name}:
            return None
        if not self._are_steady(name, (first, bound), loop, before):
            return None

        def at(node: Placed) -> Placed:
            return ast.copy_location(node, loop.test)

        var = self.unique(f"{name}_at")
        end = bound if not more else at(ast.BinOp(bound, ast.Add(), at(ast.Constant(more))))
        args = [copy.deepcopy(first), end, at(ast.Constant(amount))]
        following = ast.BinOp(ast.Name(var, ast.Load()), ast.Add(), ast.Constant(amount))
        body = self._renamed_body(loop, place, (name, var), following)
        if rest is not None:
            now = Renamed(name, ast.Name(var, ast.Load()))
            body.insert(0, self._unless(now.visit(copy.deepcopy(rest))))
        called = at(ast.Call(at(ast.Name("range", ast.Load())), args, []))
        target = at(ast.Name(var, ast.Store()))
        return [ast.copy_location(ast.For(target, called, body, []), loop)]

    def _are_steady(
        self,
        name: str,
        ends: tuple[ast.expr, ast.expr],
        loop: ast.While,
        before: list[ast.stmt],
    ) -> bool:
        """Whether a counter's first value is what it was assigned, and its bound the same in all iterations."""
        first, bound = ends
        return is_steady(first, since(name, before), self.written) and is_steady(
            bound, loop.body, self.written
        )

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
        most = self._most(loop, before)
        if most is None and (tested := _tested_behind(loop)) is not None:
            most = self._most(tested, before)
            if most is not None:
                most.more = (
                    1  # what is tested behind the body is first tested behind the first iteration
                )
        return None if most is None else self._at_most(loop, most)

    def _most(self, loop: ast.While, before: list[ast.stmt]) -> Most | None:
        return (
            halved(loop, self.written)
            or _remainders(loop)
            or folded(loop)
            or bisected(loop, before)
        )

    def _at_most(self, loop: ast.While, most: Most | Trips) -> list[ast.stmt]:
        ast.copy_location(most, loop.test)
        var = ast.copy_location(ast.Name(self.unique("step"), ast.Store()), loop.test)
        function = ast.copy_location(ast.Name("range", ast.Load()), loop.test)
        called = ast.copy_location(ast.Call(function, [most], []), loop.test)
        always = isinstance(loop.test, ast.Constant) and bool(loop.test.value)
        body = loop.body if always else [self._unless(loop.test), *loop.body]
        return [ast.copy_location(ast.For(var, called, body, []), loop)]

    def _unless(self, test: ast.expr) -> ast.stmt:
        """``if not test: break``."""
        opposite = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
        leave = ast.copy_location(ast.Break(), test)
        return ast.copy_location(ast.If(opposite, [leave], []), test)


def _tested_behind(loop: ast.While) -> ast.While | None:
    """``while not test: …`` of a ``while True: …`` that ends in ``if test: break``; None of any other loop."""
    match loop:
        case ast.While(
            test=ast.Constant(value=True | 1),
            body=[_, *_, ast.If(test=test, body=[ast.Break()], orelse=[])],
            orelse=[],
        ) if not continues(loop.body):
            pass
        case _:
            return None
    holds = opposite(test)
    if not holds:
        return None
    joined = holds[0] if len(holds) == 1 else ast.copy_location(ast.BoolOp(ast.And(), holds), test)
    return ast.copy_location(ast.While(joined, loop.body[:-1], []), loop)


def _noting_breaks(statements: Sequence[ast.stmt], flag: str) -> list[ast.stmt]:
    """The body of a loop that sets a flag where ``break`` leaves it."""
    found: list[ast.stmt] = []
    for s in statements:
        if isinstance(s, ast.Break):
            found.append(placed(_set(flag, True), s))
        for name in ("body", "orelse"):
            inner = getattr(s, name, None)
            if isinstance(s, ast.If) or (name == "orelse" and isinstance(s, ast.For | ast.While)):
                setattr(s, name, _noting_breaks(inner or [], flag))
        found.append(s)
    return found


def _set(flag: str, value: bool) -> ast.stmt:
    return ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(value))


def _around(s: ast.If, place: ast.While) -> ast.stmt:
    """An ``if`` that is made, at a place of the source, around statements that have theirs."""
    placed(s.test, place.test)
    return ast.copy_location(s, place)


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
            return Most.made([ast.copy_location(ast.Name(b, ast.Load()), loop.test)], is_gcd=True)
    return None
