"""The whole way from a program and a schedule to HLS C++: ``compile_design``."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from mlir_passes.construct.module import build_module
from mlir_passes.dialect.verify import verify_module
from mlir_passes.pass_manager import Listener, Pass, Printing, check_names, run_passes
from mlir_passes.passes.infer_partitions import InferPartitions
from mlir_passes.passes.promote_single_trip import PromoteSingleTrip
from mlir_passes.passes.simplify_bounds import SimplifyBounds
from mlir_passes.passes.simplify_guards import SimplifyGuards
from polyhedral.looptree.tree import LoopTree
from polyhedral.scop.scheduled import ScheduledScop

if TYPE_CHECKING:
    from mlir_passes.emit.hls import HlsSource

# What makes the loops plainer, then what is asked of the design as a whole. Arithmetic stays as it is written: store-to-load forwarding,
# hoisting or merging common subexpressions would break up the statements that a reader of the C++
# knows from the kernel (and perfect nests with them), and the HLS tool does them itself.
PASSES: tuple[Pass, ...] = (
    SimplifyBounds(),
    SimplifyGuards(),
    PromoteSingleTrip(),
    InferPartitions(),
)

STAGES = ("schedule", "codegen", "build", *(p.name for p in PASSES), "emit")
"""Names in `Design.seconds`, in order."""


@dataclass(frozen=True, eq=False)
class Design:
    """A program under a schedule. What is not asked for is not computed.

    ``seconds`` grows with the stages that were run.
    """

    program: Program
    schedule: Schedule
    printing: Printing = field(default_factory=Printing, repr=False)
    seconds: dict[str, float] = field(default_factory=dict, repr=False)

    @cached_property
    def scheduled(self) -> ScheduledScop:
        """Level 2.

        Raises:
            ScheduleError: a step names what is not there, or is not legal.
        """
        from polyhedral.schedule import apply

        with self._timed("schedule"):
            return apply(self.program, self.schedule)

    @cached_property
    def tree(self) -> LoopTree:
        """The scheduled loops."""
        from polyhedral.codegen.generate import loop_tree

        with self._timed("codegen"):
            return loop_tree(self.scheduled)

    @cached_property
    def module(self) -> Any:
        """Level 3: the verified and simplified MLIR module. Do not change it: clone it.

        Raises:
            IRError: it is not what docs/level3.md says, which is a bug of ours.
        """
        with self._timed("build"):
            module = build_module(self.tree)
            verify_module(module)
        self.printing.show("build", module)
        self.seconds.update(run_passes(module, PASSES, self.printing))
        return module

    @property
    def affine(self) -> str:
        """The text of level 3."""
        return str(self.module)

    @cached_property
    def hls(self) -> HlsSource:
        """HLS C++ of the kernel, its header, and what a testbench must know of both."""
        from mlir_passes.emit.hls import emit

        with self._timed("emit"):
            return emit(self.module)

    @property
    def hls_cpp(self) -> str:
        """The text of the HLS C++."""
        return self.hls.text

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        """Count the time of a stage, less that of the stages that it made run."""
        start, before = time.perf_counter(), sum(self.seconds.values())
        yield
        inner = sum(self.seconds.values()) - before
        self.seconds[stage] = time.perf_counter() - start - inner


def compile_design(
    program: Program,
    schedule: Schedule | None = None,
    *,
    print_after: Iterable[str] = (),
    listener: Listener | None = None,
) -> Design:
    """A design: each of its levels is made when it is first asked for.

    Args:
        program: what to compile.
        schedule: how; None leaves the program as it is.
        print_after: names of `STAGES` from ``build`` to the last pass, or ``all``.
        listener: called with the name and the module's text after each of these.

    Raises:
        InputError: W520, no stage has such a name.
    """
    wanted = frozenset(print_after)
    check_names(wanted, ("build", *(p.name for p in PASSES)))
    return Design(program, schedule or Schedule(), Printing(wanted, listener))
