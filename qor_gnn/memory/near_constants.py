"""Groups of accesses by the subscripts that are constants: what differs in one of these is never the same element.

Parts of a table that values look up have as many shapes as there are look-ups, and all of them would be compared with all
others, though the number of the part, a constant, tells most of them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from qor_gnn.memory.addresses import Addresses

Fixed = tuple[int | None, ...]
"""For each dimension the subscript where it is a constant, else None."""
_Where = tuple[int, ...]  # dimensions


def fixed(table: Addresses, address: int) -> Fixed:
    """The constant subscripts of an address."""
    terms = table.shape(address).terms
    return tuple([None if t else c for t, c in zip(terms, table.consts[address], strict=True)])


@dataclass(slots=True)
class NearConstants:
    """Numbers of groups, found by what constant subscripts they have in common with others."""

    _all: list[int] = field(default_factory=list)
    _tells: bool = False  # a group has constants
    _by_dims: dict[_Where, list[tuple[Fixed, int]]] = field(default_factory=dict)
    _tables: dict[tuple[_Where, _Where], tuple[dict[Fixed, list[int]], list[int]]] = field(
        default_factory=dict
    )

    def add(self, constants: Fixed, group: int) -> None:
        """A group whose accesses have these constants."""
        dims = _dims(constants)
        self._tells |= bool(dims)
        self._all.append(group)
        self._by_dims.setdefault(dims, []).append((constants, group))

    def near(self, constants: Fixed) -> list[int]:
        """The groups of which no constant subscript is another one than here."""
        if not self._tells:
            return self._all
        here, found = _dims(constants), list[int]()
        for dims, groups in self._by_dims.items():
            both = tuple([d for d in dims if d in here])
            table, done = self._tables.setdefault((dims, both), ({}, [0]))
            for own, group in groups[done[0] :]:
                table.setdefault(_at(own, both), []).append(group)
            done[0] = len(groups)
            found += table.get(_at(constants, both), ())
        return found


def _dims(constants: Fixed) -> _Where:
    return tuple([d for d, c in enumerate(constants) if c is not None])


def _at(constants: Fixed, dims: _Where) -> Fixed:
    return tuple([constants[d] for d in dims])
