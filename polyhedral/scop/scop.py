"""`Scop`: the static control part of a program: iteration domains, accesses, original order.

Level 1 and 2 start here. Each statement has an isl domain over its loop variables (dimension k is
the k-th loop around it), its access relations, and its place in the program's order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import islpy as isl

from dsl.expressions.affine import Affine, Cond, negate
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Gather,
    Load,
    Scatter,
    loads,
    stored_value,
)
from dsl.programs.program import If, Loop, Node, Program, Stmt
from polyhedral.isl.text import (
    affine_text,
    cond_text,
    conjunction,
    dims,
    map_of,
    positional,
    set_of,
    subscript_texts,
)


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement with the loops around it, outermost first.

    ``place`` holds the textual position at each level: ``place[k]`` orders what stands in the body
    of loop ``k - 1`` (``place[0]``: the function's body). Its length is the number of loops + 1.
    """

    index: int
    stmt: Stmt
    loops: tuple[Loop, ...]
    loop_ids: tuple[int, ...]
    conds: tuple[Cond, ...]
    place: tuple[int, ...]

    @property
    def name(self) -> str:
        """The statement's name in the program."""
        return self.stmt.name

    def touches(self, array: str) -> bool:
        """Whether it reads or writes an array."""
        return self.stmt.target.array == array or any(a.array == array for a in self.reads)

    @property
    def variables(self) -> tuple[str, ...]:
        """The loop variables, outermost first."""
        return tuple(loop.var for loop in self.loops)

    @property
    def space(self) -> str:
        """The statement's tuple in isl's syntax, e.g. ``s1[d0, d1]``."""
        return f"s{self.index}[{', '.join(dims(len(self.loops)))}]"

    @cached_property
    def domain(self) -> isl.Set:
        """The exact set of its iterations."""
        return self._iterations(self.conds)

    @cached_property
    def loop_domain(self) -> isl.Set:
        """What its loops run over, the conditions left out."""
        return self._iterations(())

    @cached_property
    def conditions(self) -> str:
        """The conditions of its domain in isl's syntax, over ``d0, d1, …``."""
        return self._conditions(self.conds)

    def _iterations(self, conds: tuple[Cond, ...]) -> isl.Set:
        return set_of(f"{{ {self.space} : {self._conditions(conds)} }}")

    def _conditions(self, conds: tuple[Cond, ...]) -> str:
        names = positional(self.variables)
        parts = [text for loop in self.loops for text in _loop_text(loop, names)]
        parts += [cond_text(cond, names) for cond in conds]
        return conjunction(parts)

    @cached_property
    def reads(self) -> tuple[Access, ...]:
        """Accesses that the statement reads, each once."""
        return tuple(dict.fromkeys(loads(self.stmt.value)))


def _loop_text(loop: Loop, names: dict[str, str]) -> Iterator[str]:
    var = names[loop.var]
    for low in loop.lowers:
        yield f"{var} >= {affine_text(low, names)}"
    for high in loop.uppers:
        yield f"{var} < {affine_text(high, names)}"
    stride = abs(loop.step)
    if stride > 1:
        origin = loop.lowers[0] if loop.step > 0 else loop.uppers[0] - 1
        yield f"({var} - ({affine_text(origin, names)})) mod {stride} = 0"


@dataclass(frozen=True, eq=False)
class Scop:
    """A program's statements in program order, with isl views of their accesses."""

    program: Program
    statements: tuple[Statement, ...]

    def statement(self, name: str) -> Statement:
        """The statement of that name; KeyError if there is none."""
        for s in self.statements:
            if s.name == name:
                return s
        raise KeyError(name)

    @cached_property
    def array_index(self) -> dict[str, int]:
        """Array name to its number in isl names ``a<number>``."""
        return {array.name: n for n, array in enumerate(self.program.arrays)}

    def access_map(self, s: Statement, access: Access) -> isl.Map:
        """Iteration to element. A local of an inner scope has its scope's loops as dimensions
        before its own: each iteration has its private copy. To all elements that it may be where
        subscripts are data.
        """
        target = f"a{self.array_index[access.array]}[{self.subscripts(s, access)}]"
        shape = access.within(self.program.array(access.array).shape)
        _, limits = subscript_texts(access.indices, positional(s.variables), shape)
        where = f" : {conjunction(limits)}" if limits else ""
        return map_of(f"{{ {s.space} -> {target}{where} }}").intersect_domain(s.domain)

    def subscripts(self, s: Statement, access: Access) -> str:
        """What an access touches in isl's syntax, over ``d0, d1, …``: see `access_map`; those that are
        data without their ranges.
        """
        names = positional(s.variables)
        scope = self.program.array(access.array).scope_depth
        return ", ".join(dims(scope) + subscript_texts(access.indices, names, ())[0])

    def original_schedules(self, statements: Sequence[Statement]) -> Iterator[isl.Map]:
        """Iteration to time ``[place0, loop0, place1, …]`` of the given statements: their order in
        the program, all times padded to one length. Places that do not tell them apart are left
        out, which makes isl's work much cheaper; so are the domains, which the accesses to be
        ordered have already: each would multiply the cases of a lexicographic order.
        """
        deepest = max(len(s.loops) for s in statements)
        told = {
            k
            for k in range(deepest + 1)
            if len({s.place[k] if k < len(s.place) else -1 for s in statements}) > 1
        }
        length = deepest + len(told)
        for s in statements:
            names = positional(s.variables)
            time: list[str] = []
            for k, place in enumerate(s.place):
                if k in told:
                    time.append(str(place))
                if k < len(s.loops):
                    sign = "" if s.loops[k].step > 0 else "-"
                    time.append(f"{sign}{names[s.variables[k]]}")
            time += ["0"] * (length - len(time))
            yield map_of(f"{{ {s.space} -> [{', '.join(time)}] }}")


def build_scop(program: Program) -> Scop:
    """Collect the statements of a program with their domains and places."""
    found: list[Statement] = []
    loop_ids = count()

    def visit(nodes: tuple[Node, ...], around: _Around, place: tuple[int, ...], first: int) -> int:
        position = first
        for node in nodes:
            match node:
                case Stmt():
                    found.append(
                        Statement(
                            len(found),
                            node,
                            around.loops,
                            around.ids,
                            around.conds,
                            (*place, position),
                        )
                    )
                case Loop(body=body):
                    loops, ids = (*around.loops, node), (*around.ids, next(loop_ids))
                    visit(body, _Around(loops, ids, around.conds), (*place, position), 0)
                case If(cond, then, orelse):
                    # The branches share the level of the statement: a condition is no loop.
                    position = visit(then, around.where(cond), place, position)
                    position = visit(orelse, around.where(negate(cond)), place, position)
                    continue
            position += 1
        return position

    visit(program.body, _Around((), (), ()), (), 0)
    return Scop(program, tuple(found))


@dataclass(frozen=True, slots=True)
class _Around:
    loops: tuple[Loop, ...]
    ids: tuple[int, ...]
    conds: tuple[Cond, ...]

    def where(self, cond: Cond) -> _Around:
        return _Around(self.loops, self.ids, (*self.conds, cond))


def origin_of(loop: Loop) -> tuple[Affine, int]:
    """The first iteration and the step: iteration ``n`` of the loop is ``origin + n * step``.

    Only for loops whose starting bound is single, as every loop with ``abs(step) != 1`` is.
    """
    return (loop.lowers[0] if loop.step > 0 else loop.uppers[0] - 1), loop.step


def common_loops(a: Statement, b: Statement) -> int:
    """How many loops two statements share in the program."""
    n = 0
    while n < min(len(a.loops), len(b.loops)) and a.loop_ids[n] == b.loop_ids[n]:
        n += 1
    return n


def same_run(s: Statement, t: Statement, level: int) -> isl.Map:
    """Iterations of both in one execution of a loop around them, which has ``level`` loops around it."""
    a, b = dims(len(s.loops), "x"), dims(len(t.loops), "y")
    equal = " and ".join(f"x{k} = y{k}" for k in range(level)) or "true"
    return map_of(f"{{ s{s.index}[{', '.join(a)}] -> s{t.index}[{', '.join(b)}] : {equal} }}")


ASSOCIATIVE = (
    BinaryOp.ADD,
    BinaryOp.MUL,
    BinaryOp.MIN,
    BinaryOp.MAX,
    BinaryOp.AND,
    BinaryOp.OR,
    BinaryOp.XOR,
)


def reduction_access(s: Statement) -> Access | None:
    """The access that ``s`` accumulates into, if it is a reduction.

    A reduction is ``X[f] = X[f] op e`` (or ``e op X[f]``) with an associative and commutative
    ``op`` and no other access of X in ``e``, nor in subscripts that are data, which are the same.
    """
    target, value = s.stmt.target, stored_value(s.stmt.value)
    data = s.stmt.value.data if isinstance(s.stmt.value, Scatter) else ()
    if any(a.array == target.array for x in data for a in loads(x)):
        return None
    if not isinstance(value, Binary) or value.op not in (*ASSOCIATIVE, BinaryOp.SUB):
        return None
    sides = [(value.lhs, value.rhs)]
    if value.op is not BinaryOp.SUB:  # x - e accumulates, e - x does not
        sides.append((value.rhs, value.lhs))
    for acc, other in sides:
        at = acc.data if isinstance(acc, Gather) else ()
        if isinstance(acc, Load | Gather) and acc.access == target and at == data:
            clean = all(a.array != target.array for a in loads(other))
            return target if clean else None
    return None


def accumulate_alike(s: Statement, t: Statement) -> bool:
    """Whether two statements accumulate into one array by operators of which it does not matter who comes first."""
    if reduction_access(s) is None or reduction_access(t) is None:
        return False
    mine, other = stored_value(s.stmt.value), stored_value(t.stmt.value)
    assert isinstance(mine, Binary)
    assert isinstance(other, Binary)
    sums = (BinaryOp.ADD, BinaryOp.SUB)
    same = mine.op is other.op or (mine.op in sums and other.op in sums)
    return same and s.stmt.target.array == t.stmt.target.array


def union_of(maps: Iterable[isl.Map]) -> isl.UnionMap:
    """The maps as one union map."""
    result: isl.UnionMap | None = None
    for m in maps:
        result = isl.UnionMap.from_map(m) if result is None else result.add_map(m)
    return isl.UnionMap("{ }") if result is None else result
