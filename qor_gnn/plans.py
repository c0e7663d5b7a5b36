"""A statement as it is appended to a `qor_gnn.graph.Graph` copy by copy."""

from __future__ import annotations

from dataclasses import dataclass

from qor_gnn.address import Site
from qor_gnn.personality import Operator
from qor_gnn.region import Access


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a statement: a load, a value from outside, an index, or an operator."""

    kind: str
    site: Site | None = None
    operator: Operator | None = None
    operands: tuple[int, ...] = ()
    head: tuple[str, str, int, str] = ("", "", 0, "")
    index: Access | None = None
    outside: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement whose accesses are placed but for what differs between copies."""

    steps: tuple[Step, ...]
    target: Site
