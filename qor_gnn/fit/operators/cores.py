"""Cells of cores out of facts: what is known, what bounds the rest, and what is in between."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qor_gnn.fit.operators.additive import Additive, fitted
from qor_gnn.tools.operators.cells import Cell, Core

SHORT = {0: 1 / 0.24, 1: 1.0, 2: 1 / 1.2}
"""Of floating point cores, a latency of 0, 1 and 2 to that of 1: the same in every pair that reports show."""

_SPREAD, _WIDER = 0.18, 0.35  # of interpolated cells: in a core that the class shows, or not
_RARE = 0.4  # of how often the usual delay is printed
_FAR = 1.6  # times the budget: a demand of the user overrode the clock
_CLEAR = 1.0005  # a delay lies above a budget that it was too long for


@dataclass(frozen=True, slots=True)
class Fact:
    """A core in a report: chosen at a budget with a latency, and how long its longest stage is."""

    core: str
    timing: str
    budget: float
    latency: int
    delay: float | None
    repo: str


def cores_of(
    facts: Iterable[Fact],
    latencies: Mapping[str, tuple[int, ...]],
    *,
    short: bool,
    classes: Iterable[str] = (),
    longest: frozenset[str] = frozenset(),
) -> dict[tuple[str, str], Core]:
    """The cores by timing class and name.

    Args:
        facts: what reports show.
        latencies: that each core can have.
        classes: timing classes that are to have every core, interpolated where they show none.
        short: latencies up to 2 follow from each other by `SHORT`.
        longest: cores whose rows are of shorter ones as well: their longest delay that is not rare.
    """
    delays: dict[tuple[str, str, int], Counter[float]] = defaultdict(Counter)
    chosen: dict[tuple[str, str], dict[float, Counter[int]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    distinct = {(f.timing, f.core, f.latency, f.delay or 0.0, f.budget, f.repo) for f in facts}
    for timing, core, latency, delay, budget, _ in sorted(distinct):
        if core not in latencies or latency > max(latencies[core]):
            continue
        if delay:
            delays[timing, core, latency][delay] += 1
        chosen[timing, core][round(budget, 2)][latency] += 1
    known = {key: usual(found, short or key[1] not in longest) for key, found in delays.items()}
    model = fitted(_placed(known, short), falling=True)
    wanted = {*chosen, *((timing, core) for timing in classes for core in latencies)}
    return {
        (timing, core): _core(
            timing, core, known, chosen.get((timing, core), {}), latencies[core], model, short
        )
        for timing, core in sorted(wanted)
    }


def usual(found: Counter[float], most: bool) -> float:
    """What most reports print, and the longer one of as many; else the longest that is not rare."""
    often = max(found.values())
    return max(found, key=lambda d: (found[d] if most else found[d] >= _RARE * often, d))


def _placed(
    known: Mapping[tuple[str, str, int], float], short: bool
) -> dict[tuple[str, str, int], float]:
    """The delays with those of latencies up to 2 at 1, where they follow from each other."""
    if not short:
        return dict(known)
    placed: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for (timing, core, latency), delay in known.items():
        ratio = SHORT.get(latency, 1.0)
        placed[timing, core, max(latency, 1) if latency > 2 else 1].append(delay / ratio)
    return {key: sorted(found)[len(found) // 2] for key, found in placed.items()}


def _core(
    timing: str,
    core: str,
    known: Mapping[tuple[str, str, int], float],
    seen: Mapping[float, Counter[int]],
    latencies: tuple[int, ...],
    model: Additive,
    short: bool,
) -> Core:
    """The cells of one core in one class."""
    choices = sorted((b, max(n, key=lambda k: (n[k], k))) for b, n in seen.items())
    support = {b: sum(n.values()) for b, n in seen.items()}
    own = {k: known[timing, core, k] for k in latencies if (timing, core, k) in known}
    # What was too long at a budget is no delay below it; what fitted is none above.
    choices = [(b, k) for b, k in choices if _guess(model, timing, core, k, short) <= _FAR * b]
    choices = consistent(choices, support)
    own = not_contradicted(own, choices)
    if short:
        shown = [(k, d / SHORT[k]) for k, d in own.items() if k in SHORT]
        for k, ratio in SHORT.items():
            if shown and k not in own:
                own[k] = min(shown, key=lambda s: abs(s[0] - k))[1] * ratio
    spread = _SPREAD if own else _WIDER
    cells: list[Cell] = []
    for k in latencies:
        if k in own:
            cells.append(Cell(k, round(own[k], 3), round(own[k], 3), round(own[k], 3)))
            continue
        guess = _guess(model, timing, core, k, short)
        low = max([b * _CLEAR for b, n in choices if n > k], default=0.0)
        low = max([low, *(d for n, d in own.items() if n > k)])
        high = min([b for b, n in choices if n <= k], default=10 * guess)
        high = min([high, *(d for n, d in own.items() if n < k)])
        high = max(high, low)
        delay = min(max(guess, low), high)
        near = max(low, delay * (1 - spread)), min(high, delay * (1 + spread))
        cells.append(Cell(k, round(delay, 3), round(near[0], 3), round(near[1], 3), False))
    return Core(_falling(cells), tuple(choices))


def not_contradicted(
    delays: Mapping[int, float], choices: Iterable[tuple[float, int]]
) -> dict[int, float]:
    """The delays by latency that choices at budgets leave: what was too long at one is none below it."""
    chosen = list(choices)
    return {
        k: d
        for k, d in delays.items()
        if not any((b >= d * _CLEAR and n > k) or (b * _CLEAR < d and n <= k) for b, n in chosen)
    }


def consistent(
    choices: list[tuple[float, int]], support: Mapping[float, int]
) -> list[tuple[float, int]]:
    """The best supported choices of which none takes more cycles at a longer budget."""
    best: list[tuple[int, list[tuple[float, int]]]] = []
    for budget, latency in choices:
        before = max(
            (b for b in best if b[1][-1][1] >= latency), key=lambda b: b[0], default=(0, [])
        )
        best.append((before[0] + support[budget], [*before[1], (budget, latency)]))
    return max(best, key=lambda b: b[0])[1] if best else []


def _guess(model: Additive, timing: str, core: str, latency: int, short: bool) -> float:
    """The model's delay."""
    place = 1 if short and latency in SHORT else latency
    return (model.delay(timing, core, place) or 0.0) * (SHORT.get(latency, 1.0) if short else 1.0)


def _falling(cells: list[Cell]) -> tuple[Cell, ...]:
    """Interpolated delays are no longer than that of the latency below."""
    found: list[Cell] = []
    for cell in cells:
        if found and not cell.known and cell.delay > found[-1].delay:
            top = found[-1].delay
            cell = Cell(
                cell.latency, top, min(cell.low, top), min(cell.high, found[-1].high), False
            )
        found.append(cell)
    return tuple(found)
