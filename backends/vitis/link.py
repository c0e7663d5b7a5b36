"""``link.cfg``: which memory outside each port of the kernel is connected to (v++ --link, UG1702)."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_passes.emit.hls import Argument


def link_config(top: str, arguments: Sequence[Argument]) -> str:
    """The configuration file that v++ reads when it links the kernel; empty without banks."""
    lines = [f"sp={top}_1.{a.cpp}:{a.bank}" for a in arguments if a.bank]
    if not lines:
        return ""
    head = [
        "# v++ --link --config link.cfg, with the kernel as an .xo file of the Vitis flow",
        "# (flow_target=vitis and package.output.format=xo in hls_config.cfg).",
        "[connectivity]",
        f"nk={top}:1:{top}_1",
    ]
    return "\n".join([*head, *lines]) + "\n"
