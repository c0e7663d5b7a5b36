"""The loops of a schedule so far as those of the program: what steps that rewrite the program start from."""

from __future__ import annotations

from dataclasses import replace

from polyhedral.scop.scheduled import Dim, ScheduledScop, is_as_written, original
from polyhedral.scop.scop import build_scop
from polyhedral.transforms.materialise import materialised, over_program


def as_program(state: ScheduledScop) -> ScheduledScop | None:
    """The same state, whose loops are those of its program (see `polyhedral.transforms.materialise`); None where something
    is asked of a loop, or of how loops run beside one another, as a program has no place to say it.
    """
    if is_as_written(state):
        return state
    asked = any(dim != Dim(dim.name, dim.uid) for piece in state.pieces for dim in piece.dims)
    if asked or state.dataflow is not None or state.streams or state.promised or state.pipeline:
        return None
    made = materialised(state)
    scop = build_scop(made.program)
    return replace(over_program(state, made, scop), pieces=original(scop).pieces)
