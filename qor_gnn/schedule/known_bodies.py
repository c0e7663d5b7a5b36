"""The bodies of a design, each made once: they are the same whatever its trip counts are taken to be.

A design whose trip counts vary is composed for the average, the least and the most of them (`qor_gnn.estimate`). How often
loops run is all that differs; a body, what its iterations hand on, and its schedule are nearly all of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from dsl.expressions.affine import Affine
from qor_gnn.body.body import Body
from qor_gnn.design.region import Loop
from qor_gnn.schedule.allocation import Asked, capped
from qor_gnn.schedule.bank_switches import switched_schedule
from qor_gnn.schedule.intervals.interval import Dependences
from qor_gnn.schedule.list_schedule import Times, schedule
from qor_gnn.schedule.loops import (
    Placed,
    Scope,
    flattened_body,
    innermost_body,
    nest_of,
    straight_block,
)
from qor_gnn.schedule.pipeline import Pipeline, operations, pipelined
from qor_gnn.schedule.recurrences import recurrences_of

Env = dict[str, Affine]
_T = TypeVar("_T")


def flattened(scope: Scope, chain: tuple[Loop, ...], env: Env) -> Body | None:
    """As `flattened_body`."""
    key = ("flattened", _key(scope, chain, env), _rules(scope, chain))
    return _once(scope, key, lambda: flattened_body(scope, chain, env))


def handed_on(
    scope: Scope, chain: tuple[Loop, ...], env: Env, body: Body, asked: int
) -> tuple[Body, Dependences]:
    """As `recurrences_of`, of the body that `flattened` has found."""

    def made() -> tuple[Body, Dependences]:
        return recurrences_of(scope, (chain, env), body, nest_of(scope, chain, env), asked)

    key = ("handed on", _key(scope, chain, env), _rules(scope, chain))
    return _once(scope, key, made)


def alone(scope: Scope, loop: Loop, env: Env) -> tuple[Body, Times]:
    """The body of a loop that is no pipeline, as `innermost_body` has it, and its schedule."""

    def made() -> tuple[Body, Times]:
        body = innermost_body(scope, loop, env)
        caps = capped(body, loop.requests.allocation)
        units = {**operations(body), **caps}
        return body, schedule(body, units) if caps else switched_schedule(body)

    return _once(scope, ("alone", _key(scope, (loop,), env)), made)


def straight(scope: Scope, nodes: Sequence[Placed]) -> tuple[Body, Times]:
    """Operations that run once, between regions, as `straight_block` has them, and their schedule."""

    def made() -> tuple[Body, Times]:
        body = straight_block(scope, list(nodes))
        return body, schedule(body)

    key = ("straight", tuple((id(node), frozenset(env.items())) for node, env in nodes))
    return _once(scope, key, made)


def scheduled(
    scope: Scope, loop: Loop, handed: tuple[Body, Dependences], asked: int, allocation: Asked
) -> Pipeline:
    """The scheduled pipeline. Copies of a body that differ in nothing but banks are one to it.

    Args:
        scope: the design.
        loop: the innermost one.
        handed: the body, and what its iterations hand on.
        asked: the interval that is asked for.
        allocation: units that are.
    """
    body, found = handed
    carried = tuple((c.path, c.delay, c.distance, c.through) for c in found.cycles)
    constraints = (tuple(body.nodes), tuple(map(tuple, body.preds)), tuple(body.ports.items()))
    key = ("scheduled", id(loop), asked, constraints, carried, found.ways, found.hurried)
    known = _once(scope, key, lambda: pipelined(body, found, asked, allocation))
    return replace(known, body=body)


def _once(scope: Scope, key: object, make: Callable[[], _T]) -> _T:
    if key not in scope.bodies:
        scope.bodies[key] = make()
    found: _T = scope.bodies[key]
    return found


def _rules(scope: Scope, chain: tuple[Loop, ...]) -> object:
    """What differs between scopes that share bodies (`qor_gnn.schedule.alike`): which nests run as one pipeline."""
    flattening = scope.personality.flattening
    return len(chain) > 1 and (flattening.guarded_updates, flattening.promotes_first)


def _key(scope: Scope, chain: tuple[Loop, ...], env: Mapping[str, Affine]) -> object:
    """What a body of loops depends on, besides the design and the tool: where they are, and what was given up before."""
    given_up = frozenset(scope.unpipelined), frozenset(scope.serial)
    return tuple(map(id, chain)), frozenset(env.items()), given_up
