"""Weft's public API: what kernels, schedules and scripts import.

Names are loaded when they are first used, so ``import weft`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backends.equivalence import Equivalence
    from backends.rtl.synth import SynthReport
    from backends.verify import VerifyResult
    from backends.vitis.project import Project
    from dse.api.run import Run
    from dse.api.space import space as space
    from dsl.kernels.kernel import Kernel
    from dsl.schedules.schedule import Schedule
    from mlir_passes.pipeline import Design
    from qor_gnn.result.qor_estimate import QorEstimate

_WHERE = {
    "dsl.frontend.function_kernel": ("kernel",),
    "dsl.kernels.kernel": ("Kernel",),
    "dsl.expressions.intrinsics": (
        "grid",
        "stmt",
        "select",
        "sqrt",
        "exp",
        "log",
        "tanh",
        "sin",
        "cos",
    ),
    "dsl.schedules.schedule": ("Schedule", "ScheduleBuilder"),
    "dsl.errors.errors": (
        *("WeftError", "LanguageError", "ScheduleError", "IRError", "ToolError", "InputError"),
        "Span",
    ),
    "dsl.expressions.types": ("f16", "bf16", "f32", "f64", "fixed", "ufixed", "const", "index"),
    "dsl.kernels.loader": ("load",),
}
_NAMES = {name: (module, name) for module, names in _WHERE.items() for name in names}
# Words that Python, or another module of ours, has taken.
_NAMES |= {
    "Program": ("dsl.builder.program", "ProgramBuilder"),
    "min": ("dsl.expressions.intrinsics", "minimum"),
    "max": ("dsl.expressions.intrinsics", "maximum"),
    "abs": ("dsl.expressions.intrinsics", "absolute"),
}
_OF_STUDIES = {name: ("dse.api.objective", name) for name in ("Objective", "sampler")}
_OF_STUDIES |= {name: (f"dse.api.{name}", name) for name in ("on_board", "space")}
_FUNCTIONS = (
    *("compile", "equivalence", "estimate", "explore", "export", "load_run", "synth", "verify"),
)
# Not what would hide Python's own, nor what takes long to load: `from weft import *` is for kernels.
# Of the integers the usual ones; those of other widths have to be named.
_INTEGERS = ("u1", *(f"{sign}{width}" for sign in "iu" for width in (8, 16, 32, 64)))
__all__ = sorted({*_NAMES, *_FUNCTIONS, *_INTEGERS} - {"abs", "compile", "max", "min"})


def __getattr__(name: str) -> Any:
    """A public name, or an integer type of any width: ``weft.i7``, ``weft.u129``."""
    if name in _NAMES or name in _OF_STUDIES:
        module, attribute = (_NAMES | _OF_STUDIES)[name]
        value = getattr(import_module(module), attribute)
    else:
        from dsl.expressions.types import int_type_named

        value = int_type_named(name)
        if value is None:
            raise AttributeError(f"module 'weft' has no attribute '{name}'{_suggestion(name)}")
    globals()[name] = value
    return value


def _suggestion(name: str) -> str:
    from dsl.errors.errors import did_you_mean

    near = did_you_mean(name, __dir__())
    return f"; {near}" if near and near.startswith("did you mean") else ""


def __dir__() -> list[str]:
    return sorted({*_NAMES, *_OF_STUDIES, *_FUNCTIONS})


def compile(
    kernel: Kernel, schedule: Schedule | str | None = None, size: str | None = None
) -> Design:
    """Compile a kernel under a schedule, which is checked at once.

    Args:
        kernel: A kernel.
        schedule: A schedule, the name of one of the kernel's, or None for the program as it is.
        size: One of the kernel's named sizes; None for the sizes that it captured.

    Returns:
        The design: its levels, and the HLS C++ as ``.hls_cpp``. Those below the schedule are made
        when they are asked for.

    Raises:
        LanguageError: W1xx: the kernel is not a program of the language.
        ScheduleError: W2xx: the schedule names what is not there, or is not legal.
        InputError: W505: the kernel has no schedule of that name; W509: not a kernel.
    """
    from dse.api.design import compiled
    from dsl.kernels.call_arguments import check_call

    check_call("compile", kernel=kernel, size=size, optional=("size",))
    return compiled(kernel, schedule, size)


def verify(
    kernel: Kernel,
    schedule: Schedule | str | None = None,
    size: str | None = None,
    *,
    seed: int = 0,
    trials: int = 1,
) -> VerifyResult:
    """Check that interpreter, JIT and compiled HLS C++ agree.

    Args:
        kernel: A kernel; its inputs are those of `Kernel.make_inputs`.
        schedule: As for `compile`.
        size: As for `compile`; small sizes are quicker and find as much.
        seed: Of the inputs.
        trials: Sets of inputs.

    Raises:
        WeftError: as `compile`, and W401, W410 where g++ or the ap_types headers are missing.
    """
    from backends.verify import verify_many
    from dsl.kernels.call_arguments import check_call

    check_call("verify", kernel=kernel, size=size, seed=seed, trials=trials, optional=("size",))
    design = compile(kernel, schedule, size)
    maker = kernel.at(size).make_inputs
    return verify_many([design], seed, trials, make_inputs=[maker])[0]


def equivalence(
    kernel: Kernel, schedule: Schedule | str | None = None, size: str | None = None
) -> Equivalence:
    """Prove, without running anything, that level 3 of a design does what the kernel says.

    Args:
        kernel: A kernel.
        schedule, size: As for `compile`.

    Raises:
        WeftError: as `compile`.
    """
    from backends.equivalence import equivalence as proof
    from dsl.kernels.call_arguments import check_call

    check_call("equivalence", kernel=kernel, size=size, optional=("size",))
    return proof(compile(kernel, schedule, size))


def estimate(
    kernel: Kernel,
    schedule: Schedule | str | None = None,
    size: str | None = None,
    *,
    device: str | None = None,
    clock: float | None = None,
    tool: str | None = None,
    explain: bool = False,
    routed: bool = False,
    uncertainty: float | None = None,
    calibration: str | Path | None = None,
) -> QorEstimate:
    """Estimate latency (cycles), intervals and resources as an HLS tool would report them.

    Args:
        kernel: A kernel.
        schedule, size: As for `compile`.
        device: Where it is to run; None for the tool's own device.
        clock: The target period in ns; None for the tool's.
        tool: A tool personality; None for the one that fits device and clock.
        explain: Give the critical path of each loop too.
        routed: Give what placement and routing are expected to make of it, as ``.routed``; of the open backend
            None, whose figures are expected then already.
        uncertainty: Share of the period that the tool keeps free; None for the tool's own.
        calibration: A file of ``weft calibrate``, whose measurements win over the tool's operators.

    Raises:
        WeftError: as `compile`, and W403, W450 to W452 for the device, the tool and the clock; W509, W512, W552 for the
            arguments and the calibration.
    """
    from dse.api.design import estimated
    from dsl.kernels.call_arguments import check_call

    check_call(
        "estimate", kernel=kernel, size=size, device=device, clock=clock, tool=tool,
        uncertainty=uncertainty, calibration=calibration,
        optional=("size", "device", "clock", "tool", "uncertainty", "calibration"),
    )  # fmt: skip
    return estimated(kernel, schedule, size, device, clock, tool, explain=explain, routed=routed,
                     uncertainty=uncertainty, calibration=calibration)  # fmt: skip


def export(
    kernel: Kernel,
    folder: str | Path,
    schedule: Schedule | str | None = None,
    size: str | None = None,
    *,
    device: str | None = None,
    clock: float = 10.0,
    tool: str | None = None,
    seed: int = 0,
    force: bool = False,
    prove: bool = True,
    deploy: str | None = None,
    uncertainty: float | None = None,
    calibration: str | Path | None = None,
) -> Project:
    """Write a complete Vitis HLS project with a self-checking testbench.

    Args:
        kernel: A kernel.
        folder: Where to; it is made.
        schedule, size: As for `compile`.
        device: A device or a part; None for xczu9eg, or that on the board.
        clock: The target period in ns.
        tool: The version whose figures qor.json has; None for the one that was measured on the device.
        seed: Of the testbench's inputs (see `Kernel.make_inputs`).
        force: Write into a folder that has other contents.
        prove: Only write what `equivalence` does not refute, and say in the project what it found.
        deploy: A board to bring it to: arrays in its memory, a host (docs/guide/deploy.md).
        uncertainty, calibration: As for `estimate`.

    Raises:
        WeftError: as `compile`, W403 to W407, W430, W431, W450, W452 for the device, the tool and the
            folder, and W326 to W328, W336 to W339 for a design that is refuted.
    """
    from dse.api.design import exported
    from dsl.kernels.call_arguments import check_call

    check_call(
        "export", kernel=kernel, folder=folder, size=size, device=device, clock=clock, tool=tool,
        seed=seed, uncertainty=uncertainty, calibration=calibration,
        optional=("size", "tool", "device", "uncertainty", "calibration"),
    )  # fmt: skip
    return exported(kernel, folder, schedule, size, device, clock, tool=tool, seed=seed, force=force,
                    prove=prove, deploy=deploy, uncertainty=uncertainty, calibration=calibration)  # fmt: skip


def explore(
    kernel: Kernel,
    size: str | None = None,
    *,
    schedule: Schedule | str | None = None,
    fix: Sequence[str] = (),
    deploy: str | None = None,
    device: str | None = None,
    clock: float | tuple[float, float] = 10.0,
    tool: str | None = None,
    out: str | Path | None = None,
    trials: int = 40,
    seconds: float | None = None,
    objectives: Sequence[str] | None = None,
    dsp: int | None = None,
    share: float | None = None,
    limits: Mapping[str, int | str] | None = None,
    max_latency: float | None = None,
    strategy: str = "auto",
    seed: int = 0,
    reassociate: bool = False,
    supported: bool = False,
    routed: bool = False,
    budget: str = "csynth",
    evaluator: str | None = None,
    jobs: int = 1,
    resume: bool = False,
    progress: bool = True,
    uncertainty: float | None = None,
    calibration: str | Path | None = None,
) -> Run:
    """Search the schedules of a kernel for the best designs within a device's resources.

    Args:
        kernel, size: As for `compile`.
        schedule: That the search begins with, or its name: all designs have what it says of loops,
            interfaces, storage and tasks; its pipelines, unrolling and partitions are searched.
        fix: Those of them that all designs have, too: ``partition``, ``pipeline:S1.j``.
        deploy: A board, whose memory holds the arrays of all designs (docs/guide/deploy.md).
        device: The device that designs are made for; None for xczu9eg, or that on the board.
        clock: The target period in ns; or a range, ``(3, 10)``, of which the run fastest in time is returned.
        tool, uncertainty, calibration: As for `estimate`.
        out: The run's folder; None for one that lasts as long as the result.
        trials: Points to evaluate in all, those before ``resume`` included.
        seconds: After which no further point is evaluated, but for the program as it stands if there is no
            design; None for any number.
        objectives: What to make small: latency (or seconds), dsp, lut, ff, bram18. Latency and dsp unless said; lut
            instead of dsp where no operator takes a DSP slice.
        dsp: Slices that a design may use; None for the device's.
        share: Of the device's resources; None for all DSP slices and 0.8 of LUT, FF and BRAM.
        limits: By resource, a number or a part of the device's like ``"20%"``.
        max_latency: In cycles; slower designs are of no use.
        strategy, seed: As ``weft explore --strategy``, and of its samplers.
        reassociate: Allow reductions to be done in any order.
        supported: Only designs that labels of the tool show (docs/guide/explore.md, What labels show).
        routed: Show what placement and routing are expected to make of designs, too.
        budget: Whose LUT, FF and BRAM keep to the limits: ``csynth``; ``routed``, the upper ends of the above.
        evaluator: Whose figures the search goes by: ``model``, ``gnn``, or (None) ``both``.
        jobs: Evaluations at once.
        resume, progress: Go on with the run in ``out``; show progress on standard error.

    Raises:
        WeftError: as `estimate`; W405 for the range; W406, W407 for the board; W508, W509, W521 to W528 for the
            folder, the arguments and libraries that are missing.
    """
    from dse.api.explore import explored

    return explored(
        kernel, out, schedule, resume=resume, progress=progress, size=size, fix=fix, device=device,
        deploy=deploy, clock=clock, tool=tool, trials=trials, seconds=seconds, objectives=objectives, dsp=dsp, share=share,
        limits=limits or {}, max_latency=max_latency, strategy=strategy, seed=seed,
        reassociate=reassociate, supported=supported, routed=routed, budget=budget, evaluator=evaluator,
        jobs=jobs, uncertainty=uncertainty, calibration=calibration,
    )  # fmt: skip


def load_run(folder: str | Path, kernel: Kernel | None = None) -> Run:
    """Open what `explore`, or ``weft explore``, has found. Nothing of the folder is executed.

    Args:
        folder: Of the run.
        kernel: That it was begun with; None for what the folder holds as data.

    Raises:
        WeftError: W521 no run is there; W536 it was begun with another kernel.
    """
    from dse.api.run import load_run as opened
    from dsl.kernels.call_arguments import check_call

    check_call("load_run", folder=folder, kernel=kernel, optional=("kernel",))
    return opened(folder, kernel)


def synth(
    kernel: Kernel,
    schedule: Schedule | str | None = None,
    size: str | None = None,
    *,
    device: str = "ecp5-85k",
    clock: float = 10.0,
    out: str | Path | None = None,
    timeout: float = 1800.0,
) -> SynthReport:
    """Make RTL of a design, simulate it, and synthesise, place and route it with open tools.

    Args:
        kernel: A kernel.
        schedule, size: As for `compile`.
        device: ecp5-25k, ecp5-45k, ecp5-85k, or xc7, which ends after synthesis.
        clock: The period to aim at, in ns.
        out: Keep the tools' files there.
        timeout: Seconds for synthesis, and for each routing.

    Raises:
        WeftError: as `compile`; W44x where the design has no hardware or a tool is missing.
    """
    from pathlib import Path

    from backends.rtl.synth import SynthOptions, default_cache
    from backends.rtl.synth import synth as made
    from dsl.kernels.call_arguments import check_call

    check_call(
        "synth", kernel=kernel, size=size, device=device, clock=clock, folder=out,
        optional=("size", "folder"),
    )  # fmt: skip
    design = compile(kernel, schedule, size)
    options = SynthOptions(device, clock, seconds=timeout, cache=default_cache())
    return made(
        design.program, design.schedule, design.module, options,
        make_inputs=kernel.at(size).make_inputs, folder=None if out is None else Path(out),
    )  # fmt: skip


if __name__ == "__main__":  # python -m weft
    from dse.cli import main

    main()
