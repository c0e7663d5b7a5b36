"""The declaration of the top function, read from emitted text."""

from __future__ import annotations

import pytest

from backends.vitis.signature import Parameter, header, parameters
from dsl.errors import ToolError

TEXT = """\
#include <ap_fixed.h>
#include <cmath>

// gemm(...) is no definition.
static void gemm_helper(int x) {
}

void gemm(
    float alpha, // a scalar
    const ap_fixed<16, 8, AP_RND, AP_SAT> A[20][30],
    ap_uint<3> C[7]
) {
#pragma HLS interface ap_memory port=A
  if (alpha > 0) { }
}
"""


def test_parameters() -> None:
    assert parameters(TEXT, "gemm") == (
        Parameter("float", "alpha", ""),
        Parameter("const ap_fixed<16, 8, AP_RND, AP_SAT>", "A", "[20][30]"),
        Parameter("ap_uint<3>", "C", "[7]"),
    )


def test_a_variable_is_not_constant() -> None:
    assert [p.variable for p in parameters(TEXT, "gemm")] == [
        "float alpha", "ap_fixed<16, 8, AP_RND, AP_SAT> A[20][30]", "ap_uint<3> C[7]",
    ]  # fmt: skip


def test_no_parameters() -> None:
    assert parameters("void k() {\n}\n", "k") == ()


def test_header() -> None:
    assert header(TEXT, "gemm") == (
        "#ifndef GEMM_H\n"
        "#define GEMM_H\n"
        "\n"
        "#include <ap_fixed.h>\n"
        "#include <cmath>\n"
        "\n"
        "void gemm(\n"
        "    float alpha,\n"
        "    const ap_fixed<16, 8, AP_RND, AP_SAT> A[20][30],\n"
        "    ap_uint<3> C[7]);\n"
        "\n"
        "#endif\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("void other() {}", "the emitted C++ does not define 'void k(...)'"),
        ("void k(int);", "the emitted C++ does not define 'void k(...)'"),
        ("void k(3) {", "the parameter '3' of k is not understood"),
    ],
)
def test_anything_else_is_refused(text: str, said: str) -> None:
    with pytest.raises(ToolError) as caught:
        parameters(text, "k")
    assert caught.value.render() == f"error[W406]: {said}"
