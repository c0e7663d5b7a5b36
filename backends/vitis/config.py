"""``hls_config.cfg``: the unified flow of v++ and vitis-run (keys as in UG1399, from 2023.2)."""

from __future__ import annotations

from backends.vitis.files import WORK, ProjectFiles


def hls_config(files: ProjectFiles) -> str:
    """The configuration file that v++ and vitis-run read."""
    testbench = [f"tb.file={path}" for path in (files.testbench, *files.data)]
    lines = [
        f"# v++ -c --mode hls --config hls_config.cfg --work_dir {WORK}",
        f"# vitis-run --mode hls --csim --config hls_config.cfg --work_dir {WORK}",
        "# and the same with --cosim, --package or --impl.",
        f"part={files.device.part}",
        "",
        "[hls]",
        "flow_target=vivado",
        f"clock={files.period}ns",
        *([] if files.margin is None else [f"clock_uncertainty={files.margin}"]),
        f"syn.top={files.top}",
        f"syn.file={files.source}",
        *testbench,
        *(["syn.compile.unsafe_math_optimizations=1"] if files.unsafe_math else []),
        *(["syn.compile.pipeline_loops=0"] if files.only_asked else []),
        *(["syn.compile.pipeline_style=flp"] if files.flushing else []),
        "cosim.rtl=verilog",
        "package.output.format=ip_catalog",
        "vivado.flow=impl",
        "vivado.rtl=verilog",
    ]
    return "\n".join(lines) + "\n"
