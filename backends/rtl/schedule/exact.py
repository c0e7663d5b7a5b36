"""Schedules of small blocks by constraint programming, where list scheduling missed the bound.

List scheduling never takes back a decision, and so may miss an interval, or a depth, that there is.
CP-SAT looks for it among all schedules, with one worker and a limit that counts its own steps: the
answer does not depend on the machine. It is optional: ``pip install 'weft[rtl]'``.
"""

from __future__ import annotations

from typing import Any

from backends.rtl.schedule.problem import Port, Problem
from backends.rtl.schedule.solve import Times
from dsl.errors.errors import ToolError

LARGEST = 150
"""Operations of a block beyond which it is not tried."""

PICOSECONDS = 1000


def exact(problem: Problem, ii: int, deepest: int, effort: float) -> Times | None:
    """A schedule of least depth; None where there is none, or none was found.

    Args:
        problem: The block.
        ii: Initiation interval, 0 for a block that does not overlap with itself.
        deepest: The greatest start that is looked at.
        effort: What CP-SAT may spend, in its own deterministic seconds.

    Raises:
        ToolError: W470, OR-Tools is not installed.
    """
    cp_model = _cp_model()
    placed = [op for op in range(problem.size) if not problem.anytime(op)]
    if len(placed) > LARGEST:
        return None
    model = cp_model.CpModel()
    start = {op: model.new_int_var(0, deepest, f"s{op}") for op in placed}
    _order(model, problem, ii, start)
    _chains(model, problem, ii, start)
    _ports(model, problem, ii, deepest, start)
    last = model.new_int_var(0, deepest, "last")
    for op in placed:
        model.add(last >= start[op])
    model.minimize(last)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = effort
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    times = Times(problem, ii)
    for op in placed:
        times.settle(op, int(solver.value(start[op])), 0.0)
    for _ in range(1 + len(problem.back)):  # operands come before what uses them, but those back
        for op in placed:
            times.settle(op, times.start[op], times.arrives(op, times.start[op]))
    return times


def _cp_model() -> Any:
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise ToolError(
            "W470",
            "OR-Tools is not installed",
            help="pip install 'weft[rtl]' brings it; without effort it is not needed",
        ) from error
    return cp_model


def _order(model: Any, problem: Problem, ii: int, start: dict[int, Any]) -> None:
    for op in start:
        for edge in problem.into[op]:
            model.add(start[op] + ii * edge.distance >= start[edge.src] + edge.latency)


def _chains(model: Any, problem: Problem, ii: int, start: dict[int, Any]) -> None:
    """Operands before their use, and what follows in one cycle within the budget."""
    budget = int(problem.budget * PICOSECONDS)
    arrival = {}
    pairs: list[tuple[int, int, int]] = []
    for op in start:
        need = _picoseconds(problem.timing[op].delay_in)
        arrival[op] = model.new_int_var(0, max(0, budget - need), f"a{op}")
        if problem.early[op]:
            first = model.new_bool_var(f"f{op}")
            model.add(start[op] >= 1).only_enforce_if(~first)
            model.add(arrival[op] >= _picoseconds(problem.early[op])).only_enforce_if(first)
        came = [(used, 0) for used in problem.operands[op]]
        if op in problem.back:
            came.append((problem.back[op], ii))
        pairs += [(used, op, before) for used, before in came]
    for used, op, before in pairs:
        timing = problem.timing[used]
        same = model.new_bool_var(f"c{used}_{op}")
        ready = start[used] + timing.latency - before
        model.add(start[op] >= ready)
        model.add(start[op] >= ready + 1).only_enforce_if(~same)
        leaves: Any = _picoseconds(timing.delay_out)
        if timing.latency == 0:
            leaves = arrival[used] + _picoseconds(timing.delay_in)
        model.add(arrival[op] >= leaves).only_enforce_if(same)


def _picoseconds(nanoseconds: float) -> int:
    return -int(-nanoseconds * PICOSECONDS // 1)


def _ports(model: Any, problem: Problem, ii: int, deepest: int, start: dict[int, Any]) -> None:
    users: dict[Port, list[int]] = {}
    for op, ports in enumerate(problem.ports):
        for port in ports:
            users.setdefault(port, []).append(op)
    slots: dict[int, Any] = {}
    for ops in users.values():
        if len(ops) < 2:
            continue
        for op in ops:
            if ii and op not in slots:
                slots[op] = model.new_int_var(0, ii - 1, f"m{op}")
                turn = model.new_int_var(0, deepest // ii, f"k{op}")
                model.add(start[op] == slots[op] + ii * turn)
        model.add_all_different([slots[op] if ii else start[op] for op in ops])
