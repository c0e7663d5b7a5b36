"""Programs as data: what comes back is the same, and what a stranger writes is refused or a program."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import InputError, WeftError
from dsl.expressions import typing
from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp, Const
from dsl.expressions.types import FixedType, FloatType, IntType
from dsl.kernels.loader import load, load_kernels
from dsl.programs.pretty import pretty
from dsl.programs.program import Loop, Program, Stmt
from dsl.schedules.schedule import Schedule
from dsl.stored.read import program_of_data, program_of_json
from dsl.stored.write import digest, program_data, program_json
from mlir_passes.pipeline import compile_design
from tests.support.random_programs import random_program
from weft import f32, fixed, i8, i32, u3

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))


def back(program: Program, *, places: bool = True) -> Program:
    return program_of_json(program_json(program, places=places), "it")


def signed(data: Any) -> dict[str, Any]:
    """What somebody who knows the format would write: with the digest of what it says."""
    return {"schema_version": 1, "digest": digest(data), "program": data}


def refusal(data: Any) -> str:
    with pytest.raises(InputError) as refused:
        program_of_data(data, "it")
    assert refused.value.code == "W546"
    text = refused.value.render()
    assert text.startswith("error[W546]: it does not hold a program: ")
    return text


ROUNDED = fixed[12, 4, "rnd", "sat"]


@weft.kernel
def everything(a: weft.const[f32[6, 8]], b: i8[8], c: ROUNDED, out: f32[8]):
    for i in range(1, 7, 2):
        t: f32 = 0.0
        for j in range(max(0, i - 3), min(8, i + 2)):
            if (j + i) % 3 == 0 or i // 2 == j:
                t += a[i - 1, j] * 0.1 if b[j] > 3 else weft.sqrt(a[(i + j) // 2 % 6, j])
            elif j != 2:
                t = -t + f32(c)
            else:
                t += f32(i * j)
        out[i] = t


@weft.kernel
def shifts(a: i8[8], b: u3[8], f: ROUNDED[8], y: i32[8], z: ROUNDED[8]):
    for i in range(8):
        y[i] = (a[i] << 3) + (1 << b[i]) + (a[i] >> b[i]) + (3 << i) + ((a[i] > 2) << 4)
        z[i] = (f[i] << 2) * 0.5 + (a[i] if b[i] > 2 and a[i] != i else i)


# ------------------------------------------------------------------------------------ round trips


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda f: f.stem)
def test_examples_come_back(file):
    for kernel in load_kernels(file).values():
        program = kernel.program
        found = back(program)
        assert found == program
        assert program_json(found) == program_json(program)  # places and lines too
        assert back(program, places=False) == program


@pytest.mark.parametrize("chunk", range(8))
def test_random_programs_come_back(chunk):
    for seed in range(50 * chunk, 50 * (chunk + 1)):
        program = random_program(seed)
        assert back(program) == program
        assert pretty(back(program)) == pretty(program)


@pytest.mark.parametrize(
    "name", ["polybench/gemm.py:gemm", "image/gaussian.py", "tutorial/mlp.py:mlp"]
)
def test_the_hardware_is_the_same_to_the_byte(name):
    kernel = load(f"{ROOT}/examples/{name}")
    for schedule in (Schedule(), *kernel.schedules.values()):
        ours = compile_design(kernel.program, schedule)
        theirs = compile_design(back(kernel.program), schedule)
        assert theirs.hls.text == ours.hls.text
        assert theirs.affine == ours.affine


@pytest.mark.parametrize("kernel", [everything, shifts], ids=lambda k: k.name)
def test_results_are_the_same(kernel):
    program = kernel.program
    assert back(program) == program
    inputs = random_inputs(program, 3)
    ours, theirs = interp.run(program, inputs), interp.run(back(program), inputs)
    assert all(np.array_equal(ours[n], theirs[n]) for n in ours)


def test_programs_of_the_other_front_door_come_back():
    p = weft.Program("built")
    i, j = p.loops(i=9, j=range(8, 0, -2))
    a = p.placeholder("A", f32, (9, 9))
    t = p.local("t", f32, inside=j)
    p.compute("first", (i, j), into=t, value=a[i, j] * 2)
    p.compute(None, (i, j), into=a[i, j], value=t + 1, after=("first", j), where=i + j >= 3)
    assert back(p.program) == p.program


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        *((v, FloatType(n)) for v in (0.1, -0.0, 1e-320, math.inf) for n in ("f64",)),
        (0.5, FloatType("bf16")), (Fraction(-3, 4), FixedType(8, 3)),
        (Fraction(96), FixedType(4, 9, signed=False)), (-(2**127), IntType(128)), (0, IntType(1)),
    ],
)  # fmt: skip
def test_constants_come_back(value, dtype):
    program = everything.program
    array = replace(program.arrays[-2], dtype=dtype, const=False)
    name = array.name
    stmt = Stmt("S", replace(program.statements()[-1].target, array=name), Const(value, dtype))
    stmt = replace(stmt, target=replace(stmt.target, indices=(Affine.of(0),)))
    one = Program("one", (replace(array, shape=(1,)),), (stmt,))
    found = back(one).statements()[0].value
    assert repr(found) == repr(stmt.value)


def test_no_nesting_is_too_deep():
    p = weft.Program("deep")
    (i,) = p.loops(i=4)
    a = p.placeholder("A", f32, (4,))
    p.compute("S", (i,), into=a[i], value=a[i])
    [loop] = p.program.body
    assert isinstance(loop, Loop)
    [stmt] = loop.body
    value = load_ = stmt.value
    for _ in range(150):
        value = typing.binary(BinaryOp.MUL, value, load_)
    deep = replace(p.program, body=(replace(loop, body=(replace(stmt, value=value),)),))
    assert program_json(back(deep)) == program_json(deep)


# ------------------------------------------------------------------------------------------ places


def test_messages_show_the_line_that_was_stored_and_open_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.py").write_text(
        "import weft\nfrom weft import f32\n\n@weft.kernel\ndef k(A: f32[4]):\n"
        "    for i in range(4):\n        A[i + 1] = 2.0\n"
    )
    program = load("k.py").program
    text = program_json(program)
    (tmp_path / "k.py").write_text("SECRET\n" * 20)
    with pytest.raises(WeftError) as caught:
        _ = compile_design(program_of_json(text, "it"), Schedule()).hls
    shown = caught.value.render()
    assert "k.py:7:9: error[W160]" in shown
    assert "A[i + 1] = 2.0" in shown
    assert "SECRET" not in shown


def test_a_file_of_a_place_is_a_name():
    data = program_data(everything.program)["program"]
    assert data["files"] == ["test_programs.py"]
    for name in ("/etc/passwd", "../x.py", "a\\b", "a\nb", "\x1b[2J"):
        assert "file" in refusal(signed({**data, "files": [name]}))


# ---------------------------------------------------------------------------------------- strangers


def test_what_was_changed_has_another_digest():
    data = program_data(everything.program)
    data["program"]["body"][0][4] = 4
    assert "its digest is another one: somebody has changed it" in refusal(data)


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "null", "{}", '"x"', "[" * 100_000, '{"a":' * 50_000, "9" * 10_000]
)
def test_what_is_no_program_is_refused(text):
    with pytest.raises(InputError) as refused:
        program_of_json(text, "it")
    assert refused.value.code == "W546"


def test_another_version_is_refused():
    data = program_data(everything.program)
    for version in (2, True, "1", None, 1.0):
        assert "schema_version" in refusal({**data, "schema_version": version})


def body(*nodes: Any, arrays: Any = None) -> Any:
    known = [
        {"name": "A", "type": "f32", "shape": [8], "storage": "argument", "const": False,
         "scope_depth": 0, "span": None},
        {"name": "n", "type": "i8", "shape": [], "storage": "argument", "const": False,
         "scope_depth": 0, "span": None},
    ]  # fmt: skip
    given = known if arrays is None else [*known, *arrays]
    return signed({"name": "k", "arrays": given, "body": list(nodes), "span": None,
                   "files": [], "lines": []})  # fmt: skip


def loop(var: Any = "i", low: Any = (0,), high: Any = (8,), step: Any = 1) -> list[Any]:
    return ["for", var, list(low), list(high), step, None]


def put(index: Any = "i", value: Any = None, name: Any = "S", array: Any = "A") -> list[Any]:
    one = [["const", "f32", "0x1p0"]] if value is None else value
    return ["set", name, [array, [index] if index is not None else [], None], one, "", None]


END = ["end"]
LOAD = ["load", "A", ["i"], None]
LOCAL = {"name": "t", "type": "f32", "shape": [], "storage": "local", "const": False,
         "scope_depth": 1, "span": None}  # fmt: skip


def test_the_smallest_program_is_taken():
    found = program_of_data(body(loop(), put(), END), "it")
    assert [s.name for s in found.statements()] == ["S"]


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([put()], "uses 'i', which is no loop around"),
        ([loop(high=["j"]), put(), END], "uses 'j', which is no loop around"),
        ([loop(), loop(), put(), END, END], "the name of an array, or of a loop around it"),
        ([loop("A"), put(0), END], "the name of an array, or of a loop around it"),
        ([loop("for"), put(0), END], "is no name"),
        ([loop("i;system"), put(0), END], "is no name"),
        ([loop(), put(), put(), END], "two statements are called 'S'"),
        ([loop(step=0), put(), END], "has no step"),
        ([loop(high=[]), put(), END], "no bound"),
        ([loop(low=[0, 1], step=2), put(), END], "begins at several"),
        ([loop(step=True), put(), END], "is no integer"),
        ([loop(step=10**30), put(), END], "is no integer from"),
        ([loop(), put()], "does not end"),
        ([END], "without a beginning"),
        ([["else"]], "an 'else' that is of no branch"),
        ([loop(), ["else"], END], "an 'else' that is of no branch"),
        ([["goto", 3]], "there is no node 'goto'"),
        ([[]], "there is no node"),
        ([{"for": 1}], "is no list"),
        ([loop(), put(array="B"), END], "there is no array 'B'"),
        ([loop(), put(array=["A"]), END], "there is no array"),
        ([loop(), put(index=None), END], "'A' has 1 dimensions, not 0"),
        ([put(index=None, array="n", value=[["const", "i8", 1]])], "which is only read"),
        ([loop(), put([0, [2, "i"], [1, "i"]]), END], "another form than Weft's"),
        ([loop(), put([0, [0, "i"]]), END], "another form than Weft's"),
        ([loop(), put([0, [1, [[0, [4, "i"]], 2]]]), END], "another form than Weft's"),
        ([loop(), put([0, [1, ["i", 0]]]), END], "a divisor in"),
        ([loop(), put([0, [10**30, "i"]]), END], "is no integer from"),
        ([loop(), put(value=[["binary", "+", "f32", None]]), END], "lacks operands"),
        ([loop(), put(value=[LOAD, LOAD]), END], "the value of S is not one"),
        ([loop(), put(value=[]), END], "the value of S is not one"),
        ([loop(), put(value=[LOAD, LOAD, ["binary", "%", "f32", None]]), END], "'%'"),
        ([loop(), put(value=[LOAD, LOAD, ["binary", "+", "f64", None]]), END], "another type"),
        ([loop(), put(value=[LOAD, LOAD, ["binary", "eval", "f32", None]]), END], "no operator"),
        ([loop(), put(value=[LOAD, ["index", "i"], ["binary", "+", "f32", None]]), END],
         "another type"),
        ([loop(), put(value=[["const", "i8", 300]]), END], "a constant is no i8"),
        ([loop(), put(value=[["const", "i99999", 3]]), END], "there is no type"),
        ([loop(), put(value=[["const", "f32", "0x1.23456789abcp0"]]), END], "a constant is no f32"),
        ([loop(), put(value=[["const", "f32", "__import__('os')"]]), END], "a constant is no f32"),
        ([loop(), put(value=[["const", "fixed[8, 4]", 0.5]]), END], "a constant is no fixed"),
        ([loop(), put(value=[["call", "f"]]), END], "there is no expression"),
        ([["if", [[">=", "i"]], None], END], "which is no loop around"),
        ([["if", [["and", 3]], None], END], "the parts of a condition"),
        ([["if", [], None], END], "a condition is not one"),
        ([["if", [["<", 3]], None], END], "there is no condition '<'"),
        ([["if", [[">=", 3]], None], ["else"], END], "nothing in it"),
        ([*[loop(f"i{n}") for n in range(500)], *[END] * 500], "are inside of one another"),
        ([loop(), put(value=[LOAD, *[["unary", "-", "f32", None]] * 2000]), END], "levels"),
        ([["if", [[">=", 1], *[["or", 1]] * 2000], None], END], "levels"),
    ],
)  # fmt: skip
def test_no_program_of_the_language_is_refused(nodes, why):
    assert why in refusal(body(*nodes))


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([put(None, array="t")], "used outside of its scope"),
        ([loop(), put(None, array="t"), END, loop(), put(None, name="T", array="t"), END],
         "used outside of its scope"),
        ([loop(), put(), END], "not in the order of their scopes"),  # nothing uses it
    ],
)  # fmt: skip
def test_a_local_is_used_in_its_scope(nodes, why):
    assert why in refusal(body(*nodes, arrays=[LOCAL]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "A"}, {"name": "no name"}, {"name": 3}, {"type": "index"}, {"type": "f33"},
        {"type": 7}, {"shape": [0]}, {"shape": [2**31]}, {"shape": [True]}, {"shape": 4},
        {"storage": "disk"}, {"const": 1}, {"const": True}, {"scope_depth": -1}, {"span": [1]},
        {"span": [0, 1, 1, 1, 1]}, {"more": 1}, {"scope_depth": 10**400},
    ],
)  # fmt: skip
def test_an_array_is_as_the_language_has_it(wrong):
    refusal(body(loop(), put(None, array="t"), END, arrays=[{**LOCAL, **wrong}]))


def test_text_goes_into_a_comment_and_a_terminal():
    for source in ("x\nsystem();", "\x1b[2J", "a\u2028b", "x ??/", "\ud800", 3, "x" * 5000):
        node = put()
        node[4] = source
        refusal(body(loop(), node, END))


def _places_in(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    known = isinstance(data, dict | list)
    inside = data.items() if isinstance(data, dict) else enumerate(data if known else ())
    for key, value in inside:
        yield from _places_in(value, (*path, key))


def taken_or_refused(text: str) -> Program | None:
    try:
        return program_of_json(text, "it")
    except InputError as error:
        refused = error
    assert refused.code == "W546"
    assert all(c.isprintable() or c == "\n" for c in refused.render())
    return None


WRONG = (None, True, -1, 0, 10**30, 1.5, math.nan, "", "i", "A", "\x00", [], {}, [[]], "f32", "end")


@pytest.mark.parametrize("chunk", range(4))
def test_any_change_gives_a_program_or_an_error_with_a_code(chunk):
    """Every value replaced, left out or doubled; what is taken is a program for later stages too."""
    rng = random.Random(chunk)
    taken = 0
    for _ in range(200):
        program = random_program(rng.randrange(300)) if rng.random() < 0.5 else everything.program
        data = copy.deepcopy(program_data(program)["program"])
        for _ in range(rng.choice((1, 1, 2))):
            path = rng.choice(list(_places_in(data))[1:])
            holder = data
            for key in path[:-1]:
                holder = holder[key]
            match rng.randrange(3):
                case 0:
                    holder[path[-1]] = copy.deepcopy(rng.choice(WRONG))
                case 1:
                    del holder[path[-1]]
                case 2 if isinstance(holder, list):
                    holder.insert(path[-1], copy.deepcopy(holder[path[-1]]))
        found = taken_or_refused(json.dumps(signed(data)))
        if found is None:
            continue
        taken += 1
        assert back(found) == found
        try:
            _ = compile_design(found, Schedule()).hls
        except WeftError:
            continue
    assert taken > 3
