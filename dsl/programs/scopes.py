"""Where the locals of a program live: the loop whose iteration each belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dsl.expressions.expr import loads
from dsl.programs.program import Loop, Node, Program, Stmt, Storage

Path = tuple[int, ...]
"""A loop as the preorder positions of itself and those around it; empty is the whole program."""


def local_scopes(program: Program) -> Mapping[str, Path]:
    """For every local that a statement touches, the loop that it is declared in.

    That is where its first use is, ``scope_depth`` loops deep.
    """
    depths = {a.name: a.scope_depth for a in program.locals}
    found: dict[str, Path] = {}
    counter = 0

    def visit(nodes: tuple[Node, ...], path: Path) -> None:
        nonlocal counter
        for node in nodes:
            match node:
                case Stmt(target=target, value=value):
                    for access in (target, *loads(value)):
                        if access.array in depths:
                            found.setdefault(access.array, path[: depths[access.array]])
                case Loop(body=body):
                    counter += 1
                    visit(body, (*path, counter))
                case _:
                    visit(node.then, path)
                    visit(node.orelse, path)

    visit(program.body, ())
    return found


def ordered_locals(program: Program) -> Program:
    """The program with its locals in the order of the scopes that they are declared in.

    The order within a scope stays. Locals that no statement touches are left out.
    """
    scopes = local_scopes(program)
    used = [a for a in program.arrays if a.storage is not Storage.LOCAL or a.name in scopes]
    # Arguments first; of the locals, those of a loop after those of the loops before it.
    used.sort(key=lambda a: (a.storage is Storage.LOCAL, scopes.get(a.name, ())))
    return replace(program, arrays=tuple(used))
