"""What the labelled designs of a tool show, and how far a design leaves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backends.tables import described, fault, parsed
from qor_gnn.support.features import SIZES, STRUCTURES, Features
from qor_gnn.tools.personality import Personality, table_of

FILE = "supported.json"


@dataclass(frozen=True, slots=True)
class Shown:
    """The most that the labelled designs of a tool version have of anything.

    Attributes:
        sizes: by name in `SIZES`; what no label tells is absent.
        designs: the labelled design that has it.
        structures: keys of `STRUCTURES` that some label has.
        fabric_interval: the shortest interval at which all sums of a region are in fabric; None: no label
            has such a region.
        shared_interval: the longest interval over which shared units are as the model says.
    """

    sizes: Mapping[str, float]
    designs: Mapping[str, str]
    structures: tuple[str, ...]
    fabric_interval: int | None
    shared_interval: int


@dataclass(frozen=True, slots=True)
class Support:
    """How far a design leaves the labels of its tool.

    Attributes:
        excess: e, the largest ratio of one of its sizes to the largest of any label; 1 or less is inside.
        unseen: structures that no label has, for people; n is their number.
        largest: the size that ``excess`` is of, with the figure of the design and of the labels.
    """

    excess: float
    unseen: tuple[str, ...]
    largest: str

    @property
    def inside(self) -> bool:
        """Labels show all that the design has."""
        return self.excess <= 1 and not self.unseen


def shown(tool: Personality) -> Shown | None:
    """What labels of the tool show; None where its figures need none (`Personality.is_open`).

    Raises:
        ToolError: W453, the table is not as it should be.
    """
    return None if tool.is_open else _read(table_of(tool.measured_as, FILE))


@cache
def _read(file: Path) -> Shown:
    data, where = described(
        file, {"sizes", "designs", "structures", "fabric_interval", "shared_interval"}
    )
    found = parsed(Shown, data, where)
    for name, known in (("sizes", SIZES), ("structures", tuple(STRUCTURES))):
        for key in getattr(found, name):
            if key not in known:
                raise fault(where, f"has '{key}' in {name}")
    if any(most <= 0 for most in found.sizes.values()):
        raise fault(where, "has a size that no design is inside of")
    return found


def support(design: Features, labels: Shown) -> Support:
    """How far a design leaves what labels show.

    Args:
        design: its features.
        labels: of its tool.
    """
    ratios = {name: design.sizes[name] / most for name, most in labels.sizes.items()}
    worst = max(ratios, key=lambda name: ratios[name])
    text = worst.replace("_", " ")
    return Support(
        ratios[worst],
        tuple(_unseen(design, labels)),
        f"{design.sizes[worst]:,.0f} {text if text != 'lut' else 'LUT'} of {labels.sizes[worst]:,.0f}",
    )


def _unseen(design: Features, labels: Shown) -> Iterator[str]:
    for name, text in STRUCTURES.items():
        if name in design.structures and name not in labels.structures:
            yield text
    shortest, found = labels.fabric_interval, design.fabric_interval
    if found is not None and (shortest is None or found < shortest):
        yield f"{STRUCTURES['fabric']} ({found})"
    if design.shared_interval > labels.shared_interval:
        yield f"{STRUCTURES['shared']} ({design.shared_interval})"
