"""The hls dialect: attributes survive writing, printing and parsing; ops check their operands."""

import sys

import pytest

from dsl.expressions.types import FixedType, IntType, Overflow, Quant, f32, fixed, ufixed
from dsl.schedules.loop_requests import LoopRequests
from mlir_passes.dialect import attributes as dialect
from mlir_passes.dialect import element_types, hls
from mlir_passes.dialect.axi import Axi
from mlir_passes.provider import affine, func, ir, memref

A = dialect.ArrayInfo(
    "A",
    fixed[8, 4, "rnd", "sat"],
    (4, 5),
    (dialect.Partition("cyclic", 2, 1), dialect.Partition("complete", 0, 0)),
    dialect.Storage("ram_2p", "bram", -1),
    dialect.Interface("m_axi", "gmem"),
    True,
    "in",
    axi=Axi(512, 64, 8, 70, "slave", "HBM[0]"),
)
B = dialect.ArrayInfo(
    "B", IntType(7, False), (3,), access="inout", reshapes=(dialect.Partition("block", 2, 0),)
)
C = dialect.ArrayInfo("c", f32, access="in", stable=True, cache=(4, 16))
LOCAL = dialect.ArrayInfo("t", ufixed[9, 12], (2,))
ASKED = LoopRequests("flp", True, True, (3, 9), 40, True, True, (("fadd", 2),))
LOOP = dialect.LoopInfo("i", 2, 0, True, dialect.TripCount(0, 9, 5), ("A", "B"), requests=ASKED)
STMT = dialect.StmtInfo("S1", "t[0] = 1", "k.py:3", (dialect.BindOp("fadd", "fabric", 3),))


def example():
    """A module with one of everything; must run inside of a context."""
    with ir.Location.unknown():
        module = ir.Module.create()
        infos = (A, B, C)
        types = [
            ir.MemRefType.get(a.shape, element_types.mlir_type(a.dtype))
            if a.shape
            else element_types.mlir_type(a.dtype)
            for a in infos
        ]
        with ir.InsertionPoint(module.body):
            fn = func.FuncOp("k", (types, []))
        fn.operation.attributes["hls.top"] = ir.UnitAttr.get()
        fn.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [ir.DictAttr.get(dialect.array_attributes(a)) for a in infos]
        )
        with ir.InsertionPoint(fn.add_entry_block()):
            raw = ir.MemRefType.get(LOCAL.shape, element_types.mlir_type(LOCAL.dtype))
            local = memref.AllocOp(raw, [], [])
            for name, attribute in dialect.array_attributes(LOCAL).items():
                local.operation.attributes[name] = attribute
            loop = affine.AffineForOp(0, 2)
            for name, attribute in dialect.loop_attributes(LOOP).items():
                loop.operation.attributes[name] = attribute
            with ir.InsertionPoint(loop.body):
                value = hls.FixedFromFloat(
                    element_types.mlir_type(LOCAL.dtype),
                    fn.arguments[2],
                    element_types.fixed_attribute(LOCAL.dtype),
                )
                index = ir.AffineMap.get_identity(1)
                store = affine.AffineStoreOp(value, local, [loop.induction_variable], map=index)
                for name, attribute in dialect.stmt_attributes(STMT).items():
                    store.operation.attributes[name] = attribute
                affine.AffineYieldOp([])
            func.ReturnOp([])
        return module


def body_of(module):
    return list(dialect.top_function(module).regions[0].blocks[0].operations)


@pytest.mark.parametrize("reparse", [False, True])
def test_every_attribute_is_read_back_as_it_was_written(reparse):
    with dialect.context():
        module = example()
        module.operation.verify()
        if reparse:
            module = ir.Module.parse(str(module))
        assert dialect.argument_infos(dialect.top_function(module)) == (A, B, C)
        local, loop, _ = body_of(module)
        assert dialect.local_info(local) == LOCAL
        assert dialect.loop_info(loop) == LOOP
        cast, store, _ = loop.regions[0].blocks[0].operations
        assert dialect.stmt_info(store) == STMT
        assert dialect.op_type(cast, "dst") == LOCAL.dtype


def test_printed_form_is_the_documented_one():
    with dialect.context():
        text = str(example())
    assert '#hls.partition<"cyclic", 2 : i64, 1 : i64>' in text
    assert '#hls.fixed<8 : i64, 4 : i64, 1 : i64, "rnd", "sat">' in text
    assert "#hls.int<7 : i64, 0 : i64>" in text
    assert "hls.pipeline = #hls.pipeline<2 : i64>" in text


def test_an_integer_is_a_fixed_point_number_that_cuts_towards_zero():
    with dialect.context():
        attribute = element_types.fixed_attribute(IntType(7, False))
        assert dialect.fixed_type(attribute) == FixedType(
            7, 7, False, Quant.TRN_ZERO, Overflow.WRAP
        )


def test_an_op_of_the_wrong_width_is_refused():
    with dialect.context():
        module = example()
        loop = body_of(module)[1]
        cast = loop.regions[0].blocks[0].operations[0]
        cast.operation.attributes["dst"] = element_types.fixed_attribute(fixed[8, 4])
        with pytest.raises(ir.MLIRError, match="result is no raw of 'dst'"):
            module.operation.verify()


def test_a_parameter_of_the_wrong_kind_is_refused():
    with dialect.context(), pytest.raises(ir.MLIRError):
        ir.Attribute.parse('#hls.pipeline<"one">')


def test_a_context_is_shared_by_the_modules_of_a_thread():
    assert dialect.context() is dialect.context()


def test_old_modules_outlive_their_context(monkeypatch):
    monkeypatch.setattr(dialect, "_MODULES_PER_CONTEXT", 1)
    modules = []
    for _ in range(5):
        with dialect.context():
            modules.append(example())
    assert len({id(m.context) for m in modules}) == 5
    for module in modules:
        with module.context:
            module.operation.verify()
            assert dialect.loop_info(body_of(module)[1]) == LOOP
            assert dialect.argument_infos(dialect.top_function(module)) == (A, B, C)


def test_attributes_are_read_without_looking_for_their_module_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A failed search for the dialect's module costs 20 µs at each attribute: more than all else."""
    asked = []

    class Listener:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            asked.append(name)

    with dialect.context():
        module = example()
        monkeypatch.setattr(sys, "meta_path", [Listener(), *sys.meta_path])
        for op in dialect.top_function(module).regions[0].blocks[0].operations:
            if op.operation.name == "affine.for":
                assert dialect.loop_info(op) == LOOP
    assert asked == []
