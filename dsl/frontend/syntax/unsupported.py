"""What of Python is not in the language: for each construct what to write instead."""

from __future__ import annotations

import ast

Advice = tuple[str, str]
"""What it is, and what to write instead."""

_LOOPS = "write nested 'for' loops over range(...) or weft.grid(...)"

STATEMENTS: dict[type[ast.stmt], Advice] = {
    ast.Return: (
        "'return' with a value, of a kernel without a result,",
        "say its type, as in def k(x: f32) -> f32:, or write to an array argument",
    ),
    ast.FunctionDef: (
        "this nested function",
        "one without a decorator, whose name nothing else has, may be called",
    ),
    ast.AsyncFunctionDef: ("a nested function", "define another @weft.kernel outside and call it"),
    ast.ClassDef: ("a class", "keep arrays and scalars only in a kernel"),
    ast.Try: ("'try'", "hardware raises nothing: compute a flag and select with 'a if c else b'"),
    ast.Raise: ("'raise'", "hardware raises nothing: write a flag to an array argument"),
    ast.Assert: (
        "'assert' of data or loop variables",
        "hardware cannot stop: check the inputs before the kernel is called; assertions of constants are checked",
    ),
    ast.Delete: ("'del'", "a local ends with the loop body in which it is declared"),
    ast.Import: ("'import'", "import outside of the kernel"),
    ast.ImportFrom: ("'import'", "import outside of the kernel"),
    ast.Global: ("'global'", "a captured name is read only: pass what changes as an argument"),
    ast.Nonlocal: ("'nonlocal'", "a captured name is read only: pass what changes as an argument"),
    ast.AsyncFor: ("'async for'", "write a plain 'for'"),
    ast.AsyncWith: ("'async with'", "only 'with weft.stmt(\"name\"):' is known"),
}

EXPRESSIONS: dict[type[ast.expr], Advice] = {
    ast.Lambda: ("a lambda here", "give it a name of its own: f = lambda x: x + 1"),
    ast.ListComp: ("a list comprehension", _LOOPS),
    ast.SetComp: ("a set comprehension", _LOOPS),
    ast.DictComp: ("a dict comprehension", _LOOPS),
    ast.GeneratorExp: ("a generator expression", _LOOPS),
    ast.Dict: ("a dict", "keep tables outside of the kernel, or pass them as weft.const arrays"),
    ast.Set: ("a set", "compare with == and 'or'"),
    ast.List: ("a list", "declare a local array: tmp: f32[8], and assign its elements"),
    ast.Tuple: ("a tuple", "write one value; arrays hold several"),
    ast.Await: ("'await'", "a kernel is no coroutine"),
    ast.Yield: ("'yield'", "write the results to an array argument"),
    ast.YieldFrom: ("'yield'", "write the results to an array argument"),
    ast.JoinedStr: ("a string", "a kernel computes numbers only"),
    ast.Starred: ("'*'", "write the arguments one by one"),
    ast.NamedExpr: ("':=' that a condition decides on", "assign in a statement of its own"),
    ast.Slice: ("a slice", "write a loop over the elements"),
}

CALLS: dict[str, str] = {
    "print": "a kernel has no output but its array arguments: write what you want to see into one",
    "pow": "write x ** 2",
    "round": "cast to the type that rounds as you want, e.g. weft.fixed[16, 8, 'rnd'](x)",
    "int": "cast to a type of the language, e.g. weft.i32(x)",
    "float": "cast to a type of the language, e.g. weft.f32(x)",
    "bool": "compare with 0",
    "range": "range(...) stands in the header of a 'for' loop only",
    "zeros": "declare a local array: tmp: f32[8] = 0.0",
    "empty": "declare a local array: tmp: f32[8]",
    "dot": "write the loops over the elements",
    "matmul": "write the loops over the elements",
    "log2": "write weft.log(x) * 1.4426950408889634",
    "log10": "write weft.log(x) * 0.4342944819032518",
    "log1p": "write weft.log(1.0 + x)",
    "exp2": "write weft.exp(x * 0.6931471805599453)",
    "expm1": "write weft.exp(x) - 1.0",
    "gradient": "write the differences: d[1:-1] = 0.5 * (x[2:] - x[:-2]), and both ends by themselves",
    "trapezoid": "write (0.5 * (x[1:] + x[:-1])).sum(), times the distance",
    "searchsorted": "count what is below: sum(v < key for v in x), or write a bisection with 'while lo < hi:'",
    "interp": "find the interval with a loop, and write y[k] + t * (y[k + 1] - y[k])",
    "sinh": "write 0.5 * (weft.exp(x) - weft.exp(-x))",
    "cosh": "write 0.5 * (weft.exp(x) + weft.exp(-x))",
    **dict.fromkeys(
        ("nonzero", "flatnonzero", "argwhere"),
        "how many they are nobody knows before: loop over all elements, with 'if x[i] != 0:', and count those that hold, "
        "as in at[n] = i; n += 1",
    ),
    **dict.fromkeys(
        ("append", "pop", "insert"),
        "a list has a constant number of elements: write stack = [0] * 8 and a counter of its own, stack[top] = x; top += 1",
    ),
    "list": "write [0] * 8 for a list of 8 elements, or [i for i in range(8)]",
    **dict.fromkeys(
        ("atan", "atan2", "arctan", "arctan2", "asin", "arcsin", "acos", "arccos"),
        "look it up in a table, TABLE = np.arctan(np.linspace(0, 1, 256)) outside of the kernel, or write the "
        "rotations of CORDIC",
    ),
}
"""Functions that people try, by their names, and what to write instead."""
