"""Kernels with a result: ``-> f32`` is an array of one element behind the arguments, which ``return x`` assigns.

Before::

    @weft.kernel
    def clamp(x: f32, top: f32) -> f32:
        if x > top:
            return top
        return max(x, 0.0)

After::

    @weft.kernel
    def clamp(x: f32, top: f32, result: f32[1]):
        if x > top:
            result[0] = top
            return
        result[0] = max(x, 0.0)

A call of it in an expression puts its statements in front of the statement (`dsl.frontend.inlining`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from dsl.errors.errors import LanguageError
from dsl.expressions.expr import loads
from dsl.frontend.syntax.source import FunctionSource
from dsl.programs.program import Array, Program


def result_nodes(node: ast.FunctionDef) -> list[ast.expr]:
    """The types of a kernel's results: ``-> f32``, ``-> (f32, i32)`` or ``-> tuple[f32, i32]``."""
    match node.returns:
        case None | ast.Constant(value=None):
            return []
        case ast.Tuple(elts=parts):
            return parts
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
            return parts
        case found:
            return [found]


def result_names(node: ast.FunctionDef, taken: Collection[str]) -> list[str]:
    """The names of the arrays that the results are assigned to."""
    count = len(result_nodes(node))
    names = ["result"] if count == 1 else [f"result_{n}" for n in range(count)]
    while any(name in taken for name in names):
        names = [f"{name}_" for name in names]
    return names


def is_array(result: Array) -> bool:
    """Whether a result is an array; one of one element is a scalar."""
    return result.shape != (1,)


def read_with_results(
    read: Callable[[list[ast.stmt]], Program], source: FunctionSource, results: Sequence[Array]
) -> Program:
    """What ``read`` makes of the body of a kernel, where ``return`` assigns to these arrays.

    Where one way through the kernel leaves a result as it is, which another one assigns, it is 0 at first: of a call it
    is a local, which nothing has written before.
    """
    program = read(assigned_results(source, results))
    names = {r.name for r in results}
    kept = any(a.array in names for s in program.statements() for a in loads(s.value))
    first = next(iter(program.statements()), None)
    if not kept or (
        first is not None and first.target.array in names and not [*loads(first.value)]
    ):
        return program
    return read(assigned_results(source, results, is_cleared=True))


def assigned_results(
    source: FunctionSource, results: Sequence[Array], *, is_cleared: bool = False
) -> list[ast.stmt]:
    """The body of a kernel, where ``return`` assigns to these arrays; as it is where there are none.

    Args:
        source: of the kernel.
        results: what it returns.
        is_cleared: they are 0 at first.

    Raises:
        LanguageError: W102 a way through the kernel ends without a value, or with too few or too many.
    """
    body = source.node.body
    if not results:
        return body
    if not _always_returns(body):
        raise LanguageError(
            "W102",
            f"'{source.node.name}' has a result, and can end without 'return'",
            span=source.span(source.node.returns or body[-1]),
            help="end it with 'return' and the value",
        )
    made = _Results(source, results)
    # Where a loop is left by one of them, those of other iterations keep what was there before.
    place = next(n for s in body for n in ast.walk(s) if isinstance(n, ast.Return))
    # The same goes for the elements of an array that one way through a condition assigns.
    chosen = any(map(is_array, results)) and not all(isinstance(s, ast.Return) for s in _ends(body))
    first = made.cleared(place) if is_cleared or chosen or _has_partial(body) else []
    return [*first, *made.block(body, is_last=True)]


def _ends(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a kernel that hold a ``return``."""
    return [s for s in body if any(isinstance(n, ast.Return) for n in ast.walk(s))]


def _always_returns(statements: Sequence[ast.stmt]) -> bool:
    """Whether every way through the statements ends with ``return``."""
    match statements[-1] if statements else None:
        case ast.Return():
            return True
        case ast.If(body=then, orelse=orelse):
            return _always_returns(then) and _always_returns(orelse)
    return False


def _has_partial(statements: Sequence[ast.stmt]) -> bool:
    """Whether ``return`` is in a loop, or in an ``if`` that returns on some of its ways only."""
    for s in statements:
        if isinstance(s, ast.For) and any(isinstance(n, ast.Return) for n in ast.walk(s)):
            return True
        if isinstance(s, ast.If):
            for branch in (s.body, s.orelse):
                returns = any(isinstance(n, ast.Return) for b in branch for n in ast.walk(b))
                if (returns and not _always_returns(branch)) or _has_partial(branch):
                    return True
    return False


class _Results:
    """Puts assignments in the place of ``return`` with a value."""

    def __init__(self, source: FunctionSource, results: Sequence[Array]) -> None:
        self._source = source
        self._results = results

    def block(self, statements: Sequence[ast.stmt], *, is_last: bool) -> list[ast.stmt]:
        """``is_last``: nothing of the kernel is behind the statements."""
        end = len(statements) - 1
        return [
            made for n, s in enumerate(statements) for made in self._of(s, is_last and n == end)
        ]

    def _of(self, s: ast.stmt, is_last: bool) -> Iterator[ast.stmt]:
        match s:
            case ast.Return():
                yield from self._assigned(s)
                if not is_last:
                    yield ast.copy_location(ast.Return(None), s)
            case ast.If():
                then = self.block(s.body, is_last=is_last)
                orelse = self.block(s.orelse, is_last=is_last)
                yield ast.copy_location(ast.If(s.test, then, orelse), s)
            case ast.For():
                inside = self.block(s.body, is_last=False)
                orelse = self.block(s.orelse, is_last=False)
                yield ast.copy_location(ast.For(s.target, s.iter, inside, orelse), s)
            case _:
                yield s

    def cleared(self, place: ast.stmt) -> list[ast.stmt]:
        """``result[0] = 0``, of all results."""
        zeros: list[ast.expr] = [ast.copy_location(ast.Constant(0), place) for _ in self._results]
        value = zeros[0] if len(zeros) == 1 else ast.Tuple(zeros, ast.Load())
        return self._assigned(ast.copy_location(ast.Return(value), place))

    def _assigned(self, s: ast.Return) -> list[ast.stmt]:
        """``result[0] = value``, of all results at once."""
        values = [] if s.value is None else [s.value]
        if len(self._results) > 1 and isinstance(s.value, ast.Tuple):
            values = s.value.elts
        if len(values) != len(self._results) and not (values and isinstance(s.value, ast.Call)):
            count = len(self._results)
            wanted = "1 value" if count == 1 else f"{count} values"
            raise LanguageError(
                "W102",
                f"'{self._source.node.name}' returns {wanted}, and this is "
                f"{'none' if not values else len(values)}",
                span=self._source.span(s),
                help=f"its results are {ast.unparse(self._source.node.returns)}",  # type: ignore[arg-type]
            )

        def at(node: ast.expr) -> ast.expr:
            return ast.copy_location(node, s)

        targets = [self._target(r, s) for r in self._results]
        if len(values) == len(targets) and any(map(is_array, self._results)):
            pairs = zip(targets, values, strict=True)  # nothing reads a result: one after the other
            return [ast.copy_location(ast.Assign([t], v), s) for t, v in pairs]
        target = targets[0] if len(targets) == 1 else at(ast.Tuple(targets, ast.Store()))
        value = values[0] if len(values) == 1 else at(ast.Tuple(values, ast.Load()))
        return [ast.copy_location(ast.Assign([target], value), s)]

    def _target(self, result: Array, s: ast.stmt) -> ast.expr:
        """``result[0]``, or all of an array."""

        def at(node: ast.expr) -> ast.expr:
            return ast.copy_location(node, s)

        part = at(ast.Slice()) if is_array(result) else at(ast.Constant(0))
        return at(ast.Subscript(at(ast.Name(result.name, ast.Load())), part, ast.Store()))
