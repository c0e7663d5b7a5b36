"""The ``hls`` dialect itself; `dialect` holds the readers and writers that others use.

The bindings find this module under its dialect's name (see `provider.search_dialects_in`).
Annotations are evaluated here, so there is no ``from __future__ import annotations``.
"""
# The bindings declare a dialect by class keywords and class attributes, which mypy cannot follow.
# mypy: disable-error-code="misc,call-arg,name-defined,valid-type"

from typing import Any

from mlir_passes.provider import ext, ir

_String, _Int = ir.StringAttr, ir.IntegerAttr


class Hls(ext.Dialect, name="hls"):
    """Annotations for high-level synthesis and fixed-point arithmetic."""


class Int(Hls.Attribute, name="int"):
    """``#hls.int<width, signed>``: how a signless integer is meant."""

    width: _Int
    signed: _Int


class Fixed(Hls.Attribute, name="fixed"):
    """``#hls.fixed<width, integer, signed, quant, overflow>``: the meaning of a raw integer."""

    width: _Int
    integer: _Int
    signed: _Int
    quant: _String
    overflow: _String


class Partition(Hls.Attribute, name="partition"):
    """``#hls.partition<kind, factor, dim>``, of ``hls.partition`` and of ``hls.reshape``."""

    kind: _String
    factor: _Int
    dim: _Int


class Storage(Hls.Attribute, name="storage"):
    """``#hls.storage<type, impl, latency>``."""

    type_: _String
    impl: _String
    latency: _Int


class Interface(Hls.Attribute, name="interface"):
    """``#hls.interface<mode, bundle>``."""

    mode: _String
    bundle: _String


class Axi(Hls.Attribute, name="axi"):
    """``#hls.axi<width, burst, outstanding, latency, offset, bank, lanes, reads, also>``: options of an
    ``m_axi`` port; 0, -1 (latency) and an empty string are the tool's own. ``lanes``: elements of a word, 0
    where the argument is not packed. ``reads``: the bundle of a second pointer, through which it is read. ``also``: those of
    further pointers, with blanks between them.
    """

    width: _Int
    burst: _Int
    outstanding: _Int
    latency: _Int
    offset: _String
    bank: _String
    lanes: _Int
    reads: _String
    also: _String


class Stream(Hls.Attribute, name="stream"):
    """``#hls.stream<depth>``: a FIFO of that many words a memory."""

    depth: _Int


class Dataflow(Hls.Attribute, name="dataflow"):
    """``#hls.dataflow<processes>``: the statements of each process, arrays of strings."""

    processes: ir.ArrayAttr


class BindOp(Hls.Attribute, name="bind_op"):
    """``#hls.bind_op<op, impl, latency>``."""

    op: _String
    impl: _String
    latency: _Int


class Pipeline(Hls.Attribute, name="pipeline"):
    """``#hls.pipeline<ii>``."""

    ii: _Int


class Unroll(Hls.Attribute, name="unroll"):
    """``#hls.unroll<factor>``; 0 is completely."""

    factor: _Int


class Flatten(Hls.Attribute, name="flatten"):
    """``#hls.flatten<enabled>``."""

    enabled: _Int


class Latency(Hls.Attribute, name="latency"):
    """``#hls.latency<min, max>``: cycles of an iteration; 0: nothing is said."""

    minimum: _Int
    maximum: _Int


class Allocation(Hls.Attribute, name="allocation"):
    """``#hls.allocation<op, limit>``."""

    op: _String
    limit: _Int


class Cache(Hls.Attribute, name="cache"):
    """``#hls.cache<lines, depth>``; a depth of 0 is the tool's own."""

    lines: _Int
    depth: _Int


class Leave(Hls.Attribute, name="leave"):
    """``#hls.leave<trips, tests>``: how a loop ends early; 0 trips: nobody said how many to expect."""

    trips: _Int
    tests: ir.ArrayAttr


class TripCount(Hls.Attribute, name="trip_count"):
    """``#hls.trip_count<min, max, avg>``."""

    minimum: _Int
    maximum: _Int
    average: _Int


def _is_raw_of(value: Any, attribute: Any) -> bool:
    """Whether the value's type is the signless integer that holds such fixed-point numbers."""
    type_ = value.type
    return (
        isinstance(type_, ir.IntegerType)
        and type_.is_signless
        and type_.width == ir.IntegerAttr(attribute.width).value
    )


def _check(op: Any, ok: bool, message: str) -> bool:
    if not ok:
        op.location.emit_error(f"'{op.operation.name}' op {message}")
    return ok


class FixedCast(Hls.Operation, name="fixed_cast", traits=[ext.Pure]):
    """Raw to raw: quantise to the new fraction, then handle overflow."""

    result: ext.Result[Any]
    value: ext.Operand[Any]
    src: Fixed
    dst: Fixed

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        """Operand and result have the widths of ``src`` and ``dst``."""
        return _check(
            op, _is_raw_of(op.operands[0], op.attributes["src"]), "operand is no raw of 'src'"
        ) and _check(
            op, _is_raw_of(op.results[0], op.attributes["dst"]), "result is no raw of 'dst'"
        )


class FixedFromFloat(Hls.Operation, name="fixed_from_float", traits=[ext.Pure]):
    """Float to raw: the exact value quantised, then overflow."""

    result: ext.Result[Any]
    value: ext.Operand[Any]
    dst: Fixed

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        """The operand is a float, the result a raw of ``dst``."""
        return _check(
            op, isinstance(op.operands[0].type, ir.FloatType), "operand is no float"
        ) and _check(
            op, _is_raw_of(op.results[0], op.attributes["dst"]), "result is no raw of 'dst'"
        )


class FixedToFloat(Hls.Operation, name="fixed_to_float", traits=[ext.Pure]):
    """Raw to the nearest float, ties to even."""

    result: ext.Result[Any]
    value: ext.Operand[Any]
    src: Fixed

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        """The operand is a raw of ``src``, the result a float."""
        return _check(
            op, _is_raw_of(op.operands[0], op.attributes["src"]), "operand is no raw of 'src'"
        ) and _check(op, isinstance(op.results[0].type, ir.FloatType), "result is no float")


class FixedDiv(Hls.Operation, name="fixed_div", traits=[ext.Pure]):
    """Quotient of two raws, truncated towards zero to the fraction of ``dst``."""

    result: ext.Result[Any]
    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    lhs_type: Fixed
    rhs_type: Fixed
    dst: Fixed

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        """Operands and result have the widths of their types."""
        attributes = op.attributes
        return (
            _check(
                op, _is_raw_of(op.operands[0], attributes["lhs_type"]), "lhs is no raw of its type"
            )
            and _check(
                op, _is_raw_of(op.operands[1], attributes["rhs_type"]), "rhs is no raw of its type"
            )
            and _check(
                op, _is_raw_of(op.results[0], attributes["dst"]), "result is no raw of 'dst'"
            )
        )
