"""isl's dataflow analysis against the definition: the last write with no other write between."""

import random

import islpy as isl
import pytest

import weft
from polyhedral.dependences.direct import (
    DepKind,
    _earlier,
    _rewrites,
    dependences,
    last_writes,
    next_writes,
)
from polyhedral.scop.scop import build_scop
from weft import f32

CONDITIONS = (
    "",
    "x = 0",
    "x = 1",
    "x = 2",
    "x >= 1",
    "x <= 1",
    "y = 0",
    "y = 1",
    "y >= x",
    "y <= 1",
)


def random_accesses(seed: int) -> tuple[isl.UnionMap, isl.UnionMap, isl.UnionMap]:
    """Writes, reads and times of statements in and around two loops, under conditions."""
    rng = random.Random(seed)
    writes, reads, times = (isl.UnionMap("{ }") for _ in range(3))
    for n in range(rng.randint(3, 7)):
        deep = rng.random() < 0.6
        names = "x, y" if deep else "x"
        held = [c for c in rng.sample(CONDITIONS, 2) if c and (deep or "y" not in c)]
        where = " and ".join(["0 <= x < 3", *(["0 <= y < 3"] if deep else []), *held])
        element = rng.choice(["0", "x", "1"] + (["y"] if deep else []))
        access = isl.UnionMap(f"{{ T{n}[{names}] -> M[{element}] : {where} }}")
        before = rng.choice(["0", "2"])  # of the inner loop, which is at 1
        at = f"0, x, 1, y, {n}" if deep else f"0, x, {before}, 0, {n}"
        times = times.union(isl.UnionMap(f"{{ T{n}[{names}] -> [{at}] : {where} }}"))
        if rng.random() < 0.6:
            writes = writes.union(access)
        else:
            reads = reads.union(access)
    return writes, reads, times


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_the_last_and_the_next_write_are_those_of_the_definition(first):
    for seed in range(first, first + 100):
        writes, reads, times = random_accesses(seed)
        if writes.is_empty() or reads.is_empty():
            continue
        earlier = _earlier(writes, reads, times)
        hidden = _rewrites(writes, times).apply_range(earlier)
        expected = earlier.subtract(hidden).apply_range(reads.domain_map())
        assert last_writes(writes, reads, times).is_equal(expected), seed
        same = reads.range_map().apply_range(writes.reverse())
        later = same.intersect(reads.domain_map().apply_range(times).lex_lt_union_map(times))
        hidden = later.apply_range(_rewrites(writes, times))
        expected = later.subtract(hidden).apply_domain(reads.domain_map())
        assert next_writes(reads, writes, times).is_equal(expected), seed


@weft.kernel
def guarded(y: f32[3]):
    s: f32 = 0.0
    for i in range(2):
        if i == 1:
            y[0] = s
        y[1] = s
        s = 2.0
        if i == 0:
            s = 3.0


def test_a_write_in_one_iteration_alone_is_the_last_one():
    flow = {
        (d.source.name, d.sink.name)
        for d in dependences(build_scop(guarded.program))
        if d.kind is DepKind.FLOW and d.array == "s"
    }
    assert ("S4", "S1") in flow
    assert ("S3", "S1") not in flow
