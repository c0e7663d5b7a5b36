"""The value of an expression is that of exact arithmetic, at every level, then the target's type.

Python's own integers and fractions say what the value is; the interpreter, the JIT, the C++ that g++
compiles and the graph of the RTL backend have to compute it.
"""

import random

import numpy as np

from backends.rtl.front.lower import graph_of
from backends.verify import verify_many
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.expressions.numeric import bounds
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.rtl.front_support import compared
from tests.support.amount import programs
from tests.support.expression_cases import CASES, FIXED, N, S, X, wrapped
from tests.support.random_sources import (
    INPUTS,
    LENGTH,
    TARGETS,
    SourceMaker,
    exact_value,
    kernel_text,
)

EXPRESSIONS = 24
KERNELS = 4


def from_text(folder, text, name):
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    return load(f"{file}:k")


def random_kernel(seed, folder):
    """A kernel of random expressions, with inputs and what they must give."""
    rng = random.Random(seed)
    maker = SourceMaker(rng)
    expressions = []
    for _ in range(EXPRESSIONS):
        text = maker.fixed(2) if rng.random() < 0.2 else maker.number(rng.choice((1, 2, 2, 3)))
        expressions.append((text, rng.choice(TARGETS)))
    program = from_text(folder, kernel_text(expressions), f"k{seed}").program
    raws = {}
    for name, dtype in INPUTS.items():
        low, high = bounds(dtype)
        near = [low, high, 0, 1, *(rng.randint(low, high) for _ in range(LENGTH))]
        raws[name] = [rng.choice(near) for _ in range(LENGTH)]
    want = {
        f"y{k}": [exact_value(text, target, raws, i) for i in range(LENGTH)]
        for k, (text, target) in enumerate(expressions)
    }
    return program, raws, want, expressions


def check(seeds, folder):
    designs, makers = [], []
    for seed in seeds:
        program, raws, want, expressions = random_kernel(seed, folder)
        inputs = random_inputs(program, seed)
        for name, values in raws.items():
            inputs[name] = np.array(values, dtype=inputs[name].dtype)
        found = interp.run(program, inputs)
        for name, values in want.items():
            text, target = expressions[int(name[1:])]
            assert [int(v) for v in found[name]] == values, f"seed {seed}: {target} = {text}"
        design = compile_design(program, Schedule())
        fault, _ = compared(program, graph_of(design.module), inputs, Schedule())
        assert fault is None, f"seed {seed}: {fault}"
        designs.append(design)
        makers.append(lambda _seed, given=inputs: given)
    for seed, result in zip(seeds, verify_many(designs, make_inputs=makers), strict=True):
        for level in (result.jit, result.cxx):
            assert level.status == "ok", f"seed {seed}: {level.detail}"


def test_random_expressions_have_their_exact_value(tmp_path):
    check(programs(KERNELS), tmp_path)


def test_chosen_expressions_at_every_level(tmp_path):
    """Those of `tests.support.expression_cases`, in one kernel each for integers and fixed point."""
    header = "import weft\nfrom weft import fixed\n\nN, TAPS = 4, (1, 2, 3)\n\n\n@weft.kernel\n"
    outputs = ", ".join(f"y{k}: weft.{dtype}[8]" for k, (_, dtype, _) in enumerate(CASES))
    lines = "".join(f"        y{k}[i] = {text}\n" for k, (text, _, _) in enumerate(CASES))
    arguments = "x: weft.u8[8], n: weft.u8[8], s: weft.i8[8], "
    text = f"{header}def k({arguments}{outputs}):\n    for i in range(8):\n{lines}"
    integers = from_text(tmp_path, text, "integers").program
    outputs = ", ".join(f"y{k}: fixed[40, 20][6]" for k in range(len(FIXED)))
    lines = "".join(f"        y{k}[i] = {text}\n" for k, (text, _) in enumerate(FIXED))
    text = f"{header}def k(x: fixed[9, 5][6], {outputs}):\n    for i in range(6):\n{lines}"
    fixed = from_text(tmp_path, text, "fixed").program
    designs, makers = [], []
    for program, given in (
        (integers, {"x": X, "n": N, "s": S}),
        (fixed, {"x": [1, -1, 16, 5, 9, 255]}),
    ):
        inputs = random_inputs(program, 0)
        for name, values in given.items():
            inputs[name] = np.array(values, dtype=inputs[name].dtype)
        design = compile_design(program, Schedule())
        fault, _ = compared(program, graph_of(design.module), inputs, Schedule())
        assert fault is None, fault
        designs.append(design)
        makers.append(lambda _seed, given=inputs: given)
    found = interp.run(integers, makers[0](0))
    for k, (_, dtype, exact) in enumerate(CASES):
        want = [wrapped(int(exact(*v, i)), dtype) for i, v in enumerate(zip(X, N, S, strict=True))]
        assert found[f"y{k}"].tolist() == want
    for result in verify_many(designs, make_inputs=makers):
        assert result.jit.status == result.cxx.status == "ok", (result.jit, result.cxx)
