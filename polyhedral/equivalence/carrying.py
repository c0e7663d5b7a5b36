"""Does a program that keeps values of an array elsewhere, too, compute what the program without does?

So do shift registers that a loop carries (`carry`), and a second array of the same content (`mirror`).

The argument:

* the statements are the same, in the same iterations and loops, but for what they access of the array: of that, some
  accesses are registers now; statements that only assigned to the array are left out where nothing reads it;
* all that is added copies, from the array or a register to a register or the array, or gives a register a constant or a
  counter;
* every read sees the value of the same iteration of the same statement as it did, or what the array had before the
  kernel. For that the last write before each read (by isl) is followed through what copies, until it is no copy. A
  constant stands for a statement that assigns the same.
* so does a read of each element behind all, where the array is an argument.

What is looked at is the two programs alone, not how the second one came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Expr, Index, Load, loads, map_leaves
from dsl.programs.expanded import accesses_of, with_accesses
from dsl.programs.names import unused
from dsl.programs.program import Array, Loop, Node, Program, Stmt, Storage
from polyhedral.dependences.value_origins import ValueOrigin, ValueOrigins
from polyhedral.equivalence.refutation import Refutation
from polyhedral.isl.text import affine_text, dims, map_of
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.scop import Scop, Statement, build_scop


def check_carrying(before: Program, after: Program, name: str) -> Refutation | None:
    """Compare a program with what keeping values of one of its arrays in registers made of it."""
    array = before.array(name)
    text = _differs(before, after, array)
    if text is None:
        return None
    return Refutation("W339", f"values of '{array.name}' elsewhere: {text}", array.span, ())


def _differs(before: Program, after: Program, array: Array) -> str | None:
    added = {a.name for a in after.arrays if a not in before.arrays}
    probe = unused("probe", [a.name for p in (before, after) for a in p.arrays])
    old, new = (build_scop(_probed(p, array, probe)) for p in (before, after))
    text = _other_program(old, new, array, added)
    if text is not None:
        return text
    known = {s.name: s for s in old.statements}
    was = ValueOrigins(old, {array.name}, frozenset())
    now = ValueOrigins(
        new, {array.name, *added}, frozenset(s.name for s in new.statements) - known.keys()
    )
    for s in new.statements:
        if s.name not in known:
            continue
        mine = known[s.name]
        pairs = zip(accesses_of(mine.stmt)[1:], accesses_of(s.stmt)[1:], strict=True)
        for one, other in dict.fromkeys((a, b) for a, b in pairs if a.array == array.name):
            if [i for i in one.indices if i.is_data] != [i for i in other.indices if i.is_data]:
                return f"{s.name} reads {other} for {one}, at other data"
            text = _other_origin(was.of(mine, one), now.of(s, other))
            if text is not None:
                return f"{s.name} reads {other} for {one}: {text}"
    return None


def _probed(program: Program, array: Array, name: str) -> Program:
    """The program with a read of each element of an argument behind all else."""
    if array.storage is not Storage.ARGUMENT or not any(
        a.name == array.name for a in program.arrays
    ):
        return program
    at = [f"{name}_{k}" for k in range(len(array.shape))]
    indices = tuple(Affine.of(v) for v in at)
    node: Node = Stmt(name, Access(name, indices), Load(Access(array.name, indices), array.dtype))
    for var, extent in reversed(list(zip(at, array.shape, strict=True))):
        node = Loop(var, (Affine(),), (Affine((), extent),), 1, (node,))
    local = Array(name, array.dtype, array.shape, Storage.LOCAL)
    return replace(program, arrays=(*program.arrays, local), body=(*program.body, node))


# ------------------------------------------------------------------------------- the programs


def _other_program(old: Scop, new: Scop, array: Array, added: set[str]) -> str | None:
    """What differs besides accesses of the array and the registers, and statements that fill and move these."""
    if old.program.arguments != new.program.arguments:
        return "the arguments are other ones"
    left = {a for a in old.program.arrays if a.name != array.name or a in new.program.arrays}
    if {a for a in new.program.arrays if a.name not in added} != left:
        return "the locals are other ones"
    for a in new.program.arrays:
        if a.name in added and (a.storage is not Storage.LOCAL or a.dtype != array.dtype):
            return f"'{a.name}' is no local of its type"
    names = {s.name for s in new.statements}
    for s in old.statements:
        if s.name not in names and not (
            s.stmt.target.array == array.name and array not in new.program.arrays
        ):
            return f"{s.name} is gone"
    kept = [s for s in old.statements if s.name in names]
    known = {s.name for s in kept}
    for s in new.statements:
        if s.name not in known and not _fills(s, array, added):
            return f"{s.name} is no copy"
    now = [s for s in new.statements if s.name in known]
    if [s.name for s in kept] != [s.name for s in now]:
        return "the statements are in another order"
    for mine, other in zip(kept, now, strict=True):
        if not _alike(mine.stmt, other.stmt, array, added):
            return f"{mine.name} is another statement"
    return other_loops(kept, now)


def _fills(s: Statement, array: Array, added: set[str]) -> bool:
    """Whether a statement copies an element of the array or a register, or gives a register a constant or counter."""
    value, target = s.stmt.value, s.stmt.target.array
    if isinstance(value, Load):
        places = {array.name, *added}
        return value.access.array in places and target in places and value.dtype == array.dtype
    return target in added and not loads(value)


def _alike(mine: Stmt, other: Stmt, array: Array, added: set[str]) -> bool:
    """Whether one is the other with accesses of the array become such of registers."""
    was = iter(accesses_of(mine))

    def own(access: Access) -> Access:
        before = next(was)
        return before if access.array in added and before.array == array.name else access

    return mine == with_accesses(other, own)


# -------------------------------------------------------------------------------- the origins


def _other_origin(was: list[ValueOrigin], now: list[ValueOrigin]) -> str | None:
    """What of the origins of a read differs."""
    before, after = _by_source(was), _by_source(now)
    for name, (source, pairs) in after.items():
        mine = before.get(name)
        if mine is not None:
            if not pairs.is_subset(mine[1]):
                return f"it sees other iterations of {name or 'what was there before'}"
            continue
        if source is None or loads(source.stmt.value):
            return f"it sees {name or 'what was there before'}"
        covered = pairs.range().subtract(pairs.range())
        for other, seen in before.values():
            same = pairs.apply_range(seen.reverse())
            if other is None or same.is_empty():
                continue
            if not _same_value(source, other, same):
                return f"{name} is not what {other.name} assigns"
            covered = covered.union(pairs.range().intersect(seen.range()))
        if not pairs.range().is_subset(covered):
            return f"it sees {name} for something else"
    reached = [pairs.range() for _, pairs in after.values()]
    for _, pairs in before.values():
        missing = pairs.range()
        for one in reached:
            missing = missing.subtract(one)
        if not missing.is_empty():
            return "it sees nothing"
    return None


def _by_source(origins: list[ValueOrigin]) -> Mapping[str, tuple[Statement | None, isl.Map]]:
    """The pairs of each statement, without the numbers of statements and arrays in their names."""
    found: dict[str, tuple[Statement | None, isl.Map]] = {}
    for origin in origins:
        name = "" if origin.source is None else origin.source.name
        pairs = origin.pairs
        for kind in (isl.dim_type.in_, isl.dim_type.out):
            pairs = pairs.reset_tuple_id(kind) if pairs.has_tuple_id(kind) else pairs
        known = found.get(name)
        found[name] = (origin.source, pairs if known is None else known[1].union(pairs))
    return found


def _same_value(one: Statement, other: Statement, pairs: isl.Map) -> bool:
    """Whether two statements assign the same in pairs of their iterations, neither of which reads anything."""
    mine, its = list(_leaves(one.stmt.value)), list(_leaves(other.stmt.value))
    if _shape(one.stmt.value) != _shape(other.stmt.value) or len(mine) != len(its):
        return False
    a, b = dims(len(one.loops), "a"), dims(len(other.loops), "b")
    space = f"[{', '.join(a)}] -> [{', '.join(b)}]"
    for x, y in zip(mine, its, strict=True):
        left = affine_text(x, dict(zip(one.variables, a, strict=True)))
        right = affine_text(y, dict(zip(other.variables, b, strict=True)))
        if not pairs.is_subset(map_of(f"{{ {space} : {left} = {right} }}")):
            return False
    return True


def _leaves(value: Expr) -> Iterator[Affine]:
    """The counters of an expression, in order."""
    found: list[Affine] = []

    def seen(leaf: Const | Load | Index) -> Expr:
        if isinstance(leaf, Index):
            found.append(leaf.affine)
        return leaf

    map_leaves(value, seen)
    yield from found


def _shape(value: Expr) -> Expr:
    """The expression with all counters alike."""

    def same(leaf: Const | Load | Index) -> Expr:
        return replace(leaf, affine=Affine()) if isinstance(leaf, Index) else leaf

    return map_leaves(value, same)
