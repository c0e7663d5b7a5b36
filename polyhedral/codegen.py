"""From level 2 to loops: isl's AST build, then a `LoopTree`.

Each top-level nest is built by itself, over as few time dimensions as tell its pieces apart; that
keeps isl's work small. (Grosser, Verdoolaege, Cohen, Polyhedral AST generation is more than
scanning polyhedra, 2015.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import islpy as isl

from dsl.affine import Affine, Constraint
from dsl.errors import IRError
from dsl.expr import loads
from polyhedral.ast_expr import (
    Conjunction,
    Env,
    NotABoundError,
    alternatives,
    bounds,
    cases,
    complement,
    upper,
)
from polyhedral.coverage import covers, domain_guards, relaxed
from polyhedral.independent import LoopOrigin, independent
from polyhedral.isl_ast import flat_block
from polyhedral.isl_text import dims, map_of
from polyhedral.lifetimes import components
from polyhedral.looptree import (
    Instance,
    LocalPlacement,
    LoopTree,
    TreeGuard,
    TreeLoop,
    TreeNode,
)
from polyhedral.processes import process_names
from polyhedral.scheduled import Piece, ScheduledScop
from polyhedral.settled import settled
from polyhedral.trips import trip_count


def loop_tree(state: ScheduledScop) -> LoopTree:
    """The loops, guards and statement instances that run the program under its schedule."""
    nests: dict[int, list[Piece]] = {}
    for piece in state.pieces:
        nests.setdefault(piece.place[0], []).append(piece)
    walker = _Walker()
    body = settled(tuple(node for pieces in nests.values() for node in walker.nest(pieces)))
    return LoopTree(
        state.scop.program,
        body,
        state.partitions,
        state.storage,
        state.operators,
        state.interfaces,
        tuple(_placement(state, body, walker.origins, a.name) for a in state.scop.program.locals),
        independent(state, body, walker.origins),
        process_names(state),
        state.streams,
    )


@dataclass(frozen=True, slots=True)
class _Nest:
    """What the AST of one nest is built from: ``times[k]`` is the loop level of time dimension k,
    or None where the dimension is a static place.
    """

    pieces: list[Piece]
    times: list[int | None]
    ast: isl.AstNode
    guarded: bool  # the loops run over more than the domains, each instance is guarded


def _build(pieces: list[Piece], guarded: bool = False) -> _Nest:
    deepest = max(len(p.dims) for p in pieces)
    told = [
        k > 0 and len({p.place[k] if k < len(p.place) else -1 for p in pieces}) > 1
        for k in range(deepest + 1)
    ]
    times: list[int | None] = []
    for k in range(deepest + 1):
        times += [None] if told[k] else []
        times += [k] if k < deepest else []
    union: isl.UnionMap | None = None
    for n, piece in enumerate(pieces):
        names = dims(len(piece.dims), "t")
        vector: list[str] = []
        for k in range(deepest + 1):
            vector += [str(piece.place[k]) if k < len(piece.place) else "0"] if told[k] else []
            vector += [names[k] if k < len(names) else "0"] if k < deepest else []
        space = f"p{n}[{', '.join(names)}]"
        time = map_of(f"{{ {space} -> [{', '.join(vector)}] }}")
        hull = relaxed(piece.hull) if guarded else piece.hull
        time = time.intersect_domain(hull.set_tuple_name(f"p{n}"))
        one = isl.UnionMap.from_map(time)
        union = one if union is None else union.union(one)
    build = isl.AstBuild.from_context(_context())
    ids = isl.IdList.alloc(isl.DEFAULT_CONTEXT, len(times))
    for k in range(len(times)):
        ids = ids.add(isl.Id(f"c{k}"))
    return _Nest(pieces, times, build.set_iterators(ids).node_from_schedule_map(union), guarded)


def _context() -> isl.Set:
    context = isl.DEFAULT_CONTEXT
    # Guards must fit an affine.if (a conjunction), upper bounds a min.
    context.set_ast_build_allow_or(0)
    context.set_ast_build_atomic_upper_bound(1)
    context.set_ast_build_detect_min_max(1)
    return isl.Set("{ : }")


@dataclass(slots=True)
class _Walker:
    """Turns isl's AST into tree nodes; ``origins`` records where each loop comes from."""

    origins: dict[str, LoopOrigin] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)

    def nest(self, pieces: list[Piece]) -> tuple[TreeNode, ...]:
        """The nodes of one top-level nest."""
        if all(not p.dims for p in pieces):
            return tuple(Instance(p.statement.stmt, ()) for p in pieces)
        for guarded in (False, True):
            before = (dict(self.origins), dict(self.used))
            nest = _build(pieces, guarded)
            nodes = self._visit(nest, nest.ast, {}, ())
            if covers(nodes, pieces):
                return nodes
            self.origins, self.used = before
        names = ", ".join(dict.fromkeys(p.name for p in pieces))
        raise IRError("W314", f"the loops built for {names} do not run exactly its iterations")

    def _visit(
        self,
        nest: _Nest,
        node: isl.AstNode,
        env: Env,
        around: tuple[TreeLoop, ...],
    ) -> tuple[TreeNode, ...]:
        kind = node.get_type()
        if kind == isl.ast_node_type.block:
            children = flat_block(node)
            return tuple(n for child in children for n in self._visit(nest, child, env, around))
        if kind == isl.ast_node_type.if_:
            return self._guard(nest, node, env, around)
        if kind == isl.ast_node_type.for_:
            return self._loop(nest, node, env, around)
        return self._instance(nest, node, env)

    def _guard(
        self, nest: _Nest, node: isl.AstNode, env: Env, around: tuple[TreeLoop, ...]
    ) -> tuple[TreeNode, ...]:
        # An IntegerSet is a conjunction: anything else becomes guards that exclude each other.
        met = alternatives(node.if_get_cond(), env)
        found: list[TreeNode] = []
        for part in met:
            found += _guarded(part, self._visit(nest, node.if_get_then_node(), env, around))
        if node.if_has_else_node():
            for part in complement(met):
                found += _guarded(part, self._visit(nest, node.if_get_else_node(), env, around))
        return tuple(found)

    def _loop(
        self, nest: _Nest, node: isl.AstNode, env: Env, around: tuple[TreeLoop, ...]
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
        nest: _Nest,
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
            iv, dim.name, *limits, step, (), dim.pipeline_ii, dim.unroll, dim.flatten, span=dim.span
        )
        trip = None if loop.constant_trip is not None else trip_count(loop, around)
        body = self._visit(nest, body_node, {**env, iterator: Affine.of(iv)}, (*around, loop))
        return (replace(loop, body=body, trip=trip),)

    def _instance(self, nest: _Nest, node: isl.AstNode, env: Env) -> tuple[TreeNode, ...]:
        call = node.user_get_expr()
        piece = nest.pieces[int(call.get_op_arg(0).get_id().get_name()[1:])]
        found: list[TreeNode] = []
        arguments = (cases(call.get_op_arg(k + 1), env) for k in range(len(piece.dims)))
        for choice in product(*arguments):
            when = tuple(c for conditions, _ in choice for c in conditions)
            values = {d.name: v for d, (_, v) in zip(piece.dims, choice, strict=True)}
            bound = tuple((v, e.substitute(values)) for v, e in piece.bindings)
            guards = [Constraint(g.expr.substitute(values), g.kind) for g in piece.guards]
            instance = (Instance(piece.statement.stmt, bound),)
            domain = domain_guards(piece.statement) if nest.guarded else [()]
            for part in domain:
                own = (Constraint(c.expr.substitute(dict(bound)), c.kind) for c in part)
                found += _guarded((*when, *guards, *own), instance)
        return tuple(found)

    def _fresh(self, name: str) -> str:
        count = self.used.get(name, 0)
        self.used[name] = count + 1
        return name if count == 0 else f"{name}.{count + 1}"


def _plus(values: tuple[Affine, ...], extra: int) -> tuple[Affine, ...]:
    return tuple(v + extra for v in values)


def _guarded(cond: Conjunction, body: tuple[TreeNode, ...]) -> tuple[TreeNode, ...]:
    return (TreeGuard(cond, body),) if cond else body


def _pieces_below(nest: _Nest, node: isl.AstNode) -> Iterator[Piece]:
    """The pieces whose instances are below an AST node."""
    kind = node.get_type()
    if kind == isl.ast_node_type.user:
        name = node.user_get_expr().get_op_arg(0).get_id().get_name()
        yield nest.pieces[int(name[1:])]
    elif kind == isl.ast_node_type.for_:
        yield from _pieces_below(nest, node.for_get_body())
    elif kind == isl.ast_node_type.if_:
        yield from _pieces_below(nest, node.if_get_then_node())
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
        if len(set(ivs)) > 1 or origins[ivs[0]].level >= shared:
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
