"""Delays in ns of what is chained in a state: stages of cores, logic, memories and registers of a class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from backends.devices import DEVICES
from qor_gnn.tools.operators.integers import between
from qor_gnn.tools.operators.timing import Tables, TimingClass, tables, timing_classes
from qor_gnn.tools.personality import Personality

_HALF = 0.85  # of the delay of a single-precision core, as in `qor_gnn.tools.operators.floats`
_REGISTER, _FIFO = 0.36, 1.3
_LOADS = {"bram": 1.0, "lutram": 0.55, "uram": 1.32}
"""Delays against that of a BRAM, where reports of a class show none: medians of the classes that they show."""

_CORES = {"fpcast": "fptrunc", "dpcast": "fpext"}
"""Cores whose operators are called otherwise in libraries that reports were fitted to."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays of a timing class.

    Attributes:
        of: whose figures the class has.
        budget: ns that a stage may take: it decides which stages a core has.
    """

    of: TimingClass
    budget: float

    def stage(self, core: str) -> float:
        """The longest stage of a pipelined core of floating point; 0 of what no report shows.

        A core without DSP slices is called ``fadd_fabric``.
        """
        return _stage(self.of, self.budget, core)

    def logic(self, kind: str, width: int) -> float:
        """Of ``add``, ``cmp``, ``select`` or ``logic`` on so many bits."""
        return self.of.scale * between(self._tables.logic[self.of.fabric, kind], width)

    def load(self, kind: str) -> float:
        """Of a word that is loaded from ``bram``, ``lutram`` or ``uram``."""
        return self._memory(kind, _LOADS[kind])

    @property
    def register(self) -> float:
        """Of a variable of a loop that is written, with the multiplexer in front of it."""
        return self._memory("register", _REGISTER)

    @property
    def fifo(self) -> float:
        """Of a word that is taken from or put into a FIFO."""
        return self._memory("fifo", _FIFO)

    @property
    def _tables(self) -> Tables:
        return tables()

    def _memory(self, name: str, share: float) -> float:
        known, fabric = self._tables.memories, self.of.fabric
        own = known.get((fabric, name), share * known.get((fabric, "bram"), 0.0))
        return self.of.scale * own


@lru_cache(maxsize=1024)
def _stage(of: TimingClass, budget: float, core: str) -> float:
    name, factor = _CORES.get(core, core).replace("_fabric", "_nodsp"), of.scale
    if name.startswith("h"):
        name, factor = f"f{name[1:]}", factor * _HALF
    found = tables().floats.get((of.floats, name))
    if found is None:
        return 0.0
    return (found.scaled(factor) if factor != 1.0 else found).choose(budget).delay


def delays_of(tool: Personality) -> Delays | None:
    """The delays that a tool reckons with on its device; None of a device without reports."""
    of = timing_classes().get(DEVICES[tool.device].timing_class)
    return None if of is None else Delays(of, round(tool.usable_ns, 4))
