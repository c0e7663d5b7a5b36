"""Operators of HLS tools: of a version as it was measured, and of any device at any clock by the law of selection."""

from qor_gnn.tools.operators.library import (
    Integers,
    Library,
    Operator,
    Step,
    Table,
    completed,
    library,
)

__all__ = ["Integers", "Library", "Operator", "Step", "Table", "completed", "library"]
