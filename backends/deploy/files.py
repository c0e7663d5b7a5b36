"""The files of ``deploy/``: a host in C++ and the link of v++ for cards; a host in Python, a notebook and a block
design for boards with a processor.
"""

from __future__ import annotations

import pprint
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from backends.deploy.arguments import Passed, behind_row, passed
from backends.deploy.boards import Board
from backends.deploy.notebook import notebook
from backends.deploy.processors import processor
from backends.vitis.files import ProjectFiles
from backends.vitis.makefile import AP_HEADERS, AP_INCLUDE
from backends.vitis.tcl import tcl_word
from backends.vitis.testbench import (
    Golden,
    check_call,
    declaration,
    load_call,
    packing,
    unpacking,
    words_declaration,
)
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Interface
from mlir_passes.emit.hls import Argument

_TEMPLATES = Path(__file__).parent / "templates"
FOLDER = "deploy"
_BUNDLE = "gmem"  # what the tool calls a port that has no name


def deployment(
    names: ProjectFiles,
    data: Sequence[Golden],
    behind: Sequence[Argument],
    schedule: Schedule,
    board: Board,
    expected: str = "",
) -> dict[str, str]:
    """The files by their path in the project.

    Args:
        names: of the project.
        data: its arguments, with what is expected.
        behind: what the kernel takes behind them: memory that hosts provide, and neither fill nor read, and second
            pointers.
        schedule: of the design, whose arrays are all in memory outside.
        board: what to run it on.
        expected: what the README says at its end of the time that it takes.

    Raises:
        ToolError: W407, an argument that no host can pass.
    """
    arguments = passed(data)
    if board.flow.flow == "xrt":
        made = {
            "host.cpp": _host(names, data, behind),
            "software_device.h": _template("software_device.h", {}),
            "Makefile": _template("card.mk", _card(names, board)),
            "README.md": _template("card.md", {**_card(names, board), "BOARD": board.name}),
        }
        if options := _options(names):
            made["options.tcl"] = options
    else:
        values = _board(names, arguments, behind, schedule, board)
        made = {
            "run.py": _template("run.py.in", values),
            "software.cpp": _template("software.cpp", values),
            "run.ipynb": notebook(names.top, board.name, [a.name for a in arguments]),
            "block_design.tcl": _template("block_design.tcl", values),
            "Makefile": _template("board.mk", values),
            "README.md": _template("board.md", values),
        }
    made["README.md"] += expected
    made[".gitignore"] = "build/\n*.log\n*.jou\n.Xil/\n_x/\n"
    return {f"{FOLDER}/{name}": text for name, text in made.items()}


def _template(name: str, values: Mapping[str, str]) -> str:
    text = (_TEMPLATES / name).read_text("utf-8")
    return re.sub(r"@([A-Z]+)@", lambda m: values.get(m[1], m[0]), text)


# -------------------------------------------------------------------------------------------- cards


def _host(names: ProjectFiles, data: Sequence[Golden], behind: Sequence[Argument]) -> str:
    arrays = [g for g in data if g.argument.shape]
    lines: dict[str, list[str]] = {key: [] for key in ("BUFFERS", "LOADS", "TO", "FROM", "CHECKS")}
    for n, g in enumerate(data):
        cpp = g.argument.cpp
        lines["LOADS"].append(f"    {load_call(g, 'golden', f'host_{cpp}')};")
        if not g.argument.shape:
            continue
        passed_ = f"{'words' if g.argument.lanes else 'host'}_{cpp}"
        if g.argument.lanes:
            lines["LOADS"].append(f"    {packing(g, f'host_{cpp}', passed_)};")
        lines["BUFFERS"].append(
            f"  xrt::bo buffer_{cpp}(device, sizeof({passed_}), kernel.group_id({n}));"
        )
        # What is only written goes there, too: a kernel may leave elements as they are.
        lines["TO"].append(f"    buffer_{cpp}.write({passed_});")
        lines["TO"].append(f"    buffer_{cpp}.sync(XCL_BO_SYNC_BO_TO_DEVICE);")
        if g.final is not None:
            lines["FROM"].append(f"    buffer_{cpp}.sync(XCL_BO_SYNC_BO_FROM_DEVICE);")
            lines["FROM"].append(f"    buffer_{cpp}.read({passed_});")
            if g.argument.lanes:
                lines["CHECKS"].append(f"    {unpacking(g, f'host_{cpp}', passed_)};")
            lines["CHECKS"].append(f"    wrong += {check_call(g, 'golden', f'host_{cpp}')};")
    lines["BUFFERS"] += [_scratch_buffer(a, n) for n, a in enumerate(behind, len(data)) if not a.of]
    declared = [f"static {declaration(g.argument, f'host_{g.argument.cpp}')};" for g in data]
    declared += [
        f"static {words_declaration(g.argument, f'words_{g.argument.cpp}')};"
        for g in data
        if g.argument.lanes
    ]
    for one in passed(arrays):
        cpp = one.golden.argument.cpp
        element = f"weft_tb::element<decltype(host_{cpp})>"
        declared.append(
            f'static_assert(sizeof({element}) == {one.memory.itemsize}, "{cpp} in memory");'
        )
    values = {
        "TOP": names.top,
        "FIRST": data[0].initial_file if data else "",
        "DECLARATIONS": "\n".join(declared) + "\n",
        "BUFFERS": "\n".join(lines["BUFFERS"]),
        "LOADS": "\n".join(lines["LOADS"]),
        "ARGUMENTS": ", ".join(
            [
                *(
                    f"buffer_{g.argument.cpp}" if g.argument.shape else f"host_{g.argument.cpp}"
                    for g in data
                ),
                *(f"buffer_{a.of or a.cpp}" for a in behind),
            ]
        ),
        "CHECKS": "\n".join(lines["CHECKS"]),
    }
    text = _template("host.cpp", values)
    for key, name in (("TO", "@TO_DEVICE@"), ("FROM", "@FROM_DEVICE@")):
        text = text.replace(name, "\n".join(lines[key]))
    return text


def _scratch_buffer(argument: Argument, number: int) -> str:
    size = f"sizeof({words_declaration(argument, '')})"
    buffer = f"xrt::bo buffer_{argument.cpp}(device, {size}, kernel.group_id({number}));"
    return f"  {buffer}  // neither filled nor read"


def _options(names: ProjectFiles) -> str:
    """What the tool is told by a script, as v++ has no word for it."""
    math = "config_compile -unsafe_math_optimizations\n" if names.unsafe_math else ""
    return math + ("config_compile -pipeline_loops 0\n" if names.only_asked else "")


def _card(names: ProjectFiles, board: Board) -> dict[str, str]:
    return {
        "TOP": names.top,
        "PLATFORM": board.flow.platform,
        "MHZ": f"{1000 / names.clock:.0f}",
        "HEADERS": " ".join(f"../{name}" for name in names.headers),
        "AP": AP_INCLUDE if names.ap_types else "",
        "OPTIONS": " --hls.pre_tcl options.tcl" if _options(names) else "",
        "NEEDSAP": AP_HEADERS if names.ap_types else "",
    }


# ----------------------------------------------------------------------- boards with a processor


def _board(
    names: ProjectFiles,
    arguments: Sequence[Passed],
    behind: Sequence[Argument],
    schedule: Schedule,
    board: Board,
) -> dict[str, str]:
    outside = [s for s in schedule if isinstance(s, Interface) and s.mode == "m_axi"]
    bundles = dict.fromkeys(
        b for s in outside for b in (s.bundle or _BUNDLE, s.reads, *s.also) if b
    )
    mhz = f"{1000 / names.clock:g}"
    table = pprint.pformat([a.row() for a in arguments], width=100, sort_dicts=False)
    first = next((a.name for a in arguments), "x")
    return {
        **_card(names, board),
        **processor(board.device, mhz),
        "TOP": names.top,
        "BOARD": board.name,
        "TABLE": table,
        "BEHIND": pprint.pformat([behind_row(a) for a in behind], width=100, sort_dicts=False),
        "EXAMPLE": first,
        "PART": tcl_word(names.device.part),
        "BOARDPART": tcl_word(board.flow.board_part),
        "MHZ": mhz,
        "BUNDLES": " ".join(tcl_word(name) for name in bundles),
    }
