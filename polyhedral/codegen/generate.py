"""From level 2 to loops: isl's AST build, then a `LoopTree`, proven to run as scheduled.

Each top-level nest is built by itself. `polyhedral.codegen.coverage` proves that its loops run
every iteration once, `polyhedral.codegen.tree_order` that they run them in the scheduled order; a
nest for which either fails is built in another style (`polyhedral.codegen.nest_ast`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, product
from operator import itemgetter

import islpy as isl

from dsl.errors.errors import IRError
from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.expr import loads
from dsl.schedules.pragma_steps import Leave
from polyhedral.codegen.ast_expr import (
    Env,
    NotABoundError,
    NotAffineError,
    alternatives,
    bounds,
    cases,
    upper,
)
from polyhedral.codegen.coverage import covers, covers_statements
from polyhedral.codegen.distances import distances
from polyhedral.codegen.exits import with_exits
from polyhedral.codegen.guarded_apart import guarded_apart
from polyhedral.codegen.guards_outside import guards_outside
from polyhedral.codegen.independent import LoopOrigin, independent
from polyhedral.codegen.isl_ast import flat_block
from polyhedral.codegen.kept_loops import Keeper, left_out
from polyhedral.codegen.nest_ast import Nest, Style, TooLargeError, build_nest
from polyhedral.codegen.regions import check_regions
from polyhedral.codegen.tree_order import prove_order
from polyhedral.dataflow.processes import process_names
from polyhedral.legality.lifetimes import components
from polyhedral.legality.loop_regions import region_at
from polyhedral.looptree.settled import settled
from polyhedral.looptree.tree import (
    Instance,
    LocalPlacement,
    LoopTree,
    TreeGuard,
    TreeLoop,
    TreeNode,
)
from polyhedral.looptree.trips import trip_count
from polyhedral.requests.tables import auto_partitioned
from polyhedral.scop.conjunctions import Conjunction, both, conjunctions
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop


def loop_tree(state: ScheduledScop, styles: Sequence[Style] = tuple(Style)) -> LoopTree:
    """The loops, guards and statement instances that run the program under its schedule.

    Args:
        state: the schedule.
        styles: how nests may be built; the first that is proven is taken.

    Raises:
        IRError: W314, in no style the loops are proven to run as scheduled.
        ScheduleError: W220, a loop whose iterations are to overlap came out as one whose cannot.
    """
    nests: dict[int, list[Piece]] = {}
    for piece in state.pieces:
        nests.setdefault(piece.place[0], []).append(piece)
    ordered = [pieces for _, pieces in sorted(nests.items())]
    walker = _Walker(state, styles)
    body = tuple(node for pieces in ordered for node in walker.nest(pieces))
    if kept := left_out(state, walker.origins):
        walker = _Walker(state, styles, kept)
        body = tuple(node for pieces in ordered for node in walker.nest(pieces))
    if not covers_statements(state):
        raise IRError("W314", "the pieces of the schedule are not the iterations of the program")
    origins = {iv: origin for iv, origin in walker.origins.items() if iv in walker.aligned}
    tree = LoopTree(
        state.scop.program,
        body,
        state.partitions,
        state.storage,
        state.operators,
        state.interfaces,
        tuple(_placement(state, body, origins, a.name) for a in state.scop.program.locals),
        independent(state, body, origins),
        process_names(state),
        state.streams,
        distances(body, frozenset(r.array for r in state.reshapes)),
        state.packs,
        auto_partitioned(state),
        state.reshapes,
        state.stables,
        state.caches,
        state.pipeline,
    )
    if state.overlaps:
        check_regions(state, tree)
    return with_exits(tree, [step for _, step in state.promised if isinstance(step, Leave)])


def nest_nodes(state: ScheduledScop, place: int) -> tuple[TreeNode, ...]:
    """The loops of one top-level nest, as `loop_tree` has them but for what is kept of loops of one iteration.

    Args:
        state: the schedule.
        place: of the nest among all of the program.

    Raises:
        IRError: W314, in no style the loops are proven to run as scheduled.
    """
    pieces = [piece for piece in state.pieces if piece.place[0] == place]
    return _Walker(state, tuple(Style)).nest(pieces)


_COPIES = {Style.EXACT: 32, Style.RELAXED: 512, Style.BOXED: 512}
"""Of one statement, on average: a nest that comes out larger is built in another style if it can
be. Loops multiply the cases of conditions, guards have them side by side.
"""

_OPERATIONS = 1_000_000
"""Of isl for each piece of such a nest."""


@dataclass(slots=True)
class _Walker:
    """Turns isl's AST into tree nodes; ``origins`` records where each loop comes from, ``aligned``
    the loops of which every iteration is one of a scheduled loop (see
    `polyhedral.codegen.tree_order`). Loops of one iteration are left out, but for those in
    ``kept``.
    """

    state: ScheduledScop
    styles: Sequence[Style]
    kept: frozenset[LoopId] = frozenset()
    origins: dict[str, LoopOrigin] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    aligned: set[str] = field(default_factory=set)
    room: int | None = None  # for so many more instances

    def nest(self, pieces: list[Piece]) -> tuple[TreeNode, ...]:
        """The nodes of one top-level nest, proven to run as scheduled."""
        if all(not p.dims for p in pieces):
            return tuple(Instance(p.statement.stmt, (), p.place) for p in pieces)
        names = ", ".join(dict.fromkeys(p.name for p in pieces))
        refusal = IRError("W314", f"the loops built for {names} are not proven to run as scheduled")
        for limited, style in product((True, False), self.styles):
            before = (dict(self.origins), dict(self.used))
            self.room = _COPIES[style] * len(pieces) if limited else None
            try:
                nest = build_nest(pieces, style, _OPERATIONS * len(pieces) if limited else 0)
                nodes = settled(self._visit(nest, nest.ast, {}, ()))
                keeper = Keeper(self.kept, pieces, self.origins, self._fresh)
                nodes = guards_outside(keeper.put_back(nodes))
                if self._is_proven(nodes, pieces, patient=not limited):
                    return nodes
            except TooLargeError:
                pass  # in another style, or at last without a limit
            except NotAffineError as error:
                refusal = error  # in another style
            self.origins, self.used = before
        raise refusal

    def _is_proven(
        self, nodes: tuple[TreeNode, ...], pieces: list[Piece], *, patient: bool
    ) -> bool:
        """Whether the nodes run every iteration of the pieces once, in the scheduled order."""
        if not covers(nodes, pieces):
            return False
        proof = prove_order(nodes, self.state, patient=patient)
        self.aligned |= proof.aligned
        return proof.holds

    def _visit(
        self,
        nest: Nest,
        node: isl.AstNode,
        env: Env,
        around: tuple[TreeLoop, ...],
    ) -> tuple[TreeNode, ...]:
        kind = node.get_type()
        if kind == isl.ast_node_type.block:
            return self._block(nest, node, env, around)
        if kind == isl.ast_node_type.if_:
            return self._guard(nest, node, env, around)
        if kind == isl.ast_node_type.for_:
            return self._loop(nest, node, env, around)
        return _of_guards([self._instances(nest, node, env)])

    def _block(
        self, nest: Nest, node: isl.AstNode, env: Env, around: tuple[TreeLoop, ...]
    ) -> tuple[TreeNode, ...]:
        found: list[TreeNode] = []
        instances: list[list[tuple[Conjunction, Instance]]] = []
        for child in flat_block(node):
            if child.get_type() == isl.ast_node_type.user:
                instances.append(self._instances(nest, child, env))
                continue
            found += _of_guards(instances)
            instances = []
            found += self._visit(nest, child, env, around)
        return (*found, *_of_guards(instances))

    def _guard(
        self, nest: Nest, node: isl.AstNode, env: Env, around: tuple[TreeLoop, ...]
    ) -> tuple[TreeNode, ...]:
        # An IntegerSet is a conjunction: anything else becomes guards that exclude each other.
        found: list[TreeNode] = []
        for part in alternatives(node.if_get_cond(), env):
            found += _guarded(part, self._visit(nest, node.if_get_then_node(), env, around))
        if node.if_has_else_node():
            for part in alternatives(node.if_get_cond(), env, holds=False):
                found += _guarded(part, self._visit(nest, node.if_get_else_node(), env, around))
        return tuple(found)

    def _loop(
        self, nest: Nest, node: isl.AstNode, env: Env, around: tuple[TreeLoop, ...]
    ) -> tuple[TreeNode, ...]:
        init = node.for_get_init()
        found: list[TreeNode] = []
        if node.for_is_degenerate():
            iterator = node.for_get_iterator().get_id().get_name()
            for when, value in cases(init, env):
                inner = {**env, iterator: value}
                found += _guarded(when, self._visit(nest, node.for_get_body(), inner, around))
            return tuple(found)
        last, extra = upper(node.for_get_cond())
        try:
            lowers = bounds(init, env, isl.ast_expr_op_type.max)
            uppers = bounds(last, env, isl.ast_expr_op_type.min)
            return self._counted(nest, node, env, around, (lowers, _plus(uppers, extra)))
        except NotABoundError:
            for when, low in cases(init, env):
                for also, high in cases(last, env):
                    limits = ((low,), (high + extra,))
                    loop = self._counted(nest, node, env, around, limits)
                    found += _guarded((*when, *also), loop)
            return tuple(found)

    def _counted(
        self,
        nest: Nest,
        node: isl.AstNode,
        env: Env,
        around: tuple[TreeLoop, ...],
        limits: tuple[tuple[Affine, ...], tuple[Affine, ...]],
    ) -> tuple[TreeNode, ...]:
        """A loop with the given lower and (exclusive) upper bounds."""
        iterator = node.for_get_iterator().get_id().get_name()
        level = nest.times[int(iterator[1:])]
        assert level is not None, "a static place has one value"
        body_node = node.for_get_body()
        pieces = tuple(dict.fromkeys(_pieces_below(nest, body_node)))
        dim = pieces[0].dims[level]
        iv = self._fresh(dim.name)
        self.origins[iv] = LoopOrigin(level, pieces)
        step = node.for_get_inc().get_val().to_python()
        loop = TreeLoop(
            iv, dim.name, *limits, step, (), dim.pipeline_ii, dim.unroll, dim.flatten,
            sequential=dim.sequential, requests=dim.requests, span=dim.span,
        )  # fmt: skip
        trip = None if loop.constant_trip is not None else trip_count(loop, around)
        body = self._visit(nest, body_node, {**env, iterator: Affine.of(iv)}, (*around, loop))
        processes = region_at(self.state, pieces[0], level)
        if processes:
            body = guarded_apart(body, processes)
        return (replace(loop, body=body, trip=trip, processes=processes),)

    def _instances(
        self, nest: Nest, node: isl.AstNode, env: Env
    ) -> list[tuple[Conjunction, Instance]]:
        """One call of a statement, in cases that exclude each other."""
        call = node.user_get_expr()
        position = int(call.get_op_arg(0).get_id().get_name()[1:])
        piece = nest.pieces[position]
        found: list[tuple[Conjunction, Instance]] = []
        arguments = (cases(call.get_op_arg(k + 1), env) for k in range(len(piece.dims)))
        for choice in product(*arguments):
            time = tuple(value for _, value in choice)
            values = dict(zip(piece.names, time, strict=True))
            bound = tuple((v, e.substitute(values)) for v, e in piece.bindings)
            instance = Instance(piece.statement.stmt, bound, piece.place, time)
            for guard in nest.guards[position]:
                own = (conjunctions(Constraint(c.expr.substitute(values), c.kind)) for c in guard)
                when = both(*([conditions] for conditions, _ in choice), *own)
                found += [(conjunction, instance) for conjunction in when]
        if self.room is not None:
            self.room -= len(found)
            if self.room < 0:
                raise TooLargeError
        return found

    def _fresh(self, name: str) -> str:
        count = self.used.get(name, 0)
        self.used[name] = count + 1
        return name if count == 0 else f"{name}.{count + 1}"


def _plus(values: tuple[Affine, ...], extra: int) -> tuple[Affine, ...]:
    return tuple(v + extra for v in values)


def _of_guards(calls: list[list[tuple[Conjunction, Instance]]]) -> tuple[TreeNode, ...]:
    """Calls that follow each other, each in cases that exclude each other; calls in the same cases
    are put together, case by case.
    """
    found: list[TreeNode] = []
    conditions = [tuple(when for when, _ in call) for call in calls]
    for cond, group in groupby(zip(conditions, calls, strict=True), key=itemgetter(0)):
        for case, instances in zip(
            cond, zip(*(call for _, call in group), strict=True), strict=True
        ):
            found += _guarded(case, tuple(instance for _, instance in instances))
    return tuple(found)


def _guarded(cond: Conjunction, body: tuple[TreeNode, ...]) -> tuple[TreeNode, ...]:
    return (TreeGuard(cond, body),) if cond else body


def _pieces_below(nest: Nest, node: isl.AstNode) -> Iterator[Piece]:
    """The pieces whose instances are below an AST node."""
    kind = node.get_type()
    if kind == isl.ast_node_type.user:
        name = node.user_get_expr().get_op_arg(0).get_id().get_name()
        yield nest.pieces[int(name[1:])]
    elif kind == isl.ast_node_type.for_:
        yield from _pieces_below(nest, node.for_get_body())
    elif kind == isl.ast_node_type.if_:
        yield from _pieces_below(nest, node.if_get_then_node())
        if node.if_has_else_node():
            yield from _pieces_below(nest, node.if_get_else_node())
    else:
        for child in flat_block(node):
            yield from _pieces_below(nest, child)


def _placement(
    state: ScheduledScop, body: tuple[TreeNode, ...], origins: Mapping[str, LoopOrigin], name: str
) -> LocalPlacement:
    """As deep as all accesses share loops, where each scope lives in one iteration of them."""
    array = state.scop.program.array(name)
    if array.scope_depth == 0:
        return LocalPlacement(name, None)
    groups = components(state, array)
    if groups is None or len(groups) != 1:
        return LocalPlacement(name, None)
    shared = groups[0][1]
    chains = list(_chains(body, name, ()))
    common: str | None = None
    for ivs in zip(*chains, strict=False):
        if len(set(ivs)) > 1 or ivs[0] not in origins or origins[ivs[0]].level >= shared:
            break
        common = ivs[0]
    return LocalPlacement(name, common)


def _chains(
    nodes: tuple[TreeNode, ...], array: str, around: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    """The loops around each instance that accesses the array."""
    for node in nodes:
        match node:
            case Instance(stmt):
                if array == stmt.target.array or any(a.array == array for a in loads(stmt.value)):
                    yield around
            case TreeLoop():
                yield from _chains(node.body, array, (*around, node.iv))
            case TreeGuard():
                yield from _chains(node.body, array, around)
