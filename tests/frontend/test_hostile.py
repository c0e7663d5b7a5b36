"""Kernels that no person writes: each is an error or works, none takes the process down."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import weft
from dsl.errors.errors import LanguageError
from dsl.kernels.kernel import Kernel
from dsl.programs.program import Program
from tests.frontend.conftest import Load

HEAD = "@weft.kernel\ndef k(A: f32[N]):\n"


@pytest.mark.parametrize("terms", [150, 190])
def test_long_sums_work(kernel: Load, terms: int) -> None:
    text = HEAD + f"    A[0] = {' + '.join(['A[1]'] * terms)}\n"
    assert len(kernel(text).program.statements()) == 1


@pytest.mark.parametrize(
    "expression",
    [
        " + ".join(["A[1]"] * 1500),
        "-" * 80 + "A[1]" + " + A[1]" * 150,
        "A[" + "1 + " * 400 + "0]",
        "A[0] if A[0] > 0 else " * 250 + "A[1]",
        "(" * 90 + "A[0]" + " * 2)" * 90 + " + A[1]" * 150,
    ],
)
def test_deep_expressions_are_refused(error: Callable[[str], str], expression: str) -> None:
    text = error(HEAD + f"    A[0] = {expression}\n")
    assert "error[W108]: this is nested more than 200 levels deep" in text
    assert text.endswith("help: compute it in several statements through local scalars")


def test_a_deep_chain_of_elif_is_refused(error: Callable[[str], str]) -> None:
    chain = "".join(f"        elif i == {n}:\n            A[0] = {n}\n" for n in range(300))
    head = HEAD + "    for i in range(N):\n        if i < 0:\n            A[0] = 1\n"
    assert "error[W108]: this is nested more than 200 levels deep" in error(head + chain)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("2 ** 100000", "error[W114]: the constant 2 ** 100000 has no value"),
        ("1 << 10 ** 9", "error[W114]: the constant 1 << 10 ** 9 has no value"),
        ("10 ** 10 ** 10", "error[W114]: the constant 10 ** 10 ** 10 has no value"),
        ("2.0 ** 10000", "error[W114]: the constant 2.0 ** 10000 has no value: the result is too"),
        ("(-8) ** 0.5", "error[W114]: the constant (-8) ** 0.5 has no value: the result is not a"),
        ("1 / 0", "error[W114]: the constant 1 / 0 has no value: division by zero"),
        ("1 << -1", "error[W114]: the constant 1 << -1 has no value: negative shift count"),
        ("0x" + "f" * 3000, "error[W108]: this number has more than 8192 bits"),
        ("1.5 << 2", "error[W114]: the constant 1.5 << 2 has no value: unsupported operand"),
        ("~2.5", "error[W114]: the constant ~2.5 has no value: bad operand type"),
    ],
)
def test_constants_without_a_value(
    error: Callable[[str], str], expression: str, message: str
) -> None:
    assert message in error(HEAD + f"    A[0] = {expression}\n")


def doubling(levels: int, body: str) -> str:
    """Kernels each of which calls the one before twice."""
    text = f"@weft.kernel\ndef k0(A: f32[N]):\n{body}"
    for n in range(1, levels):
        name = "k" if n == levels - 1 else f"k{n}"
        text += f"@weft.kernel\ndef {name}(A: f32[N]):\n    k{n - 1}(A)\n    k{n - 1}(A)\n"
    return text


def test_calls_that_double_are_bounded(
    error: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsl.frontend.context.MAX_STATEMENTS", 2_000)
    text = error(doubling(24, "    A[0] += 1\n"))
    assert "error[W108]: the program has more than 2000 statements" in text
    assert "called at k.py:" in text


def test_empty_calls_that_double_are_nothing(kernel: Load) -> None:
    body = "    t: f32[4]\n    for i in range(N):\n        pass\n"
    program = kernel(doubling(24, body)).program
    assert (program.body, program.locals) == ((), ())


def test_deep_calls_are_bounded(error: Callable[[str], str]) -> None:
    text = "@weft.kernel\ndef k0(A: f32[N]):\n    A[0] = 1\n"
    for n in range(1, 60):
        name = "k" if n == 59 else f"k{n}"
        text += f"@weft.kernel\ndef {name}(A: f32[N]):\n    k{n - 1}(A)\n"
    assert "error[W108]: kernel calls are nested more than 32 deep" in error(text)


def test_many_statements_are_read(kernel: Load) -> None:
    text = HEAD + "".join(f"    A[{n % 4}] = {n}\n" for n in range(3000))
    assert len(kernel(text).program.statements()) == 3000


NESTED = {
    "negations": (lambda n: "-" * n + "A[i]"),
    "sum": (lambda n: " + ".join(["A[i]"] * n)),
    "horner": (lambda n: "1.5 + A[i] * (" * (n // 2) + "A[0]" + ")" * (n // 2)),
    "calls": (lambda n: "abs(" * n + "A[i]" + ")" * n),
    "minima": (lambda n: "min(A[i], " * n + "A[0]" + ")" * n),
    "choices": (lambda n: "A[i] if A[i] > 0.0 else " * n + "A[0]"),
    "casts": (lambda n: "f32(" * n + "A[i]" + ")" * n),
}
NESTED_INTEGERS = {
    "complements": (lambda n: "~" * n + "B[i]"),
    "sum": (lambda n: " + ".join(["B[i]"] * n)),
    "horner": (lambda n: "3 + B[i] * (" * (n // 8) + "B[0]" + ")" * (n // 8)),
    "shifts": (lambda n: "(" * n + "B[i]" + " >> 1)" * n),
    "bits": (lambda n: "(" * n + "B[i]" + " & B[0])" * n),
    "negated conditions": (lambda n: "1 if " + "not (" * n + "B[i] > 0" + ")" * n + " else 2"),
    "conditions": (
        lambda n: (
            "1 if "
            + "(B[i] > 0 and (B[0] < 3 or " * (n // 4)
            + "B[i] < 3"
            + "))" * (n // 4)
            + " else 2"
        )
    ),
    "quotients": (lambda n: "(" * n + "B[i]" + " // 3)" * n),
    "casts": (lambda n: "i32(" * n + "B[i]" + ")" * n),
}
WITHIN = 190


def nested_kernel(target: str, expression: str) -> str:
    return (
        "@weft.kernel\ndef k(A: f32[8], B: i32[8]):\n"
        f"    for i in range(8):\n        {target} = {expression}\n"
    )


@pytest.mark.parametrize("kind", NESTED)
def test_floats_within_the_limit_compile(kernel: Load, kind: str) -> None:
    check_all_levels(kernel(nested_kernel("A[i]", NESTED[kind](WITHIN))))


@pytest.mark.parametrize("kind", NESTED_INTEGERS)
def test_integers_within_the_limit_compile(kernel: Load, kind: str) -> None:
    check_all_levels(kernel(nested_kernel("B[i]", NESTED_INTEGERS[kind](WITHIN))))


def check_all_levels(kernel: Kernel) -> None:
    """All that walks an expression does so, in seconds, and brackets stay within clang's limit."""
    start = time.process_time()
    text = weft.compile(kernel).hls_cpp
    assert weft.estimate(kernel).latency.average > 0
    kernel(**kernel.make_inputs(0))
    assert Program.__eq__(kernel.program, kernel.program)
    assert time.process_time() - start < 20
    depth = deepest = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        deepest = max(deepest, depth)
    assert deepest <= 256


def test_powers_of_powers_are_bounded(error: Callable[[str], str]) -> None:
    text = error(nested_kernel("A[i]", "((A[i] ** 64) ** 64) ** 64"))
    assert "error[W108]: this value has more than 10000 operations and operands" in text
    assert text.endswith("help: compute it in several statements through local scalars")


def test_a_builder_has_the_same_limits() -> None:
    p = weft.Program("p")
    a = p.placeholder("a", weft.f32, (8,))
    (i,) = p.loops(i=8)
    deep = wide = a[i]
    for _ in range(250):
        deep = -deep
    for _ in range(150):
        wide = wide + wide
    with pytest.raises(LanguageError, match="more than 200 levels deep") as found:
        p.compute("S0", (i,), into=a[i], value=deep)
    assert found.value.code == "W108"
    assert "into=a[i], value=deep" in found.value.render()
    with pytest.raises(LanguageError, match="more than 10000 operations"):
        p.compute("S0", (i,), into=a[i], value=wide)


def test_many_statements_of_one_loop_compile(kernel: Load) -> None:
    lines = "".join(f"        A[i] = A[i] * 2.0 + {n}.0\n" for n in range(600))
    made = kernel(HEAD + f"    for i in range(N):\n{lines}")
    assert weft.compile(made).hls_cpp.count("A[i] = ") >= 600


@pytest.mark.parametrize(
    "line",
    [
        "A[0] = BIG", "A[BIG] = 1.0", "A[0] = f32(BIG)", "A[0] = A[0] + BIG", "t: f32[BIG] = 0.0",
        "for i in range(BIG): A[0] = 1.0", "for i in weft.grid(BIG): A[0] = 1.0", "A[0] = TABLE[0]",
        "for i in range(4): A[i % BIG] = 1.0", "for i in range(0, 8, BIG): A[0] = 1.0", "A[0] = ns.big",
        "with weft.stmt(BIG): A[0] = 1.0", "A[0] = fixed[8, BIG](A[0])", "A[0] = A[0] ** BIG",
    ],
)  # fmt: skip
def test_captured_numbers_of_thousands_of_digits(error: Callable[[str], str], line: str) -> None:
    captured = (
        "import types\nBIG = 10 ** 5000\nTABLE = (BIG,)\nns = types.SimpleNamespace(big=BIG)\n"
    )
    text = error(captured + HEAD + f"    {line}\n")
    assert "error[W108]: this number has more than 8192 bits" in text
    assert "^" in text


@pytest.mark.parametrize("bound", ["2 ** s", "1 << s", "8 >> s", "4 + 2 ** s", "min(2 ** s, 8)"])
def test_bounds_that_grow_exponentially(error: Callable[[str], str], bound: str) -> None:
    text = error(
        HEAD + f"    for s in range(65):\n        for x in range({bound}):\n            A[0] = 1\n"
    )
    assert "error[W141]: the bound of this loop is not affine: " in text
    assert " is no multiple of s\n" in text
    assert text.endswith(
        "help: a loop over at most 64 values of s is written out; split this one, or let a loop of Python "
        "write the loops: see weft.Program"
    )


@pytest.mark.parametrize(
    "line",
    ['if "a" == "b": A[0] = 1', 'A[0] = 1.0 if A[0] == "x" else A[1]', 'if N != "x": A[0] = 1'],
)
def test_strings_that_are_compared(error: Callable[[str], str], line: str) -> None:
    text = error(HEAD + f"    {line}\n")
    assert 'error[W113]: "' in text
    assert " is a string, not a value" in text
    assert text.endswith(
        "help: a kernel computes numbers: compare strings outside of it, and capture the result, as "
        'in FAST = MODE == "fast"'
    )


@pytest.mark.parametrize("place", ["4096, -4096", "8, -4096"])
def test_a_point_that_moves_too_far(error: Callable[[str], str], place: str) -> None:
    text = error(f"@weft.kernel\ndef k(A: fixed[{place}][4]):\n    A[0] = fixed[8, 8](A[1])\n")
    assert "error[W128]: " in text
    assert "moves the point by " in text
