"""Does a program without some iterations of a statement compute what the program with all of them does?

The argument:

* the statements are the same, in the same loops, but that the one runs in some of its iterations only, or is not there;
* it assigns to a local, so that nothing outside sees what it leaves;
* no read sees, as its last write (by isl), one of an iteration that is gone.

Then each read sees what it saw: between it and the write that it sees there are fewer others.
What is looked at is the two programs alone, not how the second one came about.
"""

from __future__ import annotations

from dsl.expressions.expr import Scatter
from dsl.programs.program import Program, Storage
from polyhedral.dependences.direct import writes_seen
from polyhedral.equivalence.refutation import Refutation
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.scop import Scop, Statement, build_scop


def check_trimming(before: Program, after: Program, name: str) -> Refutation | None:
    """Compare a program with what leaving out iterations of a statement made of it."""
    old, new = build_scop(before), build_scop(after)
    statement = old.statement(name)
    text = _other_program(old, new, statement) or _seen(old, new, statement)
    if text is None:
        return None
    return Refutation("W339", f"iterations of {name} left out: {text}", statement.stmt.span, ())


def _other_program(old: Scop, new: Scop, statement: Statement) -> str | None:
    """What differs besides the iterations of the statement."""
    are_known = {*new.program.arrays} <= {*old.program.arrays}
    if old.program.arguments != new.program.arguments or not are_known:
        return "the arrays are other ones"
    names = [s.name for s in new.statements]
    kept = [s for s in old.statements if s is not statement or s.name in names]
    if [s.name for s in kept] != names:
        return "the statements are other ones"
    for mine, now in zip(kept, new.statements, strict=True):
        if mine.stmt != now.stmt:
            return f"{mine.name} is another statement"
    return other_loops(kept, new.statements, fewer=(statement.name,))


def _seen(old: Scop, new: Scop, statement: Statement) -> str | None:
    """What is seen of the iterations that are gone."""
    array = old.program.array(statement.stmt.target.array)
    if array.storage is not Storage.LOCAL:
        return f"'{array.name}' is no local"
    if isinstance(statement.stmt.value, Scatter):
        return "which elements it assigns is data"
    gone = statement.domain.reset_tuple_id()
    for left in new.statements:
        if left.name == statement.name:
            gone = gone.subtract(left.domain.reset_tuple_id())
    for reader in old.statements:
        for access in dict.fromkeys(a for a in reader.reads if a.array == array.name):
            for source, pairs in writes_seen(old, reader, access):
                if source is not statement:
                    continue
                if not pairs.domain().reset_tuple_id().intersect(gone).is_empty():
                    return f"{reader.name} reads what it assigned"
    return None
