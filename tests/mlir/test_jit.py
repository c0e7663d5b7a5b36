"""The JIT as a function: memory of every width, locals, names, inputs left alone."""

import numpy as np
import pytest

from dsl.arrays.inputs import random_inputs
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, BinaryOp, Load
from dsl.expressions.types import IntType, f32
from dsl.expressions.typing import binary
from dsl.interp import run as interpret
from dsl.programs.program import Array, Program, Stmt, Storage
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Shift, Skew, Split
from mlir_passes.construct.module import build_module
from mlir_passes.cpu.jit import jit
from mlir_passes.cpu.memory import element_bytes, load_raw, store_raw
from mlir_passes.dialect.attributes import ArrayInfo
from mlir_passes.pipeline import compile_design
from tests.mlir.programs import gemm, load, loop
from tests.mlir.trees import identity_tree
from tests.support.profiles import FAST
from tests.support.random_programs import random_program

WIDTHS = [*range(1, 20), 24, 31, 32, 33, 40, 48, 63, 64, 65, 80, 96, 127, 128, 129, 192, 257]


def reversed_copy(dtype, n: int) -> Program:
    a, b = Array("a", dtype, (n,)), Array("b", dtype, (n,))
    i = Affine.of("i")
    stmt = Stmt("S0", Access("b", (n - 1 - i,)), load(a, "i"))
    return Program("copy", (a, b), (loop("i", n, stmt),))


@pytest.mark.parametrize("signed", [True, False])
def test_elements_of_every_width_lie_where_llvm_has_them(signed):
    for width in WIDTHS:
        program = reversed_copy(IntType(width, signed), 5)
        inputs = random_inputs(program, width)
        found = jit(build_module(identity_tree(program)))(inputs)
        assert found["b"].dtype == inputs["a"].dtype
        assert list(found["b"]) == list(inputs["a"][::-1]), width


@pytest.mark.parametrize(
    ("width", "size"),
    [(1, 1), (8, 1), (9, 2), (17, 4), (33, 8), (64, 8), (65, 16), (128, 16), (129, 32), (257, 48)],
)
def test_element_sizes(width, size):
    assert element_bytes(width) == size


def test_memory_keeps_spare_bits_zero():
    info = ArrayInfo("a", IntType(7), (2,))
    memory = store_raw(np.array([-1, 5], dtype=np.int8), info)
    assert memory.tolist() == [0x7F, 5]
    assert load_raw(memory, info).tolist() == [-1, 5]


def test_inputs_are_left_alone():
    program = gemm(6)
    inputs = random_inputs(program, 1)
    before = {name: np.copy(x) for name, x in inputs.items()}
    kernel = jit(build_module(identity_tree(program)))
    first, second = kernel(inputs), kernel(inputs)
    for name, x in inputs.items():
        assert np.array_equal(x, before[name])
    assert np.array_equal(first["C"], second["C"])
    assert not np.array_equal(first["C"], inputs["C"])
    assert set(first) == {"A", "B", "C"}


def test_loops_with_integers_of_odd_widths_are_compiled_in_time():
    """LLVM's vectoriser did not come back from this one."""
    program = random_program(40009648, FAST)
    steps = (Skew("i", "k", 2), Shift("S0", "j", 2), Split("i", 4, tail="guard"))
    schedule = Schedule(steps)
    inputs = random_inputs(program, 1)
    found = jit(compile_design(program, schedule).module)(inputs)
    for name, want in interpret(program, inputs).items():
        assert np.array_equal(found[name], want)


def test_a_module_is_left_alone():
    module = build_module(identity_tree(gemm(4, IntType(8))))
    text = str(module)
    jit(module)
    assert str(module) == text


def test_strides_of_the_callers_arrays_do_not_matter():
    program = reversed_copy(f32, 4)
    wide = np.arange(8, dtype=np.float32)
    inputs = {"a": wide[::2], "b": np.zeros(4, np.float32)}
    assert jit(build_module(identity_tree(program)))(inputs)["b"].tolist() == [6, 4, 2, 0]


def test_a_wrong_shape_is_refused():
    kernel = jit(build_module(identity_tree(reversed_copy(f32, 4))))
    with pytest.raises(ValueError, match=r"a has the shape \(3,\), not \(4,\)"):
        kernel({"a": np.zeros(3, np.float32), "b": np.zeros(4, np.float32)})
    with pytest.raises(KeyError):
        kernel({"a": np.zeros(4, np.float32)})


@pytest.mark.parametrize("name", ["exp", "malloc", "main", "memcpy"])
def test_a_kernel_may_have_the_name_of_a_library_function(name):
    program = reversed_copy(f32, 4)
    renamed = Program(name, program.arrays, program.body)
    inputs = {"a": np.arange(4, dtype=np.float32), "b": np.zeros(4, np.float32)}
    assert jit(build_module(identity_tree(renamed)))(inputs)["b"].tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("dtype", [f32, IntType(65), IntType(129), IntType(5)], ids=str)
def test_locals_inside_of_loops(dtype):
    a, b = Array("a", dtype, (8,)), Array("b", dtype, (8,))
    t = Array("t", dtype, (3,), Storage.LOCAL, scope_depth=1)
    s = Array("s", dtype, (), Storage.LOCAL, scope_depth=1)
    first = Stmt("S0", Access("t", (Affine.of(1),)), load(a, "i"))
    second = Stmt("S1", Access("s", ()), binary(BinaryOp.ADD, load(t, 1), load(a, "i")))
    third = Stmt("S2", Access("b", (Affine.of("i"),)), Load(Access("s", ()), dtype))
    program = Program("k", (a, b, t, s), (loop("i", 8, first, second, third),))
    inputs = random_inputs(program, 3)
    expected = interpret(program, inputs)
    for module in (build_module(identity_tree(program)), compile_design(program).module):
        assert list(jit(module)(inputs)["b"]) == list(expected["b"])


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_give_what_the_interpreter_gives(seed):
    program = random_program(1000 + seed)
    inputs = random_inputs(program, seed)
    expected = interpret(program, inputs)
    found = jit(compile_design(program).module)(inputs)
    for name, x in expected.items():
        assert found[name].dtype == x.dtype
        if x.dtype.kind == "f":
            assert np.allclose(found[name], x, rtol=1e-5, equal_nan=True)
        else:
            assert (found[name] == x).all()
