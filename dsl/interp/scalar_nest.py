"""Loops, conditions and statements as closures over one iteration: the plain path."""

from __future__ import annotations

from collections.abc import Callable

from dsl.expressions.affine import And, Cond, Constraint, Or
from dsl.expressions.expr import Scatter, stored_value
from dsl.expressions.numeric import Fault
from dsl.interp.faults import ExecutionError
from dsl.interp.memory import Memory
from dsl.interp.plan import IfPlan, LoopPlan, Plan, StmtPlan
from dsl.interp.scalar import Env, Scope, affine, cells, compile_expr, conversion, gathered, offset

Action = Callable[[Env], None]


def compile_plan(plan: Plan, memory: Memory) -> Action:
    """A closure that runs this part of the program for given outer loop variables.

    It takes a list with the values of the loop variables around ``plan``, outermost first, with
    room for those inside, and it keeps the arrays that ``memory`` holds now.
    """
    match plan:
        case StmtPlan():
            return _statement(plan, memory)
        case IfPlan():
            cond = _condition(plan.cond, _scope(memory, plan.names))
            then, orelse = _sequence(plan.then, memory), _sequence(plan.orelse, memory)
            return lambda env: then(env) if cond(env) else orelse(env)
        case LoopPlan():
            return _loop(plan, memory)


def _scope(memory: Memory, names: tuple[str, ...]) -> Scope:
    return Scope(memory, {name: slot for slot, name in enumerate(names)}, {})


def _sequence(plans: tuple[Plan, ...], memory: Memory) -> Action:
    actions = [compile_plan(plan, memory) for plan in plans]
    if len(actions) == 1:
        return actions[0]

    def run(env: Env) -> None:
        for action in actions:
            action(env)

    return run


def _condition(cond: Cond, scope: Scope) -> Callable[[Env], bool]:
    match cond:
        case Constraint(expr, kind):
            value = affine(expr, scope)
            return (lambda env: value(env) >= 0) if kind == ">=" else (lambda env: value(env) == 0)
        case And(parts):
            tests = [_condition(part, scope) for part in parts]
            return lambda env: all(test(env) for test in tests)
        case Or(parts):
            tests = [_condition(part, scope) for part in parts]
            return lambda env: any(test(env) for test in tests)


def _loop(plan: LoopPlan, memory: Memory) -> Action:
    loop = plan.loop
    scope = _scope(memory, plan.names)
    lowers = [affine(bound, scope) for bound in loop.lowers]
    uppers = [affine(bound, scope) for bound in loop.uppers]
    body = _sequence(plan.body, memory)
    slot, step = plan.depth - 1, loop.step
    fresh = [memory[array.name] for array in plan.fresh]

    def run(env: Env) -> None:
        low = max(bound(env) for bound in lowers)
        high = min(bound(env) for bound in uppers)
        for value in range(low, high, step) if step > 0 else range(high - 1, low - 1, step):
            env[slot] = value
            for store in fresh:
                store.forget()
            body(env)

    return run


def _statement(plan: StmtPlan, memory: Memory) -> Action:
    stmt = plan.stmt
    slots = {name: slot for slot, name in enumerate(plan.names)}
    scope = Scope(memory, slots, plan.ranges)
    store = memory[stmt.target.array]
    value = compile_expr(stored_value(stmt.value), scope)
    change = conversion(stmt.value.dtype, store.array.dtype)
    if isinstance(stmt.value, Scatter):
        position = gathered(stmt.target, stmt.value.data, scope)
    else:
        position = offset(stmt.target, store, scope)
    elements = cells(store)
    written = None if store.written is None else store.written.reshape(-1).data

    def run(env: Env) -> None:
        try:
            result = value(env)
            if change is not None:
                result = change(result)
            at = position(env)
        except Fault as fault:
            iteration = dict(zip(plan.names, env, strict=False))
            raise ExecutionError(fault, stmt, iteration) from fault
        elements[at] = result
        if written is not None:
            written[at] = True

    return run
