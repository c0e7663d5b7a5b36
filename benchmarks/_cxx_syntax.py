"""The C++ that generators of HLS designs write, as a tree: functions, loops, assignments and directives.

No compiler: what a statement of such a file can be is little, and what is not known here is an error that names its line.
Casts, and the reading of bits as another type, are left out of expressions: they are wires.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<pragma>\#\s*pragma(?:[^\n]*\\\n)*[^\n]*) | (?P<directive>\#(?:[^\n]*\\\n)*[^\n]*)
      | (?P<comment>//[^\n]*|/\*.*?\*/) | (?P<space>\s+)
      | (?P<number>\d+\.\d*(?:[eE][-+]?\d+)?f?|\d+) | (?P<name>[A-Za-z_][\w]*(?:::[A-Za-z_]\w*)*)
      | (?P<sign>\+\+|--|[-+*/%]=|[<>=!]=|&&|\|\||[-+*/%<>=!&?:;,.(){}\[\]])""",
    re.VERBOSE | re.DOTALL,
)
_TYPES = re.compile(
    r"(float\d*|double|int|uint32_t|bool|ap_axiu|hls::stream|hls::vector|const|unsigned)$"
)
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))


class SyntaxProblem(Exception):
    """A file has what this reader does not know; its text says where."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the file: what it is, its text, its line."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Expr:
    """``kind`` is number, name, index, call, unary or binary; ``text`` its number, name or operator."""

    kind: str
    text: str
    parts: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Type:
    """``base`` is ``float``, ``int``, ``stream`` or ``bits`` of a float; ``lanes`` of a word of several floats, else 0."""

    base: str
    lanes: int = 0


@dataclass(frozen=True, slots=True)
class Declared:
    """A variable with its extents, and what it is set to."""

    type: Type
    name: str
    extents: tuple[Expr, ...] = ()
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    """``target op= value``; ``op`` is empty for a plain one."""

    target: Expr
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class For:
    """``for (var = start; var < end; var += step)``, the line it begins in, and its label."""

    var: str
    start: Expr
    end: Expr
    step: Expr
    body: tuple[Stmt, ...]
    line: int
    label: str


@dataclass(frozen=True, slots=True)
class If:
    """A condition."""

    test: Expr
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Do:
    """An expression as a statement: a call, or the write of a FIFO."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Directive:
    """``#pragma HLS word key=value …``, all in lower case but names."""

    word: str
    options: tuple[tuple[str, str], ...] = ()

    def get(self, key: str, default: str = "") -> str:
        """An option of it."""
        return dict(self.options).get(key, default)


@dataclass(frozen=True, slots=True)
class Return:
    """The end of a function."""


Stmt = Declared | Assign | For | If | Do | Directive | Return


@dataclass(frozen=True, slots=True)
class Routine:
    """A function: its arguments and its body."""

    name: str
    arguments: tuple[Declared, ...]
    body: tuple[Stmt, ...]
    lines: tuple[int, int]


def _tokens(text: str) -> list[Token]:
    found, at, line = [], 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise SyntaxProblem(f"line {line}: {text[at : at + 20]!r}")
        kind = match.lastgroup or ""
        if kind not in ("space", "comment", "directive"):
            found.append(Token(kind, match.group(), line))
        line += match.group().count("\n")
        at = match.end()
    return [*found, Token("end", "", line)]


def directive(text: str) -> Directive:
    """A pragma."""
    flat = re.sub(r"\s*=\s*", "=", text.replace("\\\n", " "))
    words = flat.split()[2:] if flat.split()[1:2] == ["HLS"] else flat.split()[1:]
    options = tuple(
        (key.lower(), value) for key, _, value in (word.partition("=") for word in words[1:])
    )
    return Directive(words[0].lower() if words else "", options)


@dataclass(slots=True)
class Parser:
    """Reads tokens one after the other."""

    tokens: Sequence[Token]
    at: int = 0
    routines: list[Routine] = field(default_factory=list)

    @property
    def now(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def take(self, text: str = "") -> Token:
        """The next token, which has to be ``text`` if that is given."""
        token = self.now
        if text and token.text != text:
            raise SyntaxProblem(f"line {token.line}: {token.text!r} where {text!r} was expected")
        self.at += 1
        return token

    def has(self, text: str) -> bool:
        """Takes the next token if it is ``text``."""
        if self.now.text != text:
            return False
        self.at += 1
        return True

    # ------------------------------------------------------------------ files and functions

    def file(self) -> list[Routine]:
        """All functions with a body."""
        while self.now.kind != "end":
            if self.now.text == "void" and self.tokens[self.at + 2].text == "(":
                self.routine()
            else:
                self.take()
        return self.routines

    def routine(self) -> None:
        """A function; a declaration without a body is left out."""
        first = self.take("void").line
        name = self.take().text
        self.take("(")
        arguments = []
        while not self.has(")"):
            arguments.append(self.declared(self.type()))
            self.has(",")
        if self.has(";"):
            return
        body = self.block()
        self.routines.append(Routine(name, tuple(arguments), body, (first, self.now.line)))

    def type(self) -> Type:
        """A type, with what it is of."""
        word = self.take().text
        if word in ("const", "unsigned"):
            return self.type()
        if word == "hls::stream":
            self.take("<")
            inner = self.type()
            self.take(">")
            return Type("stream", inner.lanes)
        if word == "hls::vector":
            self.take("<")
            self.type()
            self.take(",")
            lanes = int(self.take().text)
            self.take(">")
            return Type("float", lanes)
        if word == "ap_axiu":
            self.take("<")
            bits = int(self.take().text)
            while not self.has(">"):
                self.take()
            return Type("float", bits // 32)
        lanes = int(word[5:] or 0) if word.startswith("float") else 0
        base = "bits" if word == "uint32_t" else "float" if word.startswith("float") else "int"
        return Type(base, lanes)

    def declared(self, type_: Type) -> Declared:
        """A name with extents and a value."""
        self.has("&")
        name, extents = self.take().text, []
        while self.has("["):
            extents.append(self.expr())
            self.take("]")
        value = self.expr() if self.has("=") else None
        return Declared(type_, name, tuple(extents), value)

    # --------------------------------------------------------------------------- statements

    def block(self) -> tuple[Stmt, ...]:
        """``{ … }``, or one statement."""
        if not self.has("{"):
            return tuple(self.statement())
        found: list[Stmt] = []
        while not self.has("}"):
            found += self.statement()
        return tuple(found)

    def statement(self) -> list[Stmt]:
        """What the next token begins."""
        token = self.now
        if token.kind == "pragma":
            return [directive(self.take().text)]
        if token.text == "{":
            return list(self.block())
        if self.has(";"):
            return []
        if self.has("return"):
            self.take(";")
            return [Return()]
        if token.kind == "name" and self.tokens[self.at + 1].text == ":":
            label = self.take().text
            self.take(":")
            return [self.loop(label)]
        if token.text == "for":
            return [self.loop("")]
        if self.has("if"):
            self.take("(")
            test = self.expr()
            self.take(")")
            then = self.block()
            return [If(test, then, self.block() if self.has("else") else ())]
        return self.simple()

    def simple(self) -> list[Stmt]:
        """Declarations and assignments, up to the semicolon."""
        if _TYPES.match(self.now.text):
            type_ = self.type()
            found: list[Stmt] = [self.declared(type_)]
            while self.has(","):
                found.append(self.declared(type_))
            self.take(";")
            return found
        target = self.expr()
        sign = self.now.text
        if sign in ("=", "+=", "-=", "*=", "/="):
            self.take()
            made: Stmt = Assign(target, sign[:-1], self.expr())
        else:
            made = Do(target)
        self.take(";")
        return [made]

    def loop(self, label: str) -> For:
        """A counted loop, upwards."""
        line = self.take("for").line
        self.take("(")
        if _TYPES.match(self.now.text):
            self.type()
        var = self.take().text
        self.take("=")
        start = self.expr()
        self.take(";")
        self.take(var)
        self.take("<")
        end = self.expr()
        self.take(";")
        self.take(var)
        step = Expr("number", "1")
        if not self.has("++"):
            self.take("+=")
            step = self.expr()
        self.take(")")
        return For(var, start, end, step, self.block(), line, label)

    # -------------------------------------------------------------------------- expressions

    def expr(self, level: int = 0) -> Expr:
        """Binary operators of a level and above."""
        if level == len(_LEVELS):
            return self.unary()
        left = self.expr(level + 1)
        while self.now.text in _LEVELS[level]:
            sign = self.take().text
            left = Expr("binary", sign, (left, self.expr(level + 1)))
        return left

    def unary(self) -> Expr:
        """Signs, casts and what follows a name."""
        if self.has("*") or self.has("&") or self.has("+"):
            return self.unary()
        if self.has("-"):
            return Expr("unary", "-", (self.unary(),))
        if self.has("("):
            if _TYPES.match(self.now.text):
                self.type()
                self.has("*")
                self.take(")")
                return self.unary()
            inner = self.expr()
            self.take(")")
            return self.after(inner)
        token = self.take()
        if token.kind not in ("name", "number"):
            raise SyntaxProblem(f"line {token.line}: {token.text!r} in an expression")
        return self.after(Expr(token.kind, token.text))

    def after(self, base: Expr) -> Expr:
        """Subscripts, members and arguments behind an expression."""
        while True:
            if self.has("["):
                base = Expr("index", "", (base, self.expr()))
                self.take("]")
            elif self.has("."):
                name = self.take().text
                if name == "data":
                    continue
                base = Expr("call", name, (base, *self.arguments()))
            elif self.now.text == "(" and base.kind == "name":
                base = Expr("call", base.text, tuple(self.arguments()))
            else:
                return base

    def arguments(self) -> list[Expr]:
        """``( … )``."""
        self.take("(")
        found = []
        while not self.has(")"):
            found.append(self.expr())
            self.has(",")
        return found


def routines_of(text: str) -> list[Routine]:
    """The functions of a file.

    Raises:
        SyntaxProblem: it has what this reader does not know.
    """
    return Parser(_tokens(text)).file()
