"""``weft graph``: the graph that the predictor sees of a kernel under a schedule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dse.kernels.device import device_options, tool_option
from dse.kernels.target import Target, target, target_options
from dse.views.output import format_option, show
from dsl.errors.errors import InputError

if TYPE_CHECKING:
    from qor_gnn.gnn.graph.build import DesignGraph

COLUMNS = ("part", "kind", "number")


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@target_options
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.svg",
              help="Draw it there.")  # fmt: skip
@device_options("Which device it is scheduled for. Default: the tool's own.")
@click.option("--clock", type=click.FloatRange(min=0, min_open=True), metavar="NS",
              help="The target clock period. Default: the tool's.")  # fmt: skip
@tool_option
@format_option
def command(
    kernel: str,
    schedule: str | None,
    size: str | None,
    out: Path | None,
    device_name: str | None,
    clock: float | None,
    tool: str | None,
    form: str,
) -> int:
    """Show the graph of a scheduled kernel: operations, memories and loops, and how they hang
    together.

    \b
    weft graph gemm.py:gemm --schedule tiled --out gemm.svg

    Its size does not depend on unroll factors: copies are a feature of the nodes.
    """
    from dse.estimates.estimation import estimated, setting
    from qor_gnn.gnn.graph.build import design_graph
    from qor_gnn.gnn.graph.draw import svg

    what: Target = target(kernel, schedule, size)
    where = setting(tool, device_name, clock)
    found = estimated(what.program, what.schedule, where)
    graph = design_graph(found.regions, found.setting.tool, found.answer)
    if out is not None:
        if out.suffix != ".svg":
            raise InputError("W508", f"{out} does not end in .svg", help="write --out NAME.svg")
        try:
            out.write_text(svg(graph), encoding="utf-8")
        except OSError as error:
            raise InputError("W508", f"{out} cannot be written: {error.strerror}") from error
    show("graph", COLUMNS, _rows(graph), form)
    return 0


def _rows(graph: DesignGraph) -> list[dict[str, object]]:
    """How many nodes and edges there are of each kind."""
    nodes = [
        {"part": "nodes", "kind": kind.value, "number": len(names)}
        for kind, names in graph.names.items()
    ]
    edges = [
        {"part": "edges", "kind": f"{a.value} -{kind.value}-> {b.value}", "number": pairs.shape[1]}
        for (a, kind, b), pairs in graph.edges.items()
    ]
    return [*nodes, *edges]
