"""The top function's declaration, read from the emitted C++: its parameters as they are typed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dsl.errors import ToolError


@dataclass(frozen=True, slots=True)
class Parameter:
    """``const float A[200][240]``: the type before the name, and the extents after it."""

    type: str
    name: str
    extents: str

    @property
    def declaration(self) -> str:
        """As in the function's declaration."""
        return f"{self.type} {self.name}{self.extents}"

    @property
    def variable(self) -> str:
        """As a variable of a caller: not constant."""
        plain = re.sub(r"\bconst\b\s*", "", self.type).strip()
        return f"{plain} {self.name}{self.extents}"


_PARAMETER = re.compile(r"(?P<type>.+?[\s>])\s*(?P<name>[A-Za-z_]\w*)(?P<extents>(\[\d+\])*)")


def parameters(text: str, function: str) -> tuple[Parameter, ...]:
    """The parameters of ``void function(...) {`` in C++ text that Weft emitted.

    Raises:
        ToolError: W406: there is no such definition.
    """
    start = re.search(rf"^(?:extern \"C\" )?void {re.escape(function)}\s*\(", text, re.MULTILINE)
    end = text.find("{", start.end()) if start else -1
    if start is None or end < 0:
        raise ToolError("W406", f"the emitted C++ does not define 'void {function}(...)'")
    inside = text[start.end() : end].rstrip()
    inside = re.sub(r"//[^\n]*|/\*.*?\*/", " ", inside, flags=re.DOTALL).rstrip().removesuffix(")")
    found = []
    for part in _split(inside):
        match = _PARAMETER.fullmatch(" ".join(part.split()))
        if match is None:
            raise ToolError(
                "W406", f"the parameter '{part.strip()}' of {function} is not understood"
            )
        found.append(Parameter(match["type"].strip(), match["name"], match["extents"]))
    return tuple(found)


def _split(text: str) -> list[str]:
    """At the commas that are not inside of template arguments."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c == "<") - (c == ">")
        if c == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += c
    return [*parts, current] if current.strip() else parts


def header(text: str, function: str) -> str:
    """``<function>.h``: what the emitted C++ includes, and the declaration of the function."""
    includes = re.findall(r"^#include .*$", text, re.MULTILINE)
    guard = f"{function.upper()}_H"
    listed = ",\n    ".join(p.declaration for p in parameters(text, function))
    lines = [f"#ifndef {guard}", f"#define {guard}", ""]
    if includes:
        lines += [*includes, ""]
    lines += [f"void {function}(", f"    {listed});" if listed else ");", "", "#endif"]
    return "\n".join(lines) + "\n"
