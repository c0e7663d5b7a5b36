"""The hlsfactory-u200 reader: kernels as programs, rows, directives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dsl.errors.errors import InputError, ScheduleError
from dsl.expressions.affine import Affine, And, Constraint, Or, cond_holds, negate
from dsl.expressions.expr import Binary, Cast, Compare, Select, Unary, walk
from dsl.expressions.types import FloatType
from dsl.programs.program import Stmt
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.legality.program import check_program
from polyhedral.looptree.tree import TreeLoop
from polyhedral.schedule import apply
from qor_gnn.design.region import Guard, Statement, loops_in
from qor_gnn.design.region import walk as region_walk
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200 import CAPS, Facts, Row, designs, kernels, without_labels
from qor_gnn.fit.labelled.u200_design import Directives, design, disjoint, plain, source_tree
from qor_gnn.fit.labelled.u200_program import Converted, Refused, convert
from tests.support.labelled import is_whole, labelled

FOLDER = labelled("hlsfactory-u200")
WHOLE = is_whole(FOLDER)
IRREGULAR = {"md", "spmv-crs"}
_KINDS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}


@pytest.fixture(scope="module")
def facts() -> dict[str, Facts]:
    return kernels(FOLDER)


@pytest.fixture(scope="module")
def converted(facts: dict[str, Facts]) -> dict[str, Converted]:
    found = {name: convert(f) for name, f in facts.items()}
    return {name: c for name, c in found.items() if isinstance(c, Converted)}


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return designs(FOLDER)


def source_statements(nodes: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for node in nodes:
        if "stmt" in node:
            yield node
        for part in ("body", "then", "else"):
            yield from source_statements(node.get(part) or [])


def source_loops(nodes: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for node in nodes:
        if "loop" in node:
            yield node
        for part in ("body", "then", "else"):
            yield from source_loops(node.get(part) or [])


def operations(stmt: Stmt) -> Counter[str]:
    """Counted as the facts count them: d is double, l is long; a cast is nothing."""
    found: Counter[str] = Counter()
    for e in walk(stmt.value):
        match e:
            case Cast(operand=Binary(op=op), dtype=dtype):
                found[f"{'l' if dtype.width == 64 else 'i'}{_KINDS[op.value]}"] += 1
            case Binary(op=op, dtype=FloatType()):
                found[f"d{_KINDS[op.value]}"] += 1
            case Unary(op=op):
                found["dneg" if op.value == "-" else f"d{op.value}"] += 1
            case Compare():
                found["dcmp"] += 1
            case Select():
                found["dselect"] += 1
    return found


def test_all_but_the_irregular_kernels_are_programs(facts, converted) -> None:
    assert len(facts) == 32
    assert set(facts) - set(converted) == IRREGULAR == {f for f in facts if facts[f].irregular}


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        ("md", "'jidx' is not affine in the loop variables"),
        ("spmv-crs", "the bounds of loop L1, tmp_begin to tmp_end, depend on data"),
    ],
)
def test_a_refusal_says_what_the_language_lacks(facts, kernel: str, reason: str) -> None:
    assert convert(facts[kernel]) == Refused(kernel, reason)


def test_programs_are_in_bounds_and_read_nothing_undefined(converted) -> None:
    for c in converted.values():
        check_program(c.program)


def test_what_differs_from_the_source_is_listed(converted) -> None:
    differing = {n: (c.added, c.widened) for n, c in converted.items() if c.added or c.widened}
    assert differing == {
        "adi": (("in_v", "in_p", "in_q"), ()),
        "fdtd-2d": (("in_ey",), ()),
        "fdtd-2d-large": (("in_ey",), ()),
        "jacobi-1d": (("in_B",), ()),
        "stencil-3d": (("in_sol",), ("sol_local",)),
    }
    assert {n: c.powers for n, c in converted.items() if c.powers} == {"correlation": ("S5",)}
    stencil = converted["stencil-3d"].program
    assert (stencil.array("sol").shape, stencil.array("sol_local").shape) == ((32768,), (38113,))


def test_operations_of_every_statement_are_those_of_the_facts(facts, converted) -> None:
    checked = 0
    for name, c in converted.items():
        by_name = {s.name: s for s in c.program.statements()}
        for node in source_statements(facts[name].data["body"]):
            expected = Counter(node.get("ops", {}))
            found = operations(by_name[node["stmt"]])
            if expected.pop("dpow", 0):
                found += operations(by_name[f"{node['stmt']}_base"])
                found["dmul"] -= 1
            assert +found == expected, (name, node["stmt"])
            checked += 1
    assert checked == 136


def test_loops_have_the_trip_counts_of_the_facts(facts, converted) -> None:
    for name, c in converted.items():
        loops = {x.name: x for f in plain(c).functions for x in loops_in(f.body)}
        for node in source_loops(facts[name].data["body"]):
            trips, wanted = loops[node["loop"]].trips, node["trip"]
            if isinstance(wanted, int):
                wanted = {"min": wanted, "max": wanted, "avg": wanted}
            assert [trips.minimum, trips.maximum, trips.average] == list(wanted.values())


def test_reads_and_writes_are_those_of_the_facts(facts, converted) -> None:
    for name, c in converted.items():
        by_name = {s.name: s for s in c.program.statements()}
        arrays = {a["name"] for a in facts[name].data["args"] if a["dims"]}
        for node in source_statements(facts[name].data["body"]):
            stmt = by_name[node["stmt"]]
            accesses = [(stmt.target.array, 1)] if stmt.target.indices else []
            assert len(accesses) == len(node.get("writes", []))
            if accesses:
                assert stmt.target.array.removesuffix("_local") in arrays


# ------------------------------------------------------------------------------------- rows


def over_cap(row: Row) -> bool:
    return any(getattr(row.labels, name) > most for name, most in CAPS.items())


def test_files_have_the_rows_that_their_readme_counts(rows) -> None:
    assert len(rows) == (5662 if WHOLE else 1171)
    assert not any(map(over_cap, rows))
    over = designs(FOLDER, "overcap")
    assert len(over) == (634 if WHOLE else 64)
    assert all(map(over_cap, over))
    assert len(designs(FOLDER, "extra")) == (125 if WHOLE else 25)
    assert Counter(p.reason for p in without_labels(FOLDER)) == {
        "no_result": 10363 if WHOLE else 104,
        "undef_latency": 4,
    }


def test_every_directive_string_is_read_and_written_back(facts, rows) -> None:
    points = [*rows, *designs(FOLDER, "overcap"), *designs(FOLDER, "extra")]
    for point in [*points, *without_labels(FOLDER)]:
        directives = Directives.parse(point.directives)
        assert str(directives) == point.directives
        slots = {(s.loop, s.directive): s.options for s in facts[point.kernel].slots}
        for p in directives.pragmas:
            asked = "pipeline" if isinstance(p, Pipeline) else p.factor
            assert asked in slots[p.loop, p.kind]


@pytest.mark.parametrize("text", ["", "L1", "L1:flatten", "1:pipeline", "L1:unroll=x", "none;none"])
def test_other_directives_are_refused(text: str) -> None:
    with pytest.raises(InputError) as e:
        Directives.parse(text)
    assert e.value.code == "W511"
    assert "is no directive" in e.value.render()


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as e:
        designs(tmp_path)
    assert e.value.code == "W512"
    (tmp_path / "kernels.csv").write_text("kernel,directives,latency\ngemm,none\n")
    with pytest.raises(InputError) as e:
        designs(tmp_path)
    assert e.value.code == "W511"


# ---------------------------------------------------------------------------------- designs


def test_guards_stay_guards_and_loops_keep_their_bounds(converted) -> None:
    tree = source_tree(converted["trmm"].program, {})
    scheduled = loop_tree(apply(converted["trmm"].program, Schedule()))
    bounds = {n.name: n.lowers for n, _ in scheduled.walk() if isinstance(n, TreeLoop)}
    assert bounds["L2"] == (Affine.of("L0") + 1,)  # isl puts the guard k > i into the bound
    kernel = plain(converted["trmm"])
    (body,) = (f.body for f in kernel.functions)
    loops = {x.name: x for x in loops_in(body)}
    assert loops["L2"].constant_trips == 60
    assert any(isinstance(n, Guard) for n in region_walk((loops["L2"],)))
    assert tree.program is converted["trmm"].program


def test_copies_that_no_label_has_are_left_out(converted) -> None:
    names = {x.name for f in plain(converted["adi"]).functions for x in loops_in(f.body)}
    assert "in_u_0" in names
    assert not names & {"in_v_0", "in_p_0", "in_q_0"}


def test_a_pow_of_the_source_is_one(converted) -> None:
    names = {
        op.kind
        for f in plain(converted["correlation"]).functions
        for n in region_walk(f.body)
        if isinstance(n, Statement) and n.name == "S5"
        for op in n.ops
    }
    assert names == {"load", "add", "pow"}
    answer = estimate(plain(converted["correlation"]), "vitis-2025.1-u200-4ns")
    assert dict(answer.units)["dpow"] == 1
    assert answer.bram18 == 73  # 68 of its arrays, 5 inside of the operator


def test_a_pipeline_above_a_variable_loop_is_a_design_but_no_schedule(converted) -> None:
    c, asked = converted["correlation"], Directives.parse("L6:pipeline;L8:unroll=4")
    with pytest.raises(ScheduleError) as e:
        apply(c.program, asked.schedule())
    assert e.value.code == "W212"
    loops = {x.name: x for f in design(c, asked).functions for x in loops_in(f.body)}
    assert (loops["L6"].ii, loops["L8"].unroll, loops["L7"].trips.maximum) == (1, 4, 79)


def test_what_is_below_a_pipeline_has_no_effect(converted) -> None:
    program = converted["2mm"].program
    asked = Directives.parse("L0:pipeline;L1:pipeline;L1:unroll=2;L2:unroll=5;L4:unroll=8")
    assert str(asked.effective(program)) == "L0:pipeline;L4:unroll=8"
    assert asked.factor("L2") == 5
    assert asked.pipelined() == {"L0", "L1"}


def test_rows_that_differ_below_a_pipeline_have_one_label(converted, rows) -> None:
    groups: dict[tuple[str, Directives], set[object]] = {}
    for r in rows:
        if r.kernel in converted:
            kept = Directives.parse(r.directives).effective(converted[r.kernel].program)
            groups.setdefault((r.kernel, kept), set()).add(r.labels)
    assert len(groups) < len(rows) - (500 if WHOLE else 50)
    assert sum(len(labels) > 1 for labels in groups.values()) == 0


def test_the_cases_of_a_condition_exclude_each_other() -> None:
    i, j = Affine.of("i"), Affine.of("j")
    either = Or((Constraint(i - j), Constraint(j - 2), Constraint(i - 3, "==")))
    for cond in (either, negate(either), And((either, Constraint(i - 1)))):
        for env in ({"i": a, "j": b} for a in range(5) for b in range(5)):
            cases = [all(c.holds(env) for c in case) for case in disjoint(cond)]
            assert sum(cases) == cond_holds(cond, env)


def test_schedule_steps_address_loops_by_label(converted) -> None:
    schedule = Directives.parse("L2:pipeline;L5:unroll=4").schedule()
    assert schedule == Schedule((Pipeline("L2"), Unroll("L5", 4)))
    apply(converted["2mm"].program, schedule)
