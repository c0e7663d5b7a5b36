"""Loops that end early: the tests in their headers, ``first + k < end`` or ``done < 1``, and what a tool is told of their trips."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce

from dsl.schedules.loop_requests import ExitTest, Leaving
from mlir_passes.dialect.attributes import LoopInfo, TripCount
from mlir_passes.emit.affine import Bounds, literal
from mlir_passes.emit.cpp import Cpp, infix, name


def header_tests(
    leaving: Leaving | None, var: str, variables: Mapping[str, str]
) -> tuple[Cpp, ...]:
    """What has to hold for the loop to run on, beside its bound.

    Args:
        leaving: how it ends early, if it does.
        var: its variable in C++.
        variables: C++ names of scalars by the user's name. Their types and ``int`` add up without a loss: they are
            ``ap_int`` and ``ap_uint``.
    """
    if leaving is None:
        return ()
    return tuple(_runs_on(test, var, variables) for test in leaving.tests)


def trips_of(info: LoopInfo, bounds: Bounds) -> TripCount | None:
    """The trip counts that a tool is told: those that vary, and those of a loop that ends early."""
    leaving, known = info.requests.leaving, info.trip_count
    if leaving is None:
        return known
    if known is None:
        if bounds.low is None or bounds.high is None:
            return None
        most = (bounds.high - bounds.low) // bounds.step + 1
        return TripCount(0, most, leaving.expected(most))
    return TripCount(0, known.maximum, min(known.average, leaving.expected(known.maximum)))


def _runs_on(test: ExitTest, var: str, variables: Mapping[str, str]) -> Cpp:
    """``scale * var + terms + const < 0``, without a minus."""
    terms = [(variables[scalar], n) for scalar, n in test.terms]
    if test.scale:
        terms.append((var, test.scale))
    left = [_times(text, n) for text, n in terms if n > 0]
    right = [_times(text, -n) for text, n in terms if n < 0]
    if test.const > 0:
        left.append(literal(test.const))
    elif test.const < 0:
        right.append(literal(-test.const))
    return infix("<", _sum(left), _sum(right))


def _times(text: str, factor: int) -> Cpp:
    return name(text) if factor == 1 else infix("*", literal(factor), name(text))


def _sum(terms: list[Cpp]) -> Cpp:
    return reduce(partial(infix, "+"), terms) if terms else literal(0)
