"""When a process writes or reads each element of a channel, if nothing makes it wait.

All iterations of the loops around an access are enumerated; their times follow from where the
regions of the process begin, how long an iteration of each takes, and the state of the access in
its body. The unit is the cycle, counted from the start of the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.design.region import Access, Function, Guard, Kernel, Loop, Node, Statement
from qor_gnn.schedule.regions import Region

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST = 1 << 18
"""Accesses that are enumerated; of more only the first and the last are looked at."""
SPREAD = 1 << 12
"""Tokens between these, evenly spread."""
_ENTRY = 1  # cycles from the call of a region to the first state of its first iteration


@dataclass(frozen=True, slots=True)
class Tokens:
    """Elements by number, when each is accessed, and in which bank it lies.

    ``exact`` is False where there were too many: then ``element`` is a rank in time.
    """

    element: Ints
    time: Floats
    bank: Ints
    exact: bool = True


@dataclass(slots=True)
class _Rows:
    """Iterations of the loops around a statement: for each variable its value and its number."""

    values: dict[str, Ints] = field(default_factory=dict)
    numbers: dict[str, Ints] = field(default_factory=dict)
    counts: dict[str, Ints] = field(default_factory=dict)
    length: int = 1

    def kept(self, rows: Ints | npt.NDArray[np.bool_]) -> None:
        for table in (self.values, self.numbers, self.counts):
            for name in table:
                table[name] = table[name][rows]

    def value(self, of: object) -> Ints:
        return np.broadcast_to(np.asarray(of, np.int64), (self.length,))


@dataclass(frozen=True, slots=True)
class _Path:
    """A statement, the loops and guards around it, and what each holds of it."""

    statement: Statement
    around: tuple[Loop | Guard, ...]
    holders: tuple[Node, ...]  # the node of each one's body that the statement is in

    @property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(n for n in self.around if isinstance(n, Loop))


def tokens(
    kernel: Kernel, function: Function, regions: Sequence[Region], memory: str, write: bool
) -> Tokens:
    """The accesses of one process to a channel.

    Args:
        kernel: the design.
        function: the process.
        regions: it, scheduled.
        memory: the channel.
        write: its writes, else its reads.
    """
    elements, times = [], []
    exact = True
    for path in _paths(function.body, (), ()):
        for access in _accesses(path.statement, memory, write):
            rows = _enumerated(path, MOST)
            if rows is None:
                rows, exact = _ends(path), False
            if not rows.length:
                continue
            elements.append(_element(kernel, access, rows))
            times.append(_Timer(path, rows, memory, write).at(regions, 0, None))
    if not elements:
        none = np.zeros(0, np.int64)
        return Tokens(none, np.zeros(0), none)
    element, time = np.concatenate(elements), np.concatenate(times)
    if not exact:
        ranks = np.arange(SPREAD)
        spread = np.linspace(time.min(), time.max(), SPREAD)
        return Tokens(ranks, spread, np.zeros(SPREAD, np.int64), False)
    return Tokens(element, time, _bank(kernel, memory, element))


def _accesses(statement: Statement, memory: str, write: bool) -> list[Access]:
    if write:
        return [statement.target] if statement.target.memory == memory else []
    found = (op.access for op in statement.ops if op.kind == "load")
    return [a for a in dict.fromkeys(found) if a is not None and a.memory == memory]


def _paths(
    nodes: Sequence[Node], around: tuple[Loop | Guard, ...], holders: tuple[Node, ...]
) -> list[_Path]:
    found: list[_Path] = []
    for node in nodes:
        inside = (*holders, node) if around else ()
        if isinstance(node, Statement):
            found.append(_Path(node, around, inside))
        else:
            found += _paths(node.body, (*around, node), inside)
    return found


# ------------------------------------------------------------------------------------ enumeration


def _enumerated(path: _Path, most: int) -> _Rows | None:
    """All iterations; None where they are too many."""
    rows = _Rows()
    for node in path.around:
        if isinstance(node, Guard):
            for c in node.constraints:
                met = rows.value(c.expr.evaluate(rows.values))  # type: ignore[arg-type]
                keep = met >= 0 if c.kind == ">=" else met == 0
                rows.kept(keep)
                rows.length = int(keep.sum())
            continue
        lower = rows.value(_extreme(node.lowers, rows, np.maximum))
        upper = rows.value(_extreme(node.uppers, rows, np.minimum))
        count = np.maximum(0, -((lower - upper) // node.step))
        least, greatest = _guarded(path, node)
        first = np.maximum(0, -((lower - least) // node.step))
        wanted = np.maximum(0, np.minimum(count, (greatest - lower) // node.step + 1) - first)
        total = int(wanted.sum())
        if total > most:
            return None
        repeat = np.repeat(np.arange(rows.length), wanted)
        number = np.arange(total) - np.repeat(np.cumsum(wanted) - wanted, wanted) + first[repeat]
        rows.kept(repeat)
        rows.length = total
        rows.values[node.iv] = lower[repeat] + number * node.step
        rows.numbers[node.iv] = number
        rows.counts[node.iv] = count[repeat]
    return rows


def _guarded(path: _Path, loop: Loop) -> tuple[int, int]:
    """The least and the greatest value of a loop's variable that guards of it alone let pass."""
    least, greatest = -(1 << 40), 1 << 40
    for node in path.around:
        for c in node.constraints if isinstance(node, Guard) else ():
            if c.expr.variables() != {loop.iv} or len(c.expr.terms) != 1:
                continue
            atom, factor = c.expr.terms[0]
            if atom != loop.iv:
                continue
            if factor > 0:  # factor * v + const >= 0
                least = max(least, -(c.expr.const // factor))
            else:
                greatest = min(greatest, c.expr.const // -factor)
            if c.kind == "==" and factor > 0:
                greatest = min(greatest, -c.expr.const // factor)
            elif c.kind == "==":
                least = max(least, -(-c.expr.const // -factor))
    return least, greatest


def _extreme(bounds: Sequence[object], rows: _Rows, choose: np.ufunc) -> Ints:
    values = [rows.value(b.evaluate(rows.values)) for b in bounds]  # type: ignore[attr-defined]
    found: Ints = values[0]
    for v in values[1:]:
        found = choose(found, v)
    return found


def _ends(path: _Path) -> _Rows:
    """The first and the last iteration, as far as loops with constant bounds tell."""
    rows = _Rows(length=2)
    for loop in path.loops:
        last = max(0, round(loop.trips.average) - 1)
        low = max((b.const for b in loop.lowers if b.is_const), default=0)
        rows.numbers[loop.iv] = np.array([0, last])
        rows.values[loop.iv] = low + rows.numbers[loop.iv] * loop.step
        rows.counts[loop.iv] = np.array([last + 1, last + 1])
    return rows


def _element(kernel: Kernel, access: Access, rows: _Rows) -> Ints:
    found = np.zeros(rows.length, np.int64)
    shape = kernel.memory(access.memory).shape
    for index, extent in zip(access.indices, shape, strict=True):
        found = found * extent + rows.value(index.evaluate(rows.values))  # type: ignore[arg-type]
    return found


def _bank(kernel: Kernel, memory: str, element: Ints) -> Ints:
    found = np.zeros(len(element), np.int64)
    declared = kernel.memory(memory)
    stride = 1
    for split, extent in zip(declared.splits[::-1], declared.shape[::-1], strict=True):
        index = element // stride % extent
        stride *= extent
        found = found * split.factor + split.bank(index, extent)
    return found


# ------------------------------------------------------------------------------------------ times


@dataclass(slots=True)
class _Timer:
    path: _Path
    rows: _Rows
    memory: str
    write: bool

    def at(self, regions: Sequence[Region], depth: int, copy: Ints | None) -> Floats:
        """When the accesses run, in cycles of what the regions are in.

        Args:
            regions: one after the other.
            depth: how many of the loops around the statement are around the regions too.
            copy: which copy of an unrolled body each row is in, where there are several.
        """
        loops = self.path.loops
        inside = {loop.iv: n for n, loop in enumerate(loops)}
        holding = [r for r in regions if self._holds(r, inside)]
        if not holding:
            return np.zeros(self.rows.length)
        if depth < len(loops) and all(
            r.loops and inside.get(r.loops[0].iv, depth) > depth for r in holding
        ):  # a loop that was copied out
            return self.at(regions, depth + 1, self._copies(loops[depth], copy, 0))
        several = [self._in(region, depth, inside) for region in holding]
        if len(several) == 1 or copy is None:
            return several[0]
        which = np.minimum(copy, len(several) - 1)
        return np.stack(several)[which, np.arange(self.rows.length)]

    def _holds(self, region: Region, inside: dict[str, int]) -> bool:
        if region.loops:
            return region.loops[0].iv in inside or any(
                self.path.statement is node for node in region.loops[0].body
            )
        name = self.path.statement.name
        return region.body is not None and any(s.name == name for s in region.body.graph.statement)

    def _copies(self, loop: Loop, outer: Ints | None, factor: int) -> Ints:
        number = self.rows.numbers[loop.iv]
        own = number % factor if factor else number
        most = factor or max(1, loop.trips.maximum)
        return own if outer is None else outer * most + own

    def _in(self, region: Region, depth: int, inside: dict[str, int]) -> Floats:
        if not region.loops:
            return np.full(self.rows.length, region.start + self._state(region))
        linear = np.zeros(self.rows.length)
        copy: Ints | None = None
        for n, loop in enumerate(region.loops):
            factor = loop.factor if n == len(region.loops) - 1 else 1
            if loop.iv in inside:
                number, count = self.rows.numbers[loop.iv], self.rows.counts[loop.iv]
                depth = max(depth, inside[loop.iv] + 1)
                copy = self._copies(loop, None, factor) if factor > 1 else None
            else:
                whole = max(1, round(loop.trips.average))
                last = 0 if self._stands_before(loop) else whole - 1
                number = np.full(self.rows.length, last)
                count = np.full(self.rows.length, whole)
            linear = linear * -(-count // factor) + number // factor
        start = region.start + _ENTRY
        if region.kind == "nest":
            return start + linear * region.depth + self.at(region.children, depth, copy)
        if self._kept_out(region):
            behind = region.iterations_latency if self.write else -float(region.prologue)
            return np.full(self.rows.length, start + behind)
        interval = region.pipeline.interval if region.pipeline is not None else region.depth
        return start + linear * interval + self._state(region)

    def _stands_before(self, loop: Loop) -> bool:
        """Of a nest flattened around statements: it runs before the loop, not after it."""
        if not self.path.around:
            return True
        body = self.path.around[-1].body
        holder = self.path.statement
        places = [n for n, node in enumerate(body) if _contains(node, loop)]
        return not places or body.index(holder) < places[0]

    def _nodes(self, region: Region) -> list[int]:
        body, times = region.body, region.times
        assert body is not None
        assert times is not None
        graph, kind = body.graph, STORE if self.write else LOAD
        name = self.path.statement.name
        return [
            n
            for n in times.start
            if graph.kind[n] == kind
            and graph.statement[n].name == name
            and graph.addresses.memory(graph.address[n]).name == self.memory
        ]

    def _kept_out(self, region: Region) -> bool:
        return not self._nodes(region)

    def _state(self, region: Region) -> int:
        """The last copy to write, the first to read: nothing is said to be there too soon."""
        assert region.times is not None
        states = [region.times.start[n] for n in self._nodes(region)]
        return (max if self.write else min)(states, default=0)


def _contains(node: Node, loop: Loop) -> bool:
    if node is loop:
        return True
    return not isinstance(node, Statement) and any(_contains(n, loop) for n in node.body)
