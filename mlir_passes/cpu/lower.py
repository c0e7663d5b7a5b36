"""Level 3 made ready for LLVM on a CPU: what it lacks or gets wrong is spelled out.

It changes a module that only the JIT sees. What it writes for an op becomes a function, made once
for each combination of types, that LLVM inlines where it pays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dsl.expressions.types import FixedType, FloatType
from mlir_passes.cpu import lower_fixed
from mlir_passes.cpu.bits import Bits, build
from mlir_passes.cpu.float_bits import narrow
from mlir_passes.dialect.attributes import ArrayInfo, float_type, local_info, op_type, top_function
from mlir_passes.dialect.element_types import mlir_type
from mlir_passes.provider import ir

_FLOAT_OPS = frozenset(
    f"{dialect}.{name}"
    for dialect, names in (
        ("arith", "addf subf mulf divf negf cmpf"),
        ("math", "absf sqrt exp log tanh sin cos"),
    )
    for name in names.split()
)
_SINGLE = FloatType("f32")


def lower_to_cpu(module: Any) -> tuple[ArrayInfo, ...]:
    """Rewrite a module in place, in its context: afterwards only upstream dialects are in it.

    Returns:
        The local arrays: the function takes memory for them after its arguments.
    """
    top = top_function(module)
    if "arg_attrs" in top.operation.attributes:
        del top.operation.attributes["arg_attrs"]
    outside = _locals_outside(top)
    arguments = [x.type for x in top.regions[0].blocks[0].arguments]
    function_type = ir.FunctionType.get(arguments, [])
    top.operation.attributes["function_type"] = ir.TypeAttr.get(function_type)
    lowering = _Lowering(module)
    for op in all_ops(top):
        _strip(op)
        lowering.rewrite(op)
    _strip(top.operation)
    return outside


def all_ops(function: Any) -> list[Any]:
    """The operations inside a function, outer ones first."""
    found: list[Any] = []

    def visit(op: Any) -> Any:
        found.append(op)
        return ir.WalkResult.ADVANCE

    for block in function.regions[0]:
        for op in block.operations:
            op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _strip(op: Any) -> None:
    """Take the annotations off: LLVM's own lowering knows nothing of them."""
    attributes = op.attributes
    for name in [name for name in attributes if name.startswith("hls.")]:
        del attributes[name]


def _locals_outside(function: Any) -> tuple[ArrayInfo, ...]:
    """Let the caller provide the local arrays, as further arguments; the scalars become variables
    of the whole function.

    One copy does for all iterations, since each finds its locals undefined. (LLVM's own allocation
    would take the size of wide integers from the wrong data layout.)
    """
    entry = function.regions[0].blocks[0]
    outside = []
    for op in all_ops(function):
        if op.name == "memref.alloca":
            op.move_before(entry.operations[0].operation)
        elif op.name == "memref.alloc":
            outside.append(local_info(op))
            argument = entry.add_argument(op.results[0].type, op.location)
            op.results[0].replace_all_uses_with(argument)
            op.erase()
    return tuple(outside)


@dataclass(slots=True)
class _Lowering:
    """Rewrites one op after the other; ``helpers`` are the functions written so far."""

    module: Any
    helpers: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def rewrite(self, op: Any) -> None:
        """Replace an op that LLVM cannot take, or cannot be trusted with, by others."""
        with ir.InsertionPoint(op), op.location:
            result = self._replacement(op)
        if result is not None:
            op.results[0].replace_all_uses_with(result)
            op.erase()

    def _replacement(self, op: Any) -> Any:
        match op.name:
            case "hls.fixed_cast":
                src, dst = op_type(op, "src"), op_type(op, "dst")
                return self._call(op, lambda x: lower_fixed.cast(Bits.of(x), src, dst).value)
            case "hls.fixed_from_float":
                source, dst = float_type(op.operands[0].type), op_type(op, "dst")
                return self._call(op, lambda x: lower_fixed.from_float(x, source, dst).value)
            case "hls.fixed_to_float":
                src, target = op_type(op, "src"), float_type(op.results[0].type)
                return self._call(op, lambda x: lower_fixed.to_float(Bits.of(x), src, target))
            case "hls.fixed_div":
                lhs, rhs = op_type(op, "lhs_type"), op_type(op, "rhs_type")
                dst = op_type(op, "dst")
                return self._call(
                    op,
                    lambda a, b: lower_fixed.divide(Bits.of(a), lhs, Bits.of(b), rhs, dst).value,
                )
            case "arith.floordivsi":
                return _floor_division(op)
            case "arith.sitofp" | "arith.uitofp":
                return self._int_to_float(op)
            case "arith.truncf" | "arith.extf":
                return self._resize_float(op)
            case name if name in _FLOAT_OPS:
                return _in_single_precision(op)
            case _:
                return None

    def _call(self, op: Any, body: Callable[..., Any]) -> Any:
        """A call of the function that does what ``body`` builds from the operands."""
        inputs = [x.type for x in op.operands]
        attributes = tuple((name, op.attributes[name]) for name in op.attributes)
        key = (op.name, attributes, tuple(inputs), op.results[0].type)
        if key not in self.helpers:
            self.helpers[key] = self._function(inputs, op.results[0].type, body)
        callee = ir.FlatSymbolRefAttr.get(self.helpers[key])
        return build("func.call", list(op.operands), op.results[0].type, callee=callee)

    def _function(self, inputs: list[Any], output: Any, body: Callable[..., Any]) -> str:
        name = f"helper_{len(self.helpers)}"
        attributes = {
            "sym_name": ir.StringAttr.get(name),
            "sym_visibility": ir.StringAttr.get("private"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, [output])),
        }
        with ir.InsertionPoint(self.module.body):
            function = ir.Operation.create("func.func", attributes=attributes, regions=1)
            entry = function.regions[0].blocks.append(*inputs)
        with ir.InsertionPoint(entry):
            result = body(*entry.arguments)
            ir.Operation.create("func.return", operands=[result])
        return name

    def _int_to_float(self, op: Any) -> Any:
        """Through the exact conversion where LLVM would call a library or round twice, and where it
        would convert the wrong number: of an unsigned one of more than 32 bits that has been sign
        extended from fewer it takes the low 32 bits (seen for x86-64, to f32, from -O1 on).
        """
        width = op.operands[0].type.width
        target = float_type(op.results[0].type)
        signed = op.name == "arith.sitofp"
        if width <= (64 if signed else 32) and target.width > 16:
            return None
        src = FixedType(width, width, signed)
        return self._call(op, lambda x: lower_fixed.to_float(Bits.of(x), src, target))

    def _resize_float(self, op: Any) -> Any:
        source, target = float_type(op.operands[0].type), float_type(op.results[0].type)
        if source.name == "f64" and target.width == 16:

            def rounded(x: Any) -> Any:
                return build("arith.bitcast", [narrow(x, source, target).value], mlir_type(target))

            return self._call(op, rounded)
        if source.name == "bf16" and target.name == "f64":
            single = build("arith.extf", [op.operands[0]], mlir_type(_SINGLE))
            return build("arith.extf", [single], mlir_type(target))
        return None


def _floor_division(op: Any) -> Any:
    """The quotient, one less where the operands' signs differ and there is a rest. (The pass
    ``arith-expand`` takes −1 for 2**64 − 1 in types of more than 64 bits.)
    """
    a, b = (Bits.of(x) for x in op.operands)
    quotient = a.divide_signed(b)
    rest = a.remainder_signed(b)
    lower = rest.differs(0) & rest.less_signed(0).differs(b.less_signed(0))
    return lower.choose(quotient - 1, quotient).value


def _in_single_precision(op: Any) -> Any:
    """An operator on bf16 computed in f32 and rounded: exact for + − × ÷ and sqrt, since f32 has
    more than twice the bits.
    """
    if not isinstance(op.operands[0].type, ir.BF16Type):
        return None
    single, attributes = mlir_type(_SINGLE), {a: op.attributes[a] for a in op.attributes}
    operands = [build("arith.extf", [x], single) for x in op.operands]
    is_test = op.name == "arith.cmpf"
    result = build(op.name, operands, op.results[0].type if is_test else single, **attributes)
    return result if is_test else build("arith.truncf", [result], op.results[0].type)
