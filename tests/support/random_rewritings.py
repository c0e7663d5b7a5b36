"""Random steps of the kinds that rewrite a program or say how arrays are kept."""

from __future__ import annotations

import random
from collections.abc import Callable

from dsl.expressions.expr import loads
from dsl.programs.program import Storage
from dsl.schedules.port_steps import Mirror, Replicate
from dsl.schedules.pragma_steps import Allocation, Latency, Reshape, Sequential
from dsl.schedules.range_steps import Trim
from dsl.schedules.recurrence_steps import Carry, CriticalLast, Locate, Scan
from dsl.schedules.steps import (
    AutoPartition,
    Buffer,
    Dataflow,
    Expand,
    Interface,
    Pack,
    PartialSums,
    Partition,
    Pipeline,
    Reassociate,
    Reuse,
    Step,
    Stream,
    Unroll,
)
from polyhedral.scop.scheduled import ScheduledScop
from tests.support.random_schedules import nests_of

Maker = Callable[[random.Random, ScheduledScop], "Step | None"]


def _stmt(rng: random.Random, state: ScheduledScop) -> str:
    return rng.choice(state.scop.program.statements()).name


def _updating(rng: random.Random, state: ScheduledScop) -> str:
    """A statement that reads what it writes, where there is one."""
    stmts = state.scop.program.statements()
    own = [s.name for s in stmts if any(a.array == s.target.array for a in loads(s.value))]
    return rng.choice(own or [s.name for s in stmts])


def _loop_of(rng: random.Random, state: ScheduledScop, stmt: str) -> str | None:
    loops = [loop for nest in nests_of(state) if nest.stmt == stmt for loop in nest.loops]
    return rng.choice(loops) if loops else None


def _any_loop(rng: random.Random, state: ScheduledScop) -> str | None:
    loops = [loop for nest in nests_of(state) for loop in nest.loops]
    return rng.choice(loops) if loops else None


def _array(rng: random.Random, state: ScheduledScop, *, local: bool = False) -> str | None:
    arrays = state.scop.program.arrays
    names = [a.name for a in arrays if (a.storage is Storage.LOCAL if local else a.shape)]
    return rng.choice(names) if names else None


def _scan(rng: random.Random, state: ScheduledScop) -> Step | None:
    stmt = _updating(rng, state)
    loop = _loop_of(rng, state, stmt)
    return (
        Scan(stmt, loop, rng.choice((2, 3, 4, 5, 8)), rng.choice(("remainder", "guard")))
        if loop
        else None
    )


def _locate(rng: random.Random, state: ScheduledScop) -> Step | None:
    stmt = _updating(rng, state)
    loop = _loop_of(rng, state, stmt)
    return Locate(stmt, loop) if loop else None


def _partial(rng: random.Random, state: ScheduledScop) -> Step | None:
    stmt = _updating(rng, state)
    loop = _loop_of(rng, state, stmt)
    return (
        PartialSums(stmt, loop, rng.choice((2, 3, 4)), rng.choice((1, 1, 2, 3))) if loop else None
    )


def _with_loop(kind: Callable[[str, str], Step], *, local: bool = False) -> Maker:
    def make(rng: random.Random, state: ScheduledScop) -> Step | None:
        array, loop = _array(rng, state, local=local), _any_loop(rng, state)
        return kind(array, loop) if array and loop else None

    return make


def _mirror(rng: random.Random, state: ScheduledScop) -> Step | None:
    reads = [
        (e.array, str(e))
        for s in state.scop.program.statements()
        for e in loads(s.value)
        if e.indices
    ]
    return Mirror(*rng.choice(reads)) if reads else None


def _replicate(rng: random.Random, state: ScheduledScop) -> Step | None:
    array, loop = _array(rng, state), _any_loop(rng, state)
    return Replicate(array, loop, rng.choice((2, 3, 4))) if array and loop else None


def _on_array(kind: Callable[[random.Random, str], Step], *, local: bool = False) -> Maker:
    def make(rng: random.Random, state: ScheduledScop) -> Step | None:
        array = _array(rng, state, local=local)
        return kind(rng, array) if array else None

    return make


def _on_loop(kind: Callable[[random.Random, str], Step]) -> Maker:
    def make(rng: random.Random, state: ScheduledScop) -> Step | None:
        loop = _any_loop(rng, state)
        return kind(rng, loop) if loop else None

    return make


def _apart(array: str, loop: str) -> Step:
    return Buffer(array, loop, apart=True)


def _trim(rng: random.Random, state: ScheduledScop) -> Step | None:
    return Trim(_stmt(rng, state))


MAKERS: dict[str, Maker] = {
    "trim": _trim,
    "scan": _scan,
    "locate": _locate,
    "partial_sums": _partial,
    "carry": _with_loop(Carry),
    "mirror": _mirror,
    "replicate": _replicate,
    "critical_last": lambda rng, state: CriticalLast(_updating(rng, state)),
    "reassociate": lambda rng, state: Reassociate(_stmt(rng, state)),
    "expand": _with_loop(Expand, local=True),
    "reuse": _with_loop(Reuse),
    "buffer": _with_loop(Buffer),
    "apart": _with_loop(_apart),
    "dataflow": lambda rng, state: Dataflow(),
    "region": _on_loop(lambda rng, loop: Dataflow(at=loop)),
    "stream": _on_array(lambda rng, a: Stream(a, rng.choice((2, 4, 16))), local=True),
    "outside": _on_array(lambda rng, a: Interface(a, "m_axi", rng.choice(("g0", "g1")))),
    "port": _on_array(lambda rng, a: Interface(a, rng.choice(("axis", "ap_fifo", "ap_memory")))),
    "pack": _on_array(lambda rng, a: Pack(a, rng.choice((64, 128, 512)))),
    "reshape": _on_array(
        lambda rng, a: Reshape(
            a, rng.choice((0, 0, 1)), rng.choice(("cyclic", "block")), rng.choice((2, 4))
        )
    ),
    "partition": _on_array(
        lambda rng, a: Partition(
            a, rng.choice((0, 0, 1)), rng.choice(("cyclic", "block")), rng.choice((2, 3))
        )
    ),
    "auto_partition": _on_array(lambda rng, a: AutoPartition(a)),
    "pipeline": _on_loop(lambda rng, loop: Pipeline(loop, rng.choice((1, 1, 2)))),
    "unroll": _on_loop(
        lambda rng, loop: Unroll(loop, rng.choice((0, 2, 3)), rng.choice(("remainder", "guard")))
    ),
    "sequential": _on_loop(lambda rng, loop: Sequential(loop)),
    "latency": _on_loop(lambda rng, loop: Latency(loop, 2, 9)),
    "allocation": _on_loop(
        lambda rng, loop: Allocation(loop, rng.choice(("fadd", "fmul", "mul")), 1)
    ),
}
REWRITING = (
    "scan",
    "locate",
    "partial_sums",
    "carry",
    "mirror",
    "replicate",
    "critical_last",
    "expand",
    "reuse",
    "buffer",
    "apart",
)


def random_rewriting(rng: random.Random, state: ScheduledScop, kind: str = "") -> Step | None:
    """One step of that kind, or of any; whether it is legal is another matter."""
    return MAKERS[kind or rng.choice(list(MAKERS))](rng, state)
