"""Where the headers ap_int.h and ap_fixed.h are: Vitis HLS's own, or the copy in hls4ml."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from dsl.errors.errors import ToolError


@dataclass(frozen=True, slots=True)
class ApTypes:
    """A folder with the headers, and where it comes from (``hls4ml 1.3.0``, ``Vitis HLS``)."""

    folder: Path
    origin: str


def find_ap_types() -> ApTypes | None:
    """The headers of hls4ml if it is installed (it is not imported), else those of Vitis HLS.

    hls4ml's come first: they are the same on every machine.
    """
    try:
        distribution = metadata.distribution("hls4ml")
    except metadata.PackageNotFoundError:
        distribution = None
    if distribution is not None:
        for file in distribution.files or ():
            if file.name == "ap_int.h" and file.parts[-3:-1] == ("vivado", "ap_types"):
                folder = Path(str(file.locate())).parent
                if (folder / "ap_fixed.h").is_file():
                    return ApTypes(folder, f"hls4ml {distribution.version}")
    for variable in ("XILINX_HLS", "XILINX_VITIS"):
        if root := os.environ.get(variable):
            folder = Path(root) / "include"
            if (folder / "ap_int.h").is_file():
                return ApTypes(folder, f"Vitis HLS at {root}")
    return None


def need_ap_types(what: str) -> ApTypes:
    """The headers; ToolError W410 naming the missing group where there are none.

    Args:
        what: Who needs them, for the message.
    """
    found = find_ap_types()
    if found is None:
        raise ToolError(
            "W410",
            f"{what} uses ap_int or ap_fixed types, and their headers are not installed",
            help="pip install 'weft[csim]' brings them (in the package hls4ml)",
        )
    return found
