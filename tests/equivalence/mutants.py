"""Level 3 broken in every way that code generation or a pass could break it.

`of_tree` changes the loops before the module is built, so that all that the stores say of themselves
is consistent; `of_module` changes single operations of the finished module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dsl.expressions.affine import Affine
from mlir_passes.affine_maps import from_map, to_map_of
from mlir_passes.construct.module import build_module
from mlir_passes.dialect.attributes import context
from mlir_passes.pipeline import PASSES
from mlir_passes.provider import ir
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode


@dataclass(frozen=True)
class Mutant:
    """What was done, and the tree or the module that came of it."""

    kind: str
    tree: LoopTree | None
    module: Any


def module_of(tree: LoopTree) -> Any:
    """Level 3 of a tree after all passes. It is not verified: a mutant may break its rules."""
    module = build_module(tree)
    for each in PASSES:
        each.apply(module)
    return module


def of_tree(tree: LoopTree) -> Iterator[Mutant]:
    """Every mutant of a tree."""
    for kind, body in _bodies(tree.body):
        mutant = replace(tree, body=body)
        yield Mutant(kind, mutant, module_of(mutant))


def _bodies(nodes: tuple[TreeNode, ...]) -> Iterator[tuple[str, tuple[TreeNode, ...]]]:
    """The nodes with one change anywhere below."""
    for n, node in enumerate(nodes):
        before, after = nodes[:n], nodes[n + 1 :]
        for kind, new in _changed(node):
            yield kind, (*before, *new, *after)
        if not isinstance(node, Instance):
            for kind, body in _bodies(node.body):
                yield kind, (*before, replace(node, body=body), *after)
        if after:
            yield "swap", (*before, after[0], node, *after[1:])


def _changed(node: TreeNode) -> Iterator[tuple[str, tuple[TreeNode, ...]]]:
    """What may be put in the place of a node."""
    yield "drop", ()
    match node:
        case Instance(stmt, bindings):
            yield "twice", (node, node)
            for n, (name, value) in enumerate(bindings):
                moved = (*bindings[:n], (name, value + 1), *bindings[n + 1 :])
                yield "iteration", (Instance(stmt, moved),)
        case TreeGuard(constraints, body):
            yield "guard", body
            for n, c in enumerate(constraints):
                moved = (*constraints[:n], replace(c, expr=c.expr + 1), *constraints[n + 1 :])
                yield "guard", (TreeGuard(moved, body),)
        case TreeLoop():
            for change in (-1, 1):
                yield "lower", (replace(node, lowers=_moved(node.lowers, change)),)
                yield "upper", (replace(node, uppers=_moved(node.uppers, change)),)
            yield "step", (replace(node, step=node.step + 1),)
            inner = node.body[0]
            if len(node.body) == 1 and isinstance(inner, TreeLoop) and not _uses(inner, node.iv):
                outer = replace(node, body=inner.body)
                yield "interchange", (replace(inner, body=(outer,)),)
            if len(node.body) > 1:
                first, rest = node.body[:1], node.body[1:]
                yield "split", (replace(node, body=first), replace(node, body=rest))


def _moved(bounds: tuple[Affine, ...], by: int) -> tuple[Affine, ...]:
    return tuple(b + by for b in bounds)


def _uses(loop: TreeLoop, iv: str) -> bool:
    return any(iv in b.variables() for b in (*loop.lowers, *loop.uppers))


# Another operator of the same operands, in the text of a module.
_OPERATORS = {
    "arith.addf": "arith.subf",
    "arith.subf": "arith.addf",
    "arith.mulf": "arith.addf",
    "arith.divf": "arith.mulf",
    "arith.addi": "arith.subi",
    "arith.subi": "arith.addi",
    "arith.muli": "arith.addi",
    "math.sqrt": "math.absf",
}
_OPERATOR = re.compile("|".join(map(re.escape, _OPERATORS)))
_CONSTANT = re.compile(r"(arith\.constant (?:\{[^}]*\} )?)(-?\d+(?:\.\d+e[+-]\d+)?)( : [if]\d+)")


def of_module(module: Any) -> Iterator[Mutant]:
    """Every mutant of a module: another operator, constant or subscript, operands exchanged."""
    text = str(module)
    for match in _OPERATOR.finditer(text):
        yield _parsed("operator", text, match, _OPERATORS[match[0]])
    for match in _CONSTANT.finditer(text):
        other = f"{match[1]}{_other_number(match[2])}{match[3]}"
        yield _parsed("constant", text, match, other)
    for op in _mapped(module):
        old = op.attributes["map"].value
        names = [f"x{n}" for n in range(old.n_inputs)]
        exprs = from_map(old, names)
        for n in range(len(exprs)):
            moved = (*exprs[:n], exprs[n] + 1, *exprs[n + 1 :])
            with module.context:
                op.attributes["map"] = ir.AffineMapAttr.get(to_map_of(moved, names))
            yield Mutant("subscript", None, module)
        op.attributes["map"] = ir.AffineMapAttr.get(old)


def _other_number(text: str) -> str:
    return "1.250000e+00" if "." in text else "0" if text != "0" else "-1"


def _parsed(kind: str, text: str, match: re.Match[str], other: str) -> Mutant:
    changed = text[: match.start()] + other + text[match.end() :]
    with context():
        return Mutant(kind, None, ir.Module.parse(changed))


def _mapped(module: Any) -> list[Any]:
    """The loads and stores with subscripts."""
    found: list[Any] = []

    def visit(op: Any) -> None:
        if op.name in ("affine.load", "affine.store") and op.attributes["map"].value.results:
            found.append(op)
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    visit(inner.operation)

    visit(module.operation)
    return found
