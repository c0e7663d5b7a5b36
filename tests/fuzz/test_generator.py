"""The random programs are valid, reproducible, and show every feature of the language."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dsl.expressions.affine import And, Constraint, FloorDiv, Or
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Index,
    Load,
    Select,
    Unary,
    UnaryOp,
    walk,
)
from dsl.expressions.types import FixedType, FloatType, IntType, Overflow, Quant
from dsl.programs.program import If, Loop, Program, Stmt, Storage
from tests.support.enumeration import program_events
from tests.support.profiles import BALANCED, FAST, LONG
from tests.support.random_programs import random_program
from tests.support.validity import faults

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("profile", [FAST, BALANCED, LONG], ids=lambda p: p.name)
def test_every_program_is_valid(profile):
    for seed in range(150):
        assert faults(random_program(seed, profile)) == [], seed


@pytest.mark.parametrize("profile", [FAST, BALANCED, LONG], ids=lambda p: p.name)
def test_programs_are_small(profile):
    sizes = [len(program_events(random_program(seed, profile))) for seed in range(150)]
    assert max(sizes) <= 6 * profile.iterations  # initialisations of locals come on top
    assert sum(sizes) / len(sizes) < profile.iterations / 2
    assert sum(size > 0 for size in sizes) > 140


def test_every_program_writes_an_argument():
    for seed in range(300):
        program = random_program(seed, BALANCED)
        written = {program.array(s.target.array).storage for s in program.statements()}
        assert Storage.ARGUMENT in written, seed


def test_the_same_seed_gives_the_same_program_in_another_process():
    code = (
        "import hashlib; from tests.support.random_programs import random_program as r;"
        "print(hashlib.sha256(repr([r(s) for s in range(40)]).encode()).hexdigest())"
    )
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    there = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    here = hashlib.sha256(repr([random_program(s) for s in range(40)]).encode()).hexdigest()
    assert there.stdout.strip() == here, there.stderr


def features(program: Program) -> set[str]:
    """What occurs in a program."""
    found: set[str] = {f"top-level nests: {min(len(program.body), 3)}"}
    for array in program.arrays:
        found |= _array_features(array)
    for node, around in program.walk():
        loops = [n for n in around if isinstance(n, Loop)]
        match node:
            case Loop():
                found |= _loop_features(node)
            case If():
                found.add("if" if not node.orelse else "if-else")
                found |= _cond_features(node.cond)
            case Stmt():
                found.add(f"depth {len(loops)}")
                found |= _statement_features(node)
    return found


def _array_features(array):
    kind = "local" if array.storage is Storage.LOCAL else "argument"
    yield_ = {f"{kind} of rank {len(array.shape)}"}
    if array.const:
        yield_.add("const argument")
    if array.scope_depth:
        yield_.add(f"local in loops of rank {len(array.shape)}")
    match array.dtype:
        case IntType(width, signed):
            yield_.add(f"{'signed' if signed else 'unsigned'} integer")
            yield_.add("integer wider than 64" if width > 64 else "integer")
            if width == 1:
                yield_.add("integer of one bit")
        case FixedType(quant=quant, overflow=overflow):
            yield_ |= {str(quant), str(overflow)}
        case FloatType(name):
            yield_.add(name)
    return yield_


def _loop_features(loop):
    found = {f"step {loop.step}"}
    bounds = (*loop.lowers, *loop.uppers)
    if any(b.variables() for b in bounds):
        found.add("bounds that depend on a loop")
    if len(loop.lowers) > 1:
        found.add("max of lower bounds")
    if len(loop.uppers) > 1:
        found.add("min of upper bounds")
    if all(b.is_const for b in bounds):
        extent = min(b.const for b in loop.uppers) - max(b.const for b in loop.lowers)
        if extent <= 1:
            found.add(f"extent {max(0, extent)}")
        if max(b.const for b in loop.lowers) != 0:
            found.add("shifted loop")
    if any(isinstance(atom, FloorDiv) for b in bounds for atom, _ in b.terms):
        found.add("floor division in a bound")
    return found


def _cond_features(cond):
    match cond:
        case Constraint(expr, kind):
            inner = any(isinstance(atom, FloorDiv) for atom, _ in expr.terms)
            return {f"condition {kind}"} | ({"mod in a condition"} if inner else set())
        case And(parts):
            return {"and"}.union(*map(_cond_features, parts))
        case Or(parts):
            return {"or"}.union(*map(_cond_features, parts))


def _statement_features(stmt):
    found = set()
    accesses = [stmt.target]
    for e in walk(stmt.value):
        match e:
            case Load(access=access):
                accesses.append(access)
                if access == stmt.target:
                    found.add("accumulation")
                elif access.array == stmt.target.array:
                    found.add("other element of the target")
            case Index():
                found.add("index as data")
            case Binary(op=op, dtype=dtype):
                found |= {f"{op} on {type(dtype).__name__}"}
            case Unary(op=op, dtype=dtype):
                found |= {f"{op} on {type(dtype).__name__}"}
            case Compare(op=op):
                found.add(str(op))
            case Select():
                found.add("select")
            case Cast():
                found.add(f"cast to {type(e.dtype).__name__} from {type(e.operand.dtype).__name__}")
    for access in accesses:
        for affine in access.indices:
            if not affine.is_linear:
                found.add("floor division in a subscript")
            if len(affine.terms) > 1:
                found.add("two variables in a subscript")
            if any(abs(c) > 1 for _, c in affine.terms):
                found.add("stride in a subscript")
    return found


NUMBERS = ("IntType", "FixedType", "FloatType")
INT_ONLY = [BinaryOp.FLOORDIV, BinaryOp.MOD, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR]
INT_ONLY += [BinaryOp.SHL, BinaryOp.SHR]
EXPECTED = {
    *(f"top-level nests: {n}" for n in (1, 2, 3)),
    *(f"depth {n}" for n in range(5)),
    *(f"step {n}" for n in (1, 2, 3, -1, -2, -3)),
    *(f"argument of rank {n}" for n in range(4)),
    *(f"local of rank {n}" for n in range(3)),
    *(f"local in loops of rank {n}" for n in range(3)),
    *(str(mode) for mode in (*Quant, *Overflow)),
    *("f16", "bf16", "f32", "f64", "integer", "integer wider than 64", "integer of one bit"),
    *("signed integer", "unsigned integer", "const argument"),
    *("bounds that depend on a loop", "max of lower bounds", "min of upper bounds"),
    *("extent 0", "extent 1", "shifted loop", "floor division in a bound"),
    *("if", "if-else", "and", "or", "condition >=", "condition ==", "mod in a condition"),
    *("accumulation", "other element of the target", "index as data", "select"),
    *("two variables in a subscript", "stride in a subscript", "floor division in a subscript"),
    *(f"{op} on IntType" for op in INT_ONLY),
    *(f"{op} on {n}" for op in (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL) for n in NUMBERS),
    *(f"{op} on {n}" for op in (BinaryOp.MIN, BinaryOp.MAX) for n in NUMBERS),
    *(f"{UnaryOp.NEG} on {n}" for n in NUMBERS),
    *(f"{UnaryOp.ABS} on {n}" for n in NUMBERS),
    *(f"{op} on FloatType" for op in (UnaryOp.SQRT, UnaryOp.EXP, UnaryOp.LOG, UnaryOp.TANH)),
    *(f"{BinaryOp.DIV} on {n}" for n in NUMBERS[1:]),
    *(f"cast to {a} from {b}" for a in NUMBERS for b in NUMBERS),
}


def test_every_feature_occurs():
    counts = Counter(f for seed in range(600) for f in features(random_program(seed, BALANCED)))
    rare = {name: counts[name] for name in sorted(EXPECTED) if counts[name] < 3}
    assert rare == {}
