"""Level 2 as text: for each piece its domain, its loops and its accesses."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyhedral.dataflow.processes import process_names
from polyhedral.scop.scheduled import Piece, ScheduledScop


def describe(state: ScheduledScop) -> str:
    """Readable text of a `ScheduledScop`; loops are named as steps would name them."""
    program = state.scop.program
    lines = [f"kernel {program.name}"]
    lines += [f"  {a.name}: {a.type} ({a.storage.value})" for a in program.arrays]
    for number, piece in enumerate(state.pieces):
        lines += ["", f"piece {number} of {piece.name}", *_piece(piece)]
    if state.reassociated:
        lines += ["", f"reassociated: {', '.join(sorted(state.reassociated))}"]
    for p in state.partitions:
        factor = f" {p.factor}" if p.factor else ""
        lines.append(f"partition {p.array} dim {p.dim}: {p.scheme}{factor}")
    for r in state.reshapes:
        factor = f" {r.factor}" if r.factor else ""
        lines.append(f"reshape {r.array} dim {r.dim}: {r.scheme}{factor}")
    for a in state.auto_partitions:
        lines.append(f"partition {a.array} as its accesses want")
    for number, names in enumerate(process_names(state)):
        lines.append(f"process {number}: {', '.join(names)}")
    for s in state.streams:
        lines.append(f"stream {s.array} of {s.depth} words")
    return "\n".join(lines) + "\n"


def _piece(piece: Piece) -> Iterator[str]:
    stmt = piece.statement.stmt
    if stmt.source:
        yield f"  source   {stmt.source}"
    named = piece.domain
    for k, dim in enumerate(piece.dims):
        named = named.set_dim_name(isl.dim_type.set, k, dim.name)
    yield f"  domain   {named}"
    yield f"  place    {piece.place}"
    for dim in piece.dims:
        marks = [f"pipeline II={dim.pipeline_ii}"] if dim.pipeline_ii is not None else []
        marks += [f"unroll {dim.unroll or 'complete'}"] if dim.unroll is not None else []
        marks += ["sequential"] if dim.sequential else []
        marks += ["dataflow"] if dim.region is not None else []
        yield f"  loop     {dim.name}" + (f" ({', '.join(marks)})" if marks else "")
    for variable, value in piece.bindings:
        yield f"  where    {variable} = {value}"
    for guard in piece.guards:
        yield f"  guard    {guard}"
    yield f"  writes   {stmt.target}"
    for access in piece.statement.reads:
        yield f"  reads    {access}"
