"""Measurements of a user's own out of facts: piece by piece, a piece being one core or size of a class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from qor_gnn.fit.operators.area import area_of, areas
from qor_gnn.fit.operators.cores import Fact, consistent, not_contradicted, usual
from qor_gnn.fit.operators.distil import DEEPEST
from qor_gnn.fit.operators.fabric import multiplier_facts
from qor_gnn.fit.operators.rows import OperatorRow, float_core, usable
from qor_gnn.fit.projects.facts import ProjectRow
from qor_gnn.tools.operators.calibration import OwnClass, OwnCore
from qor_gnn.tools.operators.timing import timing_classes

Group = Literal["floats", "areas", "multipliers"]


@dataclass(frozen=True, slots=True, order=True)
class Piece:
    """One core or size of a timing class: what is judged, and saved or not, as a whole."""

    timing: str
    group: Group
    name: str


def pieces(rows: Iterable[ProjectRow]) -> dict[Piece, list[ProjectRow]]:
    """The facts of each piece that they show something of."""
    found: dict[Piece, list[ProjectRow]] = defaultdict(list)
    for one in rows:
        if one.row.timing not in timing_classes():
            continue
        for group, name in _shows(one.row):
            found[Piece(one.row.timing, group, name)].append(one)
    return dict(sorted(found.items()))


def _shows(row: OperatorRow) -> Iterable[tuple[Group, str]]:
    core = float_core(row)
    if core is not None:
        if usable(row, core) and (row.latency or 0) <= DEEPEST[core]:
            yield "floats", core
        if areas([row]):
            yield "areas", core
    for fact in multiplier_facts([row]):
        yield "multipliers", fact.core


def measured(piece: Piece, rows: Sequence[OperatorRow]) -> OwnClass:
    """What facts show of a piece, and of nothing else.

    Args:
        piece: which one.
        rows: facts about it.
    """
    name = piece.name
    match piece.group:
        case "floats":
            core = _core(
                Fact(name, r.timing, r.budget, r.latency, r.delay, r.repo)
                for r in rows
                if r.budget is not None and r.latency is not None
            )
            return OwnClass(floats={name: core} if core.seen else {})
        case "multipliers":
            # Products of one size are of many widths: how long one takes bounds no other.
            core = OwnCore(_core(multiplier_facts(rows)).seen)
            return OwnClass(multipliers={name: core} if core.seen else {})
        case "areas":
            kind = area_of(piece.timing)
            shown = [
                (stages, *a) for (c, k, stages), a in areas(rows).items() if (c, k) == (name, kind)
            ]
            return OwnClass(areas={name: tuple(sorted(shown))} if shown else {})


def _core(facts: Iterable[Fact]) -> OwnCore:
    """What was chosen at each budget by most projects, and delays that do not contradict it."""
    delays: dict[int, Counter[float]] = defaultdict(Counter)
    chosen: dict[float, Counter[int]] = defaultdict(Counter)
    distinct = {(f.latency, f.delay or 0.0, f.budget, f.repo) for f in facts}
    for latency, delay, budget, _ in sorted(distinct):
        if delay:
            delays[latency][delay] += 1
        chosen[round(budget, 2)][latency] += 1
    choices = sorted((b, max(n, key=lambda k: (n[k], k))) for b, n in chosen.items())
    choices = consistent(choices, {b: sum(n.values()) for b, n in chosen.items()})
    own = not_contradicted({k: usual(found, True) for k, found in delays.items()}, choices)
    return OwnCore(tuple(choices), tuple(sorted(own.items())))


def together(found: Mapping[Piece, OwnClass]) -> dict[str, OwnClass]:
    """The pieces of each timing class as one."""
    classes: dict[str, OwnClass] = {}
    for piece, own in found.items():
        one = classes.get(piece.timing, OwnClass())
        classes[piece.timing] = OwnClass(
            {**one.floats, **own.floats},
            {**one.areas, **own.areas},
            {**one.multipliers, **own.multipliers},
        )
    return classes
