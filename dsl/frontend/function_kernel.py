"""``@weft.kernel``: a kernel that is read from the source of a Python function."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Self, overload

from dsl.errors.callsite import caller_span, line_span
from dsl.errors.errors import LanguageError, Span, did_you_mean
from dsl.expressions.values import plain
from dsl.frontend.capture import TYPES, Environment, environment, is_number
from dsl.frontend.context import Request
from dsl.frontend.read import read_kernel
from dsl.frontend.results import result_nodes
from dsl.frontend.syntax.source import FunctionSource, file_lines, function_source
from dsl.kernels.kernel import Kernel, Sizes
from dsl.programs.program import Program

_OF_VARIABLES = ("W131", "W132", "W133")
"""What is said of a loop's variable behind its loop, and of one with the name of something else."""


def _is_behind(error: LanguageError, other: LanguageError) -> bool:
    """Whether an error is further down than another one, which is none then."""
    if error.span is None or other.span is None:
        return False
    return error.span.file == other.span.file and error.span.line > other.span.line


def _at(kernel: FunctionKernel, overrides: Mapping[str, object]) -> FunctionKernel:
    return kernel._specialised(overrides)


class FunctionKernel(Kernel):
    """A kernel that is read from the source of a Python function."""

    def __init__(
        self,
        function: types.FunctionType,
        lines: list[str],
        enclosing: Mapping[str, object],
        sizes: Sizes | None = None,
    ) -> None:
        super().__init__(function.__name__, sizes)
        functools.update_wrapper(self, function)
        self.function = function
        self.overrides: Mapping[str, object] = {}
        self._lines = lines
        self._enclosing = enclosing
        self._source: FunctionSource | None = None
        self._written = self  # the one that the name in the module stands for
        self._program: Program | None = None

    def __reduce__(self) -> str | tuple[object, ...]:
        """Another process imports it under its name, as it does a function, and gives it its sizes."""
        name: str = self.function.__qualname__
        return name if self._written is self else (_at, (self._written, dict(self.overrides)))

    @property
    def source(self) -> FunctionSource:
        """The text and syntax tree of the function.

        Raises:
            LanguageError: W101 where they cannot be had, W108 where nested too deeply.
        """
        if self._source is None:
            self._source = function_source(self.function, self._lines)
        return self._source

    def build_in(self, building: tuple[Kernel, ...]) -> Program:
        """See `Kernel.build_in`; the program is kept."""
        if self._program is None:
            module = self.function.__globals__
            request = Request(
                self.source,
                self._environment(),
                self.overrides,
                module,
                (*building, self),
                self.defaults,
            )
            self._program = self._read(request)
        return self._program

    def _read(self, request: Request) -> Program:
        """The program; where a loop's variable is used as a local is, with one that is."""
        try:
            return read_kernel(request)
        except LanguageError as error:
            if error.code not in _OF_VARIABLES:
                raise
            source = function_source(self.function, self._lines, has_values=True)
            try:
                return read_kernel(replace(request, source=source))
            except LanguageError as other:
                raise (other if _is_behind(other, error) else error) from None

    def _environment(self) -> Environment:
        return environment(self.function, self._enclosing, self.overrides)

    @property
    def results(self) -> int:
        """See `Kernel.results`."""
        return len(result_nodes(self.source.node))

    @property
    def defaults(self) -> Mapping[str, object]:
        """See `Kernel.defaults`; those that Python has for the function."""
        code, values = self.function.__code__, self.function.__defaults__ or ()
        positional = code.co_varnames[: code.co_argcount]
        named = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
        every = {**named, **(self.function.__kwdefaults__ or {})}
        return {name: plain(found) for name, found in every.items()}

    def captured(self) -> frozenset[str]:
        """The names that the kernel, and those of its module that it calls, read from outside."""
        return self._captured(set())

    def numbers(self) -> Mapping[str, int]:
        """See `Kernel.numbers`."""
        around = self._environment()
        values = {name: plain(around.lookup(name)) for name in sorted(self.captured())}
        return {n: v for n, v in values.items() if isinstance(v, int) and not isinstance(v, bool)}

    def _captured(self, seen: set[int]) -> frozenset[str]:
        seen.add(id(self.function))
        found = self.source.captured
        around = self._environment()
        for name in found:
            callee = around.lookup(name)
            if (
                isinstance(callee, FunctionKernel)
                and callee.function.__globals__ is self.function.__globals__
                and id(callee.function) not in seen
            ):
                found |= callee._captured(seen)
            if (
                isinstance(callee, types.FunctionType)
                and callee.__globals__ is self.function.__globals__
            ):
                found |= _names_of(callee, seen)
        return found

    def _with(self, values: Mapping[str, object]) -> Self:
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
        """Those of the captured names worth suggesting: numbers, and types under a name of theirs.

        ``f32`` itself can be replaced too, but nobody means that.
        """
        around = self._environment()
        values = {name: around.lookup(name) for name in names}
        return [
            name
            for name, value in values.items()
            if is_number(plain(value)) or (isinstance(value, TYPES) and str(value) != name)
        ]

    def _specialised(self, overrides: Mapping[str, object]) -> Self:
        if overrides == self.overrides:
            return self
        other = type(self)(self.function, self._lines, self._enclosing, self.sizes)
        other.schedules, other.own_inputs = self.schedules, self.own_inputs
        other.overrides = overrides
        other._source, other._written = self._source, self._written
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


def _names_of(function: types.FunctionType, seen: set[int]) -> frozenset[str]:
    """The names that a function without a decorator, and those of its module that it calls, read from outside."""
    seen.add(id(function))
    found = frozenset(function.__code__.co_names)
    for name in found:
        callee = function.__globals__.get(name)
        if (
            isinstance(callee, types.FunctionType)
            and callee.__globals__ is function.__globals__
            and id(callee) not in seen
        ):
            found |= _names_of(callee, seen)
    return found


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
    _check_sizes(sizes)
    frame = sys._getframe(1)

    def decorate(decorated: Callable[..., object]) -> FunctionKernel:
        _check_function(decorated)
        assert isinstance(decorated, types.FunctionType)
        # Read now: the file may be another one when the program is asked for.
        lines = file_lines(decorated)
        return FunctionKernel(decorated, lines, _enclosing(frame, decorated), sizes)

    return decorate if function is None else decorate(function)


def _enclosing(frame: types.FrameType, function: types.FunctionType) -> Mapping[str, object]:
    """The locals of the function that ``function`` is defined in, if ``frame`` is its frame.

    Sizes that are locals of the function around, and are used in annotations only, are not in the
    closure: they are known when it is decorated and not later.
    """
    inside = function.__code__ in frame.f_code.co_consts
    return dict(frame.f_locals) if inside and frame.f_locals is not frame.f_globals else {}


def _check_sizes(sizes: object) -> None:
    if sizes is None:
        return
    fine = isinstance(sizes, Mapping) and all(
        isinstance(name, str) and isinstance(values, Mapping) for name, values in sizes.items()
    )
    if not fine:
        raise LanguageError(
            "W138",
            "sizes= is not a dict of sizes",
            span=caller_span(),
            help='write sizes={"mini": {"N": 8}, "large": {"N": 1024}}',
        )


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
        span = line_span(function.__code__.co_filename, function.__code__.co_firstlineno)
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
