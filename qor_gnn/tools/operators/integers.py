"""Operators on integers in a timing class at a budget: logic by width, multipliers and dividers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qor_gnn.tools.operators.calibration import NOTHING, OwnClass, laid_over
from qor_gnn.tools.operators.cells import Choice
from qor_gnn.tools.operators.library import Integers, Step
from qor_gnn.tools.operators.logic_area import ANY, Costs, logic_costs
from qor_gnn.tools.operators.multipliers import LUT_PRODUCT, SIZES, Size, size_of, slices
from qor_gnn.tools.operators.timing import Tables, TimingClass

DIVIDER = 3
"""A quotient or remainder of n bits has latency n + 3: n + 4 stages in all 282 modules that reports show,
of every family, clock and version."""

MULTIPLY_ADD = 3
"""Latency of a product and a sum in one DSP slice: 4 stages in 361 of 402 modules of Vitis HLS."""

_WIDEST, _SLICED = (
    128,
    256,
)  # bits: with a step of its own each; what wider products are taken to cost

_LOGIC = {
    "add": "add", "sub": "add", "neg": "add", "select": "select", "and": "logic", "or": "logic",
    "xor": "logic", "cmp": "cmp", "shl": "shift", "shr": "shift",
}  # fmt: skip
"""The kind of logic, as delays and LUTs are told by."""

_FF_BIT, _DEEP_FF_BIT, _SLICED_LUT = 5.2, 6.8, (20, 50)


class IntegerUnits:
    """The operators on integers of one class at one budget.

    Args:
        tables: of all classes.
        of: whose figures the class has.
        budget: ns that a stage may take.
        states: see `qor_gnn.tools.policies.latencies.Latencies`.
        side: bits of the longer factor of a DSP slice.
        own: what the user's own reports show of the class.
    """

    def __init__(
        self,
        tables: Tables,
        of: TimingClass,
        budget: float,
        states: int,
        side: int,
        own: OwnClass = NOTHING,
    ) -> None:
        self._tables, self._of, self._own = tables, of, own
        self._budget, self._states, self._side = budget, states, side

    def delay(self, kind: str, width: int) -> float:
        """Delay of logic in ns, interpolated between widths."""
        told = self._tables.logic[self._of.fabric, kind]
        return self._of.scale * between(told, width)

    def multiplier(self, size: Size) -> Choice:
        """The latency of a product."""
        core = self._tables.multipliers[self._of.fabric, size]
        if self._of.scale != 1.0:
            core = core.scaled(self._of.scale)
        if size in self._own.multipliers:
            core = laid_over(core, self._own.multipliers[size])
        return core.choose(self._budget)

    def all(self, compares: str) -> Mapping[str, Integers]:
        """By kind; ``compares`` as in `qor_gnn.tools.policies.latencies.Latencies`."""
        costs = logic_costs(self._of.fabric, self._side, compares)
        found = {
            kind: Integers(steps=tuple(self._logic(logic, costs[logic])))
            for kind, logic in _LOGIC.items()
        }
        found["ternary"] = Integers(steps=tuple(self._logic("add", costs["ternary"])))
        found["cast"] = Integers(origin="derived")
        found["mul"] = Integers(steps=tuple(self._products()))
        for kind in ("div", "mod"):
            found[kind] = Integers(
                steps=tuple(self._divider(w) for w in (*range(1, _WIDEST + 1), _SLICED, ANY))
            )
        wide = self.multiplier("wide")
        found["quotient"] = Integers(
            distance=wide.latency + self._states, dsp=16, ff=441, lut=(256, 0), origin=wide.origin
        )
        return found

    def _logic(self, kind: str, costs: Costs) -> list[Step]:
        """Steps between the widths that delays and costs are told at."""
        told = self._tables.logic[self._of.fabric, kind]
        widths = sorted({*(w for w, _ in told), *(w for w, _ in costs)})
        steps, before = [], 0
        for width in widths:
            low, high = self.delay(kind, before or width), self.delay(kind, width)
            slope = (high - low) / (width - before) if before else 0.0
            lut = next(cost for most, cost in costs if width <= most)
            steps.append(Step(width, 0, (high - slope * width, slope), lut=lut, origin=self._told))
            before = width
        return steps

    @property
    def _told(self) -> str:
        return "derived" if self._of.shown else "extrapolated"

    def _products(self) -> list[Step]:
        """A step for each count of slices that products of two equal widths take."""
        steps: list[Step] = []
        for width in (*range(1, _WIDEST + 1), _SLICED, ANY):
            bits = min(width, _SLICED)
            size = size_of(bits, bits, self._side)
            found = self.multiplier(size)
            dsp = slices(bits, bits, bits, self._side)
            if size == "lut" and found.latency > 0:  # too slow: a DSP slice then
                found, dsp = self.multiplier("one"), 1
            deep = found.latency > 0
            flops = 0.0 if not deep else _DEEP_FF_BIT if found.latency > 2 else _FF_BIT
            step = Step(
                width,
                found.latency + self._states if deep else 0,
                (0.0 if deep else found.delay, 0.0),
                dsp,
                (_SLICED_LUT[deep] if dsp else LUT_PRODUCT[bits - 1], 0.0),
                round(flops * bits),
                origin=found.origin if self._of.shown or found.own else "extrapolated",
                own=found.own,
                least=found.least + self._states if found.least else 0,
                most=found.most + self._states if found.most else 0,
            )
            if steps and _same(steps[-1], step):
                steps.pop()
            steps.append(step)
        return steps

    def _divider(self, width: int) -> Step:
        bits = min(width, _SLICED)
        states = bits + DIVIDER + self._states
        ff, lut = round(12.3 * bits), (0, 7.4) if width < ANY else (1900, 0.0)
        return Step(
            width, states, dsp=0, lut=lut, ff=ff, origin="derived", least=states, most=states
        )


def between(told: Sequence[tuple[int, float]], width: int) -> float:
    """A delay in ns at a width, out of (width, delay) pairs, the narrowest first.

    Wider than all that are told it grows by bit as over the last seven eighths of them: carries go on.
    """
    before = told[0]
    for place in told:
        if width <= place[0]:
            share = (width - before[0]) / ((place[0] - before[0]) or 1)
            return before[1] + share * (place[1] - before[1])
        before = place
    widest, longest = before
    start = next(place for place in told if 8 * place[0] >= widest)
    slope = (longest - start[1]) / ((widest - start[0]) or 1)
    return longest + max(slope, 0.0) * (width - widest)


def _same(a: Step, b: Step) -> bool:
    """Steps that differ in width alone."""
    if a.ff or b.ff:
        return False
    return (a.distance, a.delay, a.dsp, a.lut, a.own) == (
        b.distance,
        b.delay,
        b.dsp,
        b.lut,
        b.own,
    )


__all__ = ["DIVIDER", "MULTIPLY_ADD", "SIZES", "IntegerUnits"]
