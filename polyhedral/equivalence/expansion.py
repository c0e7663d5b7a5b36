"""Does a program with an expanded local compute what the program without it does?

All that may differ is the local that some statements access, and the subscripts in front that tell
its elements apart; and each iteration must read the value of the same iteration as before, which isl
finds for both programs by themselves.
"""

from __future__ import annotations

from dsl.expressions.expr import Access
from dsl.programs.expanded import with_accesses
from dsl.programs.program import Array, Program, Stmt, Storage
from polyhedral.dependences.changed_flow import changed_flow
from polyhedral.equivalence.refutation import Refutation
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.scop import Scop, build_scop


def check_expansion(before: Program, after: Program, name: str) -> Refutation | None:
    """Compare a program with what the expansion of one of its locals made of it."""
    old, new = build_scop(before), build_scop(after)
    array = before.array(name)
    added = [a for a in after.arrays if a not in before.arrays]
    if len(added) != 1 or added[0].storage is not Storage.LOCAL:
        return _refused(array, "it does not add one local to the program")
    (other,) = added
    text = _other_program(old, new, array, other) or changed_flow(old, new, name, other.name)
    return None if text is None else _refused(array, text)


def _refused(array: Array, text: str) -> Refutation:
    return Refutation("W339", f"expansion of '{array.name}': {text}", array.span, ())


def _other_program(old: Scop, new: Scop, array: Array, other: Array) -> str | None:
    """What differs besides the accesses to the local."""
    if old.program.arguments != new.program.arguments:
        return "the arguments are other ones"
    kept = {a.name for a in new.program.arrays} - {other.name}
    if not kept <= {a.name for a in old.program.arrays} or other.dtype != array.dtype:
        return "the locals are other ones"
    rank = len(other.shape) - len(array.shape)
    if rank < 1 or other.shape[rank:] != array.shape:
        return f"'{other.name}' has another shape"
    if len(old.statements) != len(new.statements):
        return "the statements are other ones"
    for mine, now in zip(old.statements, new.statements, strict=True):
        if mine.name != now.name or mine.stmt != _without(now.stmt, array, other, rank):
            return f"{mine.name} is another statement"
    return other_loops(old.statements, new.statements)


def _without(stmt: Stmt, array: Array, other: Array, rank: int) -> Stmt:
    """The statement with the local in place of the expanded one."""

    def own(access: Access) -> Access:
        if access.array != other.name:
            return access
        return Access(array.name, access.indices[rank:], access.span)

    return with_accesses(stmt, own)
