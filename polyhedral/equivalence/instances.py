"""Is every iteration of every statement of the program executed, exactly once, and nothing else?"""

from __future__ import annotations

import islpy as isl

from polyhedral.equivalence.refutation import Refutation, source_note
from polyhedral.equivalence.relations import Run, instance_text
from polyhedral.isl.text import coordinates, first_point
from polyhedral.scop.scop import Scop, Statement


def check_instances(scop: Scop, runs: list[Run]) -> Refutation | None:
    """Compare what the stores say they execute with the statements' domains."""
    by_statement: dict[int, list[Run]] = {}
    for run in runs:
        by_statement.setdefault(run.statement.index, []).append(run)
    for statement in scop.statements:
        own = by_statement.get(statement.index, [])
        found = _twice(statement, own) or _missing_or_more(statement, own)
        if found is not None:
            return found
    return None


def _twice(statement: Statement, own: list[Run]) -> Refutation | None:
    """An iteration that two stores execute, or one store in two iterations of its loops."""
    seen: isl.Set | None = None
    for run in own:
        if not run.iterations.is_injective():
            return _refused(statement, _repeated(run.iterations), "executed twice")
        image = run.iterations.range()
        if seen is not None and not seen.is_disjoint(image):
            return _refused(statement, seen.intersect(image), "executed twice")
        seen = image if seen is None else seen.union(image)
    return None


def _repeated(iterations: isl.Map) -> isl.Set:
    """The iterations with more than one place in the loops."""
    same = iterations.apply_range(iterations.reverse())
    other = same.subtract(isl.Map.identity(same.get_space()))
    return other.domain().apply(iterations)


def _missing_or_more(statement: Statement, own: list[Run]) -> Refutation | None:
    image = isl.Set.empty(statement.domain.get_space())
    for run in own:
        image = image.union(run.iterations.range())
    if image.is_equal(statement.domain):
        return None
    missing = statement.domain.subtract(image)
    if not missing.is_empty():
        return _refused(statement, missing, "never executed")
    return _refused(statement, image.subtract(statement.domain), "executed, but not in the program")


def _refused(statement: Statement, iterations: isl.Set, what: str) -> Refutation:
    at = coordinates(first_point(iterations), len(statement.loops))
    where = instance_text(statement.name, at)
    values = ", ".join(f"{v} = {x}" for v, x in zip(statement.variables, at, strict=True))
    notes = (*((f"{where} is the iteration {values}",) if values else ()), *source_note(statement))
    return Refutation("W336", f"{where} is {what}", statement.stmt.span, notes)
