"""Do iterations that depend on each other run in the program's order?

What runs in the program's order altogether needs no dependences: that is seen of the loops for most
stores. Only between the others they are computed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from dsl.expressions.affine import Affine
from polyhedral.dependences.memory_order import order_between, program_order
from polyhedral.equivalence.raised import RaisedStore
from polyhedral.equivalence.refutation import Refutation, source_note
from polyhedral.equivalence.relations import Run
from polyhedral.legality.violations import Violation
from polyhedral.scop.execution_order import reversed_pairs, shared_loops
from polyhedral.scop.scop import Scop, Statement, common_loops


def check_order(scop: Scop, runs: list[Run], reassociated: frozenset[str]) -> Refutation | None:
    """All iterations that depend on each other run in the program's order.

    Args:
        scop: the program.
        runs: its stores in the order in which they stand.
        reassociated: statements whose accumulations may be done in any order.
    """
    if _as_written(runs):
        return None
    by_statement: dict[int, list[Run]] = {}
    for run in runs:
        by_statement.setdefault(run.statement.index, []).append(run)
    for source, sink in _moved(runs):
        direct, reduction = order_between(scop, source, sink)
        free = source is sink and source.name in reassociated
        for pairs in (direct, None if free else reduction):
            if pairs is None:
                continue
            for p in by_statement[source.index]:
                for q in by_statement[sink.index]:
                    bad = reversed_pairs(pairs, p, q)
                    if bad is not None:
                        return _out_of_order(Violation(scop, p, q, bad))
    return None


def _out_of_order(violation: Violation) -> Refutation:
    witness = violation.witness
    kind = witness.kind.value
    article = "an" if kind[0] in "ao" else "a"
    source, sink = violation.source.statement, violation.sink.statement
    notes = (str(witness), *dict.fromkeys((*source_note(source), *source_note(sink))))
    return Refutation("W337", f"{article} {kind} dependence is reversed", sink.stmt.span, notes)


# ------------------------------------------------------------------------------ as written


def _as_written(runs: list[Run]) -> bool:
    """Whether the loops are those of the program, with one store of each statement: then so is the
    order. It is enough to look at neighbours: what two stores share they share with all between.
    """
    if not all(_counts_alike(run) for run in runs):
        return False
    for p, q in pairwise(runs):
        shared = shared_loops(p.place, q.place)
        if p.statement.index >= q.statement.index:
            return False
        if shared != common_loops(p.statement, q.statement):
            return False
        if _iteration(p)[:shared] != _iteration(q)[:shared]:
            return False
    return True


def _counts_alike(run: Run) -> bool:
    """Each loop is the statement's loop at its level, counted in the same direction."""
    loops, ivs = run.statement.loops, [loop.iv for loop in run.store.loops]
    if len(loops) != len(ivs):
        return False
    for k, value in enumerate(_iteration(run)):
        c = value.coefficient(ivs[k])
        rest = value.variables() <= set(ivs[: k + 1]) and value.is_linear
        if not rest or (c > 0) != (loops[k].step > 0) or c == 0:
            return False
    return True


def _iteration(run: Run) -> tuple[Affine, ...]:
    assert run.store.iteration is not None
    return run.store.iteration


# ----------------------------------------------------------------------------------- moved


def _moved(runs: list[Run]) -> list[tuple[Statement, Statement]]:
    """The statements that touch one array, which one of them writes, and of which not all iterations
    are known to run in the program's order.
    """
    kept = _Kept()
    found: dict[tuple[int, int], tuple[Statement, Statement]] = {}
    touched = {run.statement.index: _touched(run.statement) for run in runs}
    for p in runs:
        mine, written = touched[p.statement.index], p.statement.stmt.target.array
        for q in runs:
            key = (p.statement.index, q.statement.index)
            others = touched[q.statement.index]
            if written not in others and q.statement.stmt.target.array not in mine:
                continue
            if key not in found and not kept.keeps(p, q):
                found[key] = (p.statement, q.statement)
    return list(found.values())


def _touched(statement: Statement) -> frozenset[str]:
    return frozenset((statement.stmt.target.array, *(a.array for a in statement.reads)))


@dataclass(slots=True)
class _Kept:
    """Which pairs of stores run all their iterations in the program's order. Stores in the same loops
    are alike in this, so that few are really looked at.
    """

    shapes: dict[tuple[object, ...], int] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    known: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def keeps(self, p: Run, q: Run) -> bool:
        """Whether what runs first in the program does so here, of p's iterations and q's."""
        s, t = p.statement, q.statement
        shared = shared_loops(p.place, q.place)
        key = (
            self._shape(p),
            self._shape(q),
            common_loops(s, t),
            shared,
            (s.index < t.index) - (s.index > t.index),
            (p.place[shared:] < q.place[shared:]) - (p.place[shared:] > q.place[shared:]),
        )
        found = self.known.get(key)
        if found is None:
            order = program_order(s, t)
            found = order is None or reversed_pairs(order, p, q) is None
            self.known[key] = found
        return found

    def _shape(self, run: Run) -> int:
        number = self.numbers.get(id(run))
        if number is None:
            shape = _shape(run.store, run.statement)
            number = self.numbers[id(run)] = self.shapes.setdefault(shape, len(self.shapes))
        return number


def _shape(store: RaisedStore, statement: Statement) -> tuple[object, ...]:
    """All that decides when the iterations of a store run, but for its place."""
    directions = tuple(loop.step > 0 for loop in statement.loops)
    return store.loops, store.guards, store.iteration, directions
