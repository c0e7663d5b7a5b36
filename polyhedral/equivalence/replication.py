"""Is a program with copies of an array what it was without?

Without their first subscript, accesses of the copies must be those of the array, statement by statement, and each
assignment must be made to all copies, from elements of the same copy. Then all copies are the array at any time, and
it does not matter which of them is read. That all subscripts are inside of the copies is checked of any program.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Expr, Index, Load, loads, map_leaves
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage
from polyhedral.equivalence.refutation import Refutation


def check_replication(before: Program, after: Program, array: str) -> Refutation | None:
    """Compare a program with what copies of an array made of it.

    Args:
        before: the program.
        after: the other one.
        array: of which there are copies.
    """
    old = before.array(array)
    known = {a.name for a in before.arrays}
    new = [a for a in after.arrays if a.name not in known]
    if len(new) != 1 or new[0].shape[1:] != old.shape or new[0].dtype != old.dtype:
        return _wrong(array, "there is no other array of copies", old)
    copies, body = new[0], after.body
    if old.storage is Storage.TABLE:
        if copies.contents != old.contents * copies.shape[0]:
            return _wrong(array, "they hold other constants", old)
    elif old.storage is not Storage.LOCAL:
        if any(s.target.array == array for s in before.statements()):
            return _wrong(array, "an argument is assigned to", old)
        if not body or not _is_copy(body[0], old, copies):
            return _wrong(array, "it is not copied in front of all", old)
        body = body[1:]
    try:
        erased = tuple(_erased(node, old, copies) for node in body)
    except _OtherCopyError as error:
        return _wrong(array, f"{error} does not change all copies alike", old)
    if erased == before.body and _same_arrays(before, after, old, copies):
        return None
    return _wrong(array, "something else has changed, too", old)


class _OtherCopyError(Exception):
    """A statement that does not make all copies from themselves."""


def _wrong(array: str, text: str, old: Array) -> Refutation:
    return Refutation("W339", f"copies of {array}: {text}", old.span, ())


def _same_arrays(before: Program, after: Program, old: Array, copies: Array) -> bool:
    is_local = old.storage is Storage.LOCAL
    mine = {a.name: a for a in before.arrays if not (is_local and a is old)}
    others = {a.name: a for a in after.arrays if a.name != copies.name}
    kind = Storage.TABLE if old.storage is Storage.TABLE else Storage.LOCAL
    fits = copies.storage is kind and copies.scope_depth == (old.scope_depth if is_local else 0)
    return mine == others and fits


def _is_copy(node: Node, old: Array, copies: Array) -> bool:
    """Whether it copies all of an argument to each of its copies."""
    variables: list[str] = []
    for extent in (*old.shape, copies.shape[0]):
        if not isinstance(node, Loop) or len(node.body) != 1 or not _is_whole(node, extent):
            return False
        variables.append(node.var)
        node = node.body[0]
    if not isinstance(node, Stmt) or len(set(variables)) != len(variables):
        return False
    *dims, copy = (Affine.of(v) for v in variables)
    source = Load(Access(old.name, tuple(dims)), old.dtype)
    return node.target == Access(copies.name, (copy, *dims)) and node.value == source


def _is_whole(loop: Loop, extent: int) -> bool:
    return (loop.lowers, loop.uppers, loop.step) == ((Affine(),), (Affine((), extent),), 1)


def _erased(node: Node, old: Array, copies: Array) -> Node:
    """The node as it was without copies."""
    match node:
        case Loop(body=(Stmt() as stmt,)) if stmt.target.array == copies.name:
            own = Affine.of(node.var)
            used = [a for a in (stmt.target, *loads(stmt.value)) if a.array == copies.name]
            if not _is_whole(node, copies.shape[0]) or any(a.indices[0] != own for a in used):
                raise _OtherCopyError(stmt.name)
            erased = _statement(stmt, old, copies)
            rest = (erased.target, *loads(erased.value))
            if any(node.var in i.variables() for a in rest for i in a.indices) or _counts(
                erased.value, node.var
            ):
                raise _OtherCopyError(stmt.name)
            return erased
        case Loop(body=body):
            return replace(node, body=tuple(_erased(n, old, copies) for n in body))
        case If(then=then, orelse=orelse):
            first, second = (
                tuple(_erased(n, old, copies) for n in side) for side in (then, orelse)
            )
            return replace(node, then=first, orelse=second)
        case Stmt():
            if node.target.array == copies.name:
                raise _OtherCopyError(node.name)
            return _statement(node, old, copies)


def _counts(value: Expr, var: str) -> bool:
    """Whether a value has the number of the copy in it."""
    found = False

    def leaf(expr: Const | Load | Index) -> Expr:
        nonlocal found
        found = found or (isinstance(expr, Index) and var in expr.affine.variables())
        return expr

    map_leaves(value, leaf)
    return found


def _statement(stmt: Stmt, old: Array, copies: Array) -> Stmt:
    def access(each: Access) -> Access:
        if each.array != copies.name:
            return each
        return replace(each, array=old.name, indices=each.indices[1:])

    def leaf(expr: Const | Load | Index) -> Const | Load | Index:
        return replace(expr, access=access(expr.access)) if isinstance(expr, Load) else expr

    return replace(stmt, target=access(stmt.target), value=map_leaves(stmt.value, leaf))
