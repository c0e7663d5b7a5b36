"""Operators on floats in a timing class at a budget, by the law of selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qor_gnn.tools.operators.calibration import NOTHING, OwnClass, laid_over
from qor_gnn.tools.operators.cells import Choice, Origin
from qor_gnn.tools.operators.library import Operator
from qor_gnn.tools.operators.timing import Tables, TimingClass

_HALF = 0.85  # of the delay of a single-precision core: assumed, no report shows half precision
_HALF_AREA = {"add": (2, 110, 120), "mul": (2, 60, 34)}

_F32 = {
    "add": "fadd", "sub": "fadd", "mul": "fmul", "div": "fdiv", "sqrt": "fsqrt", "exp": "fexp",
    "log": "flog", "cmp": "fcmp", "from_int": "sitofp", "cast": "fptrunc",
}  # fmt: skip
_F64 = {
    "add": "dadd", "sub": "dadd", "mul": "dmul", "div": "ddiv", "sqrt": "dsqrt", "exp": "dexp",
    "cmp": "dcmp", "from_int": "sitodp", "cast": "fpext",
}  # fmt: skip
_LONG = {"dlog": ("flog", 2, 4, (68, 1500, 2500))}
"""Double precision that no report shows: a core, its stages twice and some, and DSP, FF and LUT."""

_COMPOSED = {
    "tanh": (("exp", "div", "add"), 0, {"f32": (9, 900, 2200), "f64": (30, 2500, 5000)}),
    "pow": (("log", "mul", "exp"), 18, {"f32": (30, 1500, 3000), "f64": (65, 11900, 9700)}),
}  # fmt: skip
"""Functions of several cores, one behind the other, and states besides: assumed, but for the power of doubles of 2025.1
at 4 ns, which takes 76 states (docs/lab/u200.md, 5j), 18 more than its cores."""

_AREA = {"f32": (32, 300, 80), "f64": (64, 600, 150), "f16": (16, 300, 80), "bf16": (16, 300, 80)}
"""Width, and LUT and FF of a conversion to an integer, which is logic."""


@dataclass(slots=True)
class Floats:
    """The operators on floats of one class at one budget.

    Attributes:
        tables: of all classes.
        of: whose figures the class has.
        budget: ns that a stage may take.
        states: see `qor_gnn.tools.policies.latencies.Latencies`.
        select, shift: delays of a selection and of a shift of 64 bits in ns.
        own: what the user's own reports show of the class.
    """

    tables: Tables
    of: TimingClass
    budget: float
    states: int
    select: float
    shift: float
    own: OwnClass = NOTHING

    def choice(self, core: str, faster: float = 1.0) -> Choice:
        """What the tool takes of a core; one that takes ``faster`` as long was not seen."""
        cells = self.tables.floats[self.of.floats, core]
        scale = self.of.scale * faster
        if scale != 1.0:
            cells = cells.scaled(scale)
        if core in self.own.floats and faster == 1.0:
            cells = laid_over(cells, self.own.floats[core])
        found = cells.choose(self.budget)
        if not self.of.shown and not found.own and found.origin != "extrapolated":
            return Choice(found.latency, found.delay, found.least, found.most, "extrapolated")
        return found

    def area(self, core: str, latency: int) -> tuple[int, int, int]:
        """DSP, FF and LUT of a core with a latency: of its kind of area, or of the nearest that is known.

        Flip-flops follow from the stages, whatever the device; LUTs from the kind of area, most of all.
        """
        stages = latency + 1
        told = {row[0]: row[1:] for row in self.own.areas.get(core, ())}
        if stages in told:
            return told[stages]
        known = {(k, n): a for (c, k, n), a in self.tables.areas.items() if c == core}
        if (self.of.area, stages) in known:
            return known[self.of.area, stages]
        own = {n: a for (k, n), a in known.items() if k == self.of.area}
        any_ = {n: a for (_, n), a in sorted(known.items())}
        if not any_:
            return 0, 0, 0
        dsp, _, lut = _near(own or any_, stages)
        ff = any_[stages][1] if stages in any_ else _near(any_, stages)[1]
        return dsp, ff, lut

    def operator(
        self,
        core: str,
        name: str = "",
        faster: float = 1.0,
        area: tuple[int, int, int] | None = None,
    ) -> Operator:
        """The operator that a core is."""
        found = self.choice(core, faster)
        dsp, ff, lut = area or self.area(core, found.latency)
        return self._operator(name or core, found, dsp, ff, lut)

    def _operator(self, name: str, found: Choice, dsp: int, ff: int, lut: int) -> Operator:
        combinational = found.latency == 0
        return Operator(
            core=name,
            distance=0 if combinational else found.latency + self.states,
            delay=found.delay if combinational else 0.0,
            dsp=dsp,
            lut=lut,
            ff=ff,
            measured=found.origin != "extrapolated",
            origin=found.origin,
            least=found.least + self.states if found.least else 0,
            most=found.most + self.states if found.most else 0,
            own=found.own,
        )

    def of_type(self, type_: str) -> Mapping[str, Operator]:
        """The operators on a type by kind."""
        width, lut, ff = _AREA[type_]
        match type_:
            case "f64":
                rows = {kind: self.operator(core) for kind, core in _F64.items()}
                core, times, more, area = _LONG["dlog"]
                log = self.choice(core)
                deep = Choice(
                    times * log.latency + more, 0.0, times * log.least + more,
                    times * log.most + more, "extrapolated",
                )  # fmt: skip
                rows["log"] = self._operator("dlog", deep, *area)
            case "f32":
                rows = {kind: self.operator(core) for kind, core in _F32.items()}
            case _:
                rows = {
                    kind: self.operator(
                        core, f"h{core[1:]}", _HALF, _HALF_AREA.get(kind.replace("sub", "add"))
                    )
                    for kind, core in _F32.items()
                }
        letter = {"f32": "f", "f64": "d"}.get(type_, "h")
        for kind, (parts, more, areas) in _COMPOSED.items():
            area = areas.get(type_, areas["f32"])
            if all(part in rows for part in parts):
                own = [rows[p] for p in parts]
                rows[kind] = self._composed(f"{letter}{kind}", own, more, area)
        rows["to_int"] = self._to_int(letter, lut, ff)
        rows["abs"] = Operator(f"{letter}abs", 0, origin="derived")
        rows["neg"] = Operator(f"{letter}neg", 0, lut=1, origin="derived")
        rows["select"] = Operator(
            f"{letter}select", 0, self.select, lut=width, measured=False, origin="derived"
        )
        return rows

    def _composed(
        self, name: str, parts: list[Operator], more: int, area: tuple[int, int, int]
    ) -> Operator:
        dsp, ff, lut = area
        states = more + sum(p.distance for p in parts)
        least, most = more + sum(p.least for p in parts), more + sum(p.most for p in parts)
        return Operator(
            name, states, sum(p.delay for p in parts) if states == 0 else 0.0, dsp, lut, ff,
            measured=False, origin="extrapolated", least=least, most=most,
        )  # fmt: skip

    def _to_int(self, letter: str, lut: int, ff: int) -> Operator:
        """A conversion to an integer is logic around a shift; it is cut where it does not fit."""
        delay = self.shift + 2 * self.select
        states = -(-int(100 * delay) // int(100 * self.budget))
        origin: Origin = "extrapolated"
        return Operator(
            f"{letter}ptosi", states, 0.0, 0, lut, ff, measured=False, origin=origin,
            least=states, most=states,
        )  # fmt: skip


def _near(known: Mapping[int, tuple[int, int, int]], stages: int) -> tuple[int, int, int]:
    """What is known of so many stages, or in between."""
    low = max((n for n in known if n <= stages), default=min(known))
    high = min((n for n in known if n >= stages), default=max(known))
    if low == high:
        return known[low]
    share = (stages - low) / (high - low)
    a, b = known[low], known[high]
    return (a[0], round(a[1] + share * (b[1] - a[1])), round(a[2] + share * (b[2] - a[2])))
