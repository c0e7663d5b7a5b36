"""A loop nest that updates an array with its own pivot row and column, with copies of these in their place.

Before, at pivot ``k``::

    for i in range(N):
      for j in range(N):
        S0: d[i, j] = f(d[i, j], d[i, k], d[k, j])

After (each loop its own nest)::

    d_at_i_j[] = d[k, k];  for j: d_at_i[j] = d[k, j];  for i: d_at_j[i] = d[i, k]
    d_new_at_i_j[] = f(d_at_i_j[], d_at_i_j[], d_at_i_j[])
    for j: d_new_at_i[j] = f(d_at_i[j], d_new_at_i_j[] if k < j else d_at_i_j[], d_at_i[j])
    for i: d_new_at_j[i] = f(d_at_j[i], d_at_j[i], d_new_at_i_j[] if k < i else d_at_i_j[])
    for i:
      for j:
        S0: d[i, j] = f(d[i, j], d_new_at_j[i] if k < j else d_at_j[i], d_new_at_i[j] if k < i else d_at_i[j])

Which loops are fixed at the pivot says which copy it is: ``d_at_i`` has the elements of ``i = k``. Whether that computes the
same is for `polyhedral.legality.recomputed` to prove.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dsl.expressions import typing
from dsl.expressions.affine import Affine, map_cond
from dsl.expressions.expr import (
    Access,
    BinaryOp,
    CompareOp,
    Const,
    Expr,
    Index,
    Load,
    Select,
    loads,
    map_leaves,
)
from dsl.programs.names import unused
from dsl.programs.pivots import Fixed, NestOfPivot, NoPivotError, Runs, nest_of
from dsl.programs.program import (
    Array,
    If,
    Loop,
    Node,
    Program,
    Stmt,
    Storage,
    replaced,
    statements_in,
)
from dsl.programs.scopes import ordered_locals


@dataclass(frozen=True, slots=True)
class Pivoted:
    """The rewritten program.

    ``origins`` are the statements that compute again what another one does: that one, and in which of its iterations.
    """

    program: Program
    origins: Mapping[str, tuple[str, tuple[Affine, ...]]]


def with_pivot(program: Program, name: str, level: int, runs: Runs) -> Pivoted:
    """The program with copies of the pivot row and column in each nest of a loop that reads them.

    Args:
        program: the kernel.
        name: a statement.
        level: of its loops, that whose iteration is the pivot, counted from the outermost.
        runs: whether a statement runs where some of its loops are fixed: always, never or, None, now and then.

    Raises:
        NoPivotError: no nest is of this kind.
    """
    around = next(
        tuple(a for a in loops if isinstance(a, Loop))
        for node, loops in program.walk()
        if isinstance(node, Stmt) and node.name == name
    )
    loop = around[level]
    made = _Names(
        {a.name for a in program.arrays}
        | {n.var for n, _ in program.walk() if isinstance(n, Loop)},
        {s.name for s in program.statements()},
    )
    body: list[Node] = []
    copies: list[_Copies] = []
    for node in loop.body:
        nest = nest_of(program, around[: level + 1], node, runs)
        if nest is None:
            body.append(node)
            continue
        copies.append(_Copies(program, nest, made, runs))
        body += copies[-1].nodes()
    if not copies:
        raise NoPivotError(f"no nest in '{loop.var}' reads a row or column that it updates")
    new = replace(loop, body=tuple(body))
    arrays = (*program.arrays, *(a for c in copies for a in c.arrays))
    whole = replace(program, arrays=arrays, body=replaced(program.body, (loop,), (new,)))
    origins = {n: o for c in copies for n, o in c.origins.items()}
    return Pivoted(ordered_locals(whole), origins)


@dataclass(slots=True)
class _Names:
    """Names that nothing has yet; each is given once."""

    arrays: set[str]
    stmts: set[str]

    def array(self, base: str) -> str:
        found = unused(base, self.arrays)
        self.arrays.add(found)
        return found

    def stmt(self, base: str) -> str:
        found = unused(base, self.stmts)
        self.stmts.add(found)
        return found


@dataclass(slots=True)
class _Copies:
    """Makes the copies of one nest, and what computes their new values.

    ``old`` and ``new`` are names of copies: of an array with some loops fixed at the pivot, before the nest and behind it.
    ``private`` are the names of locals of iterations in what computes new values.
    """

    program: Program
    nest: NestOfPivot
    names: _Names
    runs: Runs
    old: dict[tuple[str, Fixed], str] = field(default_factory=dict)
    new: dict[tuple[str, Fixed], str] = field(default_factory=dict)
    private: dict[tuple[str, Fixed], str] = field(default_factory=dict)
    arrays: list[Array] = field(default_factory=list)
    origins: dict[str, tuple[str, tuple[Affine, ...]]] = field(default_factory=dict)

    def nodes(self) -> tuple[Node, ...]:
        """What stands in the place of the nest."""
        nest = self.nest.node
        (main,) = _mapped(nest, (), {}, lambda s: self._reading(s, ()))
        again: dict[Fixed, tuple[Node, ...]] = {}
        while todo := [fixed for _, fixed in self.new if not self._is_done(fixed, again)]:
            fixed = todo[0]
            again[fixed] = self._again(fixed)
        # All that works on one row or column stands together, so that it can share loops.
        copies = sorted(self.old, key=lambda key: key[0])
        found: list[Node] = []
        for fixed in sorted(
            {loops for _, loops in self.old}, key=lambda loops: (-len(loops), self._at(loops))
        ):
            found += [
                n for array, loops in copies if loops == fixed for n in self._copy(array, fixed)
            ]
            found += again.get(fixed, ())
        return (*found, main)

    def _is_done(self, fixed: Fixed, again: Mapping[Fixed, tuple[Node, ...]]) -> bool:
        """Whether all new values with these loops fixed are computed already."""
        made = {s.target.array for node in again.get(fixed, ()) for s in statements_in(node)}
        return all(n in made for (_, loops), n in self.new.items() if loops == fixed)

    def _at(self, fixed: Fixed) -> tuple[int, ...]:
        order = list(self.nest.at)
        return tuple(order.index(v) for v in fixed)

    # ----------------------------------------------------------------------------- the copies

    def _name(self, kind: dict[tuple[str, Fixed], str], array: str, fixed: Fixed) -> str:
        """The copy of an array, made when first asked for."""
        known = kind.get((array, fixed))
        if known is None:
            word = "new_at" if kind is self.new else "at"
            known = self.names.array("_".join((array, word, *fixed)))
            kind[array, fixed] = known
            own = self.program.array(array)
            shape = tuple(own.shape[d] for d in self.nest.free(array, fixed))
            depth = self.nest.depth
            self.arrays.append(
                Array(known, own.dtype, shape, Storage.LOCAL, False, depth, own.span)
            )
        return known

    def _element(self, kind: dict[tuple[str, Fixed], str], array: str, fixed: Fixed) -> Load:
        """What the copy has of the element that an iteration assigns."""
        indices = self.nest.writers[array].stmt.target.indices
        at = tuple(indices[d] for d in self.nest.free(array, fixed))
        access = Access(self._name(kind, array, fixed), at)
        return Load(access, self.program.array(array).dtype)

    def _copy(self, array: str, fixed: Fixed) -> tuple[Node, ...]:
        """The loops that copy the elements."""
        writer, values = self.nest.writers[array].stmt, self.nest.values(fixed)
        copy = self._element(self.old, array, fixed).access

        def own(stmt: Stmt) -> Stmt | None:
            if stmt is not writer:
                return None
            source = _placed(stmt.target, values)
            value = Load(source, self.program.array(array).dtype)
            name = self.names.stmt(f"copy_{copy.array}")
            return Stmt(name, copy, value, stmt.span, f"{copy} = {source}")

        return _mapped(self.nest.node, fixed, values, own, free=True)

    # ------------------------------------------------------------------------- the new values

    def _again(self, fixed: Fixed) -> tuple[Node, ...]:
        """The nest with some loops fixed, as far as it computes the new values that are asked for."""
        needed = self._needed(fixed)
        values = self.nest.values(fixed)

        def own(stmt: Stmt) -> Stmt | None:
            if stmt.name not in needed:
                return None
            name = self.names.stmt("_".join((stmt.name, "at", *fixed)))
            around = self.nest.statements[stmt.name].around
            at = tuple(values.get(loop.var, Affine.of(loop.var)) for loop in around)
            self.origins[name] = stmt.name, at
            made = self._reading(stmt, fixed)
            target = self._target(stmt, fixed)
            return replace(made, name=name, target=target, source=f"{target}, as {stmt.name}")

        return _mapped(self.nest.node, fixed, values, own)

    def _needed(self, fixed: Fixed) -> set[str]:
        """The statements that new values are computed by."""
        found: set[str] = set()
        asked = [self.nest.writers[a].stmt for a, loops in self.new if loops == fixed]
        while asked:
            stmt = asked.pop()
            if stmt.name in found:
                continue
            found.add(stmt.name)
            read = {a.array for a in loads(stmt.value)}
            inner = [s.stmt for s in self.nest.statements.values()]
            asked += [s for s in inner if s.target.array in read & self.nest.private]
        return found

    def _target(self, stmt: Stmt, fixed: Fixed) -> Access:
        if stmt.target.array in self.nest.private:
            return self._own(stmt.target, fixed)
        return self._element(self.new, stmt.target.array, fixed).access

    def _own(self, access: Access, fixed: Fixed) -> Access:
        """A local of an iteration, of which what computes new values has one of its own."""
        key = access.array, fixed
        if key not in self.private:
            self.private[key] = self.names.array("_".join((access.array, "at", *fixed)))
            array = self.program.array(access.array)
            user = next(
                s for s in self.nest.statements.values() if s.stmt.target.array == array.name
            )
            loops = user.around[: array.scope_depth]
            depth = sum(loop.var not in fixed for loop in loops)
            self.arrays.append(replace(array, name=self.private[key], scope_depth=depth))
        return replace(_placed(access, self.nest.values(fixed)), array=self.private[key])

    # ------------------------------------------------------------------------------ what is read

    def _reading(self, stmt: Stmt, fixed: Fixed) -> Stmt:
        """The statement with some loops fixed, which reads copies."""
        values = self.nest.values(fixed)

        def leaf(expr: Const | Load | Index) -> Expr:
            match expr:
                case Index(affine=affine):
                    return replace(expr, affine=affine.substitute(values))
                case Load(access=access) if access.array in self.nest.writers:
                    return self._read(stmt, expr, fixed)
                case Load(access=access) if fixed and access.array in self.nest.private:
                    return replace(expr, access=self._own(access, fixed))
                case Load(access=access):
                    return replace(expr, access=_placed(access, values))
                case Const():
                    return expr

        return replace(stmt, value=map_leaves(stmt.value, leaf))

    def _read(self, stmt: Stmt, load: Load, fixed: Fixed) -> Expr:
        """What stands for a read of an array that the nest updates."""
        array = load.access.array
        own = self.nest.fixed_in(load.access)
        whole = self.nest.joined(array, own, fixed)
        if not whole:
            return load
        writer = self.nest.writers[array]
        old = self._element(self.old, array, whole)
        if self.runs(writer.stmt, self.nest.values(whole)) is False:
            return old
        cases = [*self.nest.cases(stmt, writer, own, fixed)]
        if not cases or self.nest.keeps(writer, whole):
            return old
        new = self._element(self.new, array, whole)
        if () in cases:
            return new
        return Select(_any(cases), new, old, load.dtype)


def _any(cases: Sequence[Sequence[tuple[CompareOp, Affine, Affine]]]) -> Expr:
    """That all comparisons of one of some cases hold, as a ``u1``."""

    def together(op: BinaryOp, parts: Sequence[Expr]) -> Expr:
        found = parts[0]
        for part in parts[1:]:
            found = typing.binary(op, found, part)
        return found

    alternatives = [
        together(BinaryOp.AND, [typing.compare(op, Index(a), Index(b)) for op, a, b in case])
        for case in cases
    ]
    return together(BinaryOp.OR, alternatives)


def _placed(access: Access, values: Mapping[str, Affine]) -> Access:
    indices = tuple(e.substitute(values) for e in access.indices)
    return replace(access, indices=indices, limits=())


def _mapped(
    node: Node,
    fixed: Fixed,
    values: Mapping[str, Affine],
    new: Callable[[Stmt], Stmt | None],
    *,
    free: bool = False,
) -> tuple[Node, ...]:
    """The node with some loops fixed at values, and each statement as another one, or left out; ``free`` of
    conditions, which say what is assigned, not what is read.
    """

    def inside(nodes: Sequence[Node]) -> tuple[Node, ...]:
        return tuple(m for n in nodes for m in _mapped(n, fixed, values, new, free=free))

    match node:
        case Stmt():
            made = new(node)
            return () if made is None else (made,)
        case Loop(var=var, body=body) if var in fixed:
            return inside(body)
        case Loop(lowers=lowers, uppers=uppers, body=body):
            own = inside(body)
            bounds = (tuple(e.substitute(values) for e in es) for es in (lowers, uppers))
            low, high = bounds
            return (replace(node, lowers=low, uppers=high, body=own),) if own else ()
        case If(cond=cond, then=then, orelse=orelse):
            first, second = inside(then), inside(orelse)
            if free:
                return (*first, *second)
            held = map_cond(cond, lambda e: e.substitute(values))
            return (replace(node, cond=held, then=first, orelse=second),) if first or second else ()
