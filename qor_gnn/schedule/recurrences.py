"""All recurrences of a pipelined nest, and the body in which the tool closes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dsl.expressions.affine import Affine
from qor_gnn.body.body import Body
from qor_gnn.design.region import Loop
from qor_gnn.schedule.intervals.carried import Nest
from qor_gnn.schedule.intervals.interval import Cycle, Dependences, dependences, limits
from qor_gnn.schedule.intervals.value_cycles import value_cycles
from qor_gnn.schedule.loops import Scope, flattened_body
from qor_gnn.schedule.reasons import Recurrence

GIVEN_UP = 2
"""Copies of a nest of which dataflow was too much work, after which it is not asked of the others: they differ in the
constants of their bounds and guards alone, so that each would use up its share of operations for no answer."""


def recurrences_of(
    scope: Scope,
    placed: tuple[tuple[Loop, ...], dict[str, Affine]],
    body: Body,
    nest: Nest,
    asked: int,
) -> tuple[Body, Dependences]:
    """The body of a nest as it is scheduled, and what its iterations hand on.

    Args:
        scope: the design.
        placed: the loops that run as one pipeline, and the variables around them.
        body: of the nest.
        nest: its loops.
        asked: the interval that is asked for.
    """
    found = dependences(body, nest)
    if scope.personality.sums.order == "leaf":
        body, found = _closed(scope, placed, (body, found), nest, asked)
    needed = limits(body, found.cycles, asked)[0].interval
    more = _of_values(scope, placed, needed)
    return body, replace(found, cycles=(*found.cycles, *more))


def _of_values(
    scope: Scope, placed: tuple[tuple[Loop, ...], dict[str, Affine]], needed: int
) -> Sequence[Cycle]:
    """`value_cycles`, unless they were too much work for other copies of the nest."""
    nest = tuple(loop.iv for loop in placed[0])
    if scope.given_up[nest] >= GIVEN_UP:
        return ()
    found = value_cycles(scope.kernel, scope.personality, *placed, needed)
    if found is None:
        scope.given_up[nest] += 1
        return ()
    return found


def _closed(
    scope: Scope,
    placed: tuple[tuple[Loop, ...], dict[str, Affine]],
    found: tuple[Body, Dependences],
    nest: Nest,
    asked: int,
) -> tuple[Body, Dependences]:
    """A sum through memory that does not close on its way through the tree of an iteration's terms
    is added to the tree's root instead; not one in logic, which is what closes it as a leaf.
    """
    before, handed = found
    first = limits(before, handed.cycles, asked)[0]
    if not isinstance(first, Recurrence) or first.through != "memory" or first.interval <= asked:
        return found
    slowest = max(handed.cycles, key=lambda cycle: cycle.interval)
    operators = [o for n in slowest.path if (o := before.graph.operator[n]) is not None]
    if any(o.shared and not o.dsp for o in operators):
        return found
    own = scope.personality
    scope.personality = replace(own, sums=replace(own.sums, order="root"))
    body = flattened_body(scope, *placed)
    scope.personality = own
    if body is None:
        return found
    other = dependences(body, nest)
    if limits(body, other.cycles, asked)[0].interval >= first.interval:
        return found
    return body, replace(other, hurried=first)
