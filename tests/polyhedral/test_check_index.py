"""What is computed of loop variables fits an ``int``; shifts are by no negative number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import weft
from backends.ap_types import find_ap_types
from backends.verify import verify_many
from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.programs.program import Loop
from mlir_passes.pipeline import compile_design
from polyhedral.legality.program import check_program
from weft import f32, i8, i32, i64, u2

FIRST = 21470
LAST = 21474  # 100000 times that still fits 32 bits


def refusal(kernel: Any) -> str:
    with pytest.raises(LanguageError) as caught:
        check_program(kernel.program)
    return caught.value.render()


@weft.kernel
def scaled(B: i64[5], C: f32[5]):
    for i in range(FIRST, LAST + 1):
        B[i - FIRST] = i * 100000
        C[i - FIRST] = -100000 * i


@weft.kernel
def long(B: i64[LAST]):
    for i in range(LAST):
        B[i] = i * 100000


@weft.kernel
def cast(B: i64[5]):
    for i in range(FIRST, LAST + 2):
        if i > FIRST:
            B[i - FIRST - 1] = i64(i) * 100000


@weft.kernel
def guarded(A: i32[6]):
    for i in range(6):
        if i >= 2:
            A[i] = (A[i] << i - 2) + (A[i] >> (i + 1) // 2)


@pytest.mark.skipif(find_ap_types() is None, reason="needs the group csim")
def test_what_fits_is_the_same_at_all_levels() -> None:
    designs = [compile_design(kernel.program) for kernel in (scaled, cast, guarded)]
    for found in verify_many(designs, sanitize=True):
        assert found.ok, found


def test_an_index_that_does_not_fit() -> None:
    text = refusal(long.at(LAST=30000))
    head, line, carets, *rest = text.splitlines()
    assert head.endswith(
        "error[W162]: 100000*i as a value does not fit 32 bits: it is 2147500000 for i = 21475"
    )
    assert line.endswith("B[i] = i * 100000")
    assert carets.count("^") == len("B[i] = i * 100000")
    assert rest == [
        "  an index is an i32: -2147483648 to 2147483647",
        "help: compute it of values with a type, as in i64(i) * 100000",
    ]


def test_the_negative_side_reaches_one_further() -> None:
    @weft.kernel
    def negative(B: i64[2], N: i8):
        for i in range(-2, 0):
            B[i + 2] = 1073741824 * i

    check_program(negative.program)

    @weft.kernel
    def beyond(B: i64[2]):
        for i in range(-2, 0):
            B[i + 2] = 1073741824 * i - 1

    assert "it is -2147483649 for i = -2" in refusal(beyond)


def test_a_part_that_does_not_fit() -> None:
    @weft.kernel
    def cancels(A: i64[100, 100]):
        for i in range(100):
            for j in range(i, i + 1):
                A[i, j] = 100000000 * i - 100000000 * j

    text = refusal(cancels)
    assert "it is 0, and 100000000*i in it is 2200000000 for i = 22, j = 22" in text


@weft.kernel
def sparse(A: i64[LAST]):
    for i in range(LAST):
        for j in range(i, i + 1):
            if i % 10000 == 0:
                A[i] = (100000 * i - 7 * j) // 3


def test_intervals_that_are_too_wide_are_decided_exactly() -> None:
    check_program(sparse.program)  # 100000 * 20000 is the largest
    check_program(sparse.at(LAST=30000).program)
    assert "and 100000*i - 7*j in it is 2999790000 for i = 30000" in refusal(sparse.at(LAST=30001))


def test_a_bound_that_does_not_fit() -> None:
    @weft.kernel
    def far(B: i64[4]):
        for i in range(2):
            for j in range(3000000000 * i, 3000000000 * i + 2):
                B[j - 3000000000 * i] = 1

    head, line, *_, last = refusal(far).splitlines()
    assert "error[W162]: a bound of the loop 'j' does not fit 32 bits: it is 3000000000" in head
    assert head.endswith("for i = 1")
    assert "for j in range" in line
    assert last == "help: make the loop shorter, or two loops of it"


def test_a_constant_bound_of_a_program_that_is_made() -> None:
    program = scaled.program
    [loop] = program.body
    assert isinstance(loop, Loop)
    wide = replace(loop, lowers=(Affine.of(2**31),), uppers=(Affine.of(2**31 + 2),), body=())
    check_program(replace(program, body=(wide,)))  # nothing in it, so nothing is emitted


@pytest.mark.parametrize(
    ("op", "amount", "said", "instead"),
    [
        ("<<", "-1", "<< is -1", "shift the other way: >> 1"),
        (">>", "i32(-3)", ">> is -3", "shift the other way: << 3"),
        ("<<", "i - 2", "<< is -2 for i = 0", "guard the statement with an affine if"),
        (">>", "i // 2 - i", ">> is -1 for i = 1", "guard the statement with an affine if"),
    ],
)
def test_a_negative_shift(tmp_path: Any, op: str, amount: str, said: str, instead: str) -> None:
    file = tmp_path / "k.py"
    file.write_text(
        "import weft\nfrom weft import i32\n\n\n@weft.kernel\ndef k(A: i32[4]):\n"
        f"    for i in range(4):\n        A[i] = A[i] {op} {amount}\n"
    )
    head, line, carets, last = refusal(weft.load(f"{file}:k")).splitlines()
    assert head == f"k.py:8:16: error[W163]: the shift amount of {said}"
    assert line.rstrip().endswith(f"A[i] {op} {amount}")
    assert carets.count("^") == len(f"A[i] {op} {amount}")
    assert last == f"help: {instead}"


def test_a_shift_in_a_loop_that_never_runs() -> None:
    @weft.kernel
    def never(A: i32[4]):
        for i in range(4):
            if i > 5:
                A[i] = A[i] << i - 9
            else:
                A[i] = A[i] << 1

    check_program(never.program)


@weft.kernel
def wrapped_amount(A: i32[8]):
    for k in range(1, -4, -1):
        A[k + 4] = A[k + 4] >> u2(k)


@weft.kernel
def negative_amount(A: i32[8]):
    for k in range(-2, 3):
        A[k + 4] = A[k + 4] >> i8(k)


def test_an_index_that_wraps_is_no_negative_amount() -> None:
    check_program(wrapped_amount.program)  # -3 is 1 in two bits without a sign
    assert "error[W163]: the shift amount of >> is -2 for k = -2" in refusal(negative_amount)
