"""Names of evaluators and of what they count: light, for the command line's help reads them."""

from __future__ import annotations

COUNTED = ("dsp", "lut", "ff", "bram18")
"""What every design has a count of."""
RESOURCES = (*COUNTED, "uram")
"""What designs are limited in: URAM counts where a design has any."""
# The evaluators by name, the cheapest first (`dse.evaluators.registry` makes them). `vitis` belongs
# behind `rtl`.
FIDELITIES = ("model", "gnn", "csim", "rtl")
PROMOTIONS = FIDELITIES[1:]

OBJECTIVES = ("latency", "seconds", *COUNTED)
"""What an exploration can make small."""
EVALUATORS = ("model", "gnn")
"""Those that a search can go by."""
CSYNTH, ROUTED = BUDGETS = ("csynth", "routed")
"""Whose LUT, FF and BRAM18 keep to the limits."""
BOTH = "both"
"""The model's figures, and beside them what the predictor that comes with Weft says of the front."""
