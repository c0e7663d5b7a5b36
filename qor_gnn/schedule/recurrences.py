"""All recurrences of a pipelined nest, and the body in which the tool closes them."""

from __future__ import annotations

from dataclasses import replace

from dsl.expressions.affine import Affine
from qor_gnn.body.body import Body
from qor_gnn.design.region import Loop
from qor_gnn.schedule.carried import Nest
from qor_gnn.schedule.interval import Cycle, cycles, limits
from qor_gnn.schedule.loops import Scope, flattened_body
from qor_gnn.schedule.reasons import Recurrence
from qor_gnn.schedule.value_cycles import value_cycles


def recurrences_of(
    scope: Scope,
    placed: tuple[tuple[Loop, ...], dict[str, Affine]],
    body: Body,
    nest: Nest,
    asked: int,
) -> tuple[Body, list[Cycle]]:
    """The body of a nest as it is scheduled, and its recurrences.

    Args:
        scope: the design.
        placed: the loops that run as one pipeline, and the variables around them.
        body: of the nest.
        nest: its loops.
        asked: the interval that is asked for.
    """
    recurrences = cycles(body, nest)
    if scope.personality.sums.order == "leaf":
        body, recurrences = _closed(scope, placed, (body, recurrences), nest, asked)
    needed = limits(body, recurrences, asked)[0].interval
    recurrences += value_cycles(scope.kernel, scope.personality, *placed, needed)
    return body, recurrences


def _closed(
    scope: Scope,
    placed: tuple[tuple[Loop, ...], dict[str, Affine]],
    found: tuple[Body, list[Cycle]],
    nest: Nest,
    asked: int,
) -> tuple[Body, list[Cycle]]:
    """A sum through memory that does not close on its way through the tree of an iteration's terms
    is added to the tree's root instead; not one in logic, which is what closes it as a leaf.
    """
    first = limits(*found, asked)[0]
    if not isinstance(first, Recurrence) or first.through != "memory" or first.interval <= asked:
        return found
    slowest = max(found[1], key=lambda cycle: cycle.interval)
    operators = [o for n in slowest.path if (o := found[0].graph.operator[n]) is not None]
    if any(o.shared and not o.dsp for o in operators):
        return found
    own = scope.personality
    scope.personality = replace(own, sums=replace(own.sums, order="root"))
    body = flattened_body(scope, *placed)
    scope.personality = own
    if body is None:
        return found
    other = body, cycles(body, nest)
    return other if limits(*other, asked)[0].interval < first.interval else found
