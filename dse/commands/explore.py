"""``weft explore``: search the schedules of a kernel and keep the Pareto front."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse import console
from dse.kernels import UNSCHEDULED, target
from dse.output import format_option, show
from dsl.errors import InputError

if TYPE_CHECKING:
    from dse.bounds import Bounds
    from dse.run.directory import RunDirectory
    from dsl.program import Program

NOTHING_FEASIBLE, INTERRUPTED = 3, 130
STRATEGIES = ("auto", "pom", "tpe", "nsga2", "nsga3", "random", "exhaustive")
OBJECTIVES = ("latency", "dsp", "lut", "ff", "bram18")


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@click.option("--out", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="The run's folder.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the run in the folder.")
@click.option("--size", metavar="NAME|N=V,...",
              help="One of the kernel's sizes, or values for names that it captures.")  # fmt: skip
@click.option("--device", "device_name", default="xczu9eg", show_default=True, metavar="NAME|PART",
              help="The device that designs are made for.")  # fmt: skip
@click.option("--clock", type=click.FloatRange(min=0, min_open=True), default=10.0,
              show_default=True, metavar="NS", help="The target clock period.")  # fmt: skip
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=1.0, metavar="X",
              help="Share of the device's resources that a design may use. Default: all.")  # fmt: skip
@click.option("--dsp", type=click.IntRange(min=1), metavar="N",
              help="DSP slices that a design may use.")  # fmt: skip
@click.option("--max-latency", type=click.FloatRange(min=1), metavar="CYCLES",
              help="Designs that take longer are of no use.")  # fmt: skip
@click.option("--objectives", default="latency,dsp", show_default=True, metavar="NAME,...",
              help=f"What to make small: {', '.join(OBJECTIVES)}.")  # fmt: skip
@click.option("--strategy", type=click.Choice(STRATEGIES), default="auto", show_default=True,
              help="How points are chosen.")  # fmt: skip
@click.option("--trials", type=click.IntRange(min=1), default=40, show_default=True,
              help="Points to evaluate in all, those before --resume included.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
              help="Evaluations at once.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0.1), default=60, show_default=True,
              metavar="S", help="Seconds for each evaluation.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Of the samplers.")  # fmt: skip
@click.option("--reassociate", is_flag=True,
              help="Allow reductions to be done in any order.")  # fmt: skip
@format_option
def command(kernel: str, folder: Path, resume: bool, form: str, **given: Any) -> int:
    """Search the schedules of a kernel for the best designs within a device's resources.

    The result is the Pareto front of the objectives, each design with how far it is from the lower
    bound. Everything is kept in the run's folder as it is found: after an interruption, of
    whatever kind, --resume goes on. Ctrl-C once stops when the evaluations under way have ended,
    twice at once. Exits with 3 when no design keeps to the limits.
    """
    from backends.devices import device
    from dse.bounds import bounds, work_of
    from dse.estimation import setting
    from dse.evaluators.base import Limits, Request, device_limits
    from dse.evaluators.model import ModelEvaluator
    from dse.run.front import designs
    from dse.run.problem import describe, keep
    from dse.run.session import Options, Session, StopRequestedError
    from dse.run.study import Study
    from dse.space.space import space_of
    from dsl.schedule import Schedule

    start = time.monotonic()
    chip = device(given["device_name"])
    objectives = _objectives(given["objectives"])
    program = target(kernel, UNSCHEDULED, given["size"]).program
    evaluator = ModelEvaluator()
    where = setting(None, chip.name, given["clock"])
    tool = where.tool
    resources = device_limits(chip, given["share"], given["dsp"]).resources
    limits = Limits(resources, given["max_latency"])
    options = Options(
        chip, given["clock"], limits, given["strategy"], given["trials"], given["jobs"],
        given["timeout"], given["seed"],
    )  # fmt: skip
    manifest = {
        "kernel": program.name, "program": _digest(program), "size": given["size"],
        "device": chip.part, "clock_ns": given["clock"], "limits": dict(resources),
        "latency_limit": given["max_latency"], "objectives": list(objectives),
        "strategy": given["strategy"], "seed": given["seed"],
        "reassociate": given["reassociate"], "evaluator": evaluator.name,
        "evaluator_version": evaluator.version, "source": kernel, "versions": _versions(),
    }  # fmt: skip
    with contextlib.closing(_run(folder, resume, manifest)) as run:
        space = space_of(program, tool, given["reassociate"])
        work = work_of(program, tool, given["reassociate"])
        bound = bounds(work, tool, options.budget)
        plain = None
        if evaluator.cost < 1:
            plain = evaluator.evaluate(Request(program, Schedule(), chip, given["clock"]))
        keep(run, describe(space, work, tool, chip, options.budget, where.notes, plain))
        study = Study(run, objectives, limits, _sampler(given["strategy"]), given["seed"])
        run.event("resumed" if resume else "started", trials=study.count)
        code = 0
        with _progress(program.name, given["trials"]) as heard, _stop_once() as stopping:
            session = Session(run, space, study, evaluator, options, heard, stopping)
            try:
                session.explore()
            except StopRequestedError:
                code = INTERRUPTED
        run.event("stopped" if code else "finished", trials=study.count)
        columns = ("latency", *_others(objectives), "to_bound", "design")
        show("explore", columns, rows(run, bound), form)
        _summary(run, bound, study.count, time.monotonic() - start)
        for note in where.notes:
            console.say(f"note: {note}")
        if code == 0 and not designs(run):
            code = NOTHING_FEASIBLE
    return code


def _objectives(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in OBJECTIVES:
            raise click.BadParameter(f"'{name}' is none of {', '.join(OBJECTIVES)}")
    if "latency" not in names:
        raise click.BadParameter("latency has to be one of the objectives")
    return ("latency", *(n for n in names if n != "latency"))


def _others(objectives: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*objectives[1:], "dsp"]))


def _digest(program: Program) -> str:
    import hashlib

    from dsl.pretty import pretty

    return hashlib.sha256(pretty(program).encode()).hexdigest()


def _versions() -> dict[str, str]:
    import platform
    from importlib import metadata

    names = ("weft", "optuna", "islpy", "numpy")
    found = {d.metadata["Name"].lower(): d.version for d in metadata.distributions()}
    return {"python": platform.python_version(), **{n: found[n] for n in names if n in found}}


def _sampler(strategy: str) -> Any:
    """Optuna's sampler; strategies that choose points by themselves only record them."""
    return strategy if strategy in ("tpe", "nsga2", "nsga3", "random") else "tpe"


def _run(folder: Path, resume: bool, manifest: dict[str, Any]) -> RunDirectory:
    """The run's folder.

    Raises:
        InputError: W520 to W522 as `dse.run.directory`; W525 the run there has other inputs.
    """
    from dse.run.directory import create, open_run

    if not resume:
        return create(folder, manifest)
    run = open_run(folder)
    free = ("source", "versions")
    for name, value in manifest.items():
        there = run.manifest.get(name)
        if name not in free and there != value:
            run.close()
            raise InputError(
                "W525",
                f"the run in {folder} has {name} {there}, not {value}",
                help="resume it with the options that it was begun with, or take another --out",
            )
    return run


def rows(run: RunDirectory, bound: Bounds) -> list[dict[str, Any]]:
    """The Pareto front, fastest first."""
    from dse.run.front import designs, front

    return [
        {
            "latency": round(d.result.latency or 0),
            **d.result.resources,
            "to_bound": round((d.result.latency or 0) / bound.cycles, 3) if bound.cycles else None,
            "design": d.key,
            "provenance": d.result.provenance,
            "tool": d.result.tool,
        }
        for d in front(designs(run))
    ]


def _summary(run: RunDirectory, bound: Bounds, trials: int, seconds: float) -> None:
    from dse.run.front import designs

    found = designs(run)
    console.say(f"explore: {trials} trials, {len(found)} feasible designs, {seconds:.1f} s")
    for limit in bound.all:
        console.say(f"  {limit.kind}: at least {limit.cycles:,} cycles ({limit.reason})")
    if found:
        fastest = found[0].result
        cycles = fastest.latency or 0.0
        distance = f", {cycles / bound.cycles:.2f} x the bound" if bound.cycles else ""
        console.say(f"  fastest: {cycles:,.0f} cycles{distance} ({fastest.provenance}: "
                    f"{fastest.tool})")  # fmt: skip


@contextlib.contextmanager
def _progress(name: str, trials: int) -> Iterator[Callable[..., None]]:
    best: float | None = None
    with console.progress(f"explore {name}") as update:

        def heard(finished: Any, result: Any) -> None:
            nonlocal best
            if result.status.value == "ok":
                best = result.latency if best is None else min(best, result.latency)
            word = f"{result.status.value}" + (f", best {best:,.0f} cycles" if best else "")
            update(min(finished.number + 1, trials), trials, word)

        yield heard


@contextlib.contextmanager
def _stop_once() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C asks to stop; the second is Python's own."""
    asked = False
    before = signal.getsignal(signal.SIGINT)

    def handler(*_: object) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, before)
        console.say("stopping after the evaluations under way; Ctrl-C again stops at once")

    signal.signal(signal.SIGINT, handler)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
