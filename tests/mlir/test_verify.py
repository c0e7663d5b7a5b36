"""Every refusal of the verifier, with its rendered text."""

import pytest

from dsl.errors.errors import IRError
from mlir_passes.dialect import attributes as dialect
from mlir_passes.dialect.verify import verify_module
from mlir_passes.provider import ir

I64 = "hls.type = #hls.int<8 : i64, 1 : i64>"


def refusal(text: str) -> str:
    with dialect.context() as context:
        module = ir.Module.parse(text, context)
        with pytest.raises(IRError) as caught:
            verify_module(module)
    return caught.value.render()


def kernel(body="", args='%A: memref<8x4xf32> {hls.name = "A"}'):
    return f"func.func @k({args}) attributes {{hls.top}} {{\n{body}\nreturn\n}}"


def loop(attributes, body="", bounds="0 to 8"):
    return f'affine.for %i = {bounds} {{\n{body}\n}} {{hls.name = "i", {attributes}}}'


def argument(attributes, type_="memref<8x4xf32>"):
    return kernel(args=f'%A: {type_} {{hls.name = "A", {attributes}}}')


def test_a_proper_module_passes():
    inner = "affine.for %j = 0 to 4 {\n} {hls.unroll = #hls.unroll<0 : i64>}"
    partition = 'hls.partition = [#hls.partition<"cyclic", 2 : i64, 1 : i64>]'
    text = kernel(
        loop('hls.pipeline = #hls.pipeline<1 : i64>, hls.independent = ["A"]', inner),
        f'%A: memref<8x4xf32> {{hls.name = "A", {partition}}}',
    )
    with dialect.context() as context:
        verify_module(ir.Module.parse(text, context))


def test_what_mlir_refuses_keeps_its_reason():
    text = '"builtin.module"() ({ "func.func"() ({ ^bb0: "func.return"() : () -> () }) {sym_name = "k", function_type = () -> ()} : () -> () }) : () -> ()'
    with dialect.context() as context:
        module = ir.Module.parse(text, context)
        function = dialect.top_function(module)
        function.operation.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get([ir.F32Type.get()], [])
        )
        with pytest.raises(IRError) as caught:
            verify_module(module)
    assert caught.value.render() == (
        "error[W313]: MLIR refuses the module\n"
        "  'func.func' op entry block must have 1 arguments to match function signature"
    )


CASES = {
    "an op of another dialect": (
        kernel("%c = arith.constant 0 : index\nscf.for %i = %c to %c step %c {\n}"),
        "error[W311]: 'scf.for' is not an op of level 3\nhelp: docs/level3.md lists what is",
    ),
    "a copy": (
        kernel("memref.copy %A, %A : memref<8x4xf32> to memref<8x4xf32>"),
        "error[W311]: 'memref.copy' is not an op of level 3\nhelp: docs/level3.md lists what is",
    ),
    "two functions": (
        kernel() + "\nfunc.func private @other()",
        "error[W311]: a level 3 module is one function",
    ),
    "a result": (
        "func.func @k() -> f32 {\n%c = arith.constant 1.0 : f32\nreturn %c : f32\n}",
        "error[W311]: the kernel returns a value",
    ),
    "a misspelt annotation": (
        kernel(loop("hls.pipelin = #hls.pipeline<1 : i64>")),
        "error[W312]: 'affine.for' takes no annotation 'hls.pipelin'\n"
        "help: did you mean 'pipeline'?",
    ),
    "an annotation at the wrong place": (
        kernel('affine.if affine_set<() : (0 >= 0)>() {\n} {hls.name = "x"}'),
        "error[W312]: 'affine.if' takes no annotation 'hls.name'",
    ),
    "options of another interface": (
        'func.func @k(%x: memref<4xf32> {hls.name = "x", '
        'hls.axi = #hls.axi<64, 0, 0, -1, "", "", 0, "", "">}) { return }',
        "error[W333]: 'x' has options of m_axi, and another interface",
    ),
    "scratch that is no memory outside": (
        argument('hls.access = "scratch"'),
        "error[W333]: 'A' is scratch, and no array behind m_axi",
    ),
    "scratch that is a scalar": (
        argument('hls.access = "scratch", hls.interface = #hls.interface<"m_axi", "">', "f32"),
        "error[W333]: 'A' is scratch, and no array behind m_axi",
    ),
    "scratch that is constant": (
        argument('hls.access = "scratch", hls.const, hls.interface = #hls.interface<"m_axi", "">'),
        "error[W333]: 'A' is constant and written",
    ),
    "scratch in front of an argument": (
        'func.func @k(%s: memref<4xf32> {hls.name = "s", hls.access = "scratch", '
        'hls.interface = #hls.interface<"m_axi", "">}, %x: f32 {hls.name = "x"}) { return }',
        "error[W333]: the argument 'x' is behind 's', which is scratch\nhelp: scratch comes last",
    ),
    "an interface of a local": (
        kernel('%b = memref.alloc() {hls.interface = #hls.interface<"m_axi", "">} : memref<8xf32>'),
        "error[W312]: 'memref.alloc' takes no annotation 'hls.interface'\n"
        "help: there is contents, name, partition, reshape, storage, stream, type",
    ),
    "a table of too few words": (
        kernel(
            '%b = memref.alloc() {hls.name = "b", hls.contents = array<i64: 1, 2>} : memref<8xf32>'
        ),
        "error[W312]: 'hls.contents' of 'b' has 2 words",
    ),
    "a table of words that do not fit": (
        kernel(
            '%b = memref.alloc() {hls.name = "b", hls.contents = array<i64: -1>} : memref<1xf32>'
        ),
        "error[W312]: 'hls.contents' of 'b' does not fit its type",
    ),
    "a table that is stored to": (
        kernel(
            '%b = memref.alloc() {hls.name = "b", hls.contents = array<i64: 1>} : memref<1xf32>\n'
            "%c = arith.constant 1.0 : f32\naffine.store %c, %b[0] : memref<1xf32>"
        ),
        "error[W312]: 'b' has 'hls.contents', and is stored to",
    ),
    "an annotation of the wrong kind": (
        kernel(loop("hls.pipeline = 1 : i64")),
        "error[W312]: 'hls.pipeline' on 'affine.for' has the wrong kind: 1 : i64",
    ),
    "banks of what is no array": (
        'func.func @k(%x: f32 {hls.name = "x"}) attributes {hls.auto_partition = ["x"]} { return }',
        "error[W330]: 'x' is to be partitioned, and is no array",
    ),
    "banks of what is not there": (
        'func.func @k(%x: memref<4xf32> {hls.name = "rows"}) '
        'attributes {hls.auto_partition = ["row"]} { return }',
        "error[W330]: 'row' is to be partitioned, and is no array\nhelp: did you mean 'rows'?",
    ),
    "banks of what is behind one port": (
        'func.func @k(%x: memref<4xf32> {hls.name = "x", '
        'hls.interface = #hls.interface<"m_axi", "">}) '
        'attributes {hls.auto_partition = ["x"]} { return }',
        "error[W330]: 'x' is behind one port: it has no banks",
    ),
    "a list of the wrong kind": (
        argument("hls.partition = [1 : i64]"),
        "error[W312]: 'hls.partition' on an argument has the wrong kind: [1]",
    ),
    "an iteration over other loops than those around": (
        kernel(
            loop(
                "hls.flatten = #hls.flatten<1 : i64>",
                "%c = arith.constant 1.0 : f32\n"
                "affine.store %c, %A[%i, 0] {hls.iteration = affine_map<(d0, d1) -> (d1)>}"
                " : memref<8x4xf32>",
            )
        ),
        "error[W312]: 'hls.iteration' has 2 dimensions, but 1 loops are around",
    ),
    "an interval of zero": (
        kernel(loop("hls.pipeline = #hls.pipeline<0 : i64>")),
        "error[W325]: loop 'i' has an initiation interval of 0",
    ),
    "a pipeline of nothing": (
        kernel(loop("hls.pipeline = #hls.pipeline<1 : i64>, hls.unroll = #hls.unroll<0 : i64>")),
        "error[W325]: loop 'i' is unrolled completely, so that nothing is left to pipeline\n"
        "help: pipeline the loop around it",
    ),
    "an unroll factor of one": (
        kernel(loop("hls.unroll = #hls.unroll<1 : i64>")),
        "error[W321]: loop 'i' is unrolled by 1\nhelp: a factor is at least 2; 0 is completely",
    ),
    "an unroll factor beyond the trip count": (
        kernel(loop("hls.unroll = #hls.unroll<9 : i64>")),
        "error[W321]: loop 'i' is unrolled by 9 but has 8 iterations\n"
        "help: unroll it completely: factor 0",
    ),
    "nested pipelines": (
        kernel(
            loop(
                "hls.pipeline = #hls.pipeline<1 : i64>",
                'affine.for %j = 0 to 4 {\n} {hls.name = "j", hls.pipeline = #hls.pipeline<1 : i64>}',
            )
        ),
        "error[W322]: loop 'j' is inside of the pipelined loop 'i'\n"
        "help: a pipelined loop unrolls all loops inside: pipeline only one of them",
    ),
    "a trip count on a constant loop": (
        kernel(loop("hls.trip_count = #hls.trip_count<8 : i64, 8 : i64, 8 : i64>")),
        "error[W323]: loop 'i' has constant bounds and a trip count besides",
    ),
    "trip counts in no order": (
        kernel(
            loop(
                "hls.flatten = #hls.flatten<1 : i64>",
                "affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {\n} "
                '{hls.name = "j", hls.trip_count = #hls.trip_count<0 : i64, 4 : i64, 5 : i64>}',
            )
        ),
        "error[W323]: loop 'j' has a minimum, maximum and average trip of 0, 4 and 5",
    ),
    "independence of nothing": (
        kernel(loop('hls.independent = ["a"]')),
        "error[W324]: loop 'i' is independent of 'a', which is no array\nhelp: there is A",
    ),
    "a distance through nothing": (
        kernel(loop("hls.distances = {a = 4 : i64}")),
        "error[W324]: loop 'i' has a distance through 'a', which is no array\nhelp: there is A",
    ),
    "a dimension that is not there": (
        argument('hls.partition = [#hls.partition<"block", 2 : i64, 2 : i64>]'),
        "error[W330]: 'A' has 2 dimensions, there is no dimension 2\nhelp: dimensions count from 0",
    ),
    "a partitioned scalar": (
        argument('hls.partition = [#hls.partition<"complete", 0 : i64, 0 : i64>]', "f32"),
        "error[W330]: 'A' has 0 dimensions, there is no dimension 0\n"
        "help: a scalar needs no partition",
    ),
    "a dimension partitioned twice": (
        argument(
            'hls.partition = [#hls.partition<"block", 2 : i64, 0 : i64>, '
            '#hls.partition<"complete", 0 : i64, 0 : i64>]'
        ),
        "error[W331]: dimension 0 of 'A' is partitioned twice",
    ),
    "a dimension in banks and in words": (
        argument(
            'hls.partition = [#hls.partition<"block", 2 : i64, 0 : i64>], '
            'hls.reshape = [#hls.partition<"complete", 0 : i64, 0 : i64>]'
        ),
        "error[W331]: dimension 0 of 'A' is partitioned twice",
    ),
    "words of what is no memory": (
        argument(
            'hls.reshape = [#hls.partition<"complete", 0 : i64, 0 : i64>], '
            'hls.interface = #hls.interface<"axis", "">'
        ),
        "error[W333]: 'A' is in words, and no memory that is read by address",
    ),
    "a style of what is no pipeline": (
        kernel(loop('hls.style = "flp"')),
        "error[W325]: loop 'i' is no pipeline, and has a style of one, or is rewound",
    ),
    "a style that there is not": (
        kernel(loop('hls.pipeline = #hls.pipeline<1 : i64>, hls.style = "fast"')),
        "error[W312]: 'hls.style' on 'affine.for' has the wrong kind: \"fast\"",
    ),
    "exit checks of what is not unrolled": (
        kernel(loop("hls.skip_exit_check")),
        "error[W325]: loop 'i' has no copies that need no exit check",
    ),
    "a latency that is none": (
        kernel(loop("hls.latency = #hls.latency<9 : i64, 3 : i64>")),
        "error[W325]: loop 'i' has a latency of 9 to 3 and a target of 0 cycles",
    ),
    "a pipeline in a function that is one": (
        kernel(loop("hls.pipeline = #hls.pipeline<1 : i64>")).replace(
            "hls.top", "hls.top, hls.pipeline = #hls.pipeline<2 : i64>"
        ),
        "error[W322]: loop 'i' is inside of the pipelined loop 'the function'\n"
        "help: a pipelined loop unrolls all loops inside: pipeline only one of them",
    ),
    "no unit of an operator": (
        kernel(loop('hls.allocation = [#hls.allocation<"fadd", 0 : i64>]')),
        "error[W325]: loop 'i' has no unit of an operator",
    ),
    "a cache of what is not outside": (
        argument('hls.access = "in", hls.cache = #hls.cache<4 : i64, 16 : i64>'),
        "error[W333]: 'A' has a cache, and is not in memory outside",
    ),
    "what is stable and written": (
        argument('hls.access = "out", hls.stable'),
        "error[W333]: 'A' has a cache, or is stable, and is written",
    ),
    "a factor of one": (
        argument('hls.partition = [#hls.partition<"cyclic", 1 : i64, 0 : i64>]'),
        "error[W332]: factor 1 does not fit dimension 0 of 'A', which has 8 elements",
    ),
    "a factor beyond the dimension": (
        argument('hls.partition = [#hls.partition<"cyclic", 5 : i64, 1 : i64>]'),
        "error[W332]: factor 5 does not fit dimension 1 of 'A', which has 4 elements",
    ),
    "a complete partition with a factor": (
        argument('hls.partition = [#hls.partition<"complete", 4 : i64, 1 : i64>]'),
        "error[W332]: a complete partition has factor 0, not 4",
    ),
    "the memory of a scalar": (
        argument('hls.storage = #hls.storage<"ram_2p", "bram", -1 : i64>', "f32"),
        "error[W333]: 'A' is a scalar, it has no memory to choose",
    ),
    "an unknown access": (
        argument('hls.access = "inn"'),
        "error[W333]: no access is called 'inn'\nhelp: did you mean 'in'?",
    ),
    "a constant that is written": (
        argument('hls.access = "out", hls.const'),
        "error[W333]: 'A' is constant and written",
    ),
    "integers of unknown meaning": (
        kernel(args='%A: memref<8xi8> {hls.name = "A"}'),
        "error[W334]: 'A' holds integers but does not say which\n"
        "help: give it hls.type, as in #hls.int<8 : i64, 1 : i64>",
    ),
    "a type of another width": (
        argument(I64, "memref<8xi9>"),
        "error[W334]: 'A' has elements of 9 bits and a type of 8",
    ),
    "a type of a value of another width": (
        kernel("%c = arith.constant {" + I64 + "} 1 : i9"),
        "error[W334]: 'the result of arith.constant' has elements of 9 bits and a type of 8",
    ),
    "a float with an integer's type": (
        argument(I64),
        "error[W334]: 'A' is a float, it takes no hls.type",
    ),
    "an unknown mode": (
        argument('hls.type = #hls.fixed<8 : i64, 4 : i64, 1 : i64, "rndd", "sat">', "i8"),
        "error[W334]: no quantisation mode is called 'rndd'\nhelp: did you mean 'rnd'?",
    ),
    "elements of no type of the language": (
        argument("hls.const", "memref<8xindex>"),
        "error[W334]: 'A' has elements of index",
    ),
    "a size that is not constant": (
        argument("hls.const", "memref<?xf32>"),
        "error[W334]: 'A' has a size that is not constant",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    text, expected = CASES[name]
    rendered = refusal(text)
    place, _, message = rendered.partition("error[")
    assert place == "-:" + place[2:]  # a place in the text given to the parser, if any
    assert f"error[{message}" == expected
