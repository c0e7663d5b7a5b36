"""Memories of a tool version: types of storage, their ports, and the law of what a bank costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from backends.devices import Device
from backends.tables import evidenced, fault
from dsl.errors.errors import did_you_mean
from qor_gnn.tools.likeness import grouped
from qor_gnn.tools.storage.laws import StorageRules, law_on, laws


@dataclass(frozen=True, slots=True)
class Ports:
    """What one bank can do in a cycle: accesses of each kind, and of both together."""

    read: int
    write: int
    both: int


@dataclass(frozen=True, slots=True)
class Types:
    """Types of storage by what ``bind_storage`` calls them.

    Attributes:
        argument, local: of arguments and of local arrays that nobody asked another one for.
        ports: of a bank of each type.
    """

    argument: str
    local: str
    ports: Mapping[str, Ports] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Storage:
    """Which law a tool version's own device has, and what its reports do differently.

    Attributes:
        law: a name of `qor_gnn.tools.storage.laws`.
        counted_to: deeper banks of block RAM are reported as this deep on that device.
    """

    law: str
    counted_to: int | None = None


@dataclass(frozen=True, slots=True)
class Memories:
    """What a tool version makes of arrays.

    Attributes:
        types: of storage, and their ports.
        own: the law of the device that the version was measured on.
        storage: what banks cost on the device that it is asked of.
    """

    types: Types
    own: Storage
    storage: StorageRules

    def ports(self, storage: str | None, argument: bool) -> Ports:
        """Those of a bank.

        Args:
            storage: the type that was asked for, if one was.
            argument: the array is an argument.
        """
        chosen = storage or (self.types.argument if argument else self.types.local)
        if chosen not in self.types.ports:  # one of which this tool's tables know nothing
            chosen = self.types.argument if argument else self.types.local
        return self.types.ports[chosen]

    def on(self, device: Device) -> Memories:
        """A version's memories on a device: by the law of its silicon, with URAM where it has some.

        Raises:
            ToolError: W453, there is no law for it.
        """
        law = law_on(device.timing_class) if device.vitis else self.own.law
        rules = laws()[law]
        return replace(
            self,
            storage=replace(
                rules,
                uram=rules.uram if device.uram else None,
                counted_to=self.own.counted_to if law == self.own.law else None,
            ),
        )


def memories(folder: Path, device: Device) -> Memories:
    """The memories of a tool version.

    Args:
        folder: of the version.
        device: that it was measured on.

    Raises:
        ToolError: W453, it is no table of memories, or names a law that there is none of.
    """
    data, where = grouped(folder, "memories.json")
    for key in data.keys() ^ {"types", "storage"}:
        raise fault(where, f"has types and storage, and nothing else: not '{key}'")
    types = evidenced(Types, data["types"], f"{where}: types")
    own = evidenced(Storage, data["storage"], f"{where}: storage")
    if own.law not in laws():
        raise fault(f"{where}: storage", f"has no law '{own.law}'", did_you_mean(own.law, laws()))
    return Memories(types, own, laws()[own.law]).on(device)
