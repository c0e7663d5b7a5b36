"""Cycles of operations: bounds of the interval, ports, chains, order, and few registers."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from backends.rtl.bind.units import numbers
from backends.rtl.front.evaluate import evaluate
from backends.rtl.graph import Block, DepKind, Graph, Kind, Loop, Memory, Pipeline, Straight
from backends.rtl.operators.library import spec
from backends.rtl.schedule.normal import normalise
from backends.rtl.schedule.problem import problem
from backends.rtl.schedule.regions import Target, pipeline, schedule, straight
from backends.rtl.schedule.solve import slot
from backends.rtl.schedule.timing import ANYTIME, Fabric, key_of
from dsl.expressions.affine import Affine, Constraint
from tests.rtl.support.graphs import Maker, affine, array, counter, mac, random_block


def target(period: float = 10.0, read_latency: int = 1) -> Target:
    return Target(period, Fabric(read_latency=read_latency), lambda key: spec(key, period))


def faults(graph: Graph, schedule, given: Target) -> list[str]:
    """Everything that a schedule must keep, checked from its definition."""
    block, ii = schedule.block, schedule.ii
    sought = problem(
        graph, block, period=given.period, fabric=given.fabric, spec=given.spec, carried=ii > 0
    )
    found = []
    taken: dict[object, int] = {}
    for op in block.ops:
        start = schedule.start[op.id]
        for used in sought.operands[op.id]:
            if schedule.ready[used] > start:
                found.append(f"{op.id} starts before {used} is ready")
        for edge in sought.into[op.id]:
            if schedule.start[edge.src] + edge.latency > start + ii * edge.distance:
                found.append(f"{edge} is not kept")
        for port in sought.ports[op.id]:
            key = (port, slot(start, ii))
            if key in taken:
                found.append(f"{op.id} and {taken[key]} both take {port}")
            taken[key] = op.id
        if op.kind not in ANYTIME and start >= schedule.depth:
            found.append(f"{op.id} is later than the depth")
    return found + chains(sought, schedule)


def chains(sought, schedule) -> list[str]:
    found = []
    leaves: dict[int, float] = {}
    for op in sought.block.ops:
        if op.kind in ANYTIME:
            continue
        start, timing = schedule.start[op.id], schedule.timing[op.id]
        arrival = sought.early[op.id] if start == 0 else 0.0
        for used in sought.operands[op.id]:
            if schedule.ready[used] == start:
                arrival = max(arrival, leaves[used])
        if arrival and arrival + timing.delay_in > sought.budget + 1e-9:
            found.append(f"{op.id} ends after {arrival + timing.delay_in:.2f} ns")
        leaves[op.id] = timing.delay_out if timing.latency else arrival + timing.delay_in
    return found


@pytest.mark.parametrize("period", [4.0, 6.0, 10.0, 20.0])
@pytest.mark.parametrize("read_latency", [1, 2])
def test_a_mac_keeps_every_rule_at_interval_1(period, read_latency):
    graph, given = mac(), target(period, read_latency)
    (region,) = normalise(graph).body
    assert isinstance(region, Pipeline)
    schedule = pipeline(graph, region.block, 1, given)
    assert schedule.ii == (1 if period >= 6 else schedule.ii)
    assert faults(graph, schedule, given) == []


def test_what_was_asked_is_the_least_interval():
    graph = mac(ii=5)
    (region,) = graph.body
    schedule = pipeline(graph, region.block, 5, target())
    assert (schedule.ii, schedule.why) == (5, "")


def ports(reads: int, writes: int = 1):
    m = Maker()
    words = [m.load("a", 8, affine({"i": 1}, n)) for n in range(reads)]
    total = words[0]
    for word in words[1:]:
        total = m.op(Kind.ADD, 8, total, word)
    for n in range(writes):
        m.store("b", 8, total, affine({"i": writes}, n))
    arrays = (array("a", 8, 40), array("b", 8, 40))
    return Graph("ports", arrays, ()), m.block


@pytest.mark.parametrize(("reads", "writes", "ii"), [(1, 1, 1), (4, 1, 4), (3, 5, 5)])
def test_ports_bound_the_interval(reads, writes, ii):
    graph, block = ports(reads, writes)
    schedule = pipeline(graph, block, 1, target())
    assert schedule.ii == ii
    assert faults(graph, schedule, target()) == []
    if ii > 1:
        bank = "bank 0 of a is read 4 times" if reads == 4 else "bank 0 of b is written 5 times"
        assert schedule.why == f"{bank} an iteration"


def test_straight_code_takes_ports_one_after_the_other():
    graph, block = ports(6)
    schedule = straight(graph, block, target())
    assert schedule.ii == 0
    assert schedule.depth >= 7
    assert faults(graph, schedule, target()) == []


def test_a_recurrence_bounds_the_interval():
    m = Maker()
    old = m.load("a", 32, affine())
    new = m.op(Kind.FADD, 32, old, old, signed=False)
    kept = m.store("a", 32, new, affine())
    m.dep(old, kept, DepKind.ANTI)
    m.dep(kept, old, DepKind.FLOW, 1)
    graph = Graph("r", (array("a", 32, 4),), ())
    given = target()
    given = Target(given.period, Fabric(ram_out=0.0), given.spec)
    schedule = pipeline(graph, m.block, 1, given)
    add = given.spec(key_of(m.block, m.block.ops[new]))
    assert schedule.ii == 1 + 1 + add.latency  # the load's cycle, the sum, the store's
    assert schedule.why == "an iteration needs what the one before computed"
    assert faults(graph, schedule, given) == []
    twice = Block(m.block.ops, (m.deps[0], type(m.deps[1])(kept, old, DepKind.FLOW, 2)))
    assert pipeline(graph, twice, 1, given).ii == -(-schedule.ii // 2)


def test_a_register_read_and_written_in_one_cycle():
    m = Maker()
    old = m.load("r", 8, affine())
    one = m.op(Kind.CONST, 8, value=1)
    new = m.op(Kind.ADD, 8, old, one)
    kept = m.store("r", 8, new, affine())
    m.dep(old, kept, DepKind.ANTI)
    m.dep(kept, old, DepKind.FLOW, 1)
    registers = array("r", 8, 1, memory=Memory.REGISTERS)
    schedule = pipeline(Graph("r", (registers,), ()), m.block, 1, target())
    assert (schedule.ii, schedule.start[old], schedule.start[kept]) == (1, 0, 0)


def test_loads_wait_next_to_their_use():
    m = Maker()
    a, b = m.load("a", 32, affine({"i": 1})), m.load("b", 32, affine({"i": 1}))
    slow = m.op(Kind.FMUL, 32, a, a, signed=False)
    total = m.op(Kind.FADD, 32, slow, b, signed=False)
    m.store("c", 32, total, affine({"i": 1}))
    arrays = tuple(array(n, 32, 8) for n in "abc")
    schedule = pipeline(Graph("late", arrays, ()), m.block, 1, target())
    assert schedule.ready[b] >= schedule.start[total] - 1
    assert faults(Graph("late", arrays, ()), schedule, target()) == []


def test_counters_count_from_zero_by_one():
    m = Maker()
    i, j = affine({"i": 1}), affine({"j": 1})
    word = m.load("a", 8, i + (j // 4))
    m.store("a", 8, word, i, guard=(Constraint(j - 4),))
    loop = Loop(
        counter("i", 10, lower=4, step=3),
        (Loop(counter("j", Affine.of("i") + 4, lower="i", step=4), (Straight(m.block),)),),
    )
    (outer,) = normalise(Graph("n", (array("a", 8, 20),), (), (loop,))).body
    assert isinstance(outer, Loop)
    assert (outer.counter.lowers, outer.counter.trips, outer.counter.step) == ((Affine(),), 2, 1)
    (straight_,) = outer.body  # one trip of j: i = 4 + 3n = j
    assert isinstance(straight_, Straight)
    load, _store = straight_.block.ops
    n = Affine.of("i")
    assert load.place.offset == n * 3 + 4 + ((n * 3 + 4) // 4)


def test_what_never_runs_is_left_out():
    m = Maker()
    m.store("a", 8, m.op(Kind.CONST, 8, value=1), affine({"i": 1}))
    never = Loop(counter("i", 3, lower=3), (Straight(m.block),))
    assert normalise(Graph("n", (array("a", 8, 4),), (), (never,))).body == ()


def test_several_lower_bounds_become_a_condition_of_stores():
    m = Maker()
    m.store("a", 8, m.op(Kind.CONST, 8, value=1), affine({"j": 1}))
    inner = Pipeline((counter("j", 8, lower=(0, Affine.of("i") - 2)),), m.block)
    (outer,) = normalise(
        Graph("n", (array("a", 8, 8),), (), (Loop(counter("i", 6), (inner,)),))
    ).body
    (inner,) = outer.body
    (store,) = (op for op in inner.block.ops if op.kind is Kind.STORE)
    env = [(i, n) for i in range(6) for n in range(inner.counters[0].uppers[0].evaluate({"i": i}))]
    kept = {
        (i, store.place.offset.evaluate({"i": i, "j": n}))
        for i, n in env
        if all(c.holds({"i": i, "j": n}) for c in store.guard)
    }
    assert kept == {(i, j) for i in range(6) for j in range(max(0, i - 2), 8)}


def sums(count: int):
    """As many float products, added up in a chain."""
    m = Maker()
    words = [m.load("a", 32, affine({"i": count}, n)) for n in range(count)]
    total = words[0]
    for word in words[1:]:
        product = m.op(Kind.FMUL, 32, word, word, signed=False)
        total = m.op(Kind.FADD, 32, total, product, signed=False)
    m.store("b", 32, total, affine({"i": 1}))
    arrays = (array("a", 32, 8 * count), array("b", 32, 8))
    return Graph("sums", arrays, (), (Pipeline((counter("i", 8),), m.block),)), m.block


@pytest.mark.parametrize(("count", "ii", "units"), [(4, 4, 1), (6, 6, 1), (7, 3, 2), (9, 2, 4)])
def test_operators_take_turns_where_the_interval_is_longer(count, ii, units):
    graph, block = sums(count)
    if ii < count:  # as many banks as words
        block = Block(
            tuple(
                replace(op, place=replace(op.place, array=f"a{n}")) if op.kind is Kind.LOAD else op
                for n, op in enumerate(block.ops)
            )
        )
        more = tuple(array(f"a{n}", 32, 8 * count) for n in range(count))
        graph = replace(graph, arrays=(*graph.arrays, *more))
    schedule = pipeline(graph, block, ii, target())
    assert schedule.ii == ii
    bound = numbers(schedule)
    used = {(key.kind, number) for key, number in bound.values()}
    assert used == {(kind, n) for kind in (Kind.FADD, Kind.FMUL) for n in range(units)}
    taken = [(at, schedule.start[op] % ii) for op, at in bound.items()]
    assert len(set(taken)) == len(taken)


def test_nothing_takes_turns_at_interval_1():
    graph, block = sums(1)
    assert pipeline(graph, block, 1, target()).shared == frozenset()
    graph, block = sums(3)
    assert straight(graph, block, target()).shared == frozenset()


def test_random_blocks_keep_every_rule():
    for seed in range(60):
        graph, block = random_block(seed)
        given = target(random.Random(seed).choice((4.0, 8.0, 10.0)))
        assert faults(graph, pipeline(graph, block, 1, given), given) == [], seed
        assert faults(graph, straight(graph, block, given), given) == [], seed


def test_constraint_programming_finds_what_list_scheduling_missed():
    pytest.importorskip("ortools")
    better = shorter = 0
    for seed in range(30):
        graph, block = random_block(seed)
        plain = target()
        tried = replace(plain, effort=0.5)
        for kind in (pipeline, straight):
            arguments = (graph, block, 1) if kind is pipeline else (graph, block)
            before, after = kind(*arguments, plain), kind(*arguments, tried)
            assert faults(graph, after, tried) == [], seed
            assert after.ii <= before.ii
            better += after.ii < before.ii
            if not before.ii:
                assert after.depth <= before.depth
                shorter += after.depth < before.depth
    assert better >= 1
    assert shorter >= 2


def test_constraint_programming_gives_the_same_every_time():
    pytest.importorskip("ortools")
    graph, block = random_block(25)
    given = replace(target(), effort=0.5)
    assert pipeline(graph, block, 1, given) == pipeline(graph, block, 1, given)


def test_a_sum_goes_back_without_a_register():
    given = target()
    for floats in (False, True):
        (region,) = schedule(normalise(mac(floats=floats)), given).body
        block = region.schedule.block
        ((load, store),) = region.schedule.back.items()
        assert (block.ops[load].place.array, block.ops[store].place.array) == ("acc", "acc")
        (total,) = (op for op in block.ops if op.kind in (Kind.ADD, Kind.FADD))
        latency = given.spec(key_of(block, total)).latency
        # The choice of the first iteration's fits before the sum, or takes a cycle.
        assert max(1, latency) <= region.schedule.ii <= latency + 1


def test_a_register_stays_where_more_than_its_sum_needs_it():
    def kept(graph: Graph) -> bool:
        return schedule(normalise(graph), target()).body[0].schedule.back == {}

    graph = mac()
    (region,) = graph.body
    look = Maker()
    look.store("s", 32, look.load("acc", 32, affine()), affine({}, 1))
    assert not kept(graph)
    assert kept(replace(graph, body=(region, Straight(look.block))))
    later = (Constraint(affine({"i": 1}, -1)),)
    ops = tuple(
        replace(op, guard=later) if op.kind is Kind.HOLDS else op for op in region.block.ops
    )
    assert kept(replace(graph, body=(replace(region, block=replace(region.block, ops=ops)),)))


@pytest.mark.parametrize("pipelined", [False, True])
def test_where_a_loop_in_steps_begins_decides_what_it_visits(pipelined):
    m = Maker()
    old = m.load("a", 8, affine({"j": 1}))
    new = m.op(Kind.ADD, 8, old, m.op(Kind.CONST, 8, value=1))
    store = m.store("a", 8, new, affine({"j": 1}))
    m.dep(old, store, DepKind.ANTI)
    m.dep(store, old, DepKind.FLOW, 1)
    i = counter("i", 6)
    j = counter("j", 12, lower=(0, Affine.of("i") * 2 - 3), step=2)
    body = Loop(i, (Loop(j, (Straight(m.block),)),))
    whole = Pipeline((i, j), m.block) if pipelined else body
    graph = Graph("phases", (array("a", 8, 12),), (), (whole,))
    given = {"a": [0] * 12}
    found = evaluate(normalise(graph), given, {})
    assert found == evaluate(graph, given, {})
    assert found["a"] == [
        sum(n in range(max(0, 2 * k - 3), 12, 2) for k in range(6)) for n in range(12)
    ]
