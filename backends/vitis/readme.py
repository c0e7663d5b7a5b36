"""The project's README: what it is, how to run it, what each file is."""

from __future__ import annotations

from backends.equivalence import Equivalence
from backends.vitis.files import ProjectFiles
from backends.vitis.testbench import Golden, passed_as
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from mlir_passes.emit.hls import Argument

_TEXT = """\
# @TOP@: a Vitis HLS project

Exported by Weft for the device `@PART@` at a clock period of @PERIOD@ ns.

| argument | type | direction |
|---|---|---|
@ARGUMENTS@

## Run it

```sh
make csim               # g++ alone: compile the kernel with its testbench, and run them
make csynth             # Vitis HLS, classic flow; then: make cosim, make export, make impl
make unified-csynth     # Vitis HLS, unified flow (v++, vitis-run); then: make unified-cosim, ...
vitis_hls -f run_hls.tcl csim csynth cosim
```

The scripts are written for Vitis HLS 2022.1 to 2025.2. @AP@

## Files

| file | what it is |
|---|---|
| `@TOP@.cpp`, `@TOP@.h` | the kernel |
| `tb_@TOP@.cpp`, `weft_tb.h` | the testbench: reads `data/`, runs the kernel once, compares |
| `data/` | inputs (seed @SEED@), and what Weft's interpreter makes of them without a schedule (a compiler, where that would take long); `weft_tb.h` says how |
| `run_hls.tcl`, `hls_config.cfg` | the two flows of Vitis HLS |
| `program.json` | the kernel as Weft understood it, as data |
| `schedule.json`, `schedule.py` | the schedule that made this design out of the kernel |
@EXTRA@| `weft.json` | what was exported, with the sum of each file |

@EXACT@

@PROOF@

## The schedule

@SCHEDULE@
"""

_NEEDS_AP = (
    "The kernel uses `ap_int` or `ap_fixed`: with g++ alone, their headers come from "
    "the Python package `hls4ml` (`make csim AP_TYPES=/path/to/folder` names others)."
)
_PLAIN = "The kernel uses plain C++ types: g++ alone is enough for `make csim`."


# What others may add to a project.
_EXTRA = {
    "deploy/": "a host program, and what builds the bitstream that it loads: see its README.md",
    "link.cfg": "which memory outside each port is connected to, for the linker",
    "qor.json": "the prediction: latency, intervals and resources, and where they come from",
    "verification.json": "what was checked before the export, at which size and by what",
    "report.html": "the exploration that found this design: open it in a browser",
}


def _proof(proof: Equivalence | None) -> str:
    """What is known, without any data, of the loops that the C++ is made of."""
    subject = "That the loops of the design do what the kernel says"
    if proof is None:
        return f"{subject} was not looked at (`--no-equivalence`)."
    if proof.verdict != "proven":
        return f"{subject} is {proof.verdict}: {proof.detail}."
    return (
        f"{subject} is proven, for all inputs: each iteration once, in an order that keeps every "
        "dependence, on the same elements. The C++ is printed from these loops."
    )


def readme(
    files: ProjectFiles,
    program: Program,
    schedule: Schedule,
    seed: int,
    data: tuple[Golden, ...],
    behind: tuple[Argument, ...] = (),
    extra: tuple[str, ...] = (),
    proof: Equivalence | None = None,
) -> str:
    """The text. Names in it are plain words (see `checked_name`)."""
    rows = []
    for array, g in zip(program.arguments, data, strict=True):
        direction = {"in": "in", "out": "out", "inout": "in and out"}[g.argument.access]
        rows.append(f"| `{passed_as(g.argument)}` | `{array.type}` | {direction} |")
    for a in behind:
        array = program.array(a.name)
        what = f"`{a.of}` again: it is read here" if a.of else "memory, neither filled nor read"
        rows.append(f"| `{passed_as(a)}` | `{array.type}` | {what} |")
    loose = [g.argument.cpp for g in data if g.tolerance]
    exact = "The testbench asks for the very same bits."
    if loose:
        exact = (
            f"The testbench asks for the very same bits, but in {', '.join(loose)}: there the "
            "order of a reduction was set free, or exp, log or tanh occur, and it allows a "
            "distance that it names."
        )
    if files.unsafe_math:
        exact += (
            "\n\nThe scripts turn on the tool's unsafe math optimisations, as the schedule sets the "
            "order of a sum free: a sum of many terms then becomes a tree. The option holds for "
            "all of the design, so that RTL co-simulation may differ by rounding in other results too."
        )
    if files.only_asked:
        exact += (
            "\n\nThe scripts tell the tool to pipeline no loop unasked (by default it pipelines innermost loops, and loops "
            "around short ones): the figures that the schedule was chosen by are of designs made so."
        )
    if files.flushing:
        exact += (
            "\n\nThe scripts ask for pipelines that flush: two processes wait for each other over "
            "FIFOs that can be full, and a pipeline that stalls as a whole would keep back a word that "
            "the other one waits for."
        )
    steps = schedule.to_python(kernel=files.top).rstrip()
    values = {
        "TOP": files.top,
        "PART": files.device.part,
        "PERIOD": files.period,
        "ARGUMENTS": "\n".join(rows),
        "AP": _NEEDS_AP if files.ap_types else _PLAIN,
        "SEED": str(seed),
        "EXTRA": "".join(f"| `{name}` | {_EXTRA[name]} |\n" for name in extra),
        "EXACT": exact,
        "PROOF": _proof(proof),
        "SCHEDULE": f"```python\n{steps}\n```" if schedule.steps else "None: as the kernel stands.",
    }
    text = _TEXT
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
