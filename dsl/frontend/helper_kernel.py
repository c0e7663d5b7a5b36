"""A function without a decorator, read as a kernel for the types of the arguments of one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dsl.expressions.affine import Affine
from dsl.frontend.capture import Environment
from dsl.frontend.context import Request
from dsl.frontend.functions import Function, Given
from dsl.frontend.syntax.source import FunctionSource
from dsl.kernels.kernel import Kernel
from dsl.programs.program import Program

Read = Callable[[Request, tuple[Given, ...]], tuple[Program, int]]
"""Gives the program, and how many of its arguments are results."""


class HelperKernel(Kernel):
    """Such a kernel; ``environment`` are the names around it."""

    def __init__(
        self,
        read: Read,
        function: Function,
        source: FunctionSource,
        environment: Environment,
        given: tuple[Given, ...],
    ) -> None:
        super().__init__(function.name)
        self._read = read
        self._function = function
        self._source = source
        self._environment = environment
        self._given = given
        self._built: tuple[Program, int] | None = None
        self.free = {g.free: g.constant for g in given if isinstance(g.constant, Affine)}

    def build_in(self, building: tuple[Kernel, ...]) -> Program:
        """See `Kernel.build_in`; the program is kept."""
        if self._built is None:
            request = Request(
                self._source,
                self._environment,
                self._environment.overrides,
                self._function.module,
                (*building, self),
            )
            self._built = self._read(request, self._given)
        return self._built[0]

    @property
    def results(self) -> int:
        """See `Kernel.results`."""
        self.build_in(())
        assert self._built is not None
        return self._built[1]

    def inherit(self, overrides: Mapping[str, object], module: Mapping[str, object]) -> Kernel:
        """See `Kernel.inherit`: sizes are known from the names around it."""
        return self

    def is_same(self, other: Kernel) -> bool:
        """Whether it is the same function, called with the same constants and types."""
        return (
            isinstance(other, HelperKernel)
            and other._function.node is self._function.node
            and [g.key() for g in other._given] == [g.key() for g in self._given]
        )
