"""A file of random programs as kernels: what a command line can name.

``tests/support/random_kernels.py:p17`` is the program of seed 17, ``:pipeline_17`` the pipeline.
"""

from __future__ import annotations

from dsl.kernels.kernel import Kernel
from dsl.programs.program import Program
from tests.support.random_pipelines import random_pipeline
from tests.support.random_programs import random_program


class Made(Kernel):
    """A kernel around a program that is there."""

    def __init__(self, program: Program) -> None:
        super().__init__(program.name)
        self._made = program

    def build_in(self, building: tuple[Kernel, ...]) -> Program:
        """See `Kernel.build_in`."""
        return self._made


def __getattr__(name: str) -> Kernel:
    kind, _, seed = name.rpartition("p" if name.startswith("p") and name[1:].isdigit() else "_")
    if not seed.isdigit() or kind not in ("", "pipeline"):
        raise AttributeError(name)
    return Made(random_pipeline(int(seed)) if kind else random_program(int(seed)))
