"""What level 3 refuses of processes and streams."""

import pytest

from dsl.errors.errors import IRError
from mlir_passes.dialect import attributes as dialect
from mlir_passes.dialect.processes import processes_of
from mlir_passes.dialect.verify import verify_module
from mlir_passes.provider import ir

ARGS = ", ".join(f'%{name}: memref<8xf32> {{hls.name = "{name}"}}' for name in "ABC")
TWO = '#hls.dataflow<[["S0"], ["S1"]]>'


def local(name="t", more=""):
    return f'%{name} = memref.alloc() {{hls.name = "{name}"{more}}} : memref<8xf32>'


def copy(stmt, target, source, also=""):
    return f"""affine.for %i = 0 to 8 {{
      %x = affine.load %{source}[%i] : memref<8xf32>
      affine.store %x, %{target}[%i] {{hls.stmt = "{stmt}"}} : memref<8xf32>
      {also}
    }}"""


def kernel(*body, processes=TWO):
    lines = "\n".join(body)
    region = f"hls.dataflow = {processes}, " if processes else ""
    return f"func.func @k({ARGS}) attributes {{{region}hls.top}} {{\n{lines}\nreturn\n}}"


def refusal(text):
    with dialect.context() as context:
        module = ir.Module.parse(text, context)
        with pytest.raises(IRError) as caught:
            verify_module(module)
    assert caught.value.code == "W335"
    return caught.value.render()


STREAM = ", hls.stream = #hls.stream<4 : i64>"


def test_a_stream_between_two_processes_passes():
    text = kernel(local(more=STREAM), copy("S0", "t", "A"), copy("S1", "C", "t"))
    with dialect.context() as context:
        module = ir.Module.parse(text, context)
        verify_module(module)
        function = dialect.top_function(module)
        assert processes_of(function) == (("S0",), ("S1",))
        alloc = function.operation.regions[0].blocks[0].operations[0]
        assert dialect.local_info(alloc).stream == 4


def loop(*body, bounds="0 to 4", more="", processes=TWO):
    lines = "\n".join(body)
    return f"affine.for %t0 = {bounds} {{\n{lines}\n}} {{hls.dataflow = {processes}{more}}}"


def in_loop(*body, before="", **options):
    return kernel(before, loop(*body, **options), processes=None)


def test_a_loop_whose_body_is_a_region_passes():
    text = in_loop(local(), copy("S0", "t", "A"), copy("S1", "C", "t"))
    with dialect.context() as context:
        verify_module(ir.Module.parse(text, context))


BOTH = (copy("S0", "t", "A"), copy("S1", "C", "t"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (in_loop(*BOTH, before=local()), "processes 0 and 1 share an array that is not of one it"),
        (
            in_loop(local(), *BOTH, more=", hls.pipeline = #hls.pipeline<1 : i64>"),
            "loop '' is no dataflow region: it is pipelined, unrolled or in a pipeline",
        ),
        (
            kernel(
                "affine.for %n = 1 to 4 {",
                loop(local(), *BOTH, bounds="0 to affine_map<(d0) -> (d0)>(%n)"),
                "}",
                processes=None,
            ),
            "loop '' is no dataflow region: its trip count varies",
        ),
        (
            in_loop(local(), local("u"), copy("S0", "t", "A"), copy("S1", "u", "A")),
            "processes 0 and 1 share an array that is not of one iteration",
        ),
        (in_loop(local(), copy("S1", "t", "A"), copy("S0", "C", "t")), "process 0 stands behind"),
    ],
)
def test_what_is_refused_of_a_loop(text, message):
    assert f"error[W335]: {message}" in refusal(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            kernel(local(), copy("S0", "t", "A"), copy("S1", "C", "t"), processes=None).replace(
                '"t"}', f'"t"{STREAM}}}'
            ),
            "the stream 't' does not go from one process to another",
        ),
        (
            kernel(
                local(more=STREAM.replace("4", "0")), copy("S0", "t", "A"), copy("S1", "C", "t")
            ),
            "the stream 't' has a depth of 0",
        ),
        (
            kernel(local(more=STREAM), copy("S0", "t", "A"), copy("S1", "C", "B")),
            "the stream 't' does not go from one process to another",
        ),
        (kernel(copy("S0", "C", "A"), copy("S1", "C", "A")), "processes 0 and 1 use one argument"),
        (
            kernel(local(), copy("S0", "t", "A"), copy("S1", "t", "B")),
            "'t' is written by processes 0 and 1",
        ),
        (
            kernel(
                local(),
                local("u"),
                copy("S0", "t", "A"),
                copy("S1", "u", "t"),
                copy("S2", "C", "t"),
                processes='#hls.dataflow<[["S0"], ["S1"], ["S2"]]>',
            ),
            "'t' is read by 2 processes",
        ),
        (
            kernel(local(), copy("S0", "C", "t"), copy("S1", "t", "A")),
            "'t' is read by a process before the one that writes it",
        ),
        (kernel(local(), copy("S9", "t", "A")), "statement 'S9' is in no process"),
        (
            kernel(copy("S0", "C", "A"), processes='#hls.dataflow<[["S0"], ["S0"]]>'),
            "statement 'S0' is in two processes",
        ),
        (
            kernel(local(), copy("S1", "t", "A"), copy("S0", "C", "A")),
            "process 0 stands behind process 1",
        ),
        (
            kernel(
                local(),
                copy("S0", "t", "A", 'affine.store %x, %C[%i] {hls.stmt = "S1"} : memref<8xf32>'),
            ),
            "statements of two processes are in one nest",
        ),
        (
            kernel(
                local(),
                "%v = affine.load %A[0] : memref<8xf32>",
                'affine.store %v, %t[0] {hls.stmt = "S0"} : memref<8xf32>',
                'affine.store %v, %C[0] {hls.stmt = "S1"} : memref<8xf32>',
            ),
            "process 1 uses a value of process 0",
        ),
    ],
)
def test_what_is_refused(text, message):
    assert f"error[W335]: {message}" in refusal(text)
