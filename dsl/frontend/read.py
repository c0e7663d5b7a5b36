"""Reading one kernel: its signature, its body, and the `Program` that they make."""

from __future__ import annotations

from dsl.frontend.context import Context, Request
from dsl.frontend.declare import arguments, check_defaults, check_name, check_signature, results
from dsl.frontend.evaluate import evaluate
from dsl.frontend.inferred import Inferred
from dsl.frontend.results import assigned_results, result_names
from dsl.frontend.scope import Names
from dsl.frontend.statements import statement, whole_body
from dsl.frontend.syntax.apart import assigned_apart
from dsl.frontend.syntax.source import assigned_once, assigned_plainly
from dsl.programs.program import Program
from dsl.programs.scopes import ordered_locals


def read_kernel(request: Request) -> Program:
    """The program of a kernel at the sizes that the request says.

    Raises:
        LanguageError: what is wrong with it (see `dsl.errors.codes`), at its place.
    """
    check_signature(request.source)
    inferred = Inferred()
    return inferred.settled(lambda: _read(request, inferred))


def _read(request: Request, inferred: Inferred) -> Program:
    source = request.source
    outside = Context(request, Names((), ()), frozenset(), evaluate)
    returned = result_names(source.node, source.bound)
    made = tuple(results(outside, returned))
    declared = (*arguments(outside), *made)
    check_defaults(declared, request.defaults)
    names = Names(declared, source.bound, source.arrays)
    once = assigned_once(source.node) | assigned_apart(source.node)
    plain = assigned_plainly(source.node)
    ctx = Context(request, names, source.bound, evaluate, inferred, once, plain, statement)
    nodes = whole_body(ctx, assigned_results(source, made))
    name = source.node.name
    check_name(source, name, "this kernel", source.node)
    program = Program(
        name, (*declared, *ctx.names.tables, *ctx.names.locals), nodes, source.header()
    )
    return ordered_locals(program)
