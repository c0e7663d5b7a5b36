"""Runs a `LoopTree` with the reference arithmetic: a check of `polyhedral` that needs no MLIR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsl.arrays.inputs import Value, check_inputs
from dsl.interp.memory import allocate
from dsl.interp.plan import StmtPlan
from dsl.interp.scalar_nest import compile_plan
from polyhedral.looptree.tree import LoopTree
from tests.support.enumeration import loops_of, tree_steps

_ANYWHERE = (-(10**9), 10**9)


def run_tree(tree: LoopTree, inputs: Mapping[str, Value]) -> dict[str, NDArray[Any]]:
    """What the program computes when its instances run in the order of the tree.

    A local has one storage, as in hardware. It is undefined again in each iteration of the loop
    in which the tree places it; reading it then raises `dsl.interp.ExecutionError`.

    Returns:
        The final contents of every array argument, as `dsl.interp.run` does.
    """
    program = tree.program
    memory = allocate(program, check_inputs(program, inputs))
    names = loops_of(program)
    actions = {
        s.name: compile_plan(
            StmtPlan(s, names[s.name], dict.fromkeys(names[s.name], _ANYWHERE)), memory
        )
        for s in program.statements()
    }
    placed = {p.array: p.iv for p in tree.placements}
    seen: dict[str, tuple[int, ...] | None] = {}
    with np.errstate(all="ignore"):
        for event, env in tree_steps(tree):
            for array, iv in placed.items():
                if iv is None or iv not in env:
                    continue
                ivs = list(env)
                copy = tuple(env[v] for v in ivs[: ivs.index(iv) + 1])
                if seen.get(array) != copy:
                    seen[array] = copy
                    memory[array].forget()
            actions[event.stmt.name](list(event.point))
    return {a.name: memory[a.name].data for a in program.arguments if a.shape}
