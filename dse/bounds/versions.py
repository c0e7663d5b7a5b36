"""Arrays that are updated in place of which no two values are the same expression, whichever statements wrote them.

A value is told by what it is computed from. Take an array whose elements are set once, each from an element of its own
of something that nobody writes, or not at all, and are updated then: each update is an operator on what the element held
before. Of two updates that are the same expression what they update is the same expression as well, which by induction
on the size of expressions is the same value of the same element; and a value is updated by one iteration only. So the
factors of an elimination, which several statements write, tell which iteration reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dsl.expressions.affine import Affine
from dsl.programs.program import Program, Storage
from polyhedral.dependences.coinciding import coincide
from polyhedral.scop.scop import Scop
from qor_gnn.design.region import Statement

_COMMUTE = ("add", "mul")
_UPDATES = (*_COMMUTE, "sub", "div")  # of two operands


@dataclass(frozen=True, slots=True)
class _Update:
    """``own`` is the position of what is updated among the operands of the statement's last operation, of this kind."""

    statement: Statement
    kind: str
    own: int


def told_by_versions(
    program: Program, scop: Scop, statements: Mapping[str, Statement]
) -> frozenset[str]:
    """The arrays of which all values differ, from each other and from what the elements held at first.

    Args:
        program: the program.
        scop: the same.
        statements: the operations of each statement, but of those whose value is known to the compiler.
    """
    written = {s.target.array for s in program.statements()}
    found = set()
    for array in program.arrays:
        mine = [s for s in program.statements() if s.target.array == array.name]
        plain = all(not i.is_data for s in mine for i in s.target.indices)
        if not mine or not plain or array.scope_depth or not array.shape:
            continue
        if all(s.name in statements for s in mine):
            writers = {s.name: statements[s.name] for s in mine}
            if _told(array.name, array.storage, writers, scop, written):
                found.add(array.name)
    return frozenset(found)


def _told(
    array: str,
    storage: Storage,
    writers: Mapping[str, Statement],
    scop: Scop,
    written: Iterable[str],
) -> bool:
    updates: list[_Update] = []
    first: list[str] = []
    for name, stmt in writers.items():
        update = _update(stmt, array)
        if update is None:
            first.append(name)
        else:
            updates.append(update)
    if len(first) > 1 or (not first and storage is not Storage.ARGUMENT) or not updates:
        return False
    if not all(_unmistakable(update, updates, first, writers) for update in updates):
        return False
    return not first or _set_apart(first[0], writers[first[0]], updates, scop, written)


def _update(stmt: Statement, array: str) -> _Update | None:
    """The statement as an operator on what its target held before."""
    last = stmt.ops[-1]
    if not last.computes or (last.kind not in _UPDATES and len(last.operands) != 1):
        return None
    for place, k in enumerate(last.operands):
        op = stmt.ops[k]
        if op.kind == "load" and op.access == stmt.target and not op.gathers:
            return _Update(stmt, last.kind, place)
    return None


def _unmistakable(
    update: _Update,
    updates: Sequence[_Update],
    first: Sequence[str],
    writers: Mapping[str, Statement],
) -> bool:
    """Whether no other update that is the same expression has what it updates in the other operand."""
    if any(other.kind == update.kind and other.own != update.own for other in updates):
        return False
    if update.kind not in _COMMUTE:
        return True
    last = update.statement.ops[-1]
    if len(last.operands) != 2:
        return False
    rest = update.statement.ops[last.operands[1 - update.own]]
    kinds = {other.kind for other in updates} | {writers[name].ops[-1].kind for name in first}
    return rest.computes and rest.kind not in kinds


def _set_apart(
    name: str, stmt: Statement, updates: Sequence[_Update], scop: Scop, written: Iterable[str]
) -> bool:
    """Whether what a statement sets elements to differs in all iterations, and is no update: by elements that nobody writes."""
    last = stmt.ops[-1]
    if last.kind in {update.kind for update in updates} or last.kind in _COMMUTE:
        return False
    indices: list[Affine] = []
    for op in stmt.ops:
        if op.kind != "load":
            continue
        if op.gathers or op.access is None or op.access.memory in written:
            return False
        indices += op.access.indices
    commuting = [op for op in stmt.ops if op.kind in _COMMUTE]
    own = scop.statement(name)
    return not commuting and bool(indices) and not coincide(own, indices, own, indices)
