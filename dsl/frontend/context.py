"""The kernel that is being read: its source, what it captured, its names and statements so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.expr import Select
from dsl.expressions.types import DType
from dsl.expressions.values import Value
from dsl.frontend.capture import Environment
from dsl.frontend.inferred import Inferred
from dsl.frontend.scope import Names
from dsl.frontend.syntax.source import FunctionSource
from dsl.kernels.kernel import Kernel
from dsl.programs.program import MAX_STATEMENTS, Node

Placed = ast.expr | ast.stmt | ast.keyword
"""What has a place in the file."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the front end: one kernel, at definite sizes.

    ``building`` are the kernels whose programs are being made, the outermost first: a call of one
    of them is a recursion.
    """

    source: FunctionSource
    environment: Environment
    overrides: Mapping[str, object]
    module: Mapping[str, object]
    building: tuple[Kernel, ...]
    defaults: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Ahead:
    """What is computed in front of the statement that is being read, for expressions in it.

    Attributes:
        nodes: The statements.
        known: What expressions stand for that are computed by them.
        conditional: Number of operands around that Python evaluates on a condition only.
        under: The conditions of the choices around, outermost first, and whether they hold.
        whole: The value of the statement, where nothing else of it is evaluated before.
    """

    nodes: list[Node] = field(default_factory=list)
    known: dict[ast.expr, object] = field(default_factory=dict)
    conditional: int = 0
    under: list[tuple[ast.expr, bool]] = field(default_factory=list)
    whole: ast.expr | None = None


@dataclass(slots=True)
class Context:
    """The state of reading one kernel.

    ``bound`` are the names that its function assigns, ``once`` those of them that stand for one value, ``plain`` those
    that no condition decides on; ``evaluator`` says what expressions stand for
    (see `dsl.frontend.evaluate`), ``reader`` gives the nodes of a statement. ``flags`` are the names of the scalars that tell of a ``break``,
    of loops that are not read yet. ``given`` is what expressions stand for that the front end made,
    ``converted`` the types that elements of tables are converted to. ``expanding`` are the functions whose expressions are
    being read, ``helper`` makes kernels of others (see `dsl.frontend.functions`), ``expand`` says what their calls are of arrays, ``guard`` what a choice is that
    must not read both of its sides (see `dsl.frontend.guarded_reads`), ``rewritten`` are
    calls of NumPy by those of functions in the language, ``expansions`` is how many were put in place, ``copies`` of how many bodies that are
    written out this one is one, ``plain_functions`` are nested ones whose text is prepared, ``held`` the ranges of
    locals that count loops over data, ``overwritten`` whether the branches in front of an ``elif`` step a scalar, ``meets`` whether what is
    read is in a ``while`` loop of counters that branches step. ``inferred`` are the types
    of locals that are found by reading on.
    """

    request: Request
    names: Names
    bound: frozenset[str]
    evaluator: Callable[[Context, ast.expr], object]
    inferred: Inferred = field(default_factory=Inferred)
    once: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    reader: Callable[[Context, ast.stmt], tuple[Node, ...]] | None = None
    statements: dict[str, Span | None] = field(default_factory=dict)
    flags: dict[ast.For, str] = field(default_factory=dict)
    ahead: Ahead = field(default_factory=Ahead)
    given: dict[ast.expr, object] = field(default_factory=dict)
    converted: dict[ast.expr, DType] = field(default_factory=dict)
    expanding: list[ast.AST] = field(default_factory=list)
    helper: Callable[..., Kernel] | None = None
    expand: Callable[[Context, object, ast.Call], ast.expr | None] | None = None
    guard: Callable[[Context, ast.expr, ast.IfExp, Select], Value] | None = None
    rewritten: dict[ast.expr, ast.Call] = field(default_factory=dict)
    expansions: int = 0
    copies: int = 1
    plain_functions: list[ast.AST] = field(default_factory=list)
    held: dict[str, tuple[int, int]] = field(default_factory=dict)
    overwritten: bool = False
    meets: bool = False

    @property
    def source(self) -> FunctionSource:
        """Where the kernel stands."""
        return self.request.source

    def evaluate(self, node: ast.expr) -> object:
        """What an expression stands for.

        Raises:
            LanguageError: it is not of the language, a name is unknown, the types do not fit.
        """
        for known in (self.ahead.known, self.given):
            if node in known:
                return known[node]
        return self.evaluator(self, node)

    def read(self, node: ast.stmt) -> tuple[Node, ...]:
        """The nodes of a statement that the front end made."""
        assert self.reader is not None
        return self.reader(self, node)

    def evaluate_maybe(self, node: ast.expr) -> object:
        """What an expression stands for that Python evaluates only if what is in front of it says so."""
        self.ahead.conditional += 1
        try:
            return self.evaluate(node)
        finally:
            self.ahead.conditional -= 1

    def span(self, node: Placed) -> Span:
        """The place of a node."""
        return self.source.span(node)

    def error(
        self,
        code: str,
        message: str,
        node: Placed,
        help: str | None = None,
    ) -> LanguageError:
        """An error at a node."""
        return LanguageError(code, message, span=self.span(node), help=help)

    def name_statement(self, given: str | None, span: Span | None) -> str:
        """The name of the next statement in program order; ``given`` is the user's, if any.

        Raises:
            LanguageError: W137 where it is taken, W108 where there are too many statements.
        """
        position = len(self.statements)
        if position >= MAX_STATEMENTS:
            raise LanguageError(
                "W108",
                f"the program has more than {MAX_STATEMENTS} statements",
                span=span,
                help="write loops, or compile the called kernels on their own",
            )
        name = given or f"S{position}"
        if name in self.statements:
            earlier = self.statements[name]
            place = f" (line {earlier.line})" if earlier else ""
            raise LanguageError(
                "W137",
                f"the name '{name}' is taken by another statement{place}",
                span=span,
                help="statements without a name are called S0, S1, … by their place in the program",
            )
        self.statements[name] = span
        return name
