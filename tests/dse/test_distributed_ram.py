"""Local arrays whose banks a design has too little block RAM for are memories of LUTs."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

import weft
from backends.devices import device
from dse.area.designs import Areas
from dse.evaluators.base import Request
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.memory.banks import demand
from dse.space.memory.distributed_ram import bindable, bindings
from dse.space.space import Choice, Point, Space, space_of
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import BindStorage, Dataflow, Partition
from weft import i32

CHIP, CLOCK = device("xc7z020"), 10.0
TOOL = personality_for(CHIP, CLOCK)
BANKS = 8


WORDS = 49


@weft.kernel
def turned(x: i32[8, WORDS], y: i32[8, WORDS]):
    t: i32[8, WORDS]
    for i in range(8):
        for j in range(WORDS):
            t[i, j] = x[i, j] + 1
    for i in range(8):
        for j in range(WORDS):
            y[i, j] = t[i, WORDS - 1 - j]


@weft.kernel
def three_reads(x: i32[8, 49], y: i32[8, 47]):
    t: i32[8, 49]
    for i in range(8):
        for j in range(49):
            t[i, j] = x[i, j] + 1
    for i in range(8):
        for j in range(47):
            y[i, j] = t[i, j] + t[i, 46 - j] + t[i, 47 - j]


def all_rows(space: Space) -> Point:
    """Eight banks, a row in each: the loop over rows is unrolled, whatever its place."""
    nests = space.variants[0].nests
    vectors = [tuple(8 if loop.extent == 8 else 1 for loop in n.orders[0].loops) for n in nests]
    return Point(0, tuple(Choice(0, vector) for vector in vectors))


def space(kernel: weft.Kernel, bram18: float) -> Space:
    return space_of(kernel.program, TOOL, bram18=bram18)


def bound(kernel: weft.Kernel, bram18: float) -> list[BindStorage]:
    own = space(kernel, bram18)
    schedule = own.schedule(all_rows(own))
    assert schedule is not None
    return [step for step in schedule if isinstance(step, BindStorage)]


def test_banks_that_are_more_than_there_are_blocks_are_made_of_luts():
    assert bound(turned, BANKS - 1) == [BindStorage("t", "ram_2p", "lutram")]
    figures = {}
    for bram18 in (inf, BANKS - 1):
        own = space(turned, bram18)
        schedule = own.schedule(all_rows(own))
        figures[bram18] = ModelEvaluator().evaluate(Request(turned.program, schedule, CHIP, CLOCK))
    free, short = figures[inf], figures[BANKS - 1]
    assert (free.resources["bram18"], short.resources["bram18"]) == (BANKS, 0)
    assert short.latency == free.latency
    assert short.resources["lut"] > free.resources["lut"]


def test_banks_of_which_more_is_read_in_a_cycle_are_kept_for_each_read():
    assert bound(three_reads, BANKS - 1) == [BindStorage("t", "ram_1wnr", "lutram")]


@pytest.mark.parametrize("bram18", [4 * BANKS, inf])
def test_with_blocks_enough_storage_is_the_tools_choice(bram18):
    assert bound(turned, bram18) == []


def test_deep_banks_stay_in_block_ram():
    assert bound(turned.at(WORDS=200), 1) == []


@pytest.mark.parametrize(("bram18", "blocks"), [(BANKS - 1, 0), (inf, BANKS)])
def test_plans_count_what_points_are_bound_to(bram18, blocks):
    own = space(turned, bram18)
    point = all_rows(own)
    nest, choice = own.variants[0].nests[0], point.choices[0]
    banks = demand(nest.orders[0], choice.vector)
    assert Areas(own).memories(0).cost(banks).bram18 == blocks


def test_what_stores_two_words_of_a_bank_in_a_cycle_keeps_both_ports():
    own = space(turned, BANKS - 1)
    schedule = own.schedule(all_rows(own))
    program = own.variants[0].program
    steps = Schedule(tuple(s for s in schedule if not isinstance(s, BindStorage)))
    memories = bindable(program, ())
    order = own.variants[0].nests[0].orders[0]
    again = tuple(
        replace(use, indices=(use.indices[0], use.indices[1] + 1))
        for use in order.uses
        if use.array == "t"
    )
    twice = replace(order, uses=(*order.uses, *again))
    rows = tuple(8 if loop.extent == 8 else 1 for loop in order.loops)
    for uses, count in ((order, 1), (twice, 0)):
        nests = [(uses, rows, 1)]
        assert len(bindings(program, steps, memories, nests, TOOL, own.blocks)) == count


def test_what_processes_hand_on_and_what_is_bound_is_left_as_it_is():
    program = turned.program
    assert [m.name for m in bindable(program, ())] == ["t"]
    assert bindable(program, (Dataflow(),)) == ()
    assert bindable(program, (BindStorage("t", "ram_1p"),)) == ()


def test_the_bound_design_is_emitted():
    own = space(turned, BANKS - 1)
    schedule = own.schedule(all_rows(own))
    assert Partition("t", 0, "complete") in schedule.steps
    text = str(weft.compile(turned, schedule).hls_cpp)
    assert "#pragma HLS bind_storage variable=t type=ram_2p impl=lutram" in text
