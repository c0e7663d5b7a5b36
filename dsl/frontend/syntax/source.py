"""The text and the syntax tree of a kernel's function, and spans into its real file."""

from __future__ import annotations

import ast
import linecache
import tokenize
import types
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.nesting import admit
from dsl.frontend.syntax.functions import Definition, taken_out
from dsl.frontend.syntax.plain_python import made_plain


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function's definition as it stands in its file.

    ``bound`` are the names that the function itself binds: arguments, loop variables, locals;
    ``arrays`` those of them that are no loop variables; ``captured`` what it reads from outside; ``functions`` those that
    are defined in it; ``untyped`` locals in the place of arguments without a type (see `dsl.frontend.own_scalars`).
    """

    file: str
    lines: Sequence[str]
    node: ast.FunctionDef
    bound: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()
    captured: frozenset[str] = frozenset()
    functions: Mapping[str, Definition] = field(default_factory=dict)
    untyped: frozenset[str] = frozenset()

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> Span:
        """The place of a node; of an argument its name alone."""
        if isinstance(node, ast.arg):
            start = self._column(node.lineno, node.col_offset)
            return Span(self.file, node.lineno, start, node.lineno, start + len(node.arg))
        return self.between(node, node)

    def between(
        self, first: ast.expr | ast.stmt | ast.keyword, last: ast.expr | ast.stmt | ast.keyword
    ) -> Span:
        """From the start of one node to the end of another."""
        end_line = last.end_lineno or last.lineno
        return Span(
            self.file,
            first.lineno,
            self._column(first.lineno, first.col_offset),
            end_line,
            self._column(end_line, last.end_col_offset or last.col_offset),
        )

    def header(self) -> Span:
        """The ``def`` line: from ``def`` to the end of the function's name."""
        line, text = self.node.lineno, self._line(self.node.lineno)
        start = self._column(line, self.node.col_offset)
        name_at = text.find(self.node.name, start - 1 + len("def"))
        end = name_at + len(self.node.name) + 1 if name_at >= 0 else len(text) + 1
        return Span(self.file, line, start, line, end)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The node in one line: as it was written if that is one line, else reformatted."""
        if node.end_lineno == node.lineno:
            raw = self._line(node.lineno).encode()
            return raw[node.col_offset : node.end_col_offset].decode().strip()
        return " ".join(ast.unparse(node).split())

    def _line(self, number: int) -> str:
        return self.lines[number - 1].rstrip("\r\n") if number <= len(self.lines) else ""

    def _column(self, line: int, offset: int) -> int:
        """1-based column in characters; the syntax tree counts bytes of UTF-8."""
        text = self._line(line)
        if text.isascii():
            return offset + 1
        return len(text.encode()[:offset].decode(errors="replace")) + 1


def function_source(
    function: types.FunctionType, lines: list[str], *, has_values: bool = False
) -> FunctionSource:
    """Find the definition of ``function`` in the lines of its file.

    Args:
        function: see above.
        lines: of its file.
        has_values: variables of its loops have values behind them (see `dsl.frontend.syntax.loop_variables`).

    Raises:
        LanguageError: W101 where there is no source, W108 where it is nested too deeply.
    """
    code = function.__code__
    file = code.co_filename
    if not lines:
        if (problem := _unreadable(file)) is not None:
            raise LanguageError(
                "W101",
                f"the source of kernel '{function.__name__}' cannot be had: {file} is not UTF-8: {problem}",
                help="save it as UTF-8, or say its encoding in its first line: # -*- coding: latin-1 -*-",
            )
        raise LanguageError(
            "W101",
            f"the source of kernel '{function.__name__}' cannot be had (it comes from {file})",
            help="put the kernel in a file: it is read from its source, not executed",
        )
    place = Span(file, code.co_firstlineno, 1, code.co_firstlineno, 1)
    try:
        module = ast.parse("".join(lines))
    except (RecursionError, MemoryError):
        raise LanguageError(
            "W108", f"{file} has code that is nested too deeply to be read", span=place
        ) from None
    except (SyntaxError, ValueError) as e:
        raise LanguageError(
            "W101",
            f"the source of kernel '{function.__name__}' cannot be had: {file} no longer parses",
            notes=(str(e),),
            help="load the file again: it changed since the kernel was defined",
        ) from e
    node = _definition(module, code)
    if node is None:
        raise LanguageError(
            "W101",
            f"the source of kernel '{function.__name__}' cannot be had: no such function at "
            f"line {code.co_firstlineno} of {file}",
            help="write it as a plain 'def'; if the file changed since it was loaded, load it "
            "again",
        )
    source = FunctionSource(file, lines, node)
    surveyed(source)  # what is nested too deeply is refused before anything walks it

    def refused(message: str, where: ast.stmt, instead: str) -> LanguageError:
        return LanguageError("W104", message, span=source.span(where), help=instead)

    functions = taken_out(node)
    made_plain(node, refused, functions.values(), has_values=has_values)
    inside = [surveyed(source)]
    inside += [
        surveyed(replace(source, node=f))
        for f in functions.values()
        if isinstance(f, ast.FunctionDef)
    ]
    captured = frozenset().union(*(s.captured for s in inside))
    return replace(inside[0], functions=functions, captured=captured)


def _unreadable(file: str) -> str | None:
    """Why the text of a file cannot be decoded; None where it can be, or where there is no such file."""
    try:
        with tokenize.open(file) as text:
            text.read()
    except (UnicodeDecodeError, SyntaxError) as error:  # Python takes bytes in comments as they are
        return str(error)
    except OSError:
        return None
    return None


def file_lines(function: types.FunctionType) -> list[str]:
    """The lines of the file that a function stands in, empty where there is none."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return linecache.getlines(file, function.__globals__)


def _definition(module: ast.Module, code: types.CodeType) -> ast.FunctionDef | None:
    """The ``def`` whose first line (its first decorator's, if any) is where the code begins."""
    line = code.co_firstlineno
    around: list[ast.AST] = [module]
    while around:
        node = around.pop()
        first = getattr(node, "lineno", 0)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min((d.lineno for d in node.decorator_list), default=first)
        if first <= line <= (getattr(node, "end_lineno", None) or line):
            match node:
                case ast.FunctionDef(name=code.co_name, lineno=start) if line in (first, start):
                    return node
            around += [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr)]
    return None


def surveyed(source: FunctionSource) -> FunctionSource:
    """Collect the names; refuse what would exhaust the stack of a recursive walk, without one."""
    node = source.node
    bound = {a.arg for a in arguments_of(node.args)}
    read: set[str] = set()
    loops: set[str] = set()
    deepest = 0
    stack: list[tuple[ast.AST, int]] = [(n, 1) for n in (node.args, *_results(node), *node.body)]
    while stack:
        part, depth = stack.pop()
        if isinstance(part, ast.expr | ast.stmt) and depth > deepest:
            deepest = depth
            admit(deepest, source.span(part))
        match part:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name):
                bound.add(name)
            case _:
                if isinstance(part, ast.For | ast.comprehension):
                    loops |= set(_loop_variables(part))
                depth += 1
                stack += [(child, depth) for child in ast.iter_child_nodes(part)]
    names = (bound, bound - loops, read - bound)
    return replace(
        source,
        bound=frozenset(names[0]),
        arrays=frozenset(names[1]),
        captured=frozenset(names[2]),
    )


def _loop_variables(node: ast.For | ast.comprehension) -> Iterator[str]:
    """The names that are variables of loops, and no elements of arrays."""
    called = node.iter.func if isinstance(node.iter, ast.Call) else None
    name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
    target: ast.expr = node.target
    if name == "zip" or isinstance(node.iter, ast.Name | ast.Subscript):
        return
    if name == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def assigned_once(node: ast.FunctionDef) -> frozenset[str]:
    """The names that one assignment without a condition gives a value, and nothing else."""
    stores = Counter(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    )
    return frozenset(name for name in _plainly_assigned(node.body) if stores[name] == 1)


def assigned_plainly(node: ast.FunctionDef) -> frozenset[str]:
    """The names that assignments and loops give a value, none of them under a condition."""
    updates = {id(n.target) for n in ast.walk(node) if isinstance(n, ast.AugAssign)}
    stores = Counter(
        n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load) and id(n) not in updates
    )
    inside = [n.target for n in ast.walk(node) if isinstance(n, ast.comprehension)]
    plain = Counter([*_plainly_assigned(node.body, loops=True), *_stored(inside)])
    return frozenset(name for name, count in plain.items() if stores[name] == count)


def _plainly_assigned(statements: Sequence[ast.stmt], loops: bool = False) -> Iterator[str]:
    for s in statements:
        if isinstance(s, ast.For):
            if loops:
                yield from _stored([s.target])
            yield from _plainly_assigned(s.body, loops)
        elif isinstance(s, ast.Assign):
            yield from _stored(s.targets)


def _stored(targets: Sequence[ast.expr]) -> Iterator[str]:
    for target in targets:
        for n in ast.walk(target):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                yield n.id


def _results(node: ast.FunctionDef) -> tuple[ast.expr, ...]:
    return () if node.returns is None else (node.returns,)


def arguments_of(args: ast.arguments) -> Iterator[ast.arg]:
    """The arguments in order, those that are given by name only last."""
    yield from args.posonlyargs
    yield from args.args
    yield from args.kwonlyargs
