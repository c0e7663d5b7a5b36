"""Values that a body takes from outside: constants, inputs and counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from qor_gnn.design.region import Op


@dataclass(slots=True)
class Outside:
    """Numbers below 0, one for each value.

    Attributes:
        folds: what is computed from constants alone is a constant (`Guards.folds_constants`).
        zeros: of them those that are 0.
        constants: of them those that are known when the design is compiled.
    """

    folds: bool
    zeros: set[int] = field(default_factory=set)
    constants: set[int] = field(default_factory=set)
    _numbers: dict[tuple[object, ...], int] = field(default_factory=dict)

    def value(self, key: tuple[object, ...]) -> int:
        """The number of a value."""
        return self._numbers.setdefault(key, -1 - len(self._numbers))

    def of(self, op: Op) -> int:
        """The number of a constant or an input."""
        number = self.value((op.kind, op.type, op.value, op.access))
        if op.kind == "const":
            self.constants.add(number)
            if float(op.value) == 0:
                self.zeros.add(number)
        return number

    def computed(self, head: object, operands: Sequence[int]) -> int | None:
        """The constant that an operation gives; None where an operand is no constant."""
        if not self.folds or not self.constants.issuperset(operands):
            return None
        number = self.value(("computed", head, *operands))
        self.constants.add(number)
        return number
