"""Dependences, the graph of them, and the exact checks of a program."""

from __future__ import annotations

import json
from collections.abc import Iterable

import islpy as isl
import pytest

import weft
from dsl.errors.errors import LanguageError
from polyhedral.dependences import direct
from polyhedral.dependences.direct import Dependence, DepKind, dependences, flows_within
from polyhedral.dependences.graph import dependence_graph, to_dot, to_json
from polyhedral.dependences.memory_order import memory_order
from polyhedral.legality.program import check_program
from polyhedral.scop.scop import Scop, build_scop
from tests.support.random_programs import random_program
from weft import f32, i32

Row = tuple[str, str, str, str, tuple[int | None, ...]]


def table(kernel: weft.Kernel) -> set[Row]:
    scop = build_scop(kernel.program)
    return {
        (d.kind.value, d.array, d.source.name, d.sink.name, d.distance) for d in dependences(scop)
    }


@weft.kernel
def stencil(A: f32[10], B: f32[10]):
    for t in range(5):
        for i in range(1, 9):
            B[i] = A[i - 1] + A[i] + A[i + 1]
        for i in range(1, 9):
            A[i] = B[i]


def test_exact_kinds_of_a_stencil() -> None:
    assert table(stencil) == {
        ("flow", "A", "S1", "S0", (1,)),
        ("anti", "A", "S0", "S1", (0,)),
        ("output", "A", "S1", "S1", (1, 0)),
        ("flow", "B", "S0", "S1", (0,)),
        ("anti", "B", "S1", "S0", (1,)),
        ("output", "B", "S0", "S0", (1, 0)),
    }


def test_flows_of_a_nest_are_those_of_the_program_between_its_statements() -> None:
    @weft.kernel
    def nests(A: f32[8], B: f32[8]):
        for i in range(8):
            A[i] = B[i]
        for i in range(1, 8):
            A[i] = A[i] + A[i - 1]
        for i in range(7):
            B[i] = A[i + 1]
            A[i] = B[i]

    scop = build_scop(nests.program)

    def rows(found: Iterable[Dependence]) -> set[tuple[str, str, str]]:
        return {(d.source.name, d.sink.name, str(d.pairs)) for d in found}

    flows = [d for d in dependences(scop) if d.kind is DepKind.FLOW]
    for some in (["S0"], ["S1"], ["S2", "S3"], ["S1", "S2"], ["S0", "S3"]):
        asked = [scop.statement(name) for name in some]
        inside = {s.name for s in scop.statements if min(some) <= s.name <= max(some)}
        inside |= {"S3"} if inside & {"S2", "S3"} else set()  # the whole nest
        of_all = [d for d in flows if {d.source.name, d.sink.name} <= inside]
        assert rows(flows_within(scop, asked)) == rows(of_all)


@weft.kernel
def many_nests(A: i32[20], B: i32[20], n: i32[20]):
    for i in range(20):
        A[i] = B[i]
    for i in range(0, 20, 2):
        A[i] = A[i] + 1
    for i in range(5):
        for j in range(3):
            A[3 * i + j] = A[i + j] + B[j]
    A[3] = 7
    for i in range(7, 15):
        A[i] = A[i - 3] + A[19 - i]
    for i in range(20):
        B[i] = A[n[i] & 15]
    for i in range(10):
        A[2 * i + 1] = B[i]
    for i in range(1, 20):
        B[i] = B[i - 1] + A[i]
    for i in range(8):
        for d in [1, 2, 4]:
            if i ^ d > i:
                A[i] = A[i ^ d]
                A[i ^ d] = i


def test_nests_that_are_asked_one_after_the_other_give_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def found(scop: Scop, few: int) -> dict[tuple[object, ...], isl.Map]:
        monkeypatch.setattr(direct, "FEW", few)
        for known in (direct.array_flows, direct.array_dependences, dependences):
            known.cache_clear()
        return {(d.kind, d.array, d.source, d.sink): d.pairs for d in dependences(scop)}

    count = 0
    for program in (many_nests.program, *map(random_program, range(20))):
        scop = build_scop(program)
        one_by_one, at_once = found(scop, 0), found(scop, 1000)
        assert one_by_one.keys() == at_once.keys()
        assert all(one_by_one[key].is_equal(pairs) for key, pairs in at_once.items())
        count += len(at_once)
    assert count > 100


def test_flow_is_from_the_last_write_only() -> None:
    @weft.kernel
    def twice(A: f32[4], B: f32[4]):
        for i in range(4):
            A[i] = 1.0
            A[i] = 2.0
            B[i] = A[i]

    flows = {row[2:4] for row in table(twice) if row[0] == "flow"}
    assert flows == {("S1", "S2")}


def test_varying_distances_are_not_constants() -> None:
    @weft.kernel
    def mirror(A: f32[9]):
        for i in range(9):
            A[i] = A[8 - i]

    assert ("flow", "A", "S0", "S0", (None,)) in table(mirror)


def test_a_reassociated_reduction_still_orders_its_surroundings() -> None:
    @weft.kernel
    def total(x: f32[6], s: f32[1]):
        s[0] = 0.0
        for i in range(6):
            s[0] += x[i]

    order = memory_order(build_scop(total.program))
    assert ("flow", "s", "S1", "S1", (1,)) in table(total)
    assert {key for key, _ in order.between(frozenset())} == {(0, 1), (1, 1)}
    loose = dict(order.between(frozenset({"S1"})))
    assert set(loose) == {(0, 1)}
    assert loose[0, 1].range().count_val().to_python() == 6


def test_graph_and_its_formats() -> None:
    graph = dependence_graph(build_scop(stencil.program))
    data = json.loads(to_json(graph))
    assert data["schema_version"] == 1
    edge = next(e for e in data["edges"] if e["kind"] == "flow" and e["array"] == "A")
    assert (edge["source"], edge["target"]) == ("statement:S1", "statement:S0")
    assert (edge["loops"], edge["distance"], edge["direction"]) == (["t"], [1], ["<"])
    assert '"statement:S1" -> "statement:S0" [label="flow A (1)"];' in to_dot(graph)


def test_out_of_bounds_is_found_exactly() -> None:
    @weft.kernel
    def past(A: f32[10], B: f32[10]):
        for i in range(10):
            if i >= 3:
                B[i] = A[i + 1]

    with pytest.raises(LanguageError) as caught:
        check_program(past.program)
    text = caught.value.render()
    assert "error[W160]: A[i + 1] is out of bounds: subscript 0 is 10 for i = 9" in text
    assert "A is f32[10]: subscript 0 must be 0 to 9" in text


def test_guards_and_triangles_keep_accesses_in_bounds() -> None:
    @weft.kernel
    def inside(A: f32[10], B: f32[10]):
        for i in range(10):
            for j in range(10):
                if i + j < 10:
                    B[i] = A[i + j]

    check_program(inside.program)


def test_reading_before_writing_is_found_exactly() -> None:
    @weft.kernel
    def undefined(A: f32[8]):
        t: f32[8]
        for i in range(1, 8):
            t[i] = A[i]
        for i in range(8):
            A[i] = t[i]

    with pytest.raises(LanguageError) as caught:
        check_program(undefined.program)
    assert "error[W161]: t[0] is read before it is written for i = 0" in caught.value.render()
