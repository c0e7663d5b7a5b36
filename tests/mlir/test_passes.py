"""Each pass does what its docstring shows, and no more; all keep what the kernel computes."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import InputError
from dsl.expressions.affine import Affine
from mlir_passes.construct.module import build_module
from mlir_passes.cpu.jit import jit
from mlir_passes.dialect import attributes as dialect
from mlir_passes.dialect.verify import verify_module
from mlir_passes.pass_manager import Printing, run_passes
from mlir_passes.passes.promote_single_trip import PromoteSingleTrip
from mlir_passes.passes.simplify_bounds import SimplifyBounds
from mlir_passes.passes.simplify_guards import SimplifyGuards
from mlir_passes.pipeline import PASSES, compile_design
from mlir_passes.provider import ir, passmanager
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.extremes import Scope, maximum, minimum
from polyhedral.looptree.simplify.tree import simplified
from tests.mlir.programs import gemm
from tests.support.profiles import BALANCED
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_walk

STORE = "affine.store %c, %A[%i] : memref<512xf32>"


def after(step, body: str, *, whole: bool = False) -> str:
    """The body of the kernel after a pass, without indentation; or the whole module."""
    text = (
        'func.func @k(%A: memref<512xf32> {hls.name = "A"}, %c: f32 {hls.name = "c"}) '
        f"attributes {{hls.top}} {{\n{body}\nreturn\n}}"
    )
    with dialect.context() as context:
        module = ir.Module.parse(text, context)
        run_passes(module, [step])
        for op in dialect.top_function(module).regions[0].blocks[0].operations:
            assert op.operation.verify()
        lines = str(module).splitlines()
    if whole:
        return "\n".join(lines)
    start = next(n for n, line in enumerate(lines) if "func.func" in line)
    end = next(n for n, line in enumerate(lines) if line.strip() == "return")
    return "\n".join(line.strip() for line in lines[start + 1 : end])


def test_a_bound_that_never_counts_is_dropped():
    body = f"""
affine.for %o = 0 to 3 {{
  affine.for %i = max affine_map<(d0) -> (d0 * 32, 0, d0 - 5)>(%o)
      to min affine_map<(d0) -> (d0 * 32 + 32, 100, d0 * 32 + 32)>(%o) {{
    {STORE}
  }} {{hls.trip_count = #hls.trip_count<1 : i64, 32 : i64, 9 : i64>}}
}}"""
    assert after(SimplifyBounds(), body) == (
        "affine.for %arg2 = 0 to 3 {\n"
        "affine.for %arg3 = #map(%arg2) to #map1(%arg2) {\n"
        "affine.store %arg1, %arg0[%arg3] : memref<512xf32>\n"
        "} {hls.trip_count = #hls.trip_count<1 : i64, 32 : i64, 9 : i64>}\n"
        "}"
    )


def test_a_bound_that_counts_sometimes_stays():
    body = f"""
affine.for %o = 0 to 4 {{
  affine.for %i = 0 to min affine_map<(d0) -> (d0 * 32 + 32, 100)>(%o) {{
    {STORE}
  }}
}}"""
    assert "min #map(%arg2)" in after(SimplifyBounds(), body)


def test_bounds_that_become_constant_need_no_trip_count():
    body = f"""
affine.for %o = 0 to 3 {{
  affine.for %i = 0 to min affine_map<(d0) -> (d0 + 12, 10)>(%o) {{
    {STORE}
  }} {{hls.trip_count = #hls.trip_count<10 : i64, 10 : i64, 10 : i64>}}
}}"""
    assert "affine.for %arg3 = 0 to 10 {" in after(SimplifyBounds(), body)
    assert "trip_count" not in after(SimplifyBounds(), body)


def guarded(condition: str, bounds: str = "0 to 8") -> str:
    return f"affine.for %i = {bounds} {{\naffine.if affine_set<(d0) : ({condition})>(%i) {{\n{STORE}\n}}\n}}"


ALWAYS = "affine.for %arg2 = 0 to 8 {\naffine.store %arg1, %arg0[%arg2] : memref<512xf32>\n}"


@pytest.mark.parametrize(
    "condition",
    [
        "d0 >= 0",
        "7 - d0 >= 0, d0 + 1 >= 0",
        "d0 mod 4 >= 0",
        "d0 floordiv 8 == 0",
        "3 - d0 mod 4 >= 0",
    ],
)
def test_a_guard_that_always_holds_is_dropped(condition):
    assert after(SimplifyGuards(), guarded(condition)) == ALWAYS


@pytest.mark.parametrize(
    "condition", ["d0 - 8 >= 0", "-d0 - 1 >= 0", "d0 + 1 == 0", "d0 floordiv 8 - 1 == 0"]
)
def test_what_never_runs_is_removed_with_its_loop(condition):
    assert after(SimplifyGuards(), guarded(condition)) == ""


def test_a_loop_without_iterations_is_removed():
    assert after(SimplifyGuards(), f"affine.for %i = 5 to 5 {{\n{STORE}\n}}") == ""


def test_a_guard_keeps_what_depends():
    found = after(SimplifyGuards(), guarded("d0 >= 0, d0 - 3 >= 0"))
    assert "affine.if #set(%arg2) {" in found


def test_the_last_value_of_a_stepped_loop_is_known():
    assert "affine.if" not in after(SimplifyGuards(), guarded("6 - d0 >= 0", "0 to 8 step 3"))
    assert "affine.if" in after(SimplifyGuards(), guarded("5 - d0 >= 0", "0 to 8 step 3"))


def test_the_other_branch_of_a_guard_that_never_holds_stays():
    body = f"""affine.for %i = 0 to 8 {{
affine.if affine_set<(d0) : (d0 - 8 >= 0)>(%i) {{
}} else {{
{STORE}
}}
}}"""
    assert after(SimplifyGuards(), body) == ALWAYS


def test_a_loop_of_one_iteration_becomes_straight_code():
    body = f"""
affine.for %o = 0 to 8 {{
  affine.for %i = affine_map<(d0) -> (d0 * 2)>(%o) to affine_map<(d0) -> (d0 * 2 + 1)>(%o) {{
    {STORE}
    affine.for %k = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {{
      affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) {{
        %0 = affine.load %A[%i + %k + 1] : memref<512xf32>
        affine.store %0, %A[%k] : memref<512xf32>
      }}
    }} {{hls.trip_count = #hls.trip_count<1 : i64, 15 : i64, 8 : i64>}}
  }} {{hls.name = "i"}}
}}"""
    assert after(PromoteSingleTrip(), body) == (
        "affine.for %arg2 = 0 to 8 {\n"
        "affine.store %arg1, %arg0[%arg2 * 2] : memref<512xf32>\n"
        "affine.for %arg3 = 0 to #map(%arg2) {\n"
        "affine.if #set(%arg2) {\n"
        "%0 = affine.load %arg0[%arg2 * 2 + %arg3 + 1] : memref<512xf32>\n"
        "affine.store %0, %arg0[%arg3] : memref<512xf32>\n"
        "}\n"
        "} {hls.trip_count = #hls.trip_count<1 : i64, 15 : i64, 8 : i64>}\n"
        "}"
    )


def test_nested_loops_of_one_iteration_all_go():
    body = "affine.for %o = 3 to 4 {\naffine.for %p = affine_map<(d0) -> (d0)>(%o) to "
    body += "affine_map<(d0) -> (d0 + 1)>(%o) {\naffine.for %i = affine_map<(d0) -> (d0)>(%p) to "
    body += f"affine_map<(d0) -> (d0 + 1)>(%p) {{\n{STORE}\n}}\n}}\n}}"
    assert after(PromoteSingleTrip(), body) == "affine.store %arg1, %arg0[3] : memref<512xf32>"


def test_what_a_store_says_of_its_iteration_follows_its_loops():
    body = """affine.for %o = 0 to 8 {
affine.for %i = affine_map<(d0) -> (d0 * 2)>(%o) to affine_map<(d0) -> (d0 * 2 + 1)>(%o) {
affine.for %k = 0 to 4 {
affine.for %l = 3 to 4 {
affine.store %c, %A[%k] {hls.iteration = affine_map<(o, i, k, l) -> (i + k, l, o)>} : memref<512xf32>
}
}
}
}"""
    found = after(PromoteSingleTrip(), body, whole=True)
    assert "affine_map<(d0, d1) -> (d0 * 2 + d1, 3, d0)>" in found


def test_a_loop_that_something_is_asked_of_stays():
    body = f"affine.for %i = 3 to 4 {{\n{STORE}\n}} {{hls.pipeline = #hls.pipeline<1 : i64>}}"
    assert "affine.for" in after(PromoteSingleTrip(), body)


def test_an_index_used_as_data_follows_its_loop():
    body = """affine.for %i = 3 to 4 {
%0 = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
%1 = arith.index_cast %0 : index to i32
%2 = arith.sitofp %1 : i32 to f32
affine.store %2, %A[%i] : memref<512xf32>
}"""
    found = after(PromoteSingleTrip(), body)
    assert found.startswith("%0 = affine.apply #map()\n%1 = arith.index_cast %0")


def test_extremes_are_those_of_all_iterations():
    i, j = Affine.of("i"), Affine.of("j")
    constant = Affine.of
    shapes = [
        Bounds((constant(0),), (i + 1,), 1),
        Bounds((i * 2,), (i * 2 + 3,), 1),
        Bounds((constant(1), i - 2), (constant(7), i + 4), 1),
    ]
    exprs = [i, j, i - j, i * 3 - j * 2 + 1, j // 2, j % 3, i - j // 4, (i + j) % 4 - j]
    for shape, expr in itertools.product(shapes, exprs):
        scope = Scope().inside("i", Bounds((constant(0),), (constant(6),), 1)).inside("j", shape)
        values = [
            expr.evaluate({"i": a, "j": b})
            for a in range(6)
            for b in range(
                max(e.evaluate({"i": a}) for e in shape.lowers),
                min(e.evaluate({"i": a}) for e in shape.uppers),
            )
        ]
        low, high = minimum(expr, scope), maximum(expr, scope)
        assert low <= min(values)
        assert high >= max(values)
        if expr.is_linear and len(shape.lowers) == 1:
            assert (low, high) == (min(values), max(values)), (shape, str(expr))


def test_an_unknown_variable_has_no_extremes():
    assert minimum(Affine.of("n"), Scope()) is None
    assert maximum(Affine.of("n") - Affine.of("n") + 3, Scope()) == 3


def test_what_an_outer_loop_leaves_of_an_inner_one_is_promoted_too():
    body = f"""
affine.for %o = 0 to 1 {{
  affine.for %i = affine_map<(d0) -> (d0)>(%o) to 1 {{
    affine.for %j = 0 to 9 {{
      affine.for %k = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 1)>(%i) {{
        {STORE}
      }}
    }}
  }}
}}"""
    assert after(PromoteSingleTrip(), body) == (
        "affine.for %arg2 = 0 to 9 {\naffine.store %arg1, %arg0[0] : memref<512xf32>\n}"
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_simplified_tree_has_the_simplified_module(seed):
    """What ranks points goes by the same rules as the passes; and a pass says whether it has changed
    something, as what has not changed is not verified again.
    """
    program = random_program(seed, BALANCED)
    walk = random_walk(random.Random(seed), program, 4)
    asked = tuple(a.name for a in program.arrays if a.shape)
    tree = replace(
        compile_design(program, walk.schedule).tree, placements=(), auto_partitions=asked
    )
    module = build_module(tree)
    for each in PASSES:
        before = str(module)
        assert each.apply(module) is (str(module) != before)
        verify_module(module)
    assert str(build_module(simplified(tree))) == str(module)


def test_passes_are_shown_and_timed():
    shown = []
    design = compile_design(
        gemm(8), print_after=["build", "simplify-guards"], listener=lambda *x: shown.append(x)
    )
    text = design.affine
    assert [name for name, _ in shown] == ["build", "simplify-guards"]
    assert shown[-1][1] == text
    assert set(design.seconds) == {"schedule", "codegen", "build", *(p.name for p in PASSES)}
    assert all(t > 0 for t in design.seconds.values())


def test_a_pass_that_is_not_there_is_named():
    with pytest.raises(InputError) as caught:
        compile_design(gemm(8), print_after=["simplify-guard"])
    assert caught.value.render() == (
        "error[W520]: no pass is called 'simplify-guard'\nhelp: did you mean 'simplify-guards'?"
    )


def test_all_passes_can_be_shown():
    shown = []
    design = compile_design(gemm(4), print_after=["all"], listener=lambda *x: shown.append(x[0]))
    assert design.module is design.module
    assert shown == ["build", *(p.name for p in PASSES)]


def test_printing_without_a_listener_does_nothing():
    Printing(frozenset({"all"})).show("build", None)


@pytest.mark.parametrize("seed", range(6))
def test_canonicalize_and_cse_leave_level_3_that_computes_the_same(seed):
    program = random_program(seed)
    inputs = random_inputs(program, seed)
    module = compile_design(program).module
    before = jit(module)(inputs)
    with module.context:
        upstream = "builtin.module(func.func(canonicalize,cse))"
        passmanager.PassManager.parse(upstream).run(module.operation)
    verify_module(module)
    after_upstream = jit(module)(inputs)
    for name, x in before.items():
        assert np.array_equal(after_upstream[name], x, equal_nan=x.dtype.kind == "f")
