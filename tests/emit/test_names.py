"""Names: the user's own, but never what C++ or Vitis HLS has taken."""

import pytest

from mlir_passes.emit.names import Names, spelled
from tests.emit.running import body, emitted


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A", "A"),
        ("x_1", "x_1"),
        ("int", "int_"),
        ("template", "template_"),
        ("half", "half_"),
        ("std", "std_"),
        ("ap_clk", "ap_clk_"),
        ("NULL", "NULL_"),
        ("M_PI", "M_PI_"),
        ("INT_MAX", "INT_MAX_"),
        ("FP_NAN", "FP_NAN_"),
        ("errno", "errno_"),
        ("BIAS", "BIAS_"),
        ("X_MAX", "X_MAX"),
        ("_", "v_"),
        ("_A", "v_A"),
        ("a__b", "a_b"),
        ("S1.i", "S1_i"),
        ("α", "u3b1"),
        ("2x", "v2x"),
        ("", "v"),
    ],
)
def test_spelling(name, expected):
    assert spelled(name) == expected


def test_fresh_names_are_unique():
    names = Names()
    assert [names.fresh(n) for n in ("a", "a", "a", "int", "int")] == [
        "a", "a_2", "a_3", "int_", "int_2",
    ]  # fmt: skip


def test_loop_variables_are_shared_by_siblings_and_differ_when_nested():
    names = Names({"k"})
    assert names.scoped("i", []) == "i"
    assert names.scoped("i", ["i"]) == "i_2"
    assert names.scoped("i", []) == "i"
    assert names.scoped("k", []) == "k_2"
    assert names.fresh("i") == "i_3"


def test_temporaries_avoid_everything():
    names = Names({"t0"}, {"t1"})
    assert names.numbered("t") == "t2"


def test_a_kernel_full_of_reserved_words():
    source = emitted("""
    func.func @main(%a: memref<4xf32> {hls.name = "float"}, %b: f32 {hls.name = "main"}) {
      affine.for %i = 0 to 4 {
        affine.for %j = 0 to 4 {
          affine.store %b, %a[%j] : memref<4xf32>
        } {hls.name = "for"}
      } {hls.name = "for"}
      return
    }""")
    assert source.name == "main_"
    assert source.arguments[0].cpp == "float_"
    assert source.arguments[1].cpp == "main_2"
    assert source.text.endswith("""\
extern "C" void main_(float float_[4], float main_2) {
for_:
  for (int for_ = 0; for_ < 4; ++for_) {
  for_2:
    for (int for_2 = 0; for_2 < 4; ++for_2) {
      float_[for_2] = main_2;
    }
  }
}
""")


@pytest.mark.parametrize("name", ["exp", "read", "gamma", "double"])
def test_no_kernel_takes_the_name_of_a_c_function(name):
    text = f"func.func @{name}() {{\n return\n}}"
    assert emitted(text).name == f"{name}_"


def test_labels_are_unique_in_the_function():
    loops = """
      affine.for %i = 0 to 4 {
        affine.store %b, %a[%i] : memref<4xf32>
      } {hls.name = "i"}"""
    text = f"""
    func.func @f(%a: memref<4xf32> {{hls.name = "a"}}, %b: f32 {{hls.name = "i_2"}}) {{
      {loops * 3}
      return
    }}"""
    lines = [line for line in body(text).splitlines() if line.endswith(":")]
    assert lines == ["i:", "i_2:", "i_3:"]
    assert body(text).count("for (int i = 0;") == 3
