"""The stores of a raised module as isl relations: which iterations of a statement each one runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from polyhedral.equivalence.raised import RaisedLoop, RaisedStore
from polyhedral.isl.text import (
    affine_text,
    cond_text,
    conjunction,
    dims,
    map_of,
    positional,
    set_of,
)
from polyhedral.scop.scop import Statement


@dataclass(frozen=True, eq=False)
class Run:
    """A store that says which iterations of a statement it runs."""

    store: RaisedStore
    statement: Statement

    @property
    def place(self) -> tuple[int, ...]:
        """Where it stands (see `RaisedStore`)."""
        return self.store.place

    @cached_property
    def domain(self) -> isl.Set:
        """The values of its loops' variables for which it is executed."""
        loops = self.store.loops
        names = positional([loop.iv for loop in loops], "t")
        where = [text for loop in loops for text in _loop_text(loop, names)]
        where += [cond_text(guard, names) for guard in self.store.guards]
        return set_of(f"{{ [{', '.join(names.values())}] : {conjunction(where)} }}")

    @cached_property
    def iterations(self) -> isl.Map:
        """From the loops' variables to the iteration of the statement."""
        assert self.store.iteration is not None
        names = positional([loop.iv for loop in self.store.loops], "t")
        values = ", ".join(affine_text(e, names) for e in self.store.iteration)
        space = f"[{', '.join(names.values())}]"
        index = self.statement.index
        return map_of(f"{{ {space} -> s{index}[{values}] }}").intersect_domain(self.domain)

    @cached_property
    def times(self) -> isl.Map:
        """From the iteration of the statement to the loops' variables."""
        return self.iterations.reverse()

    def instants(self, length: int, last: int | None = None) -> isl.Map:
        """From the iteration to ``[place0, loop0, place1, …]``, which orders all stores.

        Args:
            length: loops of the deepest store; what a store lacks is 0.
            last: one more entry.
        """
        names = dims(len(self.store.loops), "t")
        time: list[str] = []
        for k in range(length + 1):
            time.append(str(self.place[k]) if k < len(self.place) else "0")
            if k < length:
                time.append(names[k] if k < len(names) else "0")
        time += [] if last is None else [str(last)]
        return self.times.apply_range(map_of(f"{{ [{', '.join(names)}] -> [{', '.join(time)}] }}"))


def _loop_text(loop: RaisedLoop, names: dict[str, str]) -> Iterator[str]:
    iv = names[loop.iv]
    lowers = [affine_text(e, names) for e in loop.lowers]
    yield from (f"{iv} >= {low}" for low in lowers)
    yield from (f"{iv} < {affine_text(e, names)}" for e in loop.uppers)
    if loop.step > 1:
        first = lowers[0] if len(lowers) == 1 else f"max({', '.join(lowers)})"
        yield f"({iv} - ({first})) mod {loop.step} = 0"


def instance_text(name: str, at: tuple[int, ...]) -> str:
    """``S0[1, 2]``, as other messages write an iteration."""
    return f"{name}[{', '.join(map(str, at))}]"
