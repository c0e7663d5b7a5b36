"""A design as the tool reads it: the loops as they are written, and the pragmas on them.

A `Schedule` is legal or refused: a pipeline above a loop of variable trip count is W212, nested
pipelines are W213, and isl's loops carry affine guards in their bounds. A C source says none of
that: the tool takes every pragma and ignores what it cannot use. So a design of this data set is
the program's own loop tree (`source_tree`, no isl) with directives put on it
(`qor_gnn.design.directives.with_directives`, no legality): `design` makes that. What the tool ignores is
a rule of the data: `Directives.effective`. Where the same design is wanted as a real schedule,
`Directives.schedule` gives it, and `polyhedral.schedule.apply` decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from dsl.errors.errors import InputError, did_you_mean
from dsl.expressions.affine import Affine, And, Cond, Constraint, Or, negate
from dsl.programs.program import If, Loop, Node, Program, Stmt
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Unroll
from polyhedral.looptree.tree import (
    Instance,
    LoopTree,
    TreeGuard,
    TreeLoop,
    TreeNode,
    TripCount,
)
from qor_gnn.design import region
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.design.region import Node as RegionNode
from qor_gnn.fit.labelled.u200 import Facts, Row
from qor_gnn.fit.labelled.u200_program import Converted

Pragma = Pipeline | Unroll


@dataclass(frozen=True, slots=True)
class Directives:
    """Pragmas on loops by label, as a row of the data has them.

    ``L2:pipeline`` is a pipeline without an interval: the tool aims at 1. ``L2:unroll=1`` does not
    occur in the files: a slot at 1 is left out of the row, though the source has the pragma.
    """

    pragmas: tuple[Pragma, ...] = ()

    @staticmethod
    def parse(text: str) -> Directives:
        """Read ``L1:pipeline;L2:unroll=4``; ``none`` is nothing.

        Raises:
            InputError: W511, it is not of this form.
        """
        if text == "none":
            return Directives()
        return Directives(tuple(_pragma(part, text) for part in text.split(";")))

    def __str__(self) -> str:
        parts = [
            f"{p.loop}:pipeline" if isinstance(p, Pipeline) else f"{p.loop}:unroll={p.factor}"
            for p in self.pragmas
        ]
        return ";".join(parts) or "none"

    def pipelined(self) -> frozenset[str]:
        """The loops with a pipeline pragma."""
        return frozenset(p.loop for p in self.pragmas if isinstance(p, Pipeline))

    def factor(self, loop: str) -> int:
        """The unroll factor asked of a loop, 1 where there is none."""
        return next((p.factor for p in self.pragmas if p.loop == loop and isinstance(p, Unroll)), 1)

    def effective(self, program: Program) -> Directives:
        """Those that the tool does not ignore: what is below a pipelined loop is a no-op.

        (1,123 of 1,123 pairs of the data that differ in such an unroll have one label, and 110 of
        110 that differ in such a pipeline.)
        """
        asked, dead = self.pipelined(), set()
        for node, around in program.walk():
            if isinstance(node, Loop) and any(
                isinstance(a, Loop) and a.var in asked for a in around
            ):
                dead.add(node.var)
        return Directives(tuple(p for p in self.pragmas if p.loop not in dead))

    def schedule(self) -> Schedule:
        """The same as steps of a schedule, which may be refused (W212, W213)."""
        return Schedule(self.pragmas)


def _pragma(part: str, text: str) -> Pragma:
    loop, colon, directive = part.partition(":")
    if colon and loop[:1] == "L" and loop[1:].isdigit():
        if directive == "pipeline":
            return Pipeline(loop)
        name, _, factor = directive.partition("=")
        if name == "unroll" and factor.isdigit() and int(factor) > 0:
            return Unroll(loop, int(factor))
    raise InputError("W511", f"'{part}' in '{text}' is no directive")


def directives_of(row: Row, kernel: Converted) -> Directives:
    """What a row of the data asks of its kernel.

    Raises:
        InputError: W511: it is of another form, or names a loop that the kernel has not.
    """
    try:
        found = Directives.parse(row.directives)
    except InputError as error:
        raise error.at(row.where) from error
    known = {node.var for node, _ in kernel.program.walk() if isinstance(node, Loop)}
    for pragma in found.pragmas:
        if pragma.loop not in known:
            message = f"{row.where}: {row.kernel} has no loop '{pragma.loop}'"
            raise InputError("W511", message, help=did_you_mean(pragma.loop, known))
    return found


def design(kernel: Converted, directives: Directives) -> Kernel:
    """The design as a region tree.

    For many designs of a kernel, keep `plain` and put directives on it.

    Raises:
        ScheduleError: W201, a directive names a loop that is not there.
    """
    return with_directives(plain(kernel), directives.pragmas)


def written(facts: Facts, kernel: Converted) -> frozenset[str]:
    """The loops that the tool does not unroll by itself.

    A loop with a slot for an unroll factor has the pragma also where the slot is at 1, and the
    loops of a copy stand for a ``memcpy``.
    """
    slots = {s.loop for s in facts.slots if s.directive == "unroll"}
    source = {n.var for n, _ in kernel.program.walk() if isinstance(n, Loop)}
    return frozenset(slots | {v for v in source if v.startswith(("in_", "out_"))})


def plain(kernel: Converted) -> Kernel:
    """The region tree without directives, and without the copies that no label has.

    Arrays have the extents of the source, also where that indexes them beyond their ends.
    """
    tree = kernel_of_tree(source_tree(kernel.program, kernel.trips, kernel.added))
    shapes = kernel.declared
    memories = (replace(m, shape=shapes.get(m.name, m.shape)) for m in tree.memories)
    tree = replace(tree, memories=tuple(memories))
    if not kernel.powers:
        return tree
    powers = frozenset(kernel.powers)
    functions = tuple(replace(f, body=_powers(f.body, powers)) for f in tree.functions)
    return replace(tree, functions=functions)


def _powers(nodes: tuple[RegionNode, ...], names: frozenset[str]) -> tuple[RegionNode, ...]:
    """The products of a value with itself in these statements as what the source has: a ``pow``."""
    found: list[RegionNode] = []
    for node in nodes:
        match node:
            case region.Statement(name=name) if name in names:
                ops = (replace(op, kind="pow") if _squares(op) else op for op in node.ops)
                found.append(replace(node, ops=tuple(ops)))
            case region.Loop() | region.Guard():
                found.append(replace(node, body=_powers(node.body, names)))
            case region.Statement():
                found.append(node)
            case _:
                assert_never(node)
    return tuple(found)


def _squares(op: region.Op) -> bool:
    return op.kind == "mul" and len(set(op.operands)) == 1


def source_tree(
    program: Program, trips: Mapping[str, TripCount], without: tuple[str, ...] = ()
) -> LoopTree:
    """The loops as they are written: guards stay guards, every loop keeps its bounds.

    Args:
        program: its loop variables are unique.
        trips: of the loops whose bounds are not constant, by variable.
        without: statements that are left out, with the loops that hold nothing else.
    """
    return LoopTree(program, tuple(_nodes(program.body, trips, without, ())))


def _nodes(
    nodes: tuple[Node, ...],
    trips: Mapping[str, TripCount],
    without: tuple[str, ...],
    around: tuple[str, ...],
) -> Iterator[TreeNode]:
    for node in nodes:
        match node:
            case Loop(var, lowers, uppers, step, body):
                inner = tuple(_nodes(body, trips, without, (*around, var)))
                if inner:
                    yield TreeLoop(
                        var, var, lowers, uppers, step, inner, trip=trips.get(var), span=node.span
                    )
            case If(cond, then, orelse):
                for test, part in ((cond, then), (negate(cond), orelse)):
                    inner = tuple(_nodes(part, trips, without, around))
                    if inner:
                        yield from (TreeGuard(case, inner) for case in disjoint(test))
            case Stmt(name=name):
                if name not in without:
                    yield Instance(node, tuple((v, Affine.of(v)) for v in around))
            case _:
                assert_never(node)


def disjoint(cond: Cond) -> list[tuple[Constraint, ...]]:
    """Conjunctions of which exactly one holds where the condition does, else none."""
    match cond:
        case Constraint():
            return [(cond,)]
        case And(parts):
            found: list[tuple[Constraint, ...]] = [()]
            for part in parts:
                found = [(*a, *b) for a in found for b in disjoint(part)]
            return found
        case Or(parts):
            cases: list[tuple[Constraint, ...]] = []
            for k, part in enumerate(parts):
                before = tuple(negate(p) for p in parts[:k])
                cases += disjoint(And((*before, part)))
            return cases
    assert_never(cond)
