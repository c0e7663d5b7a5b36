"""Random nests of loops and affine conditions, with empty places for statements."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from dsl.expressions.affine import Affine, And, Cond, Constraint, Or, cond_variables, negate
from dsl.expressions.expr import Access, Const
from dsl.expressions.types import IntType
from dsl.programs.program import If, Loop, Node, Program, Stmt
from tests.support.enumeration import TooManyError, program_events
from tests.support.profiles import Profile

Range = tuple[int, int]
"""Smallest and largest value that a loop variable can have, both included."""

NAMES = "ijkl"
ODD_NAMES = ("new", "union", "auto", "this", "I", "t", "double", "ap_int", "short", "inline", "y0")
"""Names of loops that are fine in Python, and something else in C++."""


def random_skeleton(rng: random.Random, profile: Profile) -> tuple[Node, ...]:
    """Loops and conditions around placeholder statements ``S0, S1, …`` in program order."""
    extent = profile.extent
    maker = _ControlMaker if profile.control else _Maker
    while True:
        nodes = maker(rng, profile, extent).body()
        try:
            events = program_events(Program("p", (), nodes), limit=4 * profile.iterations)
        except TooManyError:
            events = None
        if events is not None and len(events) <= profile.iterations:
            return nodes
        extent = max(2, extent - 1)


def placeholder(name: str) -> Stmt:
    """A statement that has a name and a place, and nothing else yet."""
    return Stmt(name, Access("?", ()), Const(0, IntType(1)))


class _Maker:
    _fewest = 1

    def __init__(self, rng: random.Random, profile: Profile, extent: int) -> None:
        self._rng = rng
        self._profile = profile
        self._extent = extent
        self._statements = 0
        self._fresh = 0

    def body(self) -> tuple[Node, ...]:
        """The whole program: one to three nests, seldom a statement outside of any loop."""
        rng = self._rng
        count = rng.randint(self._fewest, self._profile.statements)
        nodes: list[Node] = []
        for part in _parts(rng, count, 3):
            if rng.random() < 0.06:
                nodes += [self._statement() for _ in range(part)]
            else:
                depth = rng.choices(
                    range(1, self._profile.depth + 1), (3, 5, 4, 1)[: self._profile.depth]
                )[0]
                nodes.append(self._loop({}, part, depth))
        return tuple(nodes)

    def _statement(self) -> Stmt:
        self._statements += 1
        return placeholder(f"S{self._statements - 1}")

    def _block(self, scope: Mapping[str, Range], count: int, depth: int) -> tuple[Node, ...]:
        """``count`` statements below the loops of ``scope``, at most ``depth`` loops deeper."""
        rng = self._rng
        nodes: list[Node] = []
        for part in _parts(rng, count, 3):
            if depth > 0 and (rng.random() < 0.75 or len(scope) == 0):
                nodes.append(self._loop(scope, part, depth))
            elif rng.random() < 0.15:
                nodes.append(self._if(scope, part, depth))
            else:
                nodes += [self._statement() for _ in range(part)]
        return tuple(nodes)

    def _if(self, scope: Mapping[str, Range], count: int, depth: int) -> If:
        rng = self._rng
        cond = random_cond(rng, scope, 2)
        cut = count if count < 2 or rng.random() < 0.4 else rng.randint(1, count - 1)
        then = self._block(scope, cut, depth)
        orelse = self._block(scope, count - cut, depth) if cut < count else ()
        return If(cond, then, orelse)

    def _loop(self, scope: Mapping[str, Range], count: int, depth: int) -> Loop:
        rng = self._rng
        var = self._name(scope)
        lowers, uppers, reach = self._bounds(scope)
        lowers, uppers = _folded(lowers, max), _folded(uppers, min)
        step = rng.choices((1, 2, 3, -1, -2, -3), (70, 7, 3, 12, 5, 3))[0]
        if abs(step) > 1 and len(lowers if step > 0 else uppers) > 1:
            step //= abs(step)
        body = self._block({**scope, var: reach}, count, depth - 1)
        if scope and rng.random() < 0.05 and not isinstance(body[0], If):
            body = (If(random_cond(rng, {**scope, var: reach}, 1), body),)
        return Loop(var, lowers, uppers, step, body)

    def _name(self, scope: Mapping[str, Range]) -> str:
        if self._rng.random() < 0.8:
            free = [name for name in NAMES if name not in scope]
            if free:
                return free[0]
        odd = self._rng.choice(ODD_NAMES)
        if odd not in scope and self._rng.random() < 0.1:
            return odd
        self._fresh += 1
        return f"{self._rng.choice(NAMES)}{self._fresh}"

    def _bounds(
        self, scope: Mapping[str, Range]
    ) -> tuple[tuple[Affine, ...], tuple[Affine, ...], Range]:
        rng = self._rng
        extent = self._random_extent()
        if scope and rng.random() < 0.4:
            return self._dependent_bounds(scope, extent)
        low = rng.choice((0, 0, 0, 0, 1, 1, 2, 5, -1, -3))
        if rng.random() < 0.02:
            low = rng.choice((-1_000_003, 99_999, 300_000_000))
        bounds = (Affine.of(low),), (Affine.of(low + extent),)
        return *bounds, (low, max(low, low + extent - 1))

    def _random_extent(self) -> int:
        rng = self._rng
        return rng.choices(
            (0, 1, rng.randint(2, self._extent), rng.choice((4, 6, 8))), (2, 6, 72, 20)
        )[0]

    def _dependent_bounds(
        self, scope: Mapping[str, Range], extent: int
    ) -> tuple[tuple[Affine, ...], tuple[Affine, ...], Range]:
        """Bounds that depend on a loop around: triangles, bands, blocks, shifts."""
        rng = self._rng
        outer = rng.choice(sorted(scope))
        low, high = scope[outer]
        o, c = Affine.of(outer), rng.randint(-1, 2)
        match rng.choice(("lower", "upper", "shift", "band", "block", "div", "mod", "two", "back")):
            case "lower":
                return (o + c,), (Affine.of(high + c + 1),), (low + c, max(low, high) + c)
            case "upper":
                return (Affine.of(low),), (o + c,), (low, max(low, high + c - 1))
            case "shift":
                return (o + c,), (o + (c + extent),), (low + c, high + c + extent)
            case "band":
                lowers = (Affine.of(low), o - rng.randint(0, 2))
                uppers = (Affine.of(high + 1), o + rng.randint(1, 3))
                return lowers, uppers, (low, high)
            case "block":
                f = rng.choice((2, 3))
                uppers = (o * f + f, Affine.of(low * f + extent))
                return (o * f,), uppers, (low * f, max(low * f, high * f + f - 1))
            case "div":
                return (Affine.of(0),), (o // 2 + rng.randint(1, 2),), (0, max(0, high // 2 + 1))
            case "mod":
                return (o % 3,), (Affine.of(extent),), (0, max(0, extent - 1))
            case "two":
                other = Affine.of(rng.choice(sorted(scope)))
                top = o + other * rng.choice((1, -1)) + c
                reach = abs(low) + abs(high) + 2 + max(abs(v) for r in scope.values() for v in r)
                return (Affine.of(0),), (top, Affine.of(extent)), (0, max(0, min(extent, reach)))
            case _:
                uppers = (Affine.of(high) - o + max(1, c),)
                return (Affine.of(0),), uppers, (0, max(0, high - low + 2))


class _ControlMaker(_Maker):
    """Loops in which conditions are the rule, mostly with ``else`` and with remainders. Half of
    them were met before: components of one stride are where isl's loops go wrong.
    """

    _fewest = 3

    def __init__(self, rng: random.Random, profile: Profile, extent: int) -> None:
        super().__init__(rng, profile, extent)
        self._met: list[Cond] = []

    def _block(self, scope: Mapping[str, Range], count: int, depth: int) -> tuple[Node, ...]:
        rng = self._rng
        nodes: list[Node] = []
        for part in _parts(rng, count, 5):
            what = rng.random()
            if depth > 0 and (what < 0.45 or not scope):
                nodes.append(self._loop(scope, part, depth))
            elif what > (0.5 if part > 1 else 0.8):
                nodes.append(self._if(scope, part, depth))
            else:
                nodes += [self._statement() for _ in range(part)]
        return tuple(nodes)

    def _if(self, scope: Mapping[str, Range], count: int, depth: int) -> If:
        rng = self._rng
        cut = count if count < 2 or rng.random() < 0.25 else rng.randint(1, count - 1)
        then = self._block(scope, cut, depth)
        orelse = self._block(scope, count - cut, depth) if cut < count else ()
        return If(self._cond(scope, rng.choice((0, 0, 1, 1, 2))), then, orelse)

    def _bounds(
        self, scope: Mapping[str, Range]
    ) -> tuple[tuple[Affine, ...], tuple[Affine, ...], Range]:
        if self._rng.random() < 0.4:
            return super()._bounds(scope)
        extent = self._rng.randint(2, self._extent)
        return (Affine.of(0),), (Affine.of(extent),), (0, extent - 1)

    def _cond(self, scope: Mapping[str, Range], depth: int) -> Cond:
        """Remainders of one or two variables, ``!=``, and more, in and/or."""
        rng = self._rng
        if not scope:
            return random_cond(rng, scope, 0)
        if depth and rng.random() < 0.7:
            count = rng.choice((2, 2, 3))
            parts = tuple(self._cond(scope, depth - 1) for _ in range(count))
            found: Cond = rng.choice((And, Or))(parts)
            return negate(found) if rng.random() < 0.2 else found
        known = [c for c in self._met if cond_variables(c) <= scope.keys()]
        if known and rng.random() < 0.6:
            return rng.choice(known)
        found = _remainder(rng, scope) if rng.random() < 0.6 else _random_constraint(rng, scope)
        self._met.append(found)
        return found


def _remainder(rng: random.Random, scope: Mapping[str, Range]) -> Cond:
    """A relation of one or two variables modulo a number."""
    while True:
        names = rng.sample(sorted(scope), min(len(scope), rng.choice((1, 1, 1, 2))))
        value = Affine.of(rng.randint(-1, 2))
        for name in names:
            value = value + Affine.of(name) * rng.choice((1, 1, 1, 2, -1))
        m = rng.choice((2, 2, 2, 3, 4))
        rest = value % m
        if not rest.is_const:  # the front end would decide it
            break
    relation = Constraint(rest - rng.randint(0, m - 1), rng.choice(("==", "==", ">=")))
    return negate(relation) if rng.random() < 0.3 else relation


def _folded(bounds: tuple[Affine, ...], pick: Callable[..., int]) -> tuple[Affine, ...]:
    """The bounds with at most one constant among them."""
    constants = [b.const for b in bounds if b.is_const]
    rest = [b for b in dict.fromkeys(bounds) if not b.is_const]
    return (*rest, Affine.of(pick(constants))) if constants else tuple(rest)


def _parts(rng: random.Random, total: int, most: int) -> list[int]:
    """``total`` as a sum of one to ``most`` positive numbers."""
    count = rng.randint(1, min(total, most)) if total else 0
    cuts = sorted(rng.sample(range(1, total), count - 1)) if count > 1 else []
    edges: Sequence[int] = (0, *cuts, total) if total else ()
    return [b - a for a, b in pairwise(edges)]


def random_cond(rng: random.Random, scope: Mapping[str, Range], depth: int) -> Cond:
    """An affine condition over the loop variables, neither always true nor false as a rule."""
    if not scope:
        return Constraint(Affine.of(rng.choice((0, -1))))
    if depth and rng.random() < 0.35:
        parts = tuple(random_cond(rng, scope, depth - 1) for _ in range(2))
        return rng.choice((And, Or))(parts)
    if depth and rng.random() < 0.15:
        return negate(random_cond(rng, scope, depth - 1))
    return _random_constraint(rng, scope)


def _random_constraint(rng: random.Random, scope: Mapping[str, Range]) -> Cond:
    name = rng.choice(sorted(scope))
    low, high = scope[name]
    v, middle = Affine.of(name), rng.randint(low, max(low, high))
    others = [n for n in sorted(scope) if n != name]
    match rng.choice(("<=", ">=", "==", "!=", "mod", "pair", "sum", "div")):
        case "<=":
            return Constraint(-v + middle)
        case ">=":
            return Constraint(v - middle)
        case "==":
            return Constraint(v - middle, "==")
        case "!=":
            return negate(Constraint(v - middle, "=="))
        case "mod":
            m = rng.choice((2, 3))
            found = Constraint((v + rng.randint(0, 2)) % m - rng.randint(0, m - 1), "==")
            return found if rng.random() < 0.8 else negate(found)
        case "pair" if others:
            other = Affine.of(rng.choice(others))
            return Constraint(v - other - rng.randint(-1, 1), rng.choice((">=", ">=", "==")))
        case "sum" if others:
            other = Affine.of(rng.choice(others))
            return Constraint(-v * rng.choice((1, 2)) - other + 2 * middle)
        case _:
            return Constraint(v // 2 * 2 - v + rng.choice((0, 0, 1)) * 1, rng.choice((">=", "==")))
