"""A library of operators for any timing class and clock, by the law of selection."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from dsl.errors.errors import ToolError
from qor_gnn.tools.operators.calibration import NOTHING, Calibration
from qor_gnn.tools.operators.floats import Floats
from qor_gnn.tools.operators.integers import IntegerUnits
from qor_gnn.tools.operators.library import Library, Operator
from qor_gnn.tools.operators.multipliers import long_side
from qor_gnn.tools.operators.timing import tables, timing_classes

TYPES = ("f32", "f64", "f16", "bf16")
_ADDERS = {"f32": "fadd", "f64": "dadd"}


@lru_cache(maxsize=256)
def library_at(
    timing: str,
    dsp_kind: str,
    budget: float,
    states: int = 1,
    compares: str = "own",
    calibration: Calibration | None = None,
) -> Library:
    """The operators of a timing class at a budget.

    Args:
        timing: the class, as `backends.devices.Device.timing_class`.
        dsp_kind: the primitive of its DSP slices.
        budget: ns that the longest stage may take: the clock period less the uncertainty.
        states, compares: see `qor_gnn.tools.policies.latencies.Latencies`.
        calibration: measurements of the user's own, which win.

    Raises:
        ToolError: W452, no HLS tool has operators for the class.
    """
    of = timing_classes().get(timing)
    if of is None:
        message = f"there is no operator library for devices of {timing}"
        raise ToolError("W452", message, help="weft devices lists families with one")
    known = tables()
    own = NOTHING if calibration is None else calibration.of(timing)
    units = IntegerUnits(known, of, budget, states, long_side(dsp_kind), own)
    select, shift = units.delay("select", 32), units.delay("shift", 64)
    floats = Floats(known, of, budget, states, select, shift, own)
    return Library(
        {type_: floats.of_type(type_) for type_ in TYPES},
        units.all(compares),
        {"fabric": _on_fabric(floats)},
        long_side(dsp_kind),
    )


def _on_fabric(floats: Floats) -> Mapping[str, Mapping[str, Operator]]:
    """Adders without DSP slices, where reports of the class show them: a search trusts no others."""
    found = {t: floats.operator(f"{c}_nodsp", f"{c}_fabric") for t, c in _ADDERS.items()}
    return {
        type_: dict.fromkeys(("add", "sub"), adder)
        for type_, adder in found.items()
        if adder.origin != "extrapolated"
    }
