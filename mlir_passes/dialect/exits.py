"""``hls.leave`` of an ``affine.for``: the tests that end a loop early, and the trips that it is expected to have.

``#hls.leave<trips, [{iv = 1, const = 0, scalars = {first = 1, end = -1}}]>``: the loop ends in front of an iteration in which
one of the sums is not negative. No iteration from there on does anything, so that who ignores it computes the same.
"""

from __future__ import annotations

from typing import Any

from dsl.schedules.loop_requests import ExitTest, Leaving
from mlir_passes.dialect import hls
from mlir_passes.dialect.element_types import int_attribute
from mlir_passes.provider import ir


def leaving_attribute(leaving: Leaving) -> Any:
    """The attribute of a loop that ends early."""
    tests = [
        ir.DictAttr.get(
            {
                "iv": int_attribute(test.scale),
                "const": int_attribute(test.const),
                "scalars": ir.DictAttr.get({name: int_attribute(n) for name, n in test.terms}),
            }
        )
        for test in leaving.tests
    ]
    return hls.Leave.get(int_attribute(leaving.trips), ir.ArrayAttr.get(tests))


def leaving_in(attribute: Any) -> Leaving:
    """What the attribute says."""
    trips, tests = (p.maybe_downcast() for p in attribute.params)
    return Leaving(int(trips.value), tuple(_test(test) for test in tests))


def _test(attribute: Any) -> ExitTest:
    terms = tuple((named.name, int(named.attr.value)) for named in attribute["scalars"])
    return ExitTest(int(attribute["iv"].value), terms, int(attribute["const"].value))


def is_leaving(attribute: Any) -> bool:
    """Whether it has the kind that the attribute of a loop has."""
    return isinstance(attribute, hls.Leave)
