"""An estimate's reasons in words: why an interval is what it is, one line or several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import assert_never

from qor_gnn.result.qor_estimate import LoopEstimate
from qor_gnn.result.text import plain
from qor_gnn.schedule.clock import Clock
from qor_gnn.schedule.reasons import (
    Chain,
    Conflict,
    Limit,
    PortLimit,
    Recurrence,
    Requested,
    Step,
    UnitLimit,
)


def why(loop: LoopEstimate) -> str:
    """In a few words, what the loop's interval comes from."""
    match loop.kind:
        case "nest":
            return f"iterations overlap, {loop.slowest} is the slowest" if loop.slowest else ""
        case "sequential":
            return "not pipelined"
        case _:
            return short(loop.limits[0]) if loop.limits else ""


def clock_text(clock: Clock, explain: bool) -> str:
    """What csynth would say of the clock; where it is missed, or to explain it, the chain it comes from."""
    near = f"{clock.estimate_ns:.2f} ns ({clock.low_ns:.2f} to {clock.high_ns:.2f})"
    if clock.met:
        verdict = f"within the {clock.target_ns:g} ns asked for"
    else:
        verdict = f"misses the {clock.target_ns:g} ns asked for"
    if clock.usable_ns < clock.estimate_ns <= clock.target_ns:
        verdict += f", in the {clock.target_ns - clock.usable_ns:.2f} ns that the tool keeps free"
    text = f"clock    {near} by csynth's estimate: {verdict}"
    if clock.chain is None or (clock.met and not explain):
        return text
    cut = ", taken to be cut" if clock.chain.ns > clock.estimate_ns else ""
    return f"{text}; {_chain(clock.chain)}{cut}"


def _chain(chain: Chain) -> str:
    runs = ((link, sum(1 for _ in alike)) for link, alike in groupby(chain.links))
    links = " + ".join(f"{f'{n} x ' if n > 1 else ''}{link.what} {link.ns:.2f}" for link, n in runs)
    where = f" in {', '.join(map(plain, chain.loops))}" if chain.loops else ""
    whose = f" ({', '.join(chain.statements)})" if chain.statements else ""
    why = "one state, to close a recurrence," if chain.hurried else "longest chain"
    return f"{why}{where}{whose}: {links}"


def short(limit: Limit) -> str:
    """A limit in a few words."""
    match limit:
        case Requested():
            return "as asked"
        case Recurrence():
            path = " + ".join(_runs(limit.operators)) or "copy"
            return f"{limit.array} carried over {_times(limit.distance, 'iteration')}: {path}"
        case PortLimit():
            return f"ports of {limit.array}: {_accesses(limit)}, {_ports(limit)}"
        case UnitLimit():
            units = _times(limit.units, "unit")
            return f"{units} of {limit.operator} for {_times(limit.count, 'operation')}"
        case Conflict():
            return f"unknown banks of {', '.join(limit.arrays)}"
        case _:
            assert_never(limit)


def _accesses(limit: PortLimit) -> str:
    kind = {"load": "load", "store": "store"}.get(limit.port, "access")
    return _times(limit.count, kind)


def _ports(limit: PortLimit) -> str:
    return f"{limit.ports} a cycle"


def _times(count: int, what: str) -> str:
    several = f"{what}es" if what.endswith("s") else f"{what}s"
    return f"{count} {what if count == 1 else several}"


def limit_lines(limits: Sequence[Limit], asked: int) -> list[str]:
    """Each bound of an interval above what was asked for, the strongest first; those that are alike
    are one line. Where there is none, what was asked for is the bound.
    """
    alike: dict[Limit, list[Limit]] = {}
    rest = sum(isinstance(k, Recurrence) and k.interval <= asked for k in limits)
    for limit in limits:
        if isinstance(limit, Requested) or limit.interval <= asked:
            continue
        key = replace(limit, element="") if isinstance(limit, Recurrence) else limit
        alike.setdefault(key, []).append(limit)
    lines = [_line(same) for same in alike.values()]
    if not lines:
        lines = [_line([limit for limit in limits if isinstance(limit, Requested)])]
    if rest:
        lines.append(f"{_times(rest, 'recurrence')} that {_allow(rest)} II {asked}")
    return lines


def _allow(count: int) -> str:
    return "allows" if count == 1 else "allow"


def _line(same: Sequence[Limit]) -> str:
    limit = same[0]
    match limit:
        case Requested():
            return f"II >= {limit.interval}: as asked"
        case Recurrence():
            return f"II >= {limit.interval}: recurrence {_recurrence(limit, len(same))}"
        case PortLimit():
            shown = ", ".join(plain(a) for a in limit.accesses)
            more = "" if len(limit.accesses) >= limit.count else ", ..."
            place = f"bank {_bank(limit.bank)} of " if limit.bank else ""
            return (
                f"II >= {limit.interval}: ports of {place}{limit.array}: {_accesses(limit)} an "
                f"iteration, {_ports(limit)}: {shown}{more} ({', '.join(limit.statements)})"
            )
        case UnitLimit():
            where = ", ".join(limit.statements)
            return f"II >= {limit.interval}: {short(limit)} an iteration ({where})"
        case Conflict():
            arrays = ", ".join(limit.arrays)
            return f"II >= {limit.interval}: accesses to banks of {arrays} known only at run time"
        case _:
            assert_never(limit)


def _bank(bank: Iterable[int]) -> str:
    return "".join(f"[{n}]" for n in bank)


def _recurrence(limit: Recurrence, count: int) -> str:
    others = f" and {count - 1} more like it" if count > 1 else ""
    held = "in a register" if limit.through == "register" else "through memory"
    path = " -> ".join(_runs(limit.operators)) or "copy"
    names = " -> ".join(limit.statements)
    return (
        f"{names} through {plain(limit.element)}{others}, {held}: {path}, "
        f"{_times(limit.delay, 'state')} / distance {limit.distance}"
    )


def _runs(operators: Sequence[str]) -> list[str]:
    """Operators in order, those that follow each other counted: ``add x 6``."""
    runs = [(name, len(list(same))) for name, same in groupby(operators)]
    return [name if n == 1 else f"{name} x {n}" for name, n in runs]


def path_rows(path: Sequence[Step]) -> list[tuple[str, str, str, str]]:
    """Start, states, operation and statement of each operation on a critical path."""
    return [(str(s.start), str(s.states), plain(s.operation), s.statement) for s in path]
