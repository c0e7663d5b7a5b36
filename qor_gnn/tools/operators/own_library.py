"""The library of a measured version with a user's own measurements over it: what they show is taken, no more."""

from __future__ import annotations

from dataclasses import replace

from qor_gnn.tools.operators.calibration import OwnClass
from qor_gnn.tools.operators.library import Integers, Library, Operator, Step, Table


def own_over(library: Library, at_clock: Library, own: OwnClass, states: int) -> Library:
    """The library of a version, with those operators that own reports show at its class and clock.

    Args:
        library: of the version, at the class and the clock that it was measured at.
        at_clock: by the law of selection with the own measurements, of the same class and clock.
        own: these.
        states: see `qor_gnn.tools.policies.latencies.Latencies`.
    """
    implementations = {
        name: _table(rows, at_clock.implementations.get(name, {}), own, states)
        for name, rows in library.implementations.items()
    }
    integers = {
        kind: _integers(old, at_clock.integers.get(kind)) for kind, old in library.integers.items()
    }
    return replace(
        library,
        operators=_table(library.operators, at_clock.operators, own, states),
        integers=integers,
        implementations=implementations,
    )


def _table(old: Table, new: Table, own: OwnClass, states: int) -> Table:
    return {
        type_: {
            kind: _operator(operator, new.get(type_, {}).get(kind), own, states)
            for kind, operator in rows.items()
        }
        for type_, rows in old.items()
    }


def _operator(old: Operator, new: Operator | None, own: OwnClass, states: int) -> Operator:
    if new is None:
        return old
    core = new.core.replace("_fabric", "_nodsp")
    found = old
    if new.own:
        area = (old.dsp, old.lut, old.ff)
        if new.distance != old.distance:
            area = (new.dsp, new.lut, new.ff)
        dsp, lut, ff = area
        found = replace(
            old, distance=new.distance, delay=new.delay, dsp=dsp, lut=lut, ff=ff, measured=True,
            origin=new.origin, least=new.least, most=new.most, own=True,
        )  # fmt: skip
    stages = found.distance - states + 1 if found.distance else 1
    for shown, dsp, ff, lut in own.areas.get(core, ()):
        if shown == stages:
            return replace(found, dsp=dsp, ff=ff, lut=lut)
    return found


def _integers(old: Integers, new: Integers | None) -> Integers:
    """The steps of products that own reports show, and the version's own for all others."""
    if new is None or not any(step.own for step in new.steps):
        return old
    widths = sorted({step.width for step in (*old.steps, *new.steps)})
    steps = []
    for width in widths:
        was, now = _at(old, width), _at(new, width)
        steps.append(replace(now if now.own else was, width=width))
    return replace(old, steps=tuple(steps))


def _at(found: Integers, width: int) -> Step:
    """The step that a width is in; what is wider than all is as the operator itself."""
    for step in found.steps:
        if width <= step.width:
            return step
    return Step(
        width, found.distance, found.delay, found.dsp, found.lut, found.ff, found.measured,
        found.origin, found.least, found.most, found.own,
    )  # fmt: skip
