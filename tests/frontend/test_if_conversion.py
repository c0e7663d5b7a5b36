"""``if`` on data: statements that choose, with what Python means by the branch."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from dsl.errors.errors import LanguageError
from dsl.expressions.expr import Binary, BinaryOp, Select, walk
from dsl.frontend.function_kernel import FunctionKernel
from dsl.programs.program import If
from tests.frontend.conftest import Load
from weft import i32

SIZE = 8

BODIES = {
    "argmin": """
    for i in range(8):
        if a[i] < s[0]:
            s[0] = a[i]
            c[0] = i
""",
    "first of a loop": """
    for i in range(8):
        if i == 0 or a[i] < s[0]:
            s[0] = a[i]
            c[0] = i
""",
    "neighbours": """
    for i in range(8):
        if i > 0 and i < 7 and a[i - 1] < a[i] and a[i] > a[i + 1]:
            c[i] = 1
        else:
            c[i] = 0
""",
    "short circuit": """
    for i in range(8):
        if i == 0 or not (a[i - 1] == a[i]):
            c[i] = 1
        elif i > 4 and a[i] != 0:
            c[i] = b[i] // a[i]
        else:
            c[i] -= 1
""",
    "exchange": """
    for i in range(7):
        for j in range(7 - i):
            if a[j] > a[j + 1]:
                t = a[j]
                a[j] = a[j + 1]
                a[j + 1] = t
""",
    "chain": """
    for i in range(8):
        if a[i] > 5:
            v = a[i] - 5
            s[0] += 1
        elif a[i] & 1:
            v = a[i] * 2
        elif -2 <= a[i] < 2:
            v = 7 % (a[i] + 3)
        else:
            v = b[i]
        c[i] = v
""",
    "loops inside": """
    if a[0] > b[0]:
        for i in range(8):
            if i % 2 == 0:
                a[i] = b[i]
            else:
                b[i] += i
    else:
        for i in range(4):
            c[i] = a[i]
""",
    "nested": """
    for i in range(8):
        if a[i]:
            if b[i] > 0 and i < 6:
                c[i] = 1
                if c[i] > s[0]:
                    s[0] = c[i] + 2
            else:
                c[i] = a[i] % b[7 - i] if b[7 - i] != 0 else 3
            a[i] = 0
""",
    "a table": """
    for i in range(8):
        if 0 <= a[i] < 8:
            c[i] = b[a[i]]
        elif -a[i] > 0 and not -a[i] > 7:
            c[i] = b[-a[i]]
        c[i] += b[a[i] & 7]
""",
    "a condition on what a subscript is made of": """
    for i in range(8):
        n = a[i] + 2
        if n >= 0 and n < 6:
            c[i] = b[n + 1] - b[n]
        m = abs(a[i])
        if m > 6:
            c[i] = 1
        elif m > 0:
            if b[i] > 1:
                c[i] += b[2 * m - m - 1]
""",
    "jumps": """
    for i in range(8):
        if a[i] < 0:
            continue
        if a[i] == s[0]:
            c[0] = i
            break
        c[1] += 1
    else:
        c[2] = -1
""",
    "jumps on some ways": """
    for i in range(8):
        for j in range(8):
            if a[j] > b[i]:
                c[j] -= 1
                if b[j] > 3:
                    break
                if c[j] < -2 or j == 0:
                    continue
                c[j] += a[i]
            elif i > 5:
                continue
            c[i] += 2
        if c[i] > 9:
            break
        s[0] += 1
""",
    "jumps out of the else of a loop inside": """
    for i in range(8):
        for j in range(i, 8):
            if a[j] > b[i]:
                for k in range(4):
                    if c[k] == 0:
                        break
                    s[0] += 1
                else:
                    if b[i] > 5:
                        break
                    continue
                c[i] += 1
            else:
                for k in range(2):
                    c[k] -= 1
                else:
                    continue
            break
        else:
            continue
        if c[i] > 3:
            break
        c[7] += 1
""",
    "the kernel left early": """
    if s[0] < 0:
        return
    for i in range(8):
        if a[i] == 7:
            c[0] = i
            return
        for j in range(i, 8):
            if b[j] > 6:
                c[j] = 20 + i
                if a[j] > 0:
                    return
                else:
                    break
            if a[j] < -3:
                continue
            c[j] += 1
        else:
            c[1] = 30
            if a[1] > 5:
                return None
            c[2] += 4
        s[0] += 1
    c[3] = 40
    if s[0] > 5:
        c[4] = 50
        return
    c[5] = 60
    return
""",
    "the kernel left in the else of a loop": """
    for i in range(8):
        if a[i] == 1:
            break
    else:
        c[0] = 5
        if b[1] > 0:
            return
        c[2] = 6
    for i in range(8):
        if c[i] > 3:
            return
        c[i] += 9
""",
    "several targets": """
    for i in range(7):
        a[i], a[i + 1] = a[i + 1], a[i]
        b[i] = c[i] = a[i] + b[i]
        if a[i] > 2:
            (s[0], b[i + 1]), c[i + 1] = (c[i], s[0]), b[i]
""",
    "updates": """
    for i in range(8):
        if a[i] > b[i]:
            s[0] += a[i]
            c[0] -= b[i]
            c[1] *= 2
            c[2] ^= a[i]
            c[3] |= a[i]
            c[4] &= a[i]
        if a[i] >= c[5]:
            c[5] = a[i]
        if c[6] >= a[i]:
            c[6] = a[i]
        if not a[i] < 3:
            c[7] += 1
""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_branch_is_what_python_means(kernel: Load, body: str) -> None:
    k = kernel(f"@weft.kernel\ndef k(a: i32[8], b: i32[8], c: i32[8], s: i32[1]):{body}")
    assert isinstance(k, FunctionKernel)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        arrays = [rng.integers(-4, 9, n).astype(np.int32) for n in (SIZE, SIZE, SIZE, 1)]
        wanted = [a.tolist() for a in arrays]
        k.function(*wanted)
        k(*arrays)
        assert [a.tolist() for a in arrays] == wanted


def test_updates_keep_their_recurrence(kernel: Load) -> None:
    program = kernel(
        """@weft.kernel
def k(x: f32[N], s: f32[1], n: i32[1], best: f32[1]):
    for i in range(N):
        if x[i] > 0.0:
            s[0] += x[i]
            n[0] += 1
        if best[0] > x[i]:
            best[0] = x[i]
"""
    ).program
    values = [s.value for s in program.statements()]
    ops = [v.op for v in values if isinstance(v, Binary)]
    assert ops == [BinaryOp.ADD, BinaryOp.ADD, BinaryOp.MIN]


def test_nested_branches_choose_once(kernel: Load) -> None:
    k = kernel(
        """@weft.kernel
def k(x: f32[N], y: f32[N], s: f32[1], z: f32[1]):
    for i in range(N):
        if x[i] > 1.0:
            if x[i] < 9.0:
                if y[i] != 4.0:
                    y[i] = x[i]
                    s[0] += x[i]
        elif not y[i] > 2.0:
            s[0] -= x[i]
        if x[i] > 1.0:
            z[0] += x[i] if y[i] > 5.0 else 0.0
"""
    )
    count = [sum(isinstance(e, Select) for e in walk(s.value)) for s in k.program.statements()]
    assert count == [0, 1, 1, 1, 2]  # the condition on y[i], which is assigned, is kept
    y, s, z = np.array([3, 4, 0, 3], np.float32), np.zeros(1, np.float32), np.full(1, -0.0)
    z = z.astype(np.float32)
    k(np.array([2, 5, 0.5, 9], np.float32), y, s, z)
    assert (y.tolist(), s.tolist()) == ([2, 4, 0, 3], [1.5])
    assert not np.signbit(z[0])  # a zero was added in the branch


def test_floats_keep_zeros_with_signs_and_what_is_no_number(kernel: Load) -> None:
    k = kernel(
        """@weft.kernel
def k(x: f32[N], s: f32[2], best: f32[1]):
    for i in range(N):
        if x[i] > 1.0:
            s[0] += x[i]
            s[1] -= x[i]
        if x[i] < best[0]:
            best[0] = x[i]
"""
    )
    s, best = np.full(2, -0.0, np.float32), np.array([0.0], np.float32)
    k(np.array([0.5, -0.0, np.nan, 0.0], np.float32), s, best)
    assert np.signbit(s).all()
    assert not s.any()
    assert not np.signbit(best[0])
    best[0] = np.nan
    k(np.zeros(4, np.float32), s, best)
    assert np.isnan(best[0])


def test_what_a_condition_rules_out_does_not_fail(kernel: Load) -> None:
    k = kernel(
        """@weft.kernel
def k(x: i32[N], d: i8[N], y: i32[N], f: f32[N], z: fixed[8, 0][N]):
    for i in range(N):
        if d[i] > 0:
            y[i] = x[i] >> d[i]
        else:
            y[i] = x[i] // d[i] if d[i] != 0 else 0
        if f[i] != 0.0 and (f[i] > 3.0 or i32(6.0 / f[i]) == 3):
            y[i] += i32(8.0 / f[i])
        if z[i]:
            z[i] = z[i] / z[i]
"""
    )
    x, y = np.full(4, 12, np.int32), np.zeros(4, np.int32)
    d, f = np.array([2, 0, -5, 1], np.int8), np.array([0, 2, 4, 0], np.float32)
    k(x, d, y, f, np.zeros(4, np.int8))
    assert y.tolist() == [3, 4, -1, 6]


def test_statements_are_named_in_their_final_order(kernel: Load) -> None:
    program = kernel(
        """@weft.kernel
def k(x: i32[N], y: i32[N], z: i32[N]):
    for i in range(N):
        if i == 0 or x[i] > y[i - 1]:
            with weft.stmt("taken"):
                y[i] = x[i]
        else:
            with weft.stmt("other"):
                y[i] = 0
        if x[i] > 3:
            z[i] = 1
        else:
            z[i] = 2
        z[i] += 1
"""
    ).program
    assert [s.name for s in program.statements()] == ["taken", "taken_2", "other", "S3", "S4"]
    assert isinstance(program.statements()[3].value, Select)
    assert any(isinstance(node, If) for node, _ in program.walk())


def test_a_condition_on_an_element_that_a_branch_assigns_is_kept(kernel: Load) -> None:
    k = kernel(
        """@weft.kernel
def k(y: i32[N]):
    for i in range(N):
        if y[i] > 3:
            with weft.stmt("large"):
                y[i] = 0
        else:
            with weft.stmt("small"):
                y[i] = 7
"""
    )
    y = np.array([5, 1, 3, 4], np.int32)
    k(y)
    assert y.tolist() == [0, 7, 7, 0]
    assert [s.name for s in k.program.statements()] == ["S0", "large", "small"]


def test_a_condition_of_a_program_that_is_built() -> None:
    p = weft.Program("p")
    (i,) = p.loops(i=4)
    x, y = p.placeholder("x", i32, (4,)), p.placeholder("y", i32, (4,))
    p.compute("S0", (i,), into=y[i], value=x[i] // x[3 - i], where=x[3 - i] != 0)
    p.compute("S1", (i,), into=y[i], value=y[i] + 1, where=(x[i] > 0) & (i > 0))
    a, b = np.array([0, 2, 7, 0], np.int32), np.full(4, 5, np.int32)
    p(a, b)
    assert b.tolist() == [5, 1, 4, 5]


def test_an_element_that_is_only_read_is_refused_in_a_branch(kernel: Load) -> None:
    text = """@weft.kernel
def k(x: weft.const[f32[N]], y: f32[N]):
    for i in range(N):
        if y[i] > 0.0:
            x[i] = 0.0
"""
    with pytest.raises(LanguageError, match="W135"):
        _ = kernel(text).program
