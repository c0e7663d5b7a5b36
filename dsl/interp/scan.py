"""Sums in order: ``for k: x += e(k)`` with all summands computed at once.

``np.add.accumulate`` adds from left to right, one rounding each, as the loop does; only the
summands are computed ahead, which is the same because they do not read ``x``.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsl.arrays import exact
from dsl.arrays.exact import ArrayFault
from dsl.expressions.expr import BinaryOp, Load
from dsl.expressions.numeric import Exact, frac_of
from dsl.expressions.types import FixedType, FloatType
from dsl.interp import vector
from dsl.interp.faults import ExecutionError
from dsl.interp.memory import Memory
from dsl.interp.places import locate
from dsl.interp.plan import LoopPlan, StmtPlan
from dsl.interp.space import Space

_NARROW = 64
_SUMMANDS_AT_ONCE = 1 << 16


def pays(space: Space, count: int) -> bool:
    """Few sums of many terms: one vector operation per term would cost more."""
    return prod(space.shape) <= _NARROW and count > prod(space.shape)


def add_up(plan: LoopPlan, space: Space, memory: Memory, start: int, count: int) -> None:
    """Run a loop that `parallel.summand` found, ``count`` iterations from ``start``.

    Raises:
        ExecutionError: a fault in some iteration.
    """
    step = plan.loop.step
    piece = max(1, _SUMMANDS_AT_ONCE // max(1, prod(space.shape)))
    for begin in range(0, count, piece):
        size = min(piece, count - begin)
        _add_piece(plan, space.along(plan.loop.var, start + begin * step, step, size), memory)


def _add_piece(plan: LoopPlan, space: Space, memory: Memory) -> None:
    (body,) = plan.body
    assert isinstance(body, StmtPlan)
    target = memory[body.stmt.target.array]
    try:
        total = _total(plan, space, memory)
        place = locate(target, body.stmt.target, space)
    except ArrayFault as fault:
        iteration = space.iteration(fault.where, body.names)
        raise ExecutionError(fault, body.stmt, iteration) from fault
    place.put(target.data, total)


def _total(plan: LoopPlan, space: Space, memory: Memory) -> NDArray[Any]:
    """What the sums come to; of size 1 along the last axis, that of the summands."""
    assert plan.total is not None
    minus, old, summand = plan.total.op is BinaryOp.SUB, plan.total.lhs, plan.total.rhs
    assert isinstance(old, Load)
    before = vector.load(old, space, memory)
    if isinstance(old.dtype, FloatType):
        terms = np.broadcast_to(vector.float_value(summand, space, memory), space.shape)
        first = np.broadcast_to(before, (*space.shape[:-1], 1))
        each = np.subtract if minus else np.add
        return each.accumulate(np.concatenate((first, terms), axis=-1), axis=-1)[..., -1:]
    assert not isinstance(summand.dtype, FloatType)
    parts = exact.convert_low(
        vector.raws(summand, space, memory, low=True), summand.dtype, _wide(old.dtype)
    )
    added = np.broadcast_to(parts, space.shape).sum(axis=-1, keepdims=True, dtype=np.int64)
    after = before.astype(np.int64) + (-added if minus else added)
    return exact.convert_low(after, old.dtype, old.dtype)


def _wide(dtype: Exact) -> FixedType:
    """64 bits with the same point: what the sums are added up in, modulo 2**64."""
    return FixedType(64, 64 - frac_of(dtype))
