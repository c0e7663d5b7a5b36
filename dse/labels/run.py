"""Designs through the flow, several at once, into a dataset."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backends.rtl.synth import SynthOptions, SynthReport, synth
from dse.labels.dataset import Dataset
from dse.labels.rarity import Rarity
from dse.labels.sample import draw
from dse.labels.variants import Subject
from dse.space.space import space_of
from dse.workers import Ended, Pool
from dsl.errors.errors import WeftError
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from qor_gnn.tools.personality import personality

PRELOAD = ("dse.labels.run",)


@dataclass(frozen=True, slots=True)
class Task:
    """One design."""

    id: str
    subject: Subject
    schedule: str
    options: SynthOptions


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sampled: ``designs`` of each subject, at most ``copies`` of a statement each.

    Of each subject ``simulated`` designs are simulated; the cycles of the others are predicted.
    Of those that are proposed, some of more than ``rare_above`` estimated LUT are left out
    (`Rarity`); None leaves none out.
    """

    designs: int
    copies: int
    simulated: int
    seed: int
    rare_above: int | None = None


def tasks(subjects: Sequence[Subject], plan: Plan, options: SynthOptions) -> Iterator[Task]:
    """The designs of all subjects, taken in turn, so that a part of them is diverse too."""
    waiting = [_of(subject, plan, options) for subject in subjects]
    while waiting:
        left = []
        for source in waiting:
            with contextlib.suppress(StopIteration):
                yield next(source)
                left.append(source)
        waiting = left


def _of(subject: Subject, plan: Plan, options: SynthOptions) -> Iterator[Task]:
    program = subject.load().program
    space = space_of(program, personality())
    name = f"{plan.seed} {subject.file} {subject.kernel} {subject.size} {subject.dtype}"
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    rarity = None
    if plan.rare_above is not None:
        rarity = Rarity(compile_design(program, Schedule()), plan.rare_above, seed, options)
    drawn = draw(space, plan.designs, plan.copies, seed, rarity)
    for n, (schedule, design) in enumerate(drawn):
        digest = hashlib.sha256(design.affine.encode()).hexdigest()[:16]
        simulated = n < plan.simulated
        yield Task(digest, subject, schedule.to_json(), replace(options, simulation=simulated))


def label(task: Task) -> dict[str, Any]:
    """The line of one design."""
    kernel = task.subject.load()
    schedule = Schedule.from_json(task.schedule)
    compiled = compile_design(kernel.program, schedule)
    try:
        report = synth(
            *(kernel.program, schedule, compiled.module, task.options),
            make_inputs=kernel.make_inputs,
        )
    except WeftError as error:
        return {**_head(task), "outcome": f"refused: {error.code}"}
    return {**_head(task), **_figures(report)}


def _head(task: Task) -> dict[str, Any]:
    subject, options = task.subject, task.options
    return {
        "id": task.id,
        "file": subject.file,
        "kernel": subject.kernel,
        "dtype": subject.dtype,
        "size": subject.size,
        "schedule": json.dumps(json.loads(task.schedule), separators=(",", ":")),
        "clock_ns": options.period_ns,
        "read_latency": options.bram_latency,
    }


def _figures(report: SynthReport) -> dict[str, Any]:
    used, simulation = report.resources, report.simulation
    return {
        "outcome": report.outcome,
        "provenance": report.provenance if used else None,
        "lut": used and used.lut,
        "ff": used and used.ff,
        "dsp": used and used.dsp,
        "bram": used and used.bram,
        "fmax_mhz": report.fmax and round(report.fmax, 2),
        "fmax_by_seed": " ".join(f"{r.seed}:{r.fmax:.2f}" for r in report.routings if r.fmax),
        "cycles": report.design.cycles,
        "cycles_checked": int(simulation is not None and simulation.verdict == "ok"),
        "seconds": round(sum(report.seconds.values()), 1),
    }


def run(
    planned: Iterator[Task],
    dataset: Dataset,
    known: set[str],
    jobs: int,
    seconds: float,
    limit: int | None = None,
) -> Iterator[Ended[Task, dict[str, Any]]]:
    """Label what is not known yet; each line is in the dataset before it is yielded.

    Args:
        planned: Of `tasks`.
        dataset: Where lines go.
        known: Ids that are there.
        jobs: Processes at once.
        seconds: Limit for each design.
        limit: So many and no more.
    """
    left = sys.maxsize if limit is None else limit
    with contextlib.closing(Pool(label, jobs, seconds, PRELOAD)) as pool:
        more = True
        while more or pool.busy:
            while more and pool.free:
                task = next((t for t in planned if t.id not in known), None) if left else None
                more, left = task is not None, left - 1
                if task is not None:
                    known.add(task.id)
                    pool.begin(task)
            for ended in pool.ended():
                row = ended.result
                if row is None:
                    how = "time-out" if ended.late else "crash"
                    row = {**_head(ended.task), "outcome": how}
                dataset.append(row)
                yield replace(ended, result=row)


def manifest_of(options: SynthOptions) -> dict[str, Any]:
    """What all lines of a dataset have in common."""
    from backends.rtl.tools import find_nextpnr, find_yosys

    tools = (find_yosys(native=options.native), find_nextpnr(native=options.native))
    return {"device": options.device, "tools": {t.name: t.version for t in tools}}
