"""What names stand for in C++ files: integers, values and words, and arrays that have other names elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks._cxx_syntax import Directive, Do, Expr, For, If, Routine, Stmt
from dsl.expressions.affine import Affine
from polyhedral.banks.splits import Split
from qor_gnn.design.operations import Value

Lanes = dict[int, Value]
Bound = Affine | Value | Lanes
"""What a name stands for: an integer, a float or word, or the lanes of a word one by one."""


class Unsupported(Exception):
    """The nest has what this reader does not turn into a region; its text says what."""


def number(expr: Expr) -> int:
    """A constant."""
    found = affine(expr, {})
    if found is None or not found.is_const:
        raise Unsupported(f"{expr} is no constant")
    return found.const


def affine(expr: Expr, env: dict[str, Bound]) -> Affine | None:
    """An integer expression of counters and arguments; None where it is none."""
    if expr.kind == "number":
        return Affine.of(int(expr.text)) if expr.text.isdigit() else None
    if expr.kind == "name":
        found = env.get(expr.text)
        return found if isinstance(found, Affine) else None
    if expr.kind != "binary" or expr.text not in "+-*/%":
        return None
    left, right = (affine(part, env) for part in expr.parts)
    if left is None or right is None:
        return None
    match expr.text:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return right * left.const if left.is_const else left * right.const
        case "/":
            return left // right.const
        case _:
            return left % right.const


def walk(nodes: Sequence[Stmt]) -> Iterator[Stmt]:
    for node in nodes:
        yield node
        if isinstance(node, For):
            yield from walk(node.body)
        elif isinstance(node, If):
            yield from walk((*node.then, *node.other))


@dataclass(slots=True)
class Names:
    """The names that one array has in the functions it is handed to, and how it is partitioned."""

    parent: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    splits: dict[tuple[str, str], dict[int, tuple[str, int]]] = field(default_factory=dict)

    def root(self, name: tuple[str, str]) -> tuple[str, str]:
        """The name that stands for all."""
        while name in self.parent:
            name = self.parent[name]
        return name

    def join(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        """Both are the same array."""
        one, other = self.root(one), self.root(other)
        if one != other:
            self.parent[one] = other
            self.splits.setdefault(other, {}).update(self.splits.pop(one, {}))

    def of(self, name: tuple[str, str], shape: Sequence[int]) -> tuple[Split, ...]:
        """How each dimension is spread over banks."""
        asked = self.splits.get(self.root(name), {})
        found = []
        for dim, extent in enumerate(shape, 1):
            kind, factor = asked.get(dim, asked.get(0, ("cyclic", 1)))
            found.append(Split("cyclic", extent) if kind == "complete" else Split("cyclic", factor))
        return tuple(found)


def names_of(routines: Sequence[Routine]) -> Names:
    """Arrays of a file; functions of one name (overloads) share their arguments."""
    found = Names()
    by_name = {r.name: r for r in routines}
    for routine in routines:
        for node in walk(routine.body):
            if isinstance(node, Do) and node.value.kind == "call" and node.value.text in by_name:
                callee = by_name[node.value.text]
                for given, own in zip(node.value.parts, callee.arguments, strict=True):
                    if own.extents and given.kind == "name":
                        found.join((callee.name, own.name), (routine.name, given.text))
    for routine in routines:
        for node in walk(routine.body):
            if isinstance(node, Directive) and node.word == "array_partition":
                kind = "complete" if ("complete", "") in node.options else "cyclic"
                entry = (kind, int(node.get("factor", "0")))
                root = found.root((routine.name, node.get("variable")))
                found.splits.setdefault(root, {})[int(node.get("dim", "0"))] = entry
    return found
