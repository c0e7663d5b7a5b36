"""Kernels with random parts put in the wrong places: an error of the language, or a program."""

from __future__ import annotations

import ast
import collections
import copy
import random
import warnings
from pathlib import Path

from dsl.errors.errors import WeftError
from dsl.kernels.loader import load
from dsl.programs.pretty import pretty
from tests.frontend.conftest import HEADER

KERNELS = '''
@weft.kernel
def other(X: f32[N], w: weft.const[f32[N]], a: f32):
    for i in range(N):
        t = X[i] * a
        X[i] = t + w[i]


@weft.kernel(sizes={"mini": {"N": 3}})
def k(A: f32[N], B: i32[N, M], C: weft.const[f32[N]], F: fixed[16, 8][N], x: f32):
    """Something of everything."""
    tmp: f32[N] = 0.0
    for i, j in weft.grid(N, range(1, M - 1)):
        with weft.stmt("first"):
            B[i, j] += B[i, j - 1] // 2 + TAPS[1]
        if i < j and (i + j) % 2 == 0 or not i != 2:
            A[i] = x if A[i] > 0 else -C[i]
        elif N > 3:
            A[i // 2] = min(A[i], x, 2.5) ** 2
    for i in range(N - 1, -1, -1):
        acc: f32 = 0.0
        for j in range(max(0, i - 1), min(N, i + 2)):
            acc += f32(B[i, j]) * weft.sqrt(abs(tmp[j]))
            d = acc - math.pi
            tmp[i] = d * i
        F[i] = fixed[16, 8, "rnd"](acc) if acc < 10 and acc > -10 else F[0]
    other(A, C, x * 2)
    other.at(N=N)(w=C, X=tmp, a=A[0])
'''
SNIPPETS = """
i; A; x; N; B; tmp; other; weft; math; i8; f32; fixed; TAPS; range; None; "s"; 1.5; -1; True; 10**30
A[i]; B[i, j]; A[i][j]; A[0:2]; B[i]; A[A[0]]; A.shape; A.T; weft.grid(3); weft.select(x, 1, 2)
(1, 2); [1]; {1: 2}; lambda: 0; x if i else 2; i < j < 3; not x; i and x; f32[N]; weft.const[f32]
f32(i); i8(x); other(A, C, x); min(i, j); max(A[0], 1); abs(i); i * j; i / 2; x ** i; x ** 3; i << 2
~i; -i; i % 0; i // 0; 1 / 0; len(A); int(x); f"{x}"; (y := 3); weft.stmt("a"); print(x); sum(A)
fixed[16]; fixed[8, 4, "no"]; weft.i7; weft.nothing; A @ A; i in TAPS; N.real; k; k(A); unknown
"""
SEEDS = 150


def nodes_of(tree: ast.AST) -> list[tuple[ast.AST, str, int | None]]:
    """Every place that holds an expression or a statement."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                found.append((node, name, None))
            elif isinstance(value, list):
                found += [
                    (node, name, n)
                    for n, v in enumerate(value)
                    if isinstance(v, ast.expr | ast.stmt)
                ]
    return found


PARTS = [s.strip() for s in SNIPPETS.replace("\n", ";").split(";") if s.strip()]
OWN = list(ast.walk(ast.parse(KERNELS)))
EXPRESSIONS = [ast.parse(s, mode="eval").body for s in PARTS]
EXPRESSIONS += [n for n in OWN if isinstance(n, ast.expr)]
STATEMENTS = [n for n in OWN if isinstance(n, ast.stmt) and not isinstance(n, ast.FunctionDef)]


def mutated(rng: random.Random) -> str:
    tree = ast.parse(KERNELS)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        owner, name, index = rng.choice(nodes_of(tree.body[rng.randint(0, 1)]))
        old = getattr(owner, name) if index is None else getattr(owner, name)[index]
        new = copy.deepcopy(rng.choice(STATEMENTS if isinstance(old, ast.stmt) else EXPRESSIONS))
        if index is None:
            setattr(owner, name, new)
        else:
            getattr(owner, name)[index] = new
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def outcome(text: str, file: Path) -> str:
    """The code of its error, "python" where Python refuses the file, or "fine"."""
    file.write_text("from __future__ import annotations\n" + HEADER + text, encoding="utf-8")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            kernel = load(f"{file}:k")
        program = kernel.program
        pretty(program)
    except WeftError as e:
        placed = e.code == "W504" or e.span is not None
        return e.code if placed else f"no place: {e.render()}"
    return "fine"


def test_mutations(tmp_path: Path) -> None:
    outcomes: collections.Counter[str] = collections.Counter()
    for seed in range(SEEDS):
        text = mutated(random.Random(seed))
        outcomes[outcome(text, tmp_path / f"k{seed}.py")] += 1
    assert not [o for o in outcomes if o.startswith("no place")]
    assert outcomes["fine"] > SEEDS * 0.05
    assert len(outcomes) > 15
