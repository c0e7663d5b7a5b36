"""Tool versions as the model sees them: policies and tables at one clock on one device family.

A version answers for any device at any clock. Where it was measured, at the clock and in the timing class of its
folder, its own library of operators does; elsewhere one that the law of selection gives
(`qor_gnn.tools.operators.at_clock`). Each version is a folder here, see docs/architecture.md: what it is (``tool.json``), what it does (``policies.json``),
its operators and memories, and what the terms of its LUTs and flip-flops cost (``area.json``). Nothing in
the model is keyed on a tool's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

from backends.devices import DEVICES, Device
from backends.tables import described, evidenced, fault, parsed
from dsl.errors.errors import ToolError, did_you_mean
from qor_gnn.tools.likeness import file_of, grouped
from qor_gnn.tools.memories import Memories, memories
from qor_gnn.tools.operators import Library, Operator, Table, completed, library
from qor_gnn.tools.operators.at_clock import library_at
from qor_gnn.tools.operators.calibration import Calibration
from qor_gnn.tools.operators.library import UNSIGNED
from qor_gnn.tools.operators.multipliers import IMPLEMENTATIONS
from qor_gnn.tools.policies.accesses import Accesses
from qor_gnn.tools.policies.banks import Banks
from qor_gnn.tools.policies.binding import Binding
from qor_gnn.tools.policies.composition import Composition
from qor_gnn.tools.policies.control import Control
from qor_gnn.tools.policies.directives import Directives
from qor_gnn.tools.policies.flattening import Flattening
from qor_gnn.tools.policies.guards import Guards
from qor_gnn.tools.policies.indices import IndexDivision, Indices
from qor_gnn.tools.policies.latencies import Latencies
from qor_gnn.tools.policies.local_arrays import LocalArrays
from qor_gnn.tools.policies.multiplexers import Multiplexers
from qor_gnn.tools.policies.outside import Outside
from qor_gnn.tools.policies.partitioning import Partitioning
from qor_gnn.tools.policies.recurrences import Recurrences
from qor_gnn.tools.policies.registers import Registers
from qor_gnn.tools.policies.sums import Sums
from qor_gnn.tools.policies.unrolling import Unrolling
from qor_gnn.tools.targets import CALIBRATED, SAME_CLOCK, Target, period, target_named
from qor_gnn.tools.versions import help_for

T = TypeVar("T")

_FOLDERS = Path(__file__).parent
DEFAULT = "vitis-2022.1-zu9eg-10ns"


@dataclass(frozen=True, slots=True)
class Version:
    """Which tool it is.

    Attributes:
        name: what a user calls it.
        tool, version: in the vendor's words.
        family, device: for which its operators are known.
        clock_ns: at which they are.
        uncertainty: share of the period that is kept free.
        is_open: it is the open backend: it answers for its own designs, nothing is emulated.
        like: the folder of the version that it is like where its own files say nothing (`qor_gnn.tools.likeness`).
    """

    name: str
    tool: str
    version: str
    family: str
    device: str
    clock_ns: float
    uncertainty: float
    is_open: bool
    like: str | None = None


_WITHOUT_SIGN = frozenset({"arith.divui", "arith.remui"})


class Computation(Protocol):
    """What an operator is chosen by: an operation of a design, as `qor_gnn.design.region.Op` has it."""

    @property
    def kind(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def width(self) -> int: ...

    @property
    def impl(self) -> str: ...

    @property
    def value(self) -> str: ...

    @property
    def factors(self) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
class Personality:
    """A tool version with its clock, device family, policies, operators and memories.

    Attributes:
        name, tool, version, family, device, clock_ns, uncertainty, is_open: see `Version`.
        folder: its tables.
        base: where it is a version away from where that was measured, or calibrated, the version's name.
        calibration: the user's own measurements that are laid over its operators.
    """

    name: str
    tool: str
    version: str
    family: str
    device: str
    clock_ns: float
    uncertainty: float
    is_open: bool
    folder: Path
    directives: Directives
    partitioning: Partitioning | None
    local_arrays: LocalArrays
    unrolling: Unrolling
    flattening: Flattening
    composition: Composition
    sums: Sums
    recurrences: Recurrences
    accesses: Accesses
    banks: Banks
    indices: Indices
    division: IndexDivision | None
    binding: Binding
    registers: Registers
    multiplexers: Multiplexers
    control: Control
    guards: Guards
    outside: Outside | None
    latencies: Latencies
    memories: Memories = field(hash=False)
    library: Library = field(hash=False)
    base: str = ""
    calibration: Calibration | None = None

    @property
    def measured_as(self) -> str:
        """The name of the version as it was measured, whose rules these are."""
        return self.base or self.name

    def operator(
        self, kind: str, type_: str, width: int, impl: str = "", factors: tuple[int, int] = (0, 0)
    ) -> Operator:
        """The operator ``kind`` on values of ``type_`` (``f32``, …, ``int``) and ``width`` bits.

        ``impl`` is the implementation asked for; where no report shows it, it is the tool's choice.
        ``factors`` are those of a product or a shift, as `qor_gnn.design.region.Op` has them.

        Raises:
            ToolError: W451, the library has no such operator.
        """
        chosen = self.library.implementations.get(impl, {}).get(type_, {}).get(kind)
        if chosen is not None:
            return chosen
        key = (self.name, kind, type_, width, factors, impl)
        found = _OPERATORS.get(key)
        if found is None:
            made = self.library.operator(self.name, kind, type_, width, factors, impl)
            if made.integer and not (made.registered or self.binding.combinational_shared):
                made = replace(made, alone=True)
            found = _OPERATORS[key] = made
        return found

    def operator_of(self, op: Computation, impl: str | None = None) -> Operator:
        """The operator of an operation of a design.

        Args:
            op: the operation.
            impl: the implementation, if another one than it asks for.

        Raises:
            ToolError: W451, the library has no such operator.
        """
        asked = op.impl if impl is None else impl
        unsigned = f"{op.kind}_{UNSIGNED}"
        known = op.value in _WITHOUT_SIGN and unsigned in self.library.integers
        kind = unsigned if known else op.kind
        return self.operator(kind, op.type, op.width, asked, op.factors)

    def operators_of(self, op: Computation) -> tuple[Operator, ...]:
        """The operator of an operation in all implementations: the tool's own choice, then others.

        Raises:
            ToolError: W451, the library has no such operator.
        """
        asked = dict.fromkeys(("", op.impl, *IMPLEMENTATIONS))
        return tuple(self.operator_of(op, impl) for impl in asked)

    @property
    def implementations(self) -> Mapping[str, Table]:
        """Operators by an implementation that may be asked for."""
        return self.library.implementations

    @property
    def usable_ns(self) -> float:
        """What a chain of combinational operators may take."""
        return self.clock_ns * (1 - self.uncertainty)


_OPERATORS: dict[tuple[str, str, str, int, tuple[int, int], str], Operator] = {}


def allowed(personality: Personality, reassociates: bool) -> Personality:
    """The tool as it is run for a design: without unsafe math where no sum may be reassociated.

    Args:
        personality: as measured.
        reassociates: the schedule allows some sum to be done in any order.
    """
    if reassociates or not personality.sums.reassociates:
        return personality
    return replace(personality, sums=replace(personality.sums, order="chain"))


def available() -> tuple[str, ...]:
    """Names of the tool versions that ship with the package."""
    return tuple(sorted(_folders()))


@cache
def _folders() -> Mapping[str, Path]:
    """The folders of tool versions by name."""
    return {_version(file.parent).name: file.parent for file in _FOLDERS.glob("*/tool.json")}


def table_of(name: str, file: str) -> Path:
    """A file of a tool version, or of the one that it is like.

    Raises:
        ToolError: W450, there is none of that name.
    """
    return file_of(personality(name).folder, file)


def folder_of(name: str) -> Path:
    """The folder of a tool version.

    Raises:
        ToolError: W450, there is none of that name.
    """
    return personality(name).folder


def version_of(name: str) -> str:
    """What a version is called without the device and clock that it was measured at: ``vitis-2022.1``."""
    return name.rsplit("-", 2)[0]


@cache
def personality(name: str = DEFAULT) -> Personality:
    """A tool version by name: as it was measured, or at a target (``vitis-2022.1-xc7z020-1-5ns``).

    Without device and clock (``vitis-2022.1``) it is as it was measured.

    What stands behind a ``+`` names a calibration, which only `qor_gnn.tools.calibrated.calibrated` lays over it.

    Raises:
        ToolError: W450, there is none of that name.
    """
    name = name.partition(CALIBRATED)[0]
    if name in _folders():
        return read(_folders()[name])
    versions = {version_of(n): n for n in _folders()}
    if name in versions:
        return personality(versions[name])
    target = target_named(name)
    if target is not None and target.version in versions:
        return _elsewhere(personality(versions[target.version]), target)
    message = f"no tool personality is called '{name}'"
    raise ToolError("W450", message, help=help_for(name, (*available(), *versions)))


def at(
    base: Personality, device: Device, clock: float, uncertainty: float | None = None
) -> Personality:
    """A tool version on a device at a clock: itself where it was measured so.

    Args:
        base: the version.
        device: what for. Of a device that the tool does not know it is as on the tool's own.
        clock: the period in ns.
        uncertainty: share of it that is kept free; None for the version's own.

    Raises:
        ToolError: W452, nothing runs at such a clock.
    """
    clock = period(clock)
    own = DEVICES[base.device]
    place = device if device.vendor == own.vendor else own
    free = None if uncertainty is None or uncertainty == base.uncertainty else uncertainty
    same = place.timing_class == own.timing_class and abs(clock - base.clock_ns) < SAME_CLOCK
    if same and free is None:
        return base
    return personality(Target(version_of(base.measured_as), place, clock, free).name)


def _elsewhere(base: Personality, target: Target) -> Personality:
    """A version at a target, with the operators that the law gives; the open backend schedules by its own."""
    uncertainty = base.uncertainty if target.uncertainty is None else target.uncertainty
    place = replace(
        base,
        name=target.name,
        base=base.name,
        family=target.device.family,
        device=target.device.name,
        clock_ns=target.clock_ns,
        uncertainty=uncertainty,
    )
    if base.is_open:
        return place
    library = _by_the_law(place, target.device)
    return replace(place, library=library, memories=base.memories.on(target.device))


def _by_the_law(tool: Personality, device: Device) -> Library:
    """The operators that the law of selection gives at a tool version's clock."""
    return library_at(
        device.timing_class,
        device.dsp_kind,
        round(tool.usable_ns, 4),
        tool.latencies.states,
        tool.latencies.compares,
    )


def read(folder: Path) -> Personality:
    """The tool version that a folder describes.

    Raises:
        ToolError: W453, a table of it is missing, or is not as it should be.
    """
    what = _version(folder)
    policies, where = grouped(folder, "policies.json")

    def policy(kind: type[T], name: str) -> T:
        return evidenced(kind, policies.pop(name, []), f"{where}: {name}")

    found = Personality(
        name=what.name,
        tool=what.tool,
        version=what.version,
        family=what.family,
        device=what.device,
        clock_ns=what.clock_ns,
        uncertainty=what.uncertainty,
        is_open=what.is_open,
        folder=folder,
        directives=policy(Directives, "directives"),
        partitioning=policy(Partitioning, "partitioning") if "partitioning" in policies else None,
        local_arrays=policy(LocalArrays, "local_arrays"),
        unrolling=policy(Unrolling, "unrolling"),
        flattening=policy(Flattening, "flattening"),
        composition=policy(Composition, "composition"),
        sums=policy(Sums, "sums"),
        recurrences=policy(Recurrences, "recurrences"),
        accesses=policy(Accesses, "accesses"),
        banks=policy(Banks, "banks"),
        indices=policy(Indices, "indices"),
        division=policy(IndexDivision, "division") if "division" in policies else None,
        binding=policy(Binding, "binding"),
        registers=policy(Registers, "registers"),
        multiplexers=policy(Multiplexers, "multiplexers"),
        control=policy(Control, "control"),
        guards=policy(Guards, "guards"),
        outside=policy(Outside, "outside") if "outside" in policies else None,
        latencies=policy(Latencies, "latencies"),
        memories=memories(folder, DEVICES[what.device]),
        library=library(file_of(folder, "operators.json")),
    )
    for name in policies:
        raise fault(where, f"has '{name}'", did_you_mean(name, (f.name for f in fields(found))))
    if found.is_open:
        return found
    law = _by_the_law(found, DEVICES[what.device])
    return replace(found, library=completed(found.library, law))


def _version(folder: Path) -> Version:
    data, where = described(folder / "tool.json", None)
    return parsed(Version, data, where)
