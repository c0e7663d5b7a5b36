"""What a run keeps of a design as a whole accelerator."""

from __future__ import annotations

from dataclasses import dataclass

from qor_gnn.result.text import seconds


@dataclass(frozen=True, slots=True)
class OnBoard:
    """A design on a board; see `dse.accelerator.figures.Accelerator`.

    Attributes:
        board: its name.
        emulation: cycles of RTL with the tool's model of memory.
        ms: time to solution, from ``ms_low`` to ``ms_high``.
        kernel_ms: of it the kernel.
        memory_ms: what the busiest channel takes for its bytes alone.
        compute_ms: the kernel with memory that is always ready.
        roof: what limits it first: DSP, LUT or bytes.
        to_roof: how many times that the kernel takes.
        notes: what is seen of the memory's use.
    """

    board: str
    emulation: float
    ms: float
    ms_low: float
    ms_high: float
    kernel_ms: float
    memory_ms: float
    compute_ms: float
    roof: str = ""
    to_roof: float = 0.0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"time on the board: {milliseconds(self.ms)} (kernel {milliseconds(self.kernel_ms)}: memory {milliseconds(self.memory_ms)}, "
            f"compute {milliseconds(self.compute_ms)}), {milliseconds(self.ms_low)} to {milliseconds(self.ms_high)} on {self.board}"
        )


def milliseconds(ms: float) -> str:
    """A time with the unit that suits it."""
    return seconds(ms * 1e-3)
