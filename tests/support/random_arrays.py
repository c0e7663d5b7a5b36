"""Random arrays and subscripts; the shapes follow from what is accessed, so all is in bounds."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from dsl.expressions.types import DType, FixedType, FloatType, IntType, Overflow, Quant
from dsl.programs.program import Array, Loop, Storage
from tests.support.profiles import Profile

WIDTHS = (1, 2, 3, 5, 7, 8, 8, 12, 16, 16, 17, 24, 31, 32, 32, 32, 33, 40, 48, 63, 64, 65, 70)
FLOATS = ("f16", "bf16", "f32", "f32", "f64")


def random_dtype(rng: random.Random) -> DType:
    """Any type that an array can have."""
    match rng.choices(("int", "fixed", "float"), (5, 2, 3))[0]:
        case "int":
            return IntType(rng.choice(WIDTHS), rng.random() < 0.65)
        case "fixed":
            width = rng.choice((1, 2, 4, 6, 8, 8, 11, 16, 16, 18, 24, 32, 40, 66))
            integer = rng.randint(-2, width + 2) if rng.random() < 0.3 else rng.randint(0, width)
            quant = rng.choice(list(Quant)) if rng.random() < 0.6 else Quant.TRN
            overflow = rng.choice(list(Overflow)) if rng.random() < 0.5 else Overflow.WRAP
            return FixedType(width, integer, rng.random() < 0.7, quant, overflow)
        case _:
            return FloatType(rng.choice(FLOATS))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands: the loops around it and every iteration that runs it."""

    name: str
    loops: tuple[Loop, ...]
    points: tuple[dict[str, int], ...]

    def span(self, affine: Affine) -> tuple[int, int] | None:
        """Smallest and largest value of an expression here; None where nothing runs."""
        values = [affine.evaluate(env) for env in self.points]
        return (min(values), max(values)) if values else None


@dataclass(slots=True)
class Plan:
    """An array in the making: ``low`` and ``high`` bound each subscript so far."""

    name: str
    dtype: DType
    rank: int
    storage: Storage
    home: tuple[Loop, ...]
    writable: bool
    approximate: bool = False
    const: bool = False
    low: list[int] = field(default_factory=list)
    high: list[int] = field(default_factory=list)
    seen: list[tuple[Affine, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.low = [0] * self.rank
        self.high = [0] * self.rank

    def at_home(self, place: Place) -> bool:
        """Whether a statement there may use it."""
        mine = place.loops[: len(self.home)]
        return len(mine) == len(self.home) and all(
            a is b for a, b in zip(mine, self.home, strict=True)
        )

    def access(self, rng: random.Random, place: Place, profile: Profile) -> Access:
        """A random access from a place; its subscripts are moved into bounds by `finish`."""
        indices = tuple(self._subscript(rng, place, profile, dim) for dim in range(self.rank))
        return self.use(place, indices)

    def use(self, place: Place, indices: tuple[Affine, ...]) -> Access:
        """Note that these subscripts are used in a place."""
        for dim, affine in enumerate(indices):
            if (span := place.span(affine)) is not None:
                known = bool(self.seen)
                self.low[dim] = min(self.low[dim], span[0]) if known else span[0]
                self.high[dim] = max(self.high[dim], span[1]) if known else span[1]
        if place.points:
            self.seen.append(indices)
        return Access(self.name, indices)

    def fits(self, place: Place, dim: int, affine: Affine, limit: int) -> bool:
        """Whether the dimension stays small with one more subscript."""
        span = place.span(affine)
        if span is None:
            return True
        low = min(self.low[dim], span[0]) if self.seen else span[0]
        high = max(self.high[dim], span[1]) if self.seen else span[1]
        return high - low < limit

    def _subscript(self, rng: random.Random, place: Place, profile: Profile, dim: int) -> Affine:
        limit = profile.span if self.rank < 3 else profile.span // 2
        for _ in range(8):
            affine = self._candidate(rng, place, dim)
            if self.fits(place, dim, affine, limit):
                return affine
        return Affine.of(self.low[dim])

    def _candidate(self, rng: random.Random, place: Place, dim: int) -> Affine:
        names = [loop.var for loop in place.loops]
        if self.seen and rng.random() < 0.5:
            earlier = rng.choice(self.seen)[dim]
            if earlier.variables() <= set(names):
                return earlier + rng.choice((0, 0, 0, 1, -1))
        return random_subscript(rng, names, rng.choice(names) if names else "")

    def moved(self, access: Access) -> Access:
        """The access with its subscripts counted from 0."""
        moved = (i - low for i, low in zip(access.indices, self.low, strict=True))
        spans = zip(moved, self.low, self.high, strict=True)
        # What never runs need not be in bounds, but no constant may be plainly wrong.
        indices = (
            i if not i.is_const or 0 <= i.const <= high - low else Affine.of(0)
            for i, low, high in spans
        )
        return Access(access.array, tuple(indices))

    def finish(self, slack: tuple[int, ...]) -> Array:
        """The array, with so many elements more than are used in each dimension."""
        spans = zip(self.low, self.high, slack, strict=True)
        shape = tuple(high - low + 1 + more for low, high, more in spans)
        const = self.const and self.storage is Storage.ARGUMENT
        return Array(self.name, self.dtype, shape, self.storage, const, len(self.home))


def random_subscript(rng: random.Random, names: list[str], name: str) -> Affine:
    """A subscript over the loop variables, mostly ``name`` plus a small constant."""
    if not names:
        return Affine.of(rng.choice((0, 0, 1, 2)))
    v = Affine.of(name)
    other = Affine.of(rng.choice(names))
    c = rng.choice((0, 0, 0, 0, 1, -1, 2))
    kinds = ("plain", "sum", "difference", "stride", "div", "mod", "const", "minus", "mixed")
    match rng.choices(kinds, (60, 8, 4, 8, 5, 5, 4, 3, 3))[0]:
        case "plain":
            return v + c
        case "sum":
            return v + other + c
        case "difference":
            return v - other + c
        case "stride":
            return v * rng.choice((2, 3)) + c
        case "div":
            return (v + c) // rng.choice((2, 3))
        case "mod":
            return (v + c) % rng.choice((2, 3, 4))
        case "const":
            return Affine.of(c)
        case "minus":
            return -v + c
        case _:
            return v * 2 + other // 2 + c % 2
