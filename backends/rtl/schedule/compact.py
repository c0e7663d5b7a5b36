"""Moves operations later, within their slack, to where fewer bits have to be kept.

A value that is there long before its use costs a register of its width for every cycle between.
An operation with little to keep on its inputs and much on its output, a load above all, belongs
next to what uses it. Operations are visited from the last to the first, so that what follows has
moved before.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from backends.rtl.graph import Kind
from backends.rtl.schedule.problem import Port, Problem
from backends.rtl.schedule.solve import Times, slot, slots

SWEEPS = 2


@dataclass(frozen=True, slots=True)
class _Kept:
    """Something that waits in registers: an operation's result, or an address from cycle 0 on."""

    width: int
    users: tuple[int, ...]


def compact(times: Times) -> None:
    """Move what can be moved; the depth of the schedule stays.

    Args:
        times: A schedule; changed in place.
    """
    problem = times.problem
    values = [_Kept(op.width, problem.users[op.id]) for op in problem.block.ops]
    addresses, address_of = _addresses(problem)
    taken = {key: len(ops) for key, ops in slots(times).items()}
    for _ in range(SWEEPS):
        moved = False
        for op in reversed(range(problem.size)):
            if problem.anytime(op) or problem.block.ops[op].kind is Kind.STORE:
                continue
            if op in problem.back or op in problem.forth:
                continue
            moved |= _move(times, op, values, addresses, address_of, taken)
        if not moved:
            return


def _addresses(problem: Problem) -> tuple[list[_Kept], dict[int, list[int]]]:
    """What comes from the counters, each with all who use it, and of each operation which."""
    users: dict[object, list[int]] = defaultdict(list)
    width: dict[object, int] = {}
    for op in problem.block.ops:
        if op.place is not None and not op.place.offset.is_const:
            users[op.place.offset].append(op.id)
            width[op.place.offset] = 10
        for use in op.operands:
            source = problem.block.ops[use.op]
            if source.kind in (Kind.INDEX, Kind.HOLDS):
                users[source.id].append(op.id)
                width[source.id] = source.width
    kept = [_Kept(width[key], tuple(ops)) for key, ops in users.items()]
    of: dict[int, list[int]] = defaultdict(list)
    for number, address in enumerate(kept):
        for user in address.users:
            of[user].append(number)
    return kept, of


def _registers(life: int, ii: int) -> int:
    """How many registers keep a value for ``life`` cycles."""
    if life <= 0:
        return 0
    return -(-life // ii) if ii else 1


def _cost(times: Times, kept: _Kept, ready: int, op: int, cycle: int) -> int:
    """Bits of registers, with ``op`` in ``cycle``."""
    last = max((cycle if u == op else times.start[u] for u in kept.users), default=ready)
    return kept.width * _registers(last - ready, times.ii)


def _move(
    times: Times,
    op: int,
    values: list[_Kept],
    addresses: list[_Kept],
    address_of: dict[int, list[int]],
    taken: dict[tuple[Port, int], int],
) -> bool:
    problem = times.problem
    latency = problem.timing[op].latency
    last = min((times.start[u] for u in problem.users[op]), default=times.start[op]) - latency
    for edge in problem.out[op]:
        if edge.dst != op:
            last = min(last, times.start[edge.dst] + times.ii * edge.distance - edge.latency)
    first = times.start[op]

    def total(cycle: int) -> int:
        bits = _cost(times, values[op], cycle + latency, -1, 0)
        for used in problem.operands[op]:
            bits += _cost(times, values[used], times.ready(used), op, cycle)
        if times.ii:  # elsewhere the counters stand still
            bits += sum(_cost(times, addresses[a], 0, op, cycle) for a in address_of.get(op, ()))
        return bits

    best, least = first, total(first)
    for cycle in range(first + 1, last + 1):
        bits = total(cycle)
        if bits <= least and _free(times, op, cycle, taken) and _chains(times, op, cycle):
            best, least = cycle, bits
    if best == first:
        return False
    for port in problem.ports[op]:
        taken[port, slot(first, times.ii)] -= 1
        key = (port, slot(best, times.ii))
        taken[key] = taken.get(key, 0) + 1
    times.settle(op, best, times.arrives(op, best))
    _restart(times, op)
    return True


def _free(times: Times, op: int, cycle: int, taken: dict[tuple[Port, int], int]) -> bool:
    there, here = slot(cycle, times.ii), slot(times.start[op], times.ii)
    given = times.problem
    return there == here or all(
        taken.get((p, there), 0) < given.capacity(p) for p in given.ports[op]
    )


def _chains(times: Times, op: int, cycle: int) -> bool:
    """Whether the operation and all that follow it in one cycle still fit, if it moved."""
    before = (times.start[op], times.arrival[op])
    arrival = times.arrives(op, cycle)
    fits = times.fits(op, arrival)
    if fits:
        times.settle(op, cycle, arrival)
        fits = _restart(times, op, change=False)
        times.settle(op, *before)
    return fits


def _followers(problem: Problem, op: int) -> list[tuple[int, int]]:
    """Who uses a result, of this iteration or of the next."""
    now = [(user, 0) for user in problem.users[op]]
    return now + [(load, 1) for load in problem.forth.get(op, ())]


def _restart(times: Times, op: int, *, change: bool = True) -> bool:
    """The times of what follows in the same cycle, after ``op`` changed; whether all fit."""
    saved: dict[int, float] = {}
    work, fits = [op], True
    while work and fits:
        current = work.pop()
        for user, turns in _followers(times.problem, current):
            if times.start[user] + turns * times.ii != times.ready(current):
                continue
            arrival = times.arrives(user, times.start[user])
            if not times.fits(user, arrival):
                fits = False
                break
            if arrival != times.arrival[user]:
                saved.setdefault(user, times.arrival[user])
                times.settle(user, times.start[user], arrival)
                if times.problem.timing[user].latency == 0:
                    work.append(user)
    if not change or not fits:
        for user, arrival in saved.items():
            times.settle(user, times.start[user], arrival)
    return fits
