"""A program from JSON that a stranger may have written: nothing is run, everything is checked.

What comes out keeps the rules of the language as what the front doors make does: names in scope,
types as `dsl.expressions.typing` gives them, subscripts for every dimension, locals within their scopes. What
needs the loops to be counted (accesses out of bounds and the like) is checked where any program is.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

from dsl.errors.errors import InputError, LanguageError, Span
from dsl.expressions.numeric import bounds
from dsl.expressions.types import DType, FloatType
from dsl.programs.program import MAX_EXTENT, Array, Program, Storage
from dsl.programs.scopes import ordered_locals
from dsl.stored.body import BodyReader
from dsl.stored.parts import (
    Malformed,
    element_type_of,
    fields_of,
    integer_of,
    list_of,
    name_of,
    text_of,
)
from dsl.stored.write import SCHEMA_VERSION, digest

MAX_BYTES = 1 << 26
"""Of a text that programs are read from."""

_MAX_LINE = 10**9
_ARRAY = ("name", "type", "shape", "storage", "const", "scope_depth", "span")
_PROGRAM = ("name", "arrays", "body", "span", "files", "lines")


def program_of_json(text: str, where: str) -> Program:
    """The program of a text that `dsl.stored.write.program_json` made.

    Args:
        text: of the file.
        where: it is from, for messages.

    Raises:
        InputError: W546: it holds no program.
    """
    return program_of_data(json_of(text, where), where)


def json_of(text: str, where: str) -> Any:
    """JSON of a stranger.

    Raises:
        InputError: W546: it is none.
    """
    if len(text) > MAX_BYTES:
        refuse(where, f"it is longer than {MAX_BYTES:,} characters")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(where, "it is not JSON") from error


def program_of_data(data: object, where: str) -> Program:
    """The program of JSON that `dsl.stored.write.program_data` made.

    Raises:
        InputError: W546: it is no program of the language, or its digest is another one.
    """
    try:
        version, told, inner = fields_of(data, ("schema_version", "digest", "program"), "it")
        if type(version) is not int or version != SCHEMA_VERSION:
            raise Malformed(f"its schema_version is not {SCHEMA_VERSION}")
        if digest(inner) != told:
            raise Malformed("its digest is another one: somebody has changed it")
        return _program(inner)
    except Malformed as error:
        raise _refused(where, str(error)) from error
    except LanguageError as error:  # of the typing rules: its places are of the stored program
        raise _refused(where, error.message) from error
    except (RecursionError, UnicodeError) as error:
        raise _refused(where, "it is nested too deeply, or holds no text") from error


def refuse(where: str, why: str) -> NoReturn:
    """Say that there is no stored program in a place."""
    raise _refused(where, why)


def _refused(where: str, why: str) -> InputError:
    return InputError(
        "W546",
        f"{where} does not hold a program: {why}",
        help="it is data that Weft wrote: have it written again, by the version of Weft that is used",
    )


def _program(data: object) -> Program:
    name, arrays, body, span, files, lines = fields_of(data, _PROGRAM, "the program")
    places = _places(files, lines)
    known: dict[str, Array] = {}
    for one in list_of(arrays, "'arrays'"):
        array = _array(one, places)
        if array.name in known:
            raise Malformed(f"'{array.name}' is declared twice")
        known[array.name] = array
    own = name_of(name, "the program's name")
    nodes = BodyReader(known, places.span).read(list_of(body, "'body'"))
    found = Program(own, tuple(known.values()), nodes, places.span(span))
    if ordered_locals(found).arrays != found.arrays:
        raise Malformed("its arrays are not in the order of their scopes")
    return found


def _array(data: object, places: Places) -> Array:
    words = data.pop("contents") if isinstance(data, dict) and "contents" in data else []
    name, dtype, shape, storage, const, depth, span = fields_of(data, _ARRAY, "an array")
    name = name_of(name, "an array's name")
    if storage not in ("argument", "local", "table") or type(const) is not bool:
        raise Malformed(f"'{name}' is neither an argument nor a local")
    depth = integer_of(depth, f"the scope of '{name}'", 0, MAX_EXTENT)
    known = {"argument": not depth, "local": not const, "table": const and not depth}
    if not known[storage]:
        raise Malformed(f"'{name}' cannot be a {storage} in that scope, or const")
    extents = [
        integer_of(n, f"an extent of '{name}'", 1, MAX_EXTENT)
        for n in list_of(shape, f"the shape of '{name}'")
    ]
    element = element_type_of(dtype)
    contents = _contents(words, name, element, math.prod(extents) if storage == "table" else 0)
    return Array(
        name, element, tuple(extents), Storage(storage), const, depth, places.span(span), contents
    )


def _contents(data: object, name: str, dtype: DType, count: int) -> tuple[int, ...]:
    """The words of a table."""
    what = f"the contents of '{name}'"
    words = list_of(data, what, count)
    low, high = (0, (1 << dtype.width) - 1) if isinstance(dtype, FloatType) else bounds(dtype)
    return tuple(integer_of(word, what, low, high) for word in words)


@dataclass(frozen=True, slots=True)
class Places:
    """Names of files, which are never opened, and lines of them by file and number."""

    files: tuple[str, ...]
    lines: dict[tuple[int, int], str]

    def span(self, data: object) -> Span | None:
        """A place; None where there is none."""
        if data is None:
            return None
        file, *rest = list_of(data, "a place", 5)
        file = integer_of(file, "the file of a place", 0, len(self.files) - 1)
        line, col, end_line, end_col = (integer_of(n, "a place", 1, _MAX_LINE) for n in rest)
        text = self.lines.get((file, line), "")
        return Span(self.files[file], line, col, end_line, end_col, text)


def _places(files: object, lines: object) -> Places:
    names = tuple(text_of(name, "the name of a file") for name in list_of(files, "'files'"))
    if any("/" in name or "\\" in name for name in names):
        raise Malformed("the name of a file is a path")
    found: dict[tuple[int, int], str] = {}
    for line in list_of(lines, "'lines'"):
        file, number, text = list_of(line, "a line", 3)
        file = integer_of(file, "the file of a line", 0, len(names) - 1)
        number = integer_of(number, "the number of a line", 1, _MAX_LINE)
        found[file, number] = text_of(text, "a line")
    return Places(names, found)
