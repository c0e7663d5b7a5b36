"""How large and how odd the random programs are."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Profile:
    """Limits of a random program.

    Attributes:
        name: what it is called.
        statements: at most so many, initialisations of locals not counted.
        depth: at most so many loops in one another.
        iterations: at most so many statement instances.
        extent: usual largest trip count of one loop.
        expression: largest depth of an expression.
        span: largest extent of a dimension.
        control: control flow is all that there is, see `tests.support.random_control`.
        gathers: about half of the reads are at subscripts that are data, see `tests.support.random_gathers`.
        scatters: and about half of the writes.
    """

    name: str
    statements: int
    depth: int
    iterations: int
    extent: int
    expression: int
    span: int
    control: bool = False
    gathers: bool = False
    scatters: bool = False


FAST = Profile("fast", statements=3, depth=3, iterations=250, extent=6, expression=2, span=16)
BALANCED = Profile(
    "balanced", statements=5, depth=4, iterations=800, extent=9, expression=3, span=24
)
LONG = Profile("long", statements=7, depth=4, iterations=2000, extent=14, expression=4, span=40)
CONTROL = Profile(
    "control",
    statements=12,
    depth=3,
    iterations=600,
    extent=4,
    expression=0,
    span=48,
    control=True,
)
GATHER = replace(FAST, name="gather", gathers=True)
SCATTER = replace(GATHER, name="scatter", scatters=True)
PROFILES = {p.name: p for p in (FAST, BALANCED, LONG, CONTROL, GATHER, SCATTER)}
