"""Guards around unrolled loops that do not move them: one branch around all copies, of which a sum is a tree."""

from __future__ import annotations

import weft
from backends.equivalence import equivalence
from backends.verify import verify
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import TreeGuard, TreeLoop, below
from polyhedral.schedule import apply
from weft import f32


@weft.kernel
def triangle(A: f32[16, 24], C: f32[16, 16]):
    for i in range(16):
        for k in range(24):
            for j in range(i + 1):
                C[i, j] += A[i, k] * A[j, k]


def blocks(terms: int, tail: str = "remainder", *, last: str = "k_1") -> Schedule:
    """Rows one after the other, all of a row at once, and so many terms of each sum."""
    s = ScheduleBuilder()
    s.reassociate("S0")
    s.split("S0.j", 16, "j_0", "j_1", "guard")
    s.split("S0.k", terms, "k_0", "k_1", tail)
    first = "j_1" if last == "k_1" else "k_1"
    s.reorder(["S0.j_0", "S0.k_0", "S0.i", f"S0.{first}", f"S0.{last}"])
    s.pipeline("S0.i")
    s.unroll("S0.j_1")
    s.unroll("S0.k_1")
    for array, dim in (("A", 0), ("A", 1), ("C", 1)):
        s.partition(array, dim, "complete")
    return s.build()


def nested(schedule: Schedule) -> list[str]:
    """Guards, and the loops by name, from the outermost one."""
    nodes = loop_tree(apply(triangle.program, schedule)).body
    kinds = {TreeGuard: "if", TreeLoop: ""}
    found = (kinds.get(type(n), "stmt") or n.name for node in nodes for n in below(node))  # type: ignore[union-attr]
    return list(found)


def test_a_guard_goes_outside_as_far_as_its_conditions_allow():
    assert nested(blocks(8)) == ["k_0", "i", "j_1", "if", "k_1", "stmt"]
    # Of eleven terms in each block the last one has two only: that condition stays with the terms.
    assert nested(blocks(11, "guard")) == ["k_0", "i", "j_1", "if", "k_1", "if", "stmt"]
    assert nested(blocks(8, last="j_1")) == ["k_0", "i", "k_1", "j_1", "if", "stmt"]


def test_what_is_moved_is_proven_and_means_the_same():
    for schedule in (blocks(8), blocks(11, "guard")):
        design = compile_design(triangle.program, schedule)
        assert equivalence(design).verdict == "proven"
        assert verify(triangle.program, schedule).ok


@weft.kernel
def symmetric(A: f32[6, 4], C: f32[6, 6]):
    for i in range(6):
        for j in range(i, 6):
            s = 0.0
            for k in range(4):
                s += A[i, k] * A[j, k]
            C[i, j] = s
            C[j, i] = s


def test_a_local_is_cleared_in_the_branch_of_its_terms():
    """Where terms are in a branch of their own, the local might hold what an earlier iteration has left."""
    s = ScheduleBuilder()
    s.reassociate("S1").split("S0.j", 6, tail="guard").unroll("k").pipeline("S0.j_1")
    for array, dim in (("A", 0), ("A", 1), ("C", 0), ("C", 1)):
        s.partition(array, dim, "complete")
    schedule = s.build()
    (i,) = loop_tree(apply(symmetric.program, schedule)).body
    kinds = [type(node) for node in below(i)]
    assert kinds.count(TreeGuard) == 1
    design = compile_design(symmetric.program, schedule)
    assert equivalence(design).verdict == "proven"
    assert (
        weft.estimate(symmetric, schedule, device="xc7z020").loops[0].ii == 1
    )  # no sum of terms is carried


def test_terms_in_one_branch_are_added_as_a_tree():
    """Of 24 terms that follow each other under guards each waits for the one before; a tree has five levels."""
    together, apart = (
        weft.estimate(triangle, blocks(24, last=last), device="xcu280", tool="vitis-2023.2")
        for last in ("k_1", "j_1")
    )
    assert together.loops[0].ii == 1
    assert together.latency.average < apart.latency.average / 2
