"""Bounds of ``affine.for`` and conditions of ``affine.if`` as plain values, over names of operands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dsl.expressions.affine import Constraint
from mlir_passes.affine_maps import from_map, from_set
from polyhedral.looptree.bounds import Bounds


@dataclass(slots=True)
class Names:
    """A name for each SSA value that occurs in a bound, a condition or a subscript.

    Those given at first are of the program's loops; none that is made up is one of them.
    """

    by_value: dict[Any, str] = field(default_factory=dict)
    count: int = 0
    given: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.given = frozenset(self.by_value.values())

    def of(self, value: Any) -> str:
        """The value's name; made up where it is new."""
        known = self.by_value.get(value)
        if known is not None:
            return known
        while (made := f"v{self.count}") in self.given:
            self.count += 1
        self.count += 1
        self.by_value[value] = made
        return made

    def forget(self, value: Any) -> None:
        """Drop a value that is about to be erased: its address may be another's soon."""
        self.by_value.pop(value, None)

    def values(self) -> dict[str, Any]:
        """The value of each name."""
        return {name: value for value, name in self.by_value.items()}


def bounds_of(loop: Any, names: Names) -> Bounds:
    """The bounds of an ``affine.for`` over the names of its operands."""
    op = loop.operation
    attributes = op.attributes
    split = attributes["operandSegmentSizes"][0]
    operands = [names.of(x) for x in op.operands]
    return Bounds(
        from_map(attributes["lowerBoundMap"].value, operands[:split]),
        from_map(attributes["upperBoundMap"].value, operands[split:]),
        int(attributes["step"].value),
    )


def condition_of(op: Any, names: Names) -> tuple[Constraint, ...]:
    """The constraints of an ``affine.if`` over the names of its operands."""
    operation = op.operation
    operands = [names.of(x) for x in operation.operands]
    return from_set(operation.attributes["condition"], operands)
