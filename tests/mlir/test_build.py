"""Level 3 says of loops, arrays and statements what the loop tree says."""

import pytest

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.expr import Access, BinaryOp, Const, Index
from dsl.expressions.types import IntType, f32
from dsl.expressions.typing import binary, power
from dsl.programs.program import Array, Program, Stmt, Storage
from dsl.schedules.steps import BindOp, BindStorage, Interface, Partition
from mlir_passes.construct.module import accesses, build_module
from mlir_passes.dialect import attributes as dialect
from mlir_passes.dialect.verify import verify_module
from polyhedral.looptree.tree import (
    Instance,
    LocalPlacement,
    LoopTree,
    TreeGuard,
    TreeLoop,
    TripCount,
)
from tests.mlir.programs import gemm, load, loop
from tests.mlir.trees import identity_tree

i, j = Affine.of("i"), Affine.of("j")
A = Array("A", f32, (16,))
B = Array("B", f32, (16,), const=True)
S = Stmt("S", Access("A", (i,)), load(B, "i"), Span("/x/k.py", 7, 5, 7, 20), "A[i] = B[i]")
PROGRAM = Program("k", (A, B), (loop("i", 16, S),))


def tree_loop(body, iv="c0", lowers=(0,), uppers=(16,), **fields):
    bounds = [tuple(Affine.of(b) for b in side) for side in (lowers, uppers)]
    return TreeLoop(iv, iv.replace("c", "i"), *bounds, fields.pop("step", 1), body, **fields)


def instance(expr=Affine.of("c0")):  # noqa: B008 - frozen
    return Instance(S, (("i", expr),))


def build(*body, **fields):
    module = build_module(LoopTree(PROGRAM, body, **fields))
    verify_module(module)
    return module


def walk(module):
    found = []

    def visit(block):
        for op in block.operations:
            found.append(op)
            for region in op.operation.regions:
                for inner in region.blocks:
                    visit(inner)

    visit(dialect.top_function(module).regions[0].blocks[0])
    return found


def named(module, name):
    return [op for op in walk(module) if op.operation.name == name]


def test_a_statement_carries_its_name_source_and_line():
    module = build(tree_loop((instance(),)), operators=(BindOp("S", "fadd", "fabric", 3),))
    (store,) = named(module, "affine.store")
    binds = (dialect.BindOp("fadd", "fabric", 3),)
    assert dialect.stmt_info(store) == dialect.StmtInfo("S", "A[i] = B[i]", "k.py:7", binds)
    assert dialect.span_of(store) == Span("/x/k.py", 7, 5, 7, 6)


def test_subscripts_are_those_of_the_instance():
    module = build(tree_loop((instance(-Affine.of("c0") + 15),)))
    assert "affine.load %arg1[-%arg2 + 15]" in str(module)


def test_annotations_of_a_loop():
    inner = tree_loop((instance(Affine.of("c1")),), "c1", (0,), (4,), unroll=2, flatten=False)
    outer = tree_loop((inner,), uppers=(4,), pipeline_ii=3)
    module = build(outer, independent=(("A", "c0"), ("B", "c1")))
    infos = [dialect.loop_info(op) for op in named(module, "affine.for")]
    assert infos == [
        dialect.LoopInfo("i0", ii=3, independent=("A",)),
        dialect.LoopInfo("i1", unroll=2, flatten=False, independent=("B",)),
    ]


def test_a_variable_loop_has_its_trip_count_rounded():
    inner = tree_loop(
        (instance(Affine.of("c1")),), "c1", (0,), (Affine.of("c0") + 1,), trip=TripCount(1, 4, 2.6)
    )
    module = build(tree_loop((inner,), uppers=(4,)))
    info = dialect.loop_info(named(module, "affine.for")[1])
    assert info.trip_count == dialect.TripCount(1, 4, 3)


@pytest.mark.parametrize(
    ("uppers", "unroll", "ii", "expected"),
    [
        ((3,), 4, None, (0, None)),
        ((4,), 4, 1, (0, None)),
        ((5,), 4, 1, (4, 1)),
    ],
)
def test_a_short_copy_of_an_unrolled_loop_is_unrolled_completely(uppers, unroll, ii, expected):
    module = build(tree_loop((instance(),), uppers=uppers, unroll=unroll, pipeline_ii=ii))
    info = dialect.loop_info(named(module, "affine.for")[0])
    assert (info.unroll, info.ii) == expected


def test_steps_and_several_bounds():
    module = build(
        tree_loop(
            (
                tree_loop(
                    (instance(Affine.of("c1")),),
                    "c1",
                    (Affine.of("c0"), 3),
                    (Affine.of("c0") + 4, 16),
                    step=2,
                ),
            ),
            uppers=(8,),
        )
    )
    assert "max #map(%arg2) to min #map1(%arg2) step 2" in str(module)


def test_guards_are_conjunctions_and_empty_ones_nothing():
    guard = TreeGuard((Constraint(Affine.of("c0") - 3), Constraint(j * 0, "==")), (instance(),))
    module = build(tree_loop((guard, TreeGuard((), (instance(),)))))
    assert "affine_set<(d0) : (d0 - 3 >= 0, 0 == 0)>" in str(module)
    assert len(named(module, "affine.if")) == 1
    assert len(named(module, "affine.store")) == 2


def test_what_is_asked_of_arrays_is_on_their_arguments():
    module = build(
        tree_loop((instance(),)),
        partitions=(Partition("A", 0, "block", 4),),
        storage=(BindStorage("B", "rom_1p", "bram"),),
        interfaces=(Interface("A", "m_axi", "gmem"),),
    )
    a, b = dialect.argument_infos(dialect.top_function(module))
    assert a == dialect.ArrayInfo(
        "A",
        f32,
        (16,),
        partitions=(dialect.Partition("block", 4, 0),),
        interface=dialect.Interface("m_axi", "gmem"),
        access="out",
    )
    assert b == dialect.ArrayInfo(
        "B", f32, (16,), storage=dialect.Storage("rom_1p", "bram", -1), const=True, access="in"
    )


def test_locals_are_where_the_tree_puts_them():
    t, u = (
        Array(name, IntType(5), shape, Storage.LOCAL) for name, shape in (("t", (4,)), ("u", ()))
    )
    first = Stmt("S0", Access("t", (Affine.of(0),)), load(t, 1))
    second = Stmt("S1", Access("u", ()), load(t, 0))
    program = Program("k", (t, u), ())
    body = (tree_loop((Instance(first, ()), Instance(second, ()))),)
    module = build_module(
        LoopTree(program, body, placements=(LocalPlacement("t", None), LocalPlacement("u", "c0")))
    )
    verify_module(module)
    top = [op.operation.name for op in dialect.top_function(module).regions[0].blocks[0].operations]
    assert top == ["memref.alloc", "affine.for", "func.return"]
    (alloca,) = named(module, "memref.alloca")
    assert dialect.local_info(alloca) == dialect.ArrayInfo("u", IntType(5))
    assert alloca.operation.parent.name == "affine.for"


def test_accesses_of_a_program():
    assert accesses(gemm(4)) == {
        "C": "inout",
        "beta": "in",
        "alpha": "in",
        "A": "in",
        "B": "in",
    }
    assert accesses(PROGRAM) == {"B": "in", "A": "out"}


def test_a_shared_subexpression_is_computed_once():
    x = binary(BinaryOp.ADD, load(A, "i"), load(A, "i"))
    stmt = Stmt("S0", Access("A", (i,)), power(x, 4))
    module = build_module(identity_tree(Program("k", (A,), (loop("i", 16, stmt),))))
    assert len(named(module, "arith.addf")) == 1
    assert len(named(module, "arith.mulf")) == 3


def test_a_stepped_down_loop_runs_over_its_iterations_in_order():
    stmt = Stmt("S0", Access("A", (i,)), load(A, "i"))
    down = Program(
        "k", (A,), (type(loop("i", 1))("i", (Affine.of(2),), (Affine.of(15),), -3, (stmt,)),)
    )
    module = build_module(identity_tree(down))
    assert "affine.for %arg1 = -14 to -1 step 3" in str(module)
    assert "affine.load %arg0[-%arg1]" in str(module)


def test_integers_widen_explicitly_and_say_what_they_mean():
    module = build_module(identity_tree(gemm(4, IntType(8))))
    verify_module(module)
    text = str(module)
    assert "arith.addi" in text
    assert "arith.trunci %11 {hls.type = #hls.int<8 : i64, 1 : i64>} : i25 to i8" in text


def test_constants_take_the_type_that_they_meet():
    a = Array("A", IntType(16), (4,))
    value = binary(BinaryOp.ADD, load(a, "i"), 3)
    assert isinstance(value.rhs, Const)
    stmt = Stmt("S0", Access("A", (i,)), value)
    module = build_module(identity_tree(Program("k", (a,), (loop("i", 4, stmt),))))
    verify_module(module)


def test_an_index_as_data_is_applied_and_cast():
    a = Array("A", IntType(32), (4,))
    stmt = Stmt("S0", Access("A", (i,)), Index(i * 2 + 1))
    module = build_module(identity_tree(Program("k", (a,), (loop("i", 4, stmt),))))
    verify_module(module)
    assert [op.operation.name for op in walk(module)] == [
        "affine.for",
        "affine.apply",
        "arith.index_cast",
        "affine.store",
        "affine.yield",
        "func.return",
    ]


def test_the_text_is_the_same_each_time():
    tree = identity_tree(gemm(4, IntType(8)))
    assert str(build_module(tree)) == str(build_module(tree))
