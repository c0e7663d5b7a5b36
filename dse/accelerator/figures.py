"""A design as a whole accelerator: csynth's view, RTL emulation and the board, and what limits it there."""

from __future__ import annotations

from dataclasses import dataclass

from backends.deploy.boards import Board, board, boards
from backends.devices import Device
from dse.accelerator.summary import OnBoard
from dse.bounds.bounds import bounds, work_of
from dse.estimates.estimation import Estimation
from dse.estimates.routed import routed_of
from dsl.programs.program import Program
from polyhedral.requests.outside import channels_in
from qor_gnn.accelerator.board import BoardTime, Design, on_board
from qor_gnn.accelerator.emulation import emulated
from qor_gnn.accelerator.interval import Interval
from qor_gnn.design.directives import written_unrolls
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.routed.laws import PERIOD
from qor_gnn.schedule.alike import Alike

_MEMORY = 0.5
"""Share of the kernel's time from which on the busiest channel is said to limit it."""


@dataclass(frozen=True, slots=True)
class Roof:
    """What no design of these resources does without: ``cycles`` for the operations, and ms at the clock reached."""

    name: str
    cycles: float
    ms: float


@dataclass(frozen=True, slots=True)
class Accelerator:
    """Three figures of a design with memory outside, each from somewhere else.

    Attributes:
        csynth: cycles in the view of the tool's report, where memory is always ready.
        emulation: cycles of RTL with the tool's model of memory.
        board: time to solution.
        roofs: of DSP slices, LUTs and bytes, the one that limits first.
        notes: what is seen of the memory's use.
    """

    csynth: float
    emulation: Interval
    board: BoardTime
    roofs: tuple[Roof, ...]
    notes: tuple[str, ...]

    @property
    def kept(self) -> OnBoard:
        """What a run keeps of it."""
        on, first = self.board, self.roofs[0]
        return OnBoard(
            on.board, self.emulation.value, on.total_ms.value, on.total_ms.low, on.total_ms.high, on.kernel_ms.value,
            on.memory_ms, on.compute_ms, first.name, on.cycles / first.cycles, self.notes,
        )  # fmt: skip

    def __str__(self) -> str:
        cycles = f"csynth {self.csynth:,.0f} cycles, emulation {self.emulation.value:,.0f} cycles"
        return "\n".join(
            [
                f"{cycles}, {self.board.board} {self.board.cycles:,.0f} cycles",
                str(self.kept),
                *self.notes,
            ]
        )


def accelerator_of(
    found: Estimation, program: Program, name: str, known: Alike | None = None
) -> Accelerator | str:
    """What an estimated design is on a board.

    Args:
        found: the estimate.
        program: without its schedule: what is to be computed.
        name: of the board.
        known: scopes of the design, whose bodies are used again.

    Returns:
        Why there are no figures, where there are none.
    """
    why = _none(found, name)
    if why:
        return why
    place = board(name)
    device, kept = found.setting.device, written_unrolls(found.schedule)
    known = known or Alike()
    design = Design(found.regions, found.answer, found.setting.tool, kept, known)
    passed = [a.name for a in program.arguments if a.shape]
    on = on_board(design, place, reached(found.answer, device), passed)
    return Accelerator(
        found.answer.latency.average,
        emulated(found.regions, found.answer, found.setting.tool, kept, known),
        on,
        _roofs(found, program, on),
        (*on.notes, *_limited(on)),
    )


def reached(answer: QorEstimate, device: Device) -> Interval:
    """ns of the clock that is reached after routing, which is never faster than what was asked for."""
    routed = routed_of(answer, device)
    assert routed is not None, "figures of the open backend are none of csynth's"
    period = routed.figures[PERIOD]
    least = answer.clock_ns
    return Interval(*(max(least, ns) for ns in (period.low, period.value, period.high)))


def _none(found: Estimation, name: str) -> str:
    """Why there are no figures; empty where there are."""
    if found.setting.tool.is_open:
        return "the model has the kernel of the open backend without its memory: weft synth simulates both"
    if found.setting.tool.outside is None:
        return f"{found.setting.tool.name} has no memory outside"
    if not found.answer.traffic and any(m.port is not None for m in found.regions.memories):
        return "nothing passes to memory outside: no loop that reads or writes it runs"
    if not found.answer.traffic:
        return (
            'no array is in memory outside: put them there with interface(array, "m_axi"), or by '
            f"weft explore --deploy {name}"
        )
    if name in boards() and (wrong := _not_there(found, board(name))):
        return wrong
    if name not in boards():
        return f"nothing is known of the memory of {name} (weft devices: a star is at the boards that are known)"
    return ""


def _not_there(found: Estimation, place: Board) -> str:
    """That the board has not the channel of an array."""
    for one in found.answer.traffic:
        if one.bank and not set(channels_in(one.bank)) <= set(place.channels):
            return f"{one.array} is in {one.bank}, which {place.name} has not"
    return ""


def _roofs(found: Estimation, program: Program, on: BoardTime) -> tuple[Roof, ...]:
    """Bounds of what the design has, the largest first."""
    answer, tool = found.answer, found.setting.tool
    work = work_of(program, tool, bool(found.state.reassociated))
    period = on.period_ns.value
    least = bounds(work, tool, answer.dsp, answer.lut)
    cycles = {"DSP": float(least.dsp.cycles) if answer.dsp else 0.0}
    cycles["LUT"] = float(least.lut.cycles) if least.lut is not None else 0.0
    cycles["bytes"] = on.memory_ms * 1e6 / period
    roofs = [Roof(name, n, n * period * 1e-6) for name, n in cycles.items() if n]
    return tuple(sorted(roofs, key=lambda roof: -roof.cycles))


def _limited(on: BoardTime) -> tuple[str, ...]:
    """That the memory limits the design."""
    first = on.channels[0]
    if first.share < _MEMORY:
        return ()
    return (
        f"{first.channel} limits it: it is busy for {100 * min(1.0, first.share):.0f}% of the kernel's time",
    )
