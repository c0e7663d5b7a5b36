"""Pragmas are those of UG1399, where Vitis HLS wants them."""

import pytest

from tests.emit.running import body

ARGUMENT = """
func.func @f(%x: memref<16x8xf32> {{hls.name = "x", {0}}}) {{
  affine.for %i = 0 to 16 {{
    %a = affine.load %x[%i, 0] : memref<16x8xf32>
    affine.store %a, %x[%i, 1] : memref<16x8xf32>
  }}
  return
}}"""


def pragmas(text: str) -> list[str]:
    lines = body(text).splitlines()
    return [line.removeprefix("#pragma HLS ") for line in lines if line.startswith("#pragma HLS")]


SLAVE = ["interface mode=s_axilite port=x", "interface mode=s_axilite port=return"]


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ('hls.interface = #hls.interface<"ap_memory", "">', "interface mode=ap_memory port=x"),
        (
            'hls.interface = #hls.interface<"m_axi", "gmem0">',
            "interface mode=m_axi port=x bundle=gmem0 offset=slave depth=128",
        ),
        (
            'hls.interface = #hls.interface<"m_axi", "g">, '
            'hls.axi = #hls.axi<512, 64, 8, 70, "slave", "HBM[1]", 0, "", "">',
            "interface mode=m_axi port=x bundle=g offset=slave depth=128 max_widen_bitwidth=512 "
            "latency=70 max_read_burst_length=64 num_read_outstanding=8 "
            "max_write_burst_length=64 num_write_outstanding=8",
        ),
        (
            'hls.storage = #hls.storage<"ram_2p", "bram", 2>',
            "interface mode=ap_memory port=x storage_type=ram_2p storage_impl=bram latency=2",
        ),
        (
            'hls.storage = #hls.storage<"ram_1p", "auto", -1>, '
            'hls.interface = #hls.interface<"bram", "">',
            "interface mode=bram port=x storage_type=ram_1p",
        ),
        (
            'hls.partition = [#hls.partition<"cyclic", 4, 0>]',
            "array_partition variable=x type=cyclic factor=4 dim=1",
        ),
        (
            'hls.partition = [#hls.partition<"block", 2, 1>]',
            "array_partition variable=x type=block factor=2 dim=2",
        ),
        (
            'hls.partition = [#hls.partition<"complete", 0, 1>]',
            "array_partition variable=x type=complete dim=2",
        ),
        (
            'hls.reshape = [#hls.partition<"cyclic", 4, 0>]',
            "array_reshape variable=x type=cyclic factor=4 dim=1",
        ),
    ],
)
def test_arguments(attribute, expected):
    found = pragmas(ARGUMENT.format(attribute))
    assert found[0] == expected
    assert found[1:] == (SLAVE if "m_axi" in attribute else [])
    assert body(ARGUMENT.format(attribute)).startswith("#pragma HLS")


def test_an_address_that_is_a_port_needs_no_register():
    direct = ARGUMENT.format(
        'hls.interface = #hls.interface<"m_axi", "g">, '
        'hls.axi = #hls.axi<0, 0, 0, -1, "direct", "", 0, "", "">'
    )
    assert pragmas(direct) == ["interface mode=m_axi port=x bundle=g offset=direct depth=128"]


LOOP = """
func.func @f(%x: memref<16xf32> {{hls.name = "x"}}) {{
  affine.for %i = 0 to 16 {{
    %a = affine.load %x[%i] : memref<16xf32>
    affine.store %a, %x[0] : memref<16xf32>
  }} {{hls.name = "i", {0}}}
  return
}}"""


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("hls.pipeline = #hls.pipeline<1>", "pipeline II=1"),
        ("hls.pipeline = #hls.pipeline<3>", "pipeline II=3"),
        ("hls.unroll = #hls.unroll<4>", "unroll factor=4"),
        ("hls.unroll = #hls.unroll<0>", "unroll"),
        ("hls.flatten = #hls.flatten<1>", "loop_flatten"),
        ("hls.flatten = #hls.flatten<0>", "loop_flatten off"),
        ("hls.trip_count = #hls.trip_count<1, 16, 8>", "loop_tripcount min=1 max=16 avg=8"),
        ('hls.independent = ["x"]', "dependence variable=x type=inter false"),
    ],
)
def test_loops(attribute, expected):
    lines = body(LOOP.format(attribute)).splitlines()
    assert lines[1:4] == [
        "  for (int i = 0; i < 16; ++i) {",
        f"#pragma HLS {expected}",  # the first thing in the body
        "    x[0] = x[i];",
    ]


def test_locals_have_theirs_after_the_declaration():
    text = """
    func.func @f(%x: memref<16xf32> {hls.name = "x"}) {
      %t = memref.alloc() {hls.name = "t", hls.storage = #hls.storage<"ram_t2p", "uram", 3>,
                           hls.partition = [#hls.partition<"cyclic", 2, 0>]} : memref<16xf32>
      affine.for %i = 0 to 16 {
        %a = affine.load %x[%i] : memref<16xf32>
        affine.store %a, %t[%i] : memref<16xf32>
      }
      return
    }"""
    assert body(text).splitlines()[:3] == [
        "  float t[16];",
        "#pragma HLS bind_storage variable=t type=ram_t2p impl=uram latency=3",
        "#pragma HLS array_partition variable=t type=cyclic factor=2 dim=1",
    ]


BOUND = """
func.func @f(%a: {1} {{hls.name = "a"}}, %x: memref<16x{1}> {{hls.name = "x"}}) {{
  affine.for %i = 0 to 16 {{
    %b = affine.load %x[%i] : memref<16x{1}>
    %c = arith.mul{2} %a, %b : {1}
    %d = arith.add{2} %b, %c : {1}
    affine.store %d, %x[%i] {{hls.stmt = "S0", hls.bind_op = [{0}]}} : memref<16x{1}>
  }}
  return
}}"""


def test_a_bound_operator_has_a_variable_of_its_own():
    binds = '#hls.bind_op<"fmul", "fulldsp", 3>, #hls.bind_op<"fadd", "fabric", -1>'
    assert body(BOUND.format(binds, "f32", "f")).splitlines()[2:] == [
        "    // S0",
        "    const float x_v = x[i];",
        "    float t0 = a * x_v;",
        "#pragma HLS bind_op variable=t0 op=fmul impl=fulldsp latency=3",
        "    float t1 = x_v + t0;",
        "#pragma HLS bind_op variable=t1 op=fadd impl=fabric",
        "    x[i] = t1;",
        "  }",
    ]


def test_a_bound_operator_whose_result_is_used_twice_has_one_variable():
    text = BOUND.format('#hls.bind_op<"fmul", "fulldsp", -1>', "f32", "f")
    text = text.replace("%d = arith.addf %b, %c", "%d = arith.addf %c, %c")
    assert body(text).splitlines()[3:] == [
        "    float t0 = a * x[i];",
        "#pragma HLS bind_op variable=t0 op=fmul impl=fulldsp",
        "    x[i] = t0 + t0;",
        "  }",
    ]


@pytest.mark.parametrize(
    ("op", "type_", "suffix"),
    [("dmul", "f64", "f"), ("hadd", "f16", "f"), ("mul", "i18", "i"), ("add", "i18", "i")],
)
def test_operators_have_the_names_of_bind_op(op, type_, suffix):
    found = pragmas(BOUND.format(f'#hls.bind_op<"{op}", "dsp", -1>', type_, suffix))
    assert found == [f"bind_op variable=t0 op={op} impl=dsp"]


def test_a_binding_of_another_operator_changes_nothing():
    assert pragmas(BOUND.format('#hls.bind_op<"dmul", "dsp", -1>', "f32", "f")) == []
