"""What a run is about, as its manifest keeps it, and opening the run's folder for it."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dse.estimates.estimation import Setting
from dse.evaluators.base import Evaluator, Limits
from dse.evaluators.fidelities import CSYNTH, ROUTED
from dse.kernels.data import NAME as KERNEL
from dse.run.folder.codec import program_digest
from dse.run.folder.directory import RunDirectory, create, open_run, unbegun, write_whole
from dse.space.start import START, Start
from dsl.errors.errors import InputError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Step
from dsl.stored.kernel import StoredKernel, kernel_json
from qor_gnn.tools.operators.calibration import Calibration

# What a session may have otherwise than the one before.
_UNSAID: dict[str, Any] = {
    "start": [],
    "other_starts": [],
    "supported": False,
    "beside": False,
    "routed": False,
    "budget": CSYNTH,
}  # what runs of older versions do not say
_FREE = ("source", "versions", "promote", "promote_most", "rounds", "timeout", "routed")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is about.

    Attributes:
        source: the kernel as on the command line, and ``size`` its size.
        kernel: it as data, at that size.
        where: the tool and the device that designs are for, at ``clock`` ns.
        tool: the personality that is asked for; None for that of the device.
        limits: what a design may use.
        objectives: what to make small.
        strategy: how points are chosen, with ``seed``.
        reassociate: reductions may be done in any order.
        evaluator: the one that the search goes by.
        promote: the evaluators that the front is promoted to, of ``promote_most`` designs.
        timeout: seconds for each evaluation.
        study: the name of the study.
        storage: the database that it is in, without the password; None for the run's journal.
        weights: file of the predictor; None for the one that comes with Weft.
        rounds: of searching and promoting by turns, with a predictor that learns from what was
            promoted; 0 for one of each without.
        beside: the predictor that comes with Weft is asked about designs, too.
        start: what all designs have, from the schedule that the search begins with.
        routed: tables and the report show what is expected after placement and routing, too.
        board: that the fastest designs are shown on, where their arrays are in memory outside.
    """

    source: str
    size: str | None
    kernel: StoredKernel
    where: Setting
    clock: float
    limits: Limits
    objectives: tuple[str, ...]
    strategy: str
    seed: int
    reassociate: bool
    evaluator: Evaluator
    promote: tuple[str, ...]
    promote_most: int
    timeout: float
    study: str
    storage: str | None
    weights: Path | None = None
    rounds: int = 0
    tool: str | None = None
    beside: bool = False
    start: Start = START
    routed: bool = False
    board: str | None = None

    @property
    def calibration(self) -> Calibration | None:
        """The measurements of the user's own that its tool has."""
        return self.where.tool.calibration

    @property
    def program(self) -> Program:
        """Of the kernel."""
        return self.kernel.program

    @property
    def digest(self) -> str:
        """Of the program."""
        return program_digest(self.program)

    @property
    def budget(self) -> int:
        """DSP slices that a design may use."""
        return self.limits.resources.get("dsp", self.where.device.dsp)

    @property
    def luts(self) -> int:
        """LUTs that a design may use, as csynth counts them."""
        return self.limits.most("lut", self.where.device.lut)

    @property
    def bram18(self) -> int:
        """Blocks that a design may use, as csynth counts them."""
        return self.limits.most("bram18", self.where.device.bram18)

    @property
    def logic(self) -> float:
        """LUTs that a design may use for each DSP slice of its budget; 0 where it may use none."""
        return self.luts / self.budget if self.budget else 0.0

    def manifest(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "kernel": self.program.name,
            "program": self.digest,
            "size": self.size,
            "device": self.where.device.part,
            "clock_ns": self.clock,
            "tool": self.tool,
            "calibration": None if self.calibration is None else dict(self.calibration.facts),
            "limits": dict(self.limits.resources),
            "latency_limit": self.limits.latency,
            "supported": self.limits.supported,
            "routed": self.routed,
            "budget": ROUTED if self.limits.routed is not None else CSYNTH,
            "objectives": list(self.objectives),
            "strategy": self.strategy,
            "seed": self.seed,
            "reassociate": self.reassociate,
            "start": _listed(self.start.steps),
            "other_starts": [_listed(steps) for steps in self.start.others],
            "evaluator": self.evaluator.name,
            "beside": self.beside,
            "evaluator_version": self.evaluator.version,
            "promote": list(self.promote),
            "promote_most": self.promote_most,
            "rounds": self.rounds,
            "timeout": self.timeout,
            "study": self.study,
            "storage": self.storage,
            "source": self.source,
            "versions": _versions(),
        }


def _listed(steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Schedule(steps).to_json())["steps"]
    return found


def study_name(plan: Plan) -> str:
    """The name of a study in a database where none is given: another one for other inputs."""
    inputs = {k: v for k, v in plan.manifest().items() if k not in (*_FREE, "study", "storage")}
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
    return f"weft-{plan.program.name}-{digest[:8]}"


def opened(folder: Path, plan: Plan, *, resume: bool) -> RunDirectory:
    """The run's folder: a new one, or (``resume``) the one that is there; the kernel is in it.

    Raises:
        InputError: W508, W512, W521, W522, W527 as `dse.run.folder.directory`; W525 the run there has other inputs.
    """
    manifest = plan.manifest()
    if not resume or (folder.exists() and unbegun(folder)):
        run = create(folder, manifest)
        try:
            write_whole(folder / KERNEL, kernel_json(plan.kernel))
        except InputError:
            run.close()
            raise
        return run
    run = open_run(folder)
    for name, value in manifest.items():
        there = run.manifest.get(name, _UNSAID.get(name))
        if name not in _FREE and there != value:
            run.close()
            raise InputError(
                "W525",
                f"the run in {folder} has {_told(name, there)}, not {_told(name, value)}",
                help="resume it with the options that it was begun with, or take another --out",
            )
    changing = (name for name in _FREE if name not in ("source", "versions"))
    changed = {name: manifest[name] for name in changing}
    if any(run.manifest.get(name) != value for name, value in changed.items()):
        run.manifest.update(changed)
        write_whole(folder / "manifest.json", json.dumps(run.manifest, indent=2) + "\n")
    if not (folder / KERNEL).exists():  # an older version began the run
        write_whole(folder / KERNEL, kernel_json(plan.kernel))
    return run


def _told(name: str, value: object) -> str:
    """An option with its value, as in a manifest."""
    if isinstance(value, dict) and name == "calibration":
        return "another calibration"
    return f"no {name}" if value is None else f"{name} {value}"


def _versions() -> dict[str, str]:
    import platform
    from importlib import metadata

    found = {"python": platform.python_version()}
    for name in ("weft", "optuna", "islpy", "numpy"):
        with contextlib.suppress(metadata.PackageNotFoundError):  # run from a checkout
            found[name] = metadata.version(name)
    return found
