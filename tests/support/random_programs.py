"""Random programs that are valid: in bounds, initialised, small, and the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, BinaryOp, Expr, Load, loads, map_leaves
from dsl.expressions.types import DType
from dsl.programs.program import If, Loop, Node, Program, Stmt, Storage
from dsl.programs.scopes import ordered_locals
from tests.support.enumeration import Element, Toucher, program_events
from tests.support.profiles import BALANCED, Profile
from tests.support.random_arrays import Place, Plan, random_dtype
from tests.support.random_control import control_program
from tests.support.random_exprs import ExprMaker, Family, binary, family_of, random_const, storable
from tests.support.random_gathers import with_gathers, with_scatters
from tests.support.random_loops import random_skeleton

ODD_NAMES = ("register", "template", "signed", "typename", "NULL", "EOF", "main", "std", "hls")
"""Names that are fine in Python and not in C++."""
ODD_KERNELS = ("main", "exp", "free", "log", "memcpy", "floor", "top", "signed", "y1", "kernel")


def random_program(seed: int, profile: Profile = BALANCED) -> Program:
    """The random program of a seed.

    It is valid in the sense of `tests.support.validity`, terminates within
    ``profile.iterations`` statement instances (initialisations of locals not counted), and
    computes nothing that C++ leaves undefined.
    """
    rng = random.Random(f"{profile.name}/{seed}")
    if profile.control:
        skeleton = random_skeleton(rng, profile)
        return control_program(rng, f"p{seed}", skeleton, places_of(skeleton))
    maker = _Assembler(rng, profile, random_skeleton(rng, profile))
    odd = rng.random() < 0.03
    program = maker.program(rng.choice(ODD_KERNELS) if odd else f"p{seed}")
    if not profile.gathers:
        return program
    gathering = with_gathers(rng, program)
    program = program if _uninitialised(gathering) else gathering
    scattering = with_scatters(rng, program) if profile.scatters else program
    return program if _uninitialised(scattering) else scattering


class _Assembler:
    """Fills the places of a skeleton with statements, then sizes and initialises the arrays."""

    def __init__(self, rng: random.Random, profile: Profile, skeleton: tuple[Node, ...]) -> None:
        self._rng = rng
        self._profile = profile
        self._skeleton = skeleton
        self._plans: list[Plan] = []
        self._dtypes = [random_dtype(rng) for _ in range(rng.choice((1, 1, 2, 2, 3, 4)))]
        self._names = iter(_array_names(rng))

    def program(self, name: str) -> Program:
        """The finished program."""
        stmts = {place.name: self._statement(place) for place in places_of(self._skeleton)}
        self._ensure_output(stmts)
        inits: dict[str, Stmt | None] = {}
        while True:
            program = self._assemble(name, stmts, inits)
            missing = _uninitialised(program)
            if not missing:
                return program
            for local in missing:
                self._initialise(next(p for p in self._plans if p.name == local), inits)

    # -- statements

    def _statement(self, place: Place) -> Stmt:
        rng = self._rng
        if rng.random() < 0.04:
            return self._transcendental(place)
        plan = self._target(place)
        target = plan.access(rng, place, self._profile)
        old = Load(target, plan.dtype)
        family = family_of(plan.dtype)
        maker = ExprMaker(rng, [loop.var for loop in place.loops], self._loader(place))
        depth = rng.randint(0, self._profile.expression)
        match rng.choices(("plain", "accumulate", "stencil", "copy"), (35, 35, 20, 10))[0]:
            case "accumulate":
                value = self._accumulate(old, maker, family, depth)
            case "stencil" if plan.rank:
                value = self._stencil(plan, place, target, maker, depth)
            case "copy":
                value = maker.value(family, 0)
            case _:
                value = maker.value(family if rng.random() < 0.75 else _any_family(rng), depth)
        return Stmt(place.name, target, storable(value, plan.dtype))

    def _accumulate(self, old: Load, maker: ExprMaker, family: Family, depth: int) -> Expr:
        rng = self._rng
        value = maker.value(family, depth)
        ops = [BinaryOp.ADD] * 6 + [BinaryOp.SUB, BinaryOp.MUL, BinaryOp.MIN, BinaryOp.MAX]
        if family is Family.INT:
            ops += [BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR]
        op = rng.choice(ops)
        return binary(op, old, value) if rng.random() < 0.8 else binary(op, value, old)

    def _stencil(
        self, plan: Plan, place: Place, target: Access, maker: ExprMaker, depth: int
    ) -> Expr:
        """Neighbours in the same array, or in another one of as many dimensions."""
        rng = self._rng
        fits = [p for p in self._plans if p.rank == plan.rank and p.at_home(place)]
        source = rng.choice([p for p in fits if not p.approximate] or [plan])
        value: Expr | None = None
        for _ in range(rng.randint(2, 3)):
            moved = [rng.choice((0, 0, 1, -1, 1, -1, 2)) for _ in target.indices]
            indices = tuple(i + c for i, c in zip(target.indices, moved, strict=True))
            spans = [
                source.fits(place, d, i, 2 * self._profile.span) for d, i in enumerate(indices)
            ]
            if not all(spans):
                continue
            load = Load(source.use(place, indices), source.dtype)
            value = load if value is None else binary(BinaryOp.ADD, value, load)
        if value is None:
            return maker.value(family_of(plan.dtype), depth)
        if rng.random() < 0.4:
            op = rng.choice((BinaryOp.ADD, BinaryOp.MUL, BinaryOp.MAX))
            value = binary(op, value, maker.value(family_of(value.dtype), max(0, depth - 1)))
        return value

    def _transcendental(self, place: Place) -> Stmt:
        """A function that is not correctly rounded, into an array that nothing else uses."""
        rng = self._rng
        maker = ExprMaker(rng, [loop.var for loop in place.loops], self._loader(place))
        value = maker.transcendental(2)
        plan = self._new(place, value.dtype, rng.randint(1, 2), local=False, writable=True)
        plan.approximate = True
        return Stmt(place.name, plan.access(rng, place, self._profile), value)

    def _loader(self, place: Place) -> Callable[[Family], Expr | None]:
        rng = self._rng

        def load(family: Family) -> Expr | None:
            fits = [
                p
                for p in self._plans
                if p.at_home(place) and family_of(p.dtype) is family and not p.approximate
            ]
            dtypes = [d for d in self._dtypes if family_of(d) is family]
            room = 8 if not fits else 6 if rng.random() < 0.3 else 0
            if dtypes and len(self._plans) < room:
                rank = rng.choices((0, 1, 2, 3), (12, 45, 35, 8))[0]
                plan = self._new(place, rng.choice(dtypes), rank, local=False, writable=rank > 0)
                plan.const = rng.random() < 0.2
                plan.writable = plan.writable and not plan.const
            elif fits:
                plan = rng.choice(fits)
            else:
                return None
            return Load(plan.access(rng, place, self._profile), plan.dtype)

        return load

    # -- arrays

    def _target(self, place: Place) -> Plan:
        rng = self._rng
        fits = [p for p in self._plans if p.writable and p.at_home(place) and not p.approximate]
        if fits and rng.random() < 0.55:
            return rng.choice(fits)
        local = rng.random() < 0.35
        rank = rng.choices((0, 1, 2, 3), (40, 35, 22, 3) if local else (0, 50, 42, 8))[0]
        return self._new(place, rng.choice(self._dtypes), rank, local=local, writable=True)

    def _new(self, place: Place, dtype: DType, rank: int, *, local: bool, writable: bool) -> Plan:
        deepest = self._rng.randint(0, len(place.loops))
        depth = self._rng.choice((0, deepest, deepest)) if local else 0
        storage = Storage.LOCAL if local else Storage.ARGUMENT
        plan = Plan(next(self._names), dtype, rank, storage, place.loops[:depth], writable)
        self._plans.append(plan)
        return plan

    def _ensure_output(self, stmts: dict[str, Stmt]) -> None:
        """Turn a local into an argument where no argument is written."""
        plans = {p.name: p for p in self._plans}
        written = [plans[s.target.array] for s in stmts.values()]
        if any(p.storage is Storage.ARGUMENT for p in written):
            return
        ranked = [p for p in written if p.rank]
        if ranked:
            self._to_argument(ranked[-1])
            return
        last = list(stmts)[-1]
        place = next(p for p in places_of(self._skeleton) if p.name == last)
        plan = self._new(place, self._dtypes[0], 1, local=False, writable=True)
        source = plans[stmts[last].target.array]
        copied = storable(Load(Access(source.name, ()), source.dtype), plan.dtype)
        if source.at_home(place) and len(stmts) > 1:
            stmts[last] = Stmt(last, plan.access(self._rng, place, self._profile), copied)
        else:
            value = storable(stmts[last].value, plan.dtype)
            target = plan.access(self._rng, place, self._profile)
            stmts[last] = Stmt(last, target, value)

    def _to_argument(self, plan: Plan) -> None:
        plan.storage, plan.home = Storage.ARGUMENT, ()

    # -- assembly

    def _initialise(self, plan: Plan, inits: dict[str, Stmt | None]) -> None:
        """Give a local a first value in its scope, or make it an argument where it is large."""
        shape = plan.finish((0,) * plan.rank).shape
        size = 1
        for extent in shape:
            size *= extent
        times = _executions(self._skeleton, plan.home)
        if plan.rank and (size * times > self._profile.iterations or self._rng.random() < 0.2):
            self._to_argument(plan)
            return
        indices = tuple(Affine.of(f"x{d}") + low for d, low in enumerate(plan.low))
        value = storable(random_const(self._rng, family_of(plan.dtype)), plan.dtype)
        inits[plan.name] = Stmt(f"I{len(inits)}", Access(plan.name, indices), value)

    def _assemble(
        self, name: str, stmts: dict[str, Stmt], inits: dict[str, Stmt | None]
    ) -> Program:
        plans = {p.name: p for p in self._plans}
        used = {a.array for s in stmts.values() for a in (s.target, *loads(s.value))}
        slack = {p.name: _slack(p) for p in self._plans}
        arrays = [p.finish(slack[p.name]) for p in self._plans if p.name in used]
        arrays.sort(key=lambda a: a.storage is Storage.LOCAL)

        def finished(stmt: Stmt) -> Stmt:
            value = map_leaves(
                stmt.value,
                lambda e: (
                    replace(e, access=plans[e.access.array].moved(e.access))
                    if isinstance(e, Load)
                    else e
                ),
            )
            return Stmt(stmt.name, plans[stmt.target.array].moved(stmt.target), value)

        def nest(plan: Plan, stmt: Stmt) -> Node:
            node: Node = finished(stmt)
            shape = plan.finish(slack[plan.name]).shape
            for d in reversed(range(plan.rank)):
                zero, top = (Affine.of(0),), (Affine.of(shape[d]),)
                node = Loop(f"x{d}", zero, top, 1, (node,))
            return node

        def first(path: tuple[Loop, ...]) -> tuple[Node, ...]:
            return tuple(
                nest(plans[local], stmt)
                for local, stmt in inits.items()
                if stmt is not None
                and plans[local].storage is Storage.LOCAL
                and local in used
                and len(plans[local].home) == len(path)
                and all(a is b for a, b in zip(plans[local].home, path, strict=True))
            )

        def rebuilt(nodes: tuple[Node, ...], path: tuple[Loop, ...]) -> tuple[Node, ...]:
            result: list[Node] = []
            for node in nodes:
                match node:
                    case Stmt(name=stmt):
                        result.append(finished(stmts[stmt]))
                    case If(cond, then, orelse):
                        result.append(If(cond, rebuilt(then, path), rebuilt(orelse, path)))
                    case Loop(body=body):
                        inner = (*path, node)
                        body = (*first(inner), *rebuilt(body, inner))
                        result.append(replace(node, body=body))
            return tuple(result)

        body = (*first(()), *rebuilt(self._skeleton, ()))
        return ordered_locals(Program(name, tuple(arrays), body))


def _slack(plan: Plan) -> tuple[int, ...]:
    """A few arrays are larger than what is used of them; it depends on the name only."""
    return tuple(1 if (len(plan.name) + d + plan.high[d]) % 7 == 0 else 0 for d in range(plan.rank))


def _array_names(rng: random.Random) -> list[str]:
    names = list("ABCDEFGHJKLMNOPQRSTUVWXYZ")  # not I: a loop may be called that
    if rng.random() < 0.08:
        names[rng.randrange(3)] = rng.choice(ODD_NAMES)
    return names


def _any_family(rng: random.Random) -> Family:
    return rng.choice(list(Family))


def places_of(nodes: tuple[Node, ...]) -> list[Place]:
    """Where the statements of a skeleton stand, in program order."""
    skeleton = Program("p", (), nodes)
    toucher = Toucher(skeleton)
    points: dict[str, list[dict[str, int]]] = {}
    for event in program_events(skeleton):
        points.setdefault(event.stmt.name, []).append(toucher.env(event))
    return [
        Place(
            node.name,
            tuple(n for n in around if isinstance(n, Loop)),
            tuple(points.get(node.name, ())),
        )
        for node, around in skeleton.walk()
        if isinstance(node, Stmt)
    ]


def _executions(nodes: tuple[Node, ...], home: tuple[Loop, ...]) -> int:
    """At most how often the body of the innermost loop of ``home`` runs."""
    total = 1
    for loop in home:
        low = [b.const for b in loop.lowers if b.is_const]
        high = [b.const for b in loop.uppers if b.is_const]
        total *= max(1, high[0] - low[0]) if low and high else 8
    return total


def _uninitialised(program: Program) -> list[str]:
    """Locals of which an element is read before it is written."""
    toucher = Toucher(program)
    local = {a.name for a in program.arrays if a.storage is Storage.LOCAL}
    written: set[Element] = set()
    found: dict[str, None] = {}
    for event in program_events(program):
        touches = toucher.touches(event)
        for touch in touches:
            if touch.is_write:
                continue
            if touch.element[0] in local and touch.element not in written:
                found[touch.element[0]] = None
        written |= {touch.element for touch in touches if touch.is_write}
    return list(found)
