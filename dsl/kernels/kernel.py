"""`Kernel`: a program, its sizes and its schedules; from a function or from `weft.Program`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from dsl.errors.call_check import takes_one
from dsl.errors.callsite import caller_span
from dsl.errors.errors import InputError, LanguageError, ScheduleError, did_you_mean
from dsl.errors.shown import shown
from dsl.expressions.affine import Affine
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder

if TYPE_CHECKING:
    from dsl.arrays.inputs import Value

Sizes = Mapping[str, Mapping[str, object]]
"""Named sizes: ``{"mini": {"NI": 20, "NJ": 25}}``."""

InputFunction = Callable[["Kernel", int], Mapping[str, Any]]
"""From a kernel, at its size, and a seed: arguments by name, all or some of them."""

_Function = TypeVar("_Function", bound=InputFunction)


class Kernel(ABC):
    """A kernel of the language, from either front door.

    Attributes:
        name: Its name, that of the C++ function as well.
        schedules: The schedules that were written for it, by name.
        sizes: Named values for the constants that it captured.
        own_inputs: The function that makes inputs for it; empty where random ones will do.
        free: What variables of its program stand for where it is called, which no loop of its own has.
    """

    def __init__(self, name: str, sizes: Sizes | None = None) -> None:
        self.name = name
        self.schedules: dict[str, Schedule] = {}
        self.sizes: Sizes = dict(sizes or {})
        self.own_inputs: list[InputFunction] = []
        self.free: Mapping[str, Affine] = {}

    @property
    def program(self) -> Program:
        """The program of the kernel.

        Raises:
            LanguageError: the kernel is not a program of the language.
        """
        return self.build_in(())

    @property
    def results(self) -> int:
        """How many results it has: its last arguments, arrays of one element each."""
        return 0

    @abstractmethod
    def build_in(self, building: tuple[Kernel, ...]) -> Program:
        """The program, while those of the kernels in ``building`` are being made around it."""

    def at(self, size: str | None = None, /, **overrides: object) -> Kernel:
        """The kernel with other values for names that it captured.

        Args:
            size: One of `sizes`.
            overrides: Captured names (numbers or types) and the values to use instead.

        Returns:
            A kernel that shares this one's schedules: ``gemm.at("mini")``, ``gemm.at(NI=20)``.

        Raises:
            LanguageError: W138 for a size or a name that the kernel does not have.
        """
        values: dict[str, object] = {}
        if size is not None:
            if not _is_name_in(size, self.sizes):
                near = did_you_mean(str(size), self.sizes)
                raise LanguageError(
                    "W138",
                    f"the kernel '{self.name}' has no size '{size}'",
                    span=caller_span(),
                    help=near or "name sizes in the decorator: @weft.kernel(sizes={...})",
                )
            values.update(self.sizes[size])
        values.update(overrides)
        return self._with(values) if values else self

    @property
    def defaults(self) -> Mapping[str, object]:
        """The values of scalar arguments that a call need not say."""
        return {}

    def numbers(self) -> Mapping[str, int]:
        """The whole numbers that it captured, by their names: what `at` may replace."""
        return {}

    def _with(self, values: Mapping[str, object]) -> Kernel:
        """The kernel with these captured names replaced."""
        name = next(iter(values))
        raise LanguageError(
            "W138",
            f"the kernel '{self.name}' captures no '{name}'",
            span=caller_span(),
            help="it was built by a program, at definite sizes",
        )

    def inherit(self, overrides: Mapping[str, object], module: Mapping[str, object]) -> Kernel:
        """The kernel as one sees it that calls it, specialised by ``overrides``, from ``module``.

        Names of one module mean the same in both, so they are replaced in both.
        """
        del overrides, module
        return self

    def is_same(self, other: Kernel) -> bool:
        """Whether both are one kernel, at any sizes."""
        return self is other

    def schedule(self, function: Callable[[ScheduleBuilder], object]) -> Schedule:
        """Decorator: a schedule of this kernel, written as a function of a `ScheduleBuilder`.

        ::

            @gemm.schedule
            def tiled(s):
                s.tile(["i", "j"], [32, 32])
        """
        builder = ScheduleBuilder()
        if not takes_one(function):
            raise ScheduleError(
                "W195",
                f"a schedule of '{self.name}' is a function of one argument, not {shown(function)}",
                span=caller_span(),
                help=f"write @{self.name}.schedule over def {self.name}_fast(s): with steps of s",
            )
        function(builder)
        made = builder.build()
        self.schedules[function.__name__] = made
        return made

    def inputs(self, function: _Function) -> _Function:
        """Decorator: how to make inputs that the kernel is meant for, where random ones are not.

        The function gets the kernel, at the size that is asked for, and a seed, and returns a dict
        of arguments by name. Those that it leaves out are random; floats are rounded to the
        argument's type. Verification, golden data and `make_inputs` use it.

        ::

            @cholesky.inputs
            def positive_definite(kernel, seed):
                rng = np.random.default_rng(seed)
                n, _ = kernel.program.array("A").shape
                half = rng.uniform(-1, 1, (n, n))
                return {"A": half @ half.T / n + np.eye(n)}
        """
        self.own_inputs[:] = [function]
        return function

    def make_inputs(self, seed: int = 0) -> dict[str, Value]:
        """Arguments by name, fit to call the kernel with; the same for the same kernel and seed.

        Made by the function under `inputs` if there is one, else random (see
        `dsl.arrays.inputs.random_inputs`).

        Raises:
            InputError: W541 to W545: that function makes something else.
        """
        from dsl.arrays.inputs import random_inputs

        if not self.own_inputs:
            return random_inputs(self.program, seed)
        from dsl.kernels.own_inputs import own_inputs

        return own_inputs(self.program, self.own_inputs[0], self, seed)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the kernel on NumPy arrays, in place, by the reference interpreter.

        Args:
            args: Arrays of the exact shapes (see `dsl.interp` for their element types), and
                numbers for scalar arguments, in calling order.
            named: The rest, by name.

        Returns:
            Its result as a NumPy scalar, or a tuple of several; None where it has none, or arrays for
            them are passed.

        Raises:
            LanguageError: W155 for missing, unknown or misshapen arguments.
        """
        from dsl.interp import run
        from dsl.kernels.overlaps import overlapping

        program = self.program
        results = self._missing_results(program, args, named)
        inputs = _bound(
            program, args, {**self._defaults_of(program, args, named), **named, **results}
        )
        written = {s.target.array for s in program.statements()}
        for name in written & inputs.keys():
            if not hasattr(inputs[name], "flags") or not inputs[name].flags.writeable:
                raise LanguageError(
                    "W155",
                    f"'{name}' of '{self.name}' is written, and what is passed is no writable "
                    "NumPy array",
                    span=caller_span(),
                    help=f"pass np.zeros({program.array(name).shape}) or the like",
                )
        if (pair := overlapping(inputs, written)) is not None:
            raise LanguageError(
                "W155",
                f"'{pair[0]}' of '{self.name}' is written, and has elements of what is passed as '{pair[1]}'",
                span=caller_span(),
                help=f"pass a copy as '{pair[1]}': to a kernel arrays are memories of their own",
            )
        outputs = run(program, inputs)
        for name in written & inputs.keys():
            inputs[name][...] = outputs[name]
        found = tuple(r[0] if r.shape == (1,) else r for r in results.values())
        return found[0] if len(found) == 1 else found or None

    def _defaults_of(
        self, program: Program, args: tuple[Any, ...], named: dict[str, Any]
    ) -> dict[str, object]:
        """The default values of arguments that are not passed."""
        passed = {a.name for a in program.arguments[: len(args)]} | named.keys()
        return {name: found for name, found in self.defaults.items() if name not in passed}

    def _missing_results(
        self, program: Program, args: tuple[Any, ...], named: dict[str, Any]
    ) -> dict[str, Any]:
        """Arrays for the results, by name, where none of them is passed."""
        if not self.results:
            return {}
        import numpy as np

        from dsl.arrays.storage import storage_dtype

        arrays = program.arguments[-self.results :]
        others = len(program.arguments) - self.results
        if len(args) > others or any(a.name in named for a in arrays):
            return {}
        return {a.name: np.zeros(a.shape, storage_dtype(a.dtype)) for a in arrays}

    def __repr__(self) -> str:
        return f"<weft kernel {self.name}>"


def _bound(program: Program, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    formal = [a.name for a in program.arguments]
    listed = f"{program.name}({', '.join(f'{a.name}: {a.type}' for a in program.arguments)})"
    problem: str | None = None
    inputs = dict(zip(formal, args, strict=False))
    if len(args) > len(formal):
        problem = f"'{program.name}' takes {len(formal)} arguments, not {len(args)}"
    for name, value in named.items():
        if name not in formal:
            problem = f"'{program.name}' has no argument '{name}'"
        elif name in inputs:
            problem = f"'{name}' of '{program.name}' is given twice"
        inputs[name] = value
    missing = [name for name in formal if name not in inputs]
    if missing and problem is None:
        problem = f"'{program.name}' is called without {', '.join(repr(m) for m in missing)}"
    if problem is not None:
        raise LanguageError("W155", problem, span=caller_span(), help=f"it is {listed}")
    return inputs


def _plain_name(schedule: object) -> str:
    text = str(schedule)
    return text if text.isidentifier() else "fast"


def _is_name_in(name: object, known: Mapping[str, object]) -> bool:
    return isinstance(name, str) and name in known


def schedule_of(kernel: Kernel, schedule: Schedule | str | None) -> Schedule:
    """A schedule, that of a design that a search found, one of the kernel's by its name, or (None) the empty one.

    Raises:
        InputError: W505 where the kernel has no schedule of that name.
    """
    held = getattr(schedule, "schedule", schedule)
    if isinstance(held, Schedule):
        return held
    if schedule is None:
        return Schedule()
    if not isinstance(schedule, str) or schedule not in kernel.schedules:
        raise InputError(
            "W505",
            f"the kernel '{kernel.name}' has no schedule {shown(schedule)}",
            help=did_you_mean(str(schedule), kernel.schedules)
            or f"write one: @{kernel.name}.schedule in front of def {_plain_name(schedule)}(s): ...",
        )
    return kernel.schedules[schedule]
