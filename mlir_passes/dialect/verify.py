"""Is a module level 3, and do its annotations make sense? MLIR's verifier, then our own.

MLIR accepts any ``hls.foo`` on any op without a word, so everything that docs/level3.md says about
annotations is checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dsl.errors.errors import IRError, did_you_mean
from mlir_passes.dialect import hls
from mlir_passes.dialect.access import SCRATCH
from mlir_passes.dialect.attributes import ArrayInfo, LoopInfo, loop_info, place, span_of
from mlir_passes.dialect.auto_partition import AUTO_PARTITION, verify_auto_partitions
from mlir_passes.dialect.loop_requests import REQUEST_CHECKS, contradiction_in
from mlir_passes.dialect.processes import pipeline_of, verify_processes, verify_region
from mlir_passes.dialect.verify_arrays import check_type, checked_array, verify_contents
from mlir_passes.dialect.words import verify_words
from mlir_passes.loop_bounds import Names, bounds_of
from mlir_passes.provider import ir
from polyhedral.looptree.bounds import Bounds

_DIALECTS = frozenset({"affine", "arith", "func", "hls", "math", "memref"})
_MEMREF_OPS = frozenset({"memref.alloc", "memref.alloca"})
_FUNC_OPS = frozenset({"func.func", "func.return"})

Check = Callable[[Any], bool]


def _is(*classes: Any) -> Check:
    return lambda attribute: isinstance(attribute, classes)


def _list_of(cls: Any) -> Check:
    return lambda attribute: (
        isinstance(attribute, ir.ArrayAttr) and all(isinstance(x, cls) for x in attribute)
    )


def _distances(attribute: Any) -> bool:
    """Arrays with iterations, at least 2: one is what a tool takes anyway."""
    return isinstance(attribute, ir.DictAttr) and all(
        isinstance(a.attr, ir.IntegerAttr) and a.attr.value > 1 for a in attribute
    )


_STRING, _UNIT = _is(ir.StringAttr), _is(ir.UnitAttr)
_ON_MEMORY: dict[str, Check] = {
    "hls.name": _STRING,
    "hls.type": _is(hls.Int, hls.Fixed),
    "hls.partition": _list_of(hls.Partition),
    "hls.reshape": _list_of(hls.Partition),
    "hls.storage": _is(hls.Storage),
}
_ON_LOCAL: dict[str, Check] = {
    **_ON_MEMORY,
    "hls.stream": _is(hls.Stream),
    "hls.contents": _is(ir.DenseI64ArrayAttr),
}
_ON_ARGUMENT: dict[str, Check] = {
    **_ON_MEMORY,
    "hls.interface": _is(hls.Interface),
    "hls.axi": _is(hls.Axi),
    "hls.cache": _is(hls.Cache),
    "hls.stable": _UNIT,
    "hls.const": _UNIT,
    "hls.access": _STRING,
}
_ON_LOOP: dict[str, Check] = {
    "hls.name": _STRING,
    "hls.pipeline": _is(hls.Pipeline),
    "hls.unroll": _is(hls.Unroll),
    "hls.flatten": _is(hls.Flatten),
    "hls.sequential": _UNIT,
    "hls.trip_count": _is(hls.TripCount),
    "hls.independent": _list_of(ir.StringAttr),
    "hls.distances": _distances,
    "hls.dataflow": _is(hls.Dataflow),
    **REQUEST_CHECKS,
}
_ON_STORE: dict[str, Check] = {
    "hls.stmt": _STRING,
    "hls.iteration": _is(ir.AffineMapAttr),
    "hls.source": _STRING,
    "hls.line": _STRING,
    "hls.bind_op": _list_of(hls.BindOp),
}
_ON_FUNCTION: dict[str, Check] = {
    "hls.top": _UNIT,
    "hls.dataflow": _is(hls.Dataflow),
    "hls.control": _STRING,
    "hls.pipeline": _is(hls.Pipeline),
    "hls.style": REQUEST_CHECKS["hls.style"],
    AUTO_PARTITION: _list_of(ir.StringAttr),
}
_ON_VALUE: dict[str, Check] = {"hls.type": _is(hls.Int, hls.Fixed)}


def verify_module(module: Any) -> None:
    """Check a module.

    Raises:
        IRError: W311 an op that level 3 has not; W312 an annotation that is unknown, of the wrong
            kind or at the wrong place; W313 what MLIR refuses; W321 to W325 contradictions on
            loops; W330 to W334 on arrays; W335 on processes; W340 on words.
    """
    with module.context:
        _verify_upstream(module)
        functions = [op for op in module.body.operations if op.operation.name == "func.func"]
        if len(functions) != 1 or len(module.body.operations) != 1:
            raise IRError("W311", "a level 3 module is one function", span=span_of(module))
        _Verifier().function(functions[0])


def _verify_upstream(module: Any) -> None:
    try:
        module.operation.verify()
    except ir.MLIRError as e:
        found = e.error_diagnostics
        notes = [str(d.message) for d in found]
        span = place(found[0].location) if found else None
        raise IRError("W313", "MLIR refuses the module", span=span, notes=notes) from e


@dataclass(frozen=True, slots=True)
class _Around:
    """What encloses an op: the number of loops, and the pipelined one, if any."""

    loops: int = 0
    pipelined: str | None = None


@dataclass(slots=True)
class _Verifier:
    names: Names = field(default_factory=Names)
    arrays: dict[str, ArrayInfo] = field(default_factory=dict)
    loops: list[tuple[Any, LoopInfo]] = field(default_factory=list)

    def function(self, function: Any) -> None:
        op = function.operation
        _check_names(op, _ON_FUNCTION)
        if len(function.type.results):
            raise IRError("W311", "the kernel returns a value", span=span_of(op))
        attributes = op.attributes.get("arg_attrs")
        scratch = ""
        for n, type_ in enumerate(function.type.inputs):
            found = attributes[n] if attributes else ir.DictAttr.get({})
            _check_kinds({a.name: a.attr for a in found}, _ON_ARGUMENT, "an argument", op)
            info = checked_array(found, type_, op)
            if scratch and info.access != SCRATCH:
                text = f"the argument '{info.name}' is behind '{scratch}', which is scratch"
                raise IRError("W333", text, span=span_of(op), help="scratch comes last")
            scratch = info.name if info.access == SCRATCH else scratch
            self.arrays[info.name] = info
        pipelined = pipeline_of(function)
        if pipelined is not None and (pipelined[0] < 1 or "hls.dataflow" in op.attributes):
            text = "the function is a pipeline, of an interval below 1, or has processes"
            raise IRError("W325", text, span=span_of(op))
        around = _Around() if pipelined is None else _Around(pipelined="the function")
        self._block(function.regions[0].blocks[0], around)
        for loop, loop_annotations in self.loops:
            self._check_arrays(loop, loop_annotations)
        verify_auto_partitions(function, self.arrays)
        verify_words(function)
        verify_processes(function)

    def _block(self, block: Any, around: _Around) -> None:
        for view in block.operations:
            op = view.operation
            name = op.name
            if name == "affine.for":
                self._loop(op, around)
            elif name == "affine.if":
                _check_names(op, {})
                for region in op.regions:
                    for inner in region.blocks:
                        self._block(inner, around)
            elif name in _MEMREF_OPS:
                self._local(op)
            elif name in ("affine.store", "memref.store"):
                _check_names(op, _ON_STORE)
                _check_iteration(op, around.loops)
                if name == "memref.store":
                    _check_subscripts(op, list(op.operands)[2:])
            else:
                _check_known(op, name)
                _check_value(op)
                if name == "memref.load":
                    _check_subscripts(op, list(op.operands)[1:])

    def _local(self, op: Any) -> None:
        _check_names(op, _ON_LOCAL)
        info = checked_array(op.attributes, op.results[0].type, op)
        verify_contents(op, info)
        self.arrays[info.name] = info

    def _loop(self, op: Any, around: _Around) -> None:
        _check_names(op, _ON_LOOP)
        info, bounds = loop_info(op), bounds_of(op, self.names)
        self.loops.append((op, info))
        _check_loop(op, info, bounds)
        if info.ii is not None:
            if around.pipelined is not None:
                raise IRError(
                    "W322",
                    f"loop '{info.name}' is inside of the pipelined loop '{around.pipelined}'",
                    span=span_of(op),
                    help="a pipelined loop unrolls all loops inside: pipeline only one of them",
                )
            around = _Around(around.loops, info.name)
        if info.processes:
            _check_region(op, info, bounds, around)
            verify_region(op, info.processes)
        inside = _Around(around.loops + 1, around.pipelined)
        self._block(op.regions[0].blocks[0], inside)

    def _check_arrays(self, op: Any, info: LoopInfo) -> None:
        said = [(name, "is independent of") for name in info.independent]
        said += [(name, "has a distance through") for name, _ in info.distances]
        for name, what in said:
            if name not in self.arrays:
                raise IRError(
                    "W324",
                    f"loop '{info.name}' {what} '{name}', which is no array",
                    span=span_of(op),
                    help=did_you_mean(name, self.arrays),
                )


def _check_loop(op: Any, info: LoopInfo, bounds: Bounds) -> None:
    trip = bounds.trip_count
    where = f"loop '{info.name}'"
    if info.ii is not None and info.ii < 1:
        raise IRError("W325", f"{where} has an initiation interval of {info.ii}", span=span_of(op))
    if info.ii is not None and info.unroll == 0:
        raise IRError(
            "W325",
            f"{where} is unrolled completely, so that nothing is left to pipeline",
            span=span_of(op),
            help="pipeline the loop around it",
        )
    _check_unroll(op, info, trip, where)
    if why := contradiction_in(info.requests, info.ii, info.unroll, trip):
        raise IRError("W325", f"{where} {why}", span=span_of(op))
    counts = info.trip_count
    if counts is None:
        return
    if bounds.are_constant:
        raise IRError(
            "W323", f"{where} has constant bounds and a trip count besides", span=span_of(op)
        )
    if not 0 <= counts.minimum <= counts.average <= counts.maximum:
        text = f"{counts.minimum}, {counts.maximum} and {counts.average}"
        raise IRError(
            "W323", f"{where} has a minimum, maximum and average trip of {text}", span=span_of(op)
        )


def _check_region(op: Any, info: LoopInfo, bounds: Bounds, around: _Around) -> None:
    """A loop whose iterations overlap is a loop of constant bounds, in no pipeline."""
    why = "its trip count varies" if bounds.trip_count is None else ""
    if info.ii is not None or info.unroll is not None or around.pipelined is not None:
        why = "it is pipelined, unrolled or in a pipeline"
    if why:
        raise IRError("W335", f"loop '{info.name}' is no dataflow region: {why}", span=span_of(op))


def _check_iteration(op: Any, loops: int) -> None:
    attribute = op.attributes.get("hls.iteration")
    if attribute is None:
        return
    found = attribute.value
    if found.n_dims != loops or found.n_symbols:
        raise IRError(
            "W312",
            f"'hls.iteration' has {found.n_inputs} dimensions, but {loops} loops are around",
            span=span_of(op),
        )


def _check_unroll(op: Any, info: LoopInfo, trip: int | None, where: str) -> None:
    if info.unroll is None or info.unroll == 0:
        return
    if info.unroll < 2:
        raise IRError(
            "W321",
            f"{where} is unrolled by {info.unroll}",
            span=span_of(op),
            help="a factor is at least 2; 0 is completely",
        )
    if trip is not None and info.unroll > trip:
        raise IRError(
            "W321",
            f"{where} is unrolled by {info.unroll} but has {trip} iterations",
            span=span_of(op),
            help="unroll it completely: factor 0",
        )


def _check_known(op: Any, name: str) -> None:
    """Refuse ops of other dialects, and those of ours that level 3 does without."""
    dialect = name.partition(".")[0]
    known = dialect in _DIALECTS and not (
        (dialect == "memref" and name not in _MEMREF_OPS and name != "memref.load")
        or (dialect == "func" and name not in _FUNC_OPS)
    )
    if not known:
        raise IRError(
            "W311",
            f"'{name}' is not an op of level 3",
            span=span_of(op),
            help="docs/level3.md lists what is",
        )


def _check_subscripts(op: Any, subscripts: list[Any]) -> None:
    """A subscript is an ``affine.apply`` or the cast of an integer, and one of them is a cast."""
    makers = [x.owner for x in subscripts]
    made = ["" if isinstance(m, ir.Block) else m.operation.name for m in makers]
    if not set(made) <= {"affine.apply", "arith.index_cast"} or "arith.index_cast" not in made:
        raise IRError(
            "W311",
            f"a subscript of '{op.name}' is neither an 'affine.apply' nor an 'arith.index_cast', "
            "or all are affine",
            span=span_of(op),
            help="'affine.load' and 'affine.store' are for affine subscripts",
        )


def _check_value(op: Any) -> None:
    _check_names(op, _ON_VALUE if len(op.results) else {})
    attribute = op.attributes.get("hls.type")
    if attribute is not None:
        check_type(attribute, op.results[0].type, f"the result of {op.name}", op)


def _check_names(op: Any, known: dict[str, Check]) -> None:
    attributes = op.attributes
    found = {name: attributes[name] for name in attributes if name.startswith("hls.")}
    if found:
        _check_kinds(found, known, f"'{op.name}'", op)


def _check_kinds(found: dict[str, Any], known: dict[str, Check], where: str, op: Any) -> None:
    for name, attribute in found.items():
        if not name.startswith("hls."):
            continue
        check = known.get(name)
        if check is None:
            raise IRError(
                "W312",
                f"{where} takes no annotation '{name}'",
                span=span_of(op),
                help=did_you_mean(name[4:], [k[4:] for k in known]),  # without "hls."
            )
        if not check(attribute):
            raise IRError(
                "W312", f"'{name}' on {where} has the wrong kind: {attribute}", span=span_of(op)
            )
