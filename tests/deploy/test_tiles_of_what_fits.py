"""Kernels whose arrays fit on the chip as a whole: designs with tiles, copied while others are worked on, are there too."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from backends.deploy.boards import board
from backends.deploy.outside import in_tiles, outside
from backends.deploy.tiles import Allowance
from backends.equivalence import equivalence
from dse.space.space import space_of
from dse.space.start import Start
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Fuse, Interface, Pack, Pipeline
from mlir_passes.pipeline import compile_design
from qor_gnn.tools.personality import personality

POLYBENCH = Path(__file__).resolve().parents[2] / "examples/polybench"


def kernel(name: str, size: str = "small") -> weft.Kernel:
    return weft.load(POLYBENCH / f"{name}.py").at(size)


def tiles(schedule: Schedule) -> list[Buffer]:
    return [s for s in schedule if isinstance(s, Buffer) and s.at]


@pytest.mark.parametrize(("name", "size"), [("bicg", "medium"), ("doitgen", "small")])
def test_tiles_say_the_same_of_arrays_outside(name, size):
    program = kernel(name, size).program
    allowed = Allowance(2000, trees=True)
    whole = outside(program, Schedule(), board("u55c"), allowed)
    tiled = in_tiles(program, Schedule(), board("u55c"), allowed)
    assert tiled is not None
    assert tiles(tiled)
    assert not tiles(whole)
    packs, others = ([s for s in one if isinstance(s, Pack)] for one in (whole, tiled))
    assert packs == others
    modes = [
        {s.argument: (s.mode, s.bank) for s in one if isinstance(s, Interface)}
        for one in (whole, tiled)
    ]
    assert modes[0] == modes[1]
    assert weft.verify(kernel(name, size), tiled).ok


@pytest.mark.parametrize("name", ["atax", "bicg", "gemver"])
def test_what_one_nest_copies_as_a_whole_no_later_one_copies_again(name):
    program, place = kernel(name, "medium").program, board("u55c")
    tiled = in_tiles(program, Schedule(), place, Allowance(place.device.dsp, trees=True))
    assert tiled is not None
    assert tiles(tiled)
    whole = [s.array for s in tiled if isinstance(s, Buffer) and not s.at]
    assert sorted(whole) == sorted(set(whole))
    if name == "atax":
        assert weft.verify(kernel(name, "medium"), tiled).ok


def test_there_are_none_where_all_does_not_fit_or_loops_are_said():
    assert (
        in_tiles(weft.load(POLYBENCH / "gemm.py").at("large").program, Schedule(), board("pynq-z2"))
        is None
    )
    said = Schedule().then(Pipeline("S1.j"))
    assert in_tiles(kernel("gemm").program, said, board("u55c")) is None
    assert in_tiles(kernel("gemm").program, Schedule(), board("pynq-z2")) is None  # logic limits it


def test_a_search_has_designs_of_both_kinds_and_all_mean_the_same():
    program, onto = kernel("doitgen").program, board("u55c")
    tiled = in_tiles(program, Schedule(), onto)
    assert tiled is not None
    start = Start(outside(program, Schedule(), onto).steps, others=(tiled.steps,))
    space = space_of(program, personality("vitis-2023.2-u280-3.33ns"), True, start=start)
    kinds = {bool(tiles(Schedule(variant.steps))) for variant in space.variants}
    assert kinds == {False, True}
    last = max(n for n, v in enumerate(space.variants) if tiles(Schedule(v.steps)))
    for variant in (0, last):
        schedule = space.schedule(space.plain(variant))
        assert schedule is not None
        assert equivalence(compile_design(program, schedule)).verdict == "proven"


def test_nests_that_hand_on_rows_share_tiles():
    """Two products in turn: what the first makes of a tile the second one takes, so that all else passes meanwhile."""
    program = kernel("k2mm", "medium").program
    tiled = in_tiles(program, Schedule(), board("u55c"), Allowance(6000, trees=True))
    assert tiled is not None
    assert Fuse(("S0", "S2"), 1) in tiled.steps
    assert {s.array: bool(s.at) for s in tiled if isinstance(s, Buffer)} == {
        "A": True, "B": False, "C": False, "D": True,
    }  # fmt: skip
