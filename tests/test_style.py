"""Files stay under about 400 lines, functions under about 60; an exception needs its reason here.

A function's length is that of its code: neither its docstring nor its decorators count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    *("dsl", "polyhedral", "mlir_passes", "backends", "qor_gnn", "dse"),
    *("examples", "benchmarks", "tests"),
)
FILE_LINES = 400
FUNCTION_LINES = 60

# Path from the root, and why it may be longer.
LONG_FILES: dict[str, str] = {}

# Path from the root, two colons, qualified name, and why it may be longer.
LONG_FUNCTIONS: dict[str, str] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> Iterator[Path]:
    yield from sorted(ROOT.glob("*.py"))
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def length(function: Function) -> int:
    body = function.body
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        lines -= (body[0].end_lineno or body[0].lineno) - body[0].lineno + 1
    return lines


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield prefix + child.name, child
            yield from functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from functions(child, f"{prefix}{child.name}.")
        else:
            yield from functions(child, prefix)


def long_files() -> dict[str, int]:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in sources()
    }
    return {path: lines for path, lines in lengths.items() if lines > FILE_LINES}


def long_functions() -> dict[str, int]:
    lengths = {
        f"{path.relative_to(ROOT).as_posix()}::{name}": length(function)
        for path in sources()
        for name, function in functions(ast.parse(path.read_text(encoding="utf-8")))
    }
    return {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES}


def check(found: dict[str, int], allowed: dict[str, str], limit: int) -> None:
    too_long = {name: lines for name, lines in found.items() if name not in allowed}
    assert not too_long, f"longer than {limit} lines: split them, or give a reason"
    stale = sorted(set(allowed) - set(found))
    assert not stale, f"allowed to be longer than {limit} lines, and no longer are: {stale}"
    assert all(reason.strip() for reason in allowed.values()), "an exception needs a reason"


def test_files_are_short() -> None:
    check(long_files(), LONG_FILES, FILE_LINES)


def test_functions_are_short() -> None:
    check(long_functions(), LONG_FUNCTIONS, FUNCTION_LINES)


def test_the_length_of_a_function_leaves_out_its_docstring() -> None:
    code = 'class A:\n    def f(self):\n        """One.\n\n        Two.\n        """\n        return 1\n'
    [(name, function)] = functions(ast.parse(code))
    assert (name, length(function)) == ("A.f", 2)
