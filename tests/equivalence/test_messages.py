"""What is said of a module that is not its program: a code, a place, a witness."""

from __future__ import annotations

import re
from dataclasses import replace

import weft
from backends.equivalence import Equivalence, equivalence, module_equivalence
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.dialect.attributes import context
from mlir_passes.pipeline import compile_design
from mlir_passes.provider import ir
from mlir_passes.raising import raised_module, raised_statements
from polyhedral.equivalence.check import check_equivalence
from polyhedral.equivalence.raised import NotProven, RaisedModule
from polyhedral.looptree.tree import LocalPlacement, LoopTree, TreeLoop
from tests.equivalence.mutants import module_of
from tests.mlir.trees import identity_tree
from weft import f32, i32


@weft.kernel
def rows(A: f32[4, 6], y: f32[4], n: i32):
    for i in range(4):
        t: f32 = 0.0
        for j in range(6):
            t += A[i, j] * 2.0
        y[i] = t


def parsed(text: str) -> object:
    with context():
        return ir.Module.parse(text)


def edited(program: Program, old: str, new: str) -> Equivalence:
    """The verdict on level 3 with some of its text replaced."""
    text = str(compile_design(program).module)
    assert old in text
    return module_equivalence(program, parsed(text.replace(old, new, 1)), Schedule())


def message(found: Equivalence) -> str:
    assert found.verdict == "refuted"
    assert found.error is not None
    assert found.detail == f"[{found.error.code}] {found.error.message}"
    text = found.error.render()
    assert "help: this is a fault of Weft: the design must not be used" in text
    return text


def line_of(name: str, program: Program = rows.program) -> str:
    span = next(s for s in program.statements() if s.name == name).span
    assert span is not None
    return f"test_messages.py:{span.line}:{span.col}"


def test_an_argument_of_another_shape_or_type() -> None:
    text = message(edited(rows.program, 'hls.name = "y"', 'hls.name = "z"'))
    assert "error[W326]: argument 1 is another one" in text
    assert "expected y: f32[4], found z: f32[4]" in text
    text = message(
        edited(rows.program, "#hls.int<32 : i64, 1 : i64>", "#hls.int<32 : i64, 0 : i64>")
    )
    assert "expected n: i32, found n: u32" in text


def test_an_array_that_the_kernel_does_not_have() -> None:
    text = message(edited(rows.program, 'hls.name = "t"', 'hls.name = "u"'))
    assert "error[W326]: the kernel has no local u: f32" in text


def test_another_operator() -> None:
    text = message(edited(rows.program, "arith.mulf", "arith.addf"))
    assert text.startswith(f"{line_of('S1')}: error[W327]: S1 computes another expression")
    assert "expected arith.mulf" in text
    assert "found arith.addf" in text
    assert "S1: t += A[i, j] * 2.0" in text


def test_another_element() -> None:
    text = message(
        edited(
            rows.program, "affine.load %arg0[%arg3, %arg4]", "affine.load %arg0[%arg3, %arg4 + 1]"
        )
    )
    assert text.startswith(f"{line_of('S1')}: error[W328]: S1[0, 0] reads A[0, 1], not A[0, 0]")


def test_an_iteration_that_is_left_out() -> None:
    text = message(edited(rows.program, "= 0 to 6", "= 0 to 5"))
    assert text.startswith(f"{line_of('S1')}: error[W336]: S1[0, 5] is never executed")
    assert "S1[0, 5] is the iteration i = 0, j = 5" in text


def test_an_iteration_too_many_and_one_twice() -> None:
    text = message(edited(rows.program, "= 0 to 4", "= 0 to 5"))
    assert "error[W336]: S0[4] is executed, but not in the program" in text
    text = str(compile_design(rows.program).module)
    store = re.search(r" *affine.store .*S2.*\n", text)
    assert store is not None
    twice = parsed(text.replace(store[0], store[0] * 2))
    found = module_equivalence(rows.program, twice, Schedule())
    assert "error[W336]: S2[0] is executed twice" in message(found)


def test_statements_in_the_wrong_order() -> None:
    tree = identity_tree(rows.program)
    (nest,) = tree.body
    assert isinstance(nest, TreeLoop)
    start, loop, end = nest.body
    swapped = replace(tree, body=(replace(nest, body=(start, end, loop)),))
    text = message(module_equivalence(rows.program, module_of(swapped), Schedule()))
    assert text.startswith(f"{line_of('S2')}: error[W337]: a flow dependence is reversed")
    assert "S1 -> S2 through t, distance (0): S1[0, 0] must run before S2[0]" in text


# --------------------------------------------------------------------------- locals and streams


def apart() -> LoopTree:
    """Each statement of `rows` in loops of its own: one `t` is for all iterations of i."""
    tree = identity_tree(rows.program)
    (nest,) = tree.body
    assert isinstance(nest, TreeLoop)
    return replace(tree, body=tuple(replace(nest, body=(node,)) for node in nest.body))


def test_a_local_that_another_iteration_writes_over() -> None:
    text = message(module_equivalence(rows.program, module_of(apart()), Schedule()))
    span = rows.program.array("t").span
    assert span is not None
    assert f"test_messages.py:{span.line}" in text
    assert "error[W338]: another iteration writes over 't' before its value is read" in text
    assert "it belongs to one iteration of the 1 loops around its declaration" in text


@weft.kernel
def delayed(x: i32[4], y: i32[4]):
    t: i32[4]
    for i in range(4):
        t[i] = x[i]
        if i > 0:
            y[i] = t[i - 1]


def test_a_local_that_is_declared_anew_before_it_is_read() -> None:
    tree = identity_tree(delayed.program, placements=(LocalPlacement("t", None),))
    (loop,) = tree.body
    assert isinstance(loop, TreeLoop)
    right = module_equivalence(delayed.program, module_of(tree), Schedule())
    assert right.verdict == "proven"
    inside = replace(tree, placements=(LocalPlacement("t", loop.iv),))
    text = message(module_equivalence(delayed.program, module_of(inside), Schedule()))
    assert text.startswith(line_of("S1", delayed.program))
    assert "error[W338]: 't' is another memory where its value is read" in text
    assert "S0[0] writes what S1[1] reads" in text


@weft.kernel
def through(x: i32[4, 5], y: i32[4, 5]):
    t: i32[4, 5]
    for i in range(4):
        for j in range(5):
            t[i, j] = x[i, j] + 1
    for i in range(4):
        for j in range(5):
            y[i, j] = t[i, j] * 2


def streamed(change: bool) -> Equivalence:
    schedule = ScheduleBuilder().dataflow().stream("t", depth=20).build()
    design = compile_design(through.program, schedule)
    if not change:
        return equivalence(design)
    first, second = design.tree.body
    assert isinstance(second, TreeLoop)
    (inner,) = second.body
    assert isinstance(inner, TreeLoop)
    turned = replace(inner, body=(replace(second, body=inner.body),))
    module = module_of(replace(design.tree, body=(first, turned)))
    return module_equivalence(through.program, module, schedule)


def test_a_stream_is_read_in_the_order_in_which_it_is_written() -> None:
    assert streamed(change=False).verdict == "proven"
    text = message(streamed(change=True))
    assert "error[W338]: 't' is a stream, but t[0, 1] is written before another one" in text


# ------------------------------------------------------------------------------- left open


def test_a_module_that_says_nothing_of_its_stores_is_left_open() -> None:
    text = str(compile_design(rows.program).module)
    bare = re.sub(r"hls\.iteration = #map\d*, ", "", text)
    found = module_equivalence(rows.program, parsed(bare), Schedule())
    assert found.verdict == "not proven"
    assert found.detail == "a store to 't' does not say which iteration of a statement it is"
    assert found.ok
    assert found.error is None


def test_a_load_that_is_moved_away_from_its_statement_is_left_open() -> None:
    text = str(compile_design(through.program).module)
    load = re.search(r" *%0 = affine.load %alloc\[.*\n", text)
    loop = next(line for line in text.splitlines(keepends=True) if "%arg3 = 0 to 5" in line)
    assert load is not None
    second = text.rindex(loop)
    hoisted = load[0].replace("%arg3", "%c")
    moved = (
        text[:second]
        + "      %c = affine.apply affine_map<() -> (0)>()\n"
        + hoisted
        + text[second:]
    ).replace(load[0], "")
    found = module_equivalence(through.program, parsed(moved), Schedule())
    assert found.verdict == "not proven"
    assert found.detail == "S1: it reads 't' outside of the loop or guard that it is in"


def test_what_isl_does_not_finish_is_left_open() -> None:
    module = raised_module(compile_design(rows.program).module)
    assert isinstance(module, RaisedModule)
    statements = raised_statements(rows.program)
    found = check_equivalence(rows.program, module, statements, frozenset(), operations=10)
    assert found == NotProven("isl did not come to an end within 10 operations")
    assert check_equivalence(rows.program, module, statements, frozenset()) is None


def test_wherever_isl_is_stopped_nothing_is_refuted() -> None:
    module = raised_module(compile_design(through.program).module)
    assert isinstance(module, RaisedModule)
    statements = raised_statements(through.program)
    found = [
        check_equivalence(through.program, module, statements, frozenset(), operations=n)
        for n in (*range(1, 400, 7), *range(400, 6000, 311), 10**6)
    ]
    assert found[-1] is None
    assert sum(isinstance(each, NotProven) for each in found) > 10
    assert all(each is None or isinstance(each, NotProven) for each in found)


def test_loops_that_carry_values_are_left_open() -> None:
    found = edited(rows.program, "affine.for %arg3 = 0 to 4 {", """
      %zero = arith.constant 0.0 : f32
      %sum = affine.for %k = 0 to 4 iter_args(%s = %zero) -> (f32) { affine.yield %s : f32 }
      affine.for %arg3 = 0 to 4 {""")  # fmt: skip
    assert (found.verdict, found.detail) == (
        "not proven",
        "a loop carries values from one iteration to the next",
    )


def test_else_branches_are_read() -> None:
    """The passes make none, but level 3 may have them."""
    text = str(compile_design(rows.program).module)
    store = next(line for line in text.splitlines(keepends=True) if 'hls.stmt = "S2"' in line)
    guarded = (
        f"affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%arg3) {{\n{store}}} else {{\n{store}}}\n"
    )
    found = module_equivalence(rows.program, parsed(text.replace(store, guarded)), Schedule())
    assert found.verdict == "not proven"  # the load stands outside of the guard
    value = next(
        line for line in text.splitlines(keepends=True) if "affine.load %alloca" in line and line in
        text[text.index(store) - 80 : text.index(store)]
    )  # fmt: skip
    both = value + store
    guarded = f"affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%arg3) {{\n{both}}} else {{\n{both}}}\n"
    changed = text.replace(both, guarded)
    found = module_equivalence(rows.program, parsed(changed), Schedule())
    assert found.verdict == "proven", found.detail
    other = guarded.replace("d0 - 2", "d0 - 3", 1).replace(f"}} else {{\n{both}", "")
    found = module_equivalence(rows.program, parsed(text.replace(both, other)), Schedule())
    assert "S2[0] is never executed" in message(found)
