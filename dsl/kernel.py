"""`Kernel`: what ``@weft.kernel`` makes of a function; a program, its sizes and its schedules."""

from __future__ import annotations

import inspect
import linecache
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self, overload

from dsl.callsite import caller_span
from dsl.errors import InputError, LanguageError, Span, did_you_mean
from dsl.program import Program
from dsl.schedule import Schedule, ScheduleBuilder

if TYPE_CHECKING:
    from dsl.frontend.capture import Environment
    from dsl.frontend.source import FunctionSource

Sizes = Mapping[str, Mapping[str, object]]
"""Named sizes: ``{"mini": {"NI": 20, "NJ": 25}}``."""


class Kernel(ABC):
    """A kernel of the language, from either front door.

    Attributes:
        name: Its name, that of the C++ function as well.
        schedules: The schedules that were written for it, by name.
        sizes: Named values for the constants that it captured.
    """

    def __init__(self, name: str, sizes: Sizes | None = None) -> None:
        self.name = name
        self.schedules: dict[str, Schedule] = {}
        self.sizes: Sizes = dict(sizes or {})

    @property
    def program(self) -> Program:
        """The program of the kernel.

        Raises:
            LanguageError: the kernel is not a program of the language.
        """
        return self.build_in(())

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
            if size not in self.sizes:
                near = did_you_mean(size, self.sizes)
                raise LanguageError(
                    "W138",
                    f"the kernel '{self.name}' has no size '{size}'",
                    span=caller_span(),
                    help=near or "name sizes in the decorator: @weft.kernel(sizes={...})",
                )
            values.update(self.sizes[size])
        values.update(overrides)
        return self._with(values) if values else self

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
        function(builder)
        made = builder.build()
        self.schedules[function.__name__] = made
        return made

    def __call__(self, *args: Any, **named: Any) -> None:
        """Run the kernel on NumPy arrays, in place, by the reference interpreter.

        Args:
            args: Arrays of the exact shapes (see `dsl.interp` for their element types), and
                numbers for scalar arguments, in calling order.
            named: The rest, by name.

        Raises:
            LanguageError: W155 for missing, unknown or misshapen arguments.
        """
        from dsl.interp import run

        program = self.program
        inputs = _bound(program, args, named)
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
        outputs = run(program, inputs)
        for name in written & inputs.keys():
            inputs[name][...] = outputs[name]

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


class FunctionKernel(Kernel):
    """A kernel that is read from the source of a Python function."""

    def __init__(
        self,
        function: types.FunctionType,
        enclosing: Mapping[str, object],
        sizes: Sizes | None = None,
    ) -> None:
        super().__init__(function.__name__, sizes)
        self.function = function
        self.overrides: Mapping[str, object] = {}
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self._enclosing = enclosing
        self._source: FunctionSource | None = None
        self._program: Program | None = None

    @property
    def source(self) -> FunctionSource:
        """The text and syntax tree of the function.

        Raises:
            LanguageError: W101 where they cannot be had, W108 where nested too deeply.
        """
        from dsl.frontend.source import function_source

        if self._source is None:
            self._source = function_source(self.function)
        return self._source

    def build_in(self, building: tuple[Kernel, ...]) -> Program:
        """See `Kernel.build_in`; the program is kept."""
        from dsl.frontend import Request, read_kernel

        if self._program is None:
            module = self.function.__globals__
            request = Request(
                self.source, self._environment(), self.overrides, module, (*building, self)
            )
            self._program = read_kernel(request)
        return self._program

    def _environment(self) -> Environment:
        from dsl.frontend.capture import environment

        return environment(self.function, self._enclosing, self.overrides)

    def captured(self) -> frozenset[str]:
        """The names that the kernel, and those of its module that it calls, read from outside."""
        return self._captured(set())

    def _captured(self, seen: set[int]) -> frozenset[str]:
        from dsl.frontend import captured_names

        seen.add(id(self.function))
        found = captured_names(self.source)
        environment = self._environment()
        for name in found:
            callee = environment.lookup(name)
            if (
                isinstance(callee, FunctionKernel)
                and callee.function.__globals__ is self.function.__globals__
                and id(callee.function) not in seen
            ):
                found |= callee._captured(seen)
        return found

    def _with(self, values: Mapping[str, object]) -> Self:
        from dsl.frontend.capture import TYPES, is_number, plain

        known = self.captured()
        for name, value in values.items():
            if name not in known:
                raise LanguageError(
                    "W138",
                    f"the kernel '{self.name}' captures no '{name}'",
                    span=caller_span(),
                    help=did_you_mean(name, self._replaceable(known)),
                )
            if not is_number(plain(value)) and not isinstance(value, TYPES):
                raise LanguageError(
                    "W138",
                    f"'{name}' of '{self.name}' cannot be {value!r}",
                    span=caller_span(),
                    help="captured names are replaced by numbers or types",
                )
        return self._specialised({**self.overrides, **values})

    def _replaceable(self, names: frozenset[str]) -> list[str]:
        """Those of the captured names that are numbers: what is worth suggesting."""
        from dsl.frontend.capture import is_number

        environment = self._environment()
        return [name for name in names if is_number(environment.lookup(name))]

    def _specialised(self, overrides: Mapping[str, object]) -> Self:
        if overrides == self.overrides:
            return self
        other = type(self)(self.function, self._enclosing, self.sizes)
        other.schedules = self.schedules
        other.overrides = overrides
        other._source = self._source
        return other

    def inherit(self, overrides: Mapping[str, object], module: Mapping[str, object]) -> Kernel:
        """See `Kernel.inherit`; what was said by `at` for this kernel itself comes first."""
        if module is not self.function.__globals__ or not overrides:
            return self
        known = self.captured()
        passed = {name: value for name, value in overrides.items() if name in known}
        return self._specialised({**passed, **self.overrides})

    def is_same(self, other: Kernel) -> bool:
        """See `Kernel.is_same`."""
        return isinstance(other, FunctionKernel) and other.function is self.function


@overload
def kernel(function: Callable[..., object], /) -> FunctionKernel: ...
@overload
def kernel(*, sizes: Sizes | None = None) -> Callable[[Callable[..., object]], FunctionKernel]: ...
def kernel(
    function: Callable[..., object] | None = None, /, *, sizes: Sizes | None = None
) -> FunctionKernel | Callable[[Callable[..., object]], FunctionKernel]:
    """Decorator: make a kernel of a function, which is read from its source and never executed.

    Args:
        function: The function, when used as ``@weft.kernel``.
        sizes: Named values for captured constants, for `Kernel.at`; the constants themselves
            are the default.

    Raises:
        LanguageError: W102 for what is no plain function.
    """
    frame = sys._getframe(1)
    # Sizes that are locals of the function around, and are used in annotations only, are not in
    # the closure: they are known here and now.
    enclosing = {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)

    def decorate(decorated: Callable[..., object]) -> FunctionKernel:
        _check_function(decorated)
        assert isinstance(decorated, types.FunctionType)
        return FunctionKernel(decorated, enclosing, sizes)

    return decorate if function is None else decorate(function)


_NOT_PLAIN = (
    (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR, "an async function"),
    (inspect.CO_GENERATOR, "a generator"),
)


def _check_function(function: object) -> None:
    what: str | None = None
    span: Span | None = caller_span()
    if not isinstance(function, types.FunctionType):
        what = f"a {type(function).__name__}"
    else:
        span = _first_line(function.__code__)
        if function.__name__ == "<lambda>":
            what = "a lambda"
        for flag, name in _NOT_PLAIN:
            if function.__code__.co_flags & flag:
                what = name
    if what is not None:
        raise LanguageError(
            "W102",
            f"@weft.kernel takes a plain function, not {what}",
            span=span,
            help="write def name(A: f32[8]): under it",
        )


def _first_line(code: types.CodeType) -> Span:
    line = code.co_firstlineno
    text = linecache.getline(code.co_filename, line).rstrip()
    start = len(text) - len(text.lstrip()) + 1
    return Span(code.co_filename, line, start, line, max(start, len(text)) + 1)


def schedule_of(kernel: Kernel, schedule: Schedule | str | None) -> Schedule:
    """A schedule, one of the kernel's by its name, or (None) the empty one.

    Raises:
        InputError: W505 where the kernel has no schedule of that name.
    """
    if isinstance(schedule, Schedule):
        return schedule
    if schedule is None:
        return Schedule()
    if schedule not in kernel.schedules:
        raise InputError(
            "W505",
            f"the kernel '{kernel.name}' has no schedule '{schedule}'",
            help=did_you_mean(schedule, kernel.schedules),
        )
    return kernel.schedules[schedule]
