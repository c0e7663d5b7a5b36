"""What is asked of an exploration: one record for ``weft explore``, `weft.explore` and `weft.objective`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from backends.deploy.boards import board_of
from backends.deploy.more_ports import ports_of, through_more_ports
from backends.deploy.outside import in_tiles, outside
from backends.deploy.tiles import Allowance
from dse.accelerator.room import fitting
from dse.estimates.estimation import Setting, setting
from dse.estimates.routed import ALREADY, Place
from dse.evaluators.base import Evaluator, Limits, device_limits
from dse.evaluators.fidelities import (
    BOTH,
    BUDGETS,
    CSYNTH,
    EVALUATORS,
    OBJECTIVES,
    RESOURCES,
    ROUTED,
)
from dse.evaluators.registry import evaluator
from dse.run.folder.plan import Plan, study_name
from dse.run.predictor.beside import there_is
from dse.run.search.explore import Means
from dse.run.studies.study import STUDY
from dse.space.loops.divisions import without_dividers
from dse.space.loops.nests_apart import in_nests_apart
from dse.space.loops.stored_across import stored_across
from dse.space.loops.tiles import in_one_pass, in_wider_tiles
from dse.space.loops.whole_ranges import in_whole_ranges
from dse.space.nests.contents import all_logic
from dse.space.start import Start, start_of
from dse.space.sums.updates_in_tiles import in_parts_of_tables
from dse.space.tables.replicas_in_tiles import in_copies_of_tables
from dse.strategies.names import STRATEGIES
from dse.strategies.patience import patience_of
from dsl.errors.errors import InputError, ToolError, did_you_mean
from dsl.errors.shown import shown
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Step
from polyhedral.schedule import apply, begun

if TYPE_CHECKING:
    from backends.devices import Device
    from dsl.programs.program import Program
    from dsl.stored.kernel import StoredKernel
    from qor_gnn.tools.operators.calibration import Calibration
    from qor_gnn.tools.personality import Personality

ROOM = 0.8
"""The share of LUT, FF and block RAM that designs may use unless something else is asked for. A device that is
fuller takes long to route and may miss its clock: UG1393 (timing closure) warns from 70% of LUT, 50% of FF and 80% of
RAM on, after synthesis; HLS reports more LUT and FF than that leaves."""

_PART = re.compile(r"(\d{1,15}(?:\.\d+)?)%")


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Which designs are wanted, and by whose figures.

    Attributes:
        device: that designs are made for.
        clock: the target period in ns.
        tool: the version whose figures count; None for the one that was measured on the device.
        uncertainty: share of the period that the tool keeps free; None for its own.
        calibration: measurements of the user's own; None for none.
        objectives: what to make small; None for latency and DSP slices, or LUTs where no operator takes a slice.
        dsp: slices that a design may use; None for the share.
        share: of the device's resources that a design may use; None for all DSP slices and `ROOM` of the
            rest.
        limits: by resource, a number or a part of the device's like ``"20%"``.
        max_latency: cycles; None for any number.
        reassociate: reductions may be done in any order.
        supported: only designs that labels of the tool show.
        evaluator: whose figures the search goes by; ``both`` for the model's, and the predictor beside it
            wherever there is one.
        weights: the file of the predictor; None for the one that comes with Weft.
        schedule: that the search begins with: all designs have what it says, but for its factors.
        fix: steps on factors that all designs have, too; see `dse.space.start.start_of`.
        deploy: a board: arrays are in its memory, and copied to the chip (`backends.deploy.outside`); None to
            have them where the schedule has them.
        board: that the fastest designs are shown on, where arrays are in its memory; None for that of ``deploy``.
        routed: show what is expected after placement and routing, too.
        budget: whose LUT, FF and BRAM18 keep to the limits, ``csynth`` or ``routed``: the upper ends of what is
            expected after placement and routing.
    """

    device: str = "xczu9eg"
    clock: float = 10.0
    tool: str | None = None
    uncertainty: float | None = None
    calibration: Calibration | None = None
    objectives: Sequence[str] | None = None
    dsp: int | None = None
    share: float | None = None
    limits: Mapping[str, int | str] = field(default_factory=dict, hash=False)
    max_latency: float | None = None
    reassociate: bool = False
    supported: bool = False
    evaluator: str = "model"
    weights: Path | None = None
    schedule: Schedule = field(default=Schedule(), hash=False)
    fix: Sequence[str] = ()
    deploy: str | None = None
    board: str | None = None
    routed: bool = False
    budget: str = CSYNTH

    def start(self, program: Program) -> Start:
        """What all designs of a program have.

        Raises:
            InputError: W509 a step to be fixed is not in the schedule.
            ScheduleError: W2xx, the schedule is not legal.
            ToolError: W406, W407 as `backends.deploy.boards.board_of` and `backends.deploy.outside.outside`.
        """
        schedule = self.schedule
        if self.deploy is None:
            return start_of(program, schedule, self.fix)
        board = board_of(self.deploy, self.where.device)
        slices = board.device.dsp if self.dsp is None else self.dsp
        allowed = Allowance(slices, self.reassociate, ports=ports_of(board, self.clock))
        whole = () if schedule else _in_front_of_tiles(program)

        def planned(allowed: Allowance) -> Schedule:
            return outside(program, schedule, board, allowed, whole)

        most = limits_of(board.device, self.share, self.dsp, self.limits, None).resources["bram18"]
        plain, allowed = fitting(program, self.where, most, allowed, planned)

        def ported(plan: Schedule) -> Schedule:
            if schedule:
                return plan  # its loops are the user's
            return through_more_ports(program, plan, board, self.clock, allowed)

        start = start_of(program, ported(plain), self.fix)
        tiles = in_tiles(program, schedule, board, allowed, whole)
        wide = None if schedule else in_wider_tiles(program, plain, board, allowed, whole)
        joined = None if schedule else in_one_pass(program, wide or plain)
        parts = None if schedule else in_parts_of_tables(program, plain, board, allowed, whole)
        once = in_one_pass(program, parts) if parts else None
        across = None if schedule else stored_across(program, plain, tiles, board, allowed, whole)
        apart = None if schedule else in_nests_apart(program, plain, board, allowed, whole)
        copies = None if schedule else in_copies_of_tables(program, plain, board, allowed, whole)
        ways = (tiles, wide, joined, parts, once, across, apart, copies)
        others = (start_of(program, ported(one), self.fix).steps for one in ways if one)
        return replace(start, others=tuple(others))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the figures do not say of the board that designs are brought to, and of routing."""
        asked = self.routed or self.budget == ROUTED
        notes = [ALREADY] if asked and self.where.tool.is_open else []
        if self.deploy is not None:
            notes.append(board_of(self.deploy, self.where.device).remark(self.clock))
        return tuple(note for note in notes if note)

    def after_routing(self, where: Setting) -> Place | None:
        """What limits are held against after routing; None where csynth's figures, or those of a routed design, decide.

        Raises:
            InputError: W509 there is no such budget, or the figures are not csynth's.
        """
        one_of("budget", self.budget, BUDGETS)
        if self.budget == CSYNTH:
            return None
        if self.evaluator == "gnn":
            raise InputError("W509", "budget is 'routed', and the evaluator is 'gnn'",
                             help="routing is expected of the model's figures: evaluator both, or model")  # fmt: skip
        return None if where.tool.is_open else Place(where.device, self.clock)

    @property
    def where(self) -> Setting:
        """The tool and the device.

        Raises:
            WeftError: W403, W450 to W452 for the device, the tool and the clock.
        """
        found = setting(self.tool, self.device, self.clock, self.uncertainty, self.calibration)
        if found.tool.is_open and found.device.family != found.tool.family:
            raise ToolError(
                "W403",
                f"the open flow cannot build designs for '{found.device.name}'",
                help=f"take a device of it, as --device {found.tool.device}",
            )
        return found

    def asked(self, where: Setting) -> str | None:
        """The personality that requests name; None for that of the device."""
        own = self.tool is None and self.uncertainty is None
        return None if own else where.tool.name

    def chosen_evaluator(self, where: Setting) -> Evaluator:
        """The evaluator that the search goes by; its predictor is looked at before anything begins.

        Raises:
            InputError: W509 there is none of this name; W528, W512, W538, W539, W550 as
                `dse.estimates.prediction.model_for`.
        """
        one_of("evaluator", self.evaluator, (*EVALUATORS, BOTH))
        if self.evaluator == "gnn":
            _predictor(where, self.weights)
        name = "model" if self.evaluator == BOTH else self.evaluator
        return evaluator(name, b"", 0.0, self.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions(Searched):
    """What is asked of an exploration.

    Attributes:
        size: of the kernel, as it was named.
        strategy: how points are chosen.
        trials: points to evaluate in all, those before a resumption included.
        seconds: after which no further trial begins, but for the program as it stands if there is no design; None
            for any number.
        seed: of the samplers.
        jobs: evaluations at once on this machine.
        dask: address of a Dask scheduler.
        shared: ``weft worker`` processes may join; always so where the study is in a database.
        cache: folder of results.
        timeout: seconds for each evaluation.
        promote: evaluators that the front is promoted to.
        promote_most: designs of it.
        rounds: of searching and promoting by turns; see `dse.run.folder.plan.Plan`.
        study: its name; None for one that follows from the rest.
        storage: URL of the database of the study; None for a journal in the run's folder.
    """

    size: str | None = None
    evaluator: str = BOTH
    strategy: str = "auto"
    trials: int = 40
    seconds: float | None = None
    seed: int = 0
    jobs: int = 1
    dask: str | None = None
    shared: bool = False
    cache: Path | None = None
    timeout: float = 60.0
    promote: tuple[str, ...] = ()
    promote_most: int = 16
    rounds: int = 0
    study: str | None = None
    storage: str | None = None

    @property
    def means(self) -> Means:
        """What the exploration may use; its time begins now."""
        shared = self.shared or self.storage is not None
        patience = patience_of(self.seconds, self.trials)
        return Means(self.trials, self.jobs, self.dask, shared, self.cache, patience=patience)

    def plan(self, source: str, kernel: StoredKernel) -> Plan:
        """What the run is about.

        Args:
            source: where the kernel is from, for people.
            kernel: it as data, at its size.

        Raises:
            WeftError: as `Searched.where` and `Searched.chosen_evaluator`; W509 an option is not of
                the form that it should be; W523, W529 the storage cannot be used.
        """
        from dse.run.studies.storage import shown as shown_url

        one_of("strategy", self.strategy, STRATEGIES)
        where = self.where
        chosen = self.chosen_evaluator(where)
        if "gnn" in self.promote or self.rounds:
            _predictor(where, self.weights, needed="gnn" in self.promote)
        limits = replace(
            limits_of(where.device, self.share, self.dsp, self.limits, self.max_latency),
            supported=self.supported,
            routed=self.after_routing(where),
        )
        start = self.start(kernel.program)
        plan = Plan(
            source=source, size=self.size, kernel=kernel, where=where, clock=self.clock,
            tool=self.asked(where),
            limits=limits, objectives=objectives_of(self.objectives or _made_small(kernel.program, start, where.tool)),
            strategy=self.strategy,
            seed=self.seed, reassociate=self.reassociate, evaluator=chosen,
            promote=tuple(dict.fromkeys(self.promote)), promote_most=self.promote_most,
            timeout=self.timeout, study=self.study or STUDY,
            storage=None if self.storage is None else shown_url(self.storage),
            weights=self.weights, rounds=self.rounds, start=start,
            beside=self.evaluator == BOTH and "gnn" not in self.promote and there_is(where),
            board=self.deploy or self.board,
            routed=(self.routed or limits.routed is not None) and not where.tool.is_open,
        )  # fmt: skip
        if plan.storage is not None and self.study is None:
            return replace(plan, study=study_name(plan))
        return plan


def _predictor(where: Setting, weights: Path | None, *, needed: bool = True) -> None:
    """That the libraries of predictors are there and, where one is needed or named, that it is.

    Raises:
        InputError: W528, W512, W538, W539, W550 as `dse.estimates.prediction.model_for`.
    """
    from dse.estimates.prediction import model_for, needs_libraries

    needs_libraries()
    if needed or weights is not None:
        model_for(where.tool.measured_as, weights)


def limits_of(
    chip: Device, share: float | None, dsp: int | None, limits: Mapping[str, int | str],
    max_latency: float | None,
) -> Limits:  # fmt: skip
    """What designs may use.

    Args:
        chip: the device.
        share: of all of its resources; None for all DSP slices and `ROOM` of the rest.
        dsp: DSP slices; None for the share.
        limits: by resource, a number or a part of the device's like ``"20%"``.
        max_latency: cycles; None for any number.

    Raises:
        InputError: W509 one of them is not of the form that it should be.
    """
    if share is not None and not 0 < share <= 1:
        raise InputError("W509", f"share is {shown(share)}",
                         help="it is more than 0, and at most 1")  # fmt: skip
    slices = chip.dsp if share is None and dsp is None else dsp
    counts = dict(device_limits(chip, ROOM if share is None else share, slices).resources)
    for name, given in limits.items():
        one_of("a resource in limits", name, RESOURCES)
        part = _PART.fullmatch(given) if isinstance(given, str) else None
        if part is not None:
            counts[name] = int(getattr(chip, name) * float(part[1]) / 100)
        elif type(given) is int and given >= 0:
            counts[name] = given
        else:
            raise InputError("W509", f"the limit of {name} is {shown(given)}",
                             help="it is a number, or a part of the device's like '20%'")  # fmt: skip
    return Limits(counts, max_latency)


def _made_small(program: Program, start: Start, tool: Personality) -> tuple[str, str]:
    """Latency, and the resource that tells designs apart."""
    state = apply(program, Schedule(start.steps))
    return ("latency", "lut" if all_logic(state, tool) else "dsp")


def objectives_of(names: Sequence[str]) -> tuple[str, ...]:
    """The objectives that are named, latency or seconds first.

    Raises:
        InputError: W509 one is unknown, or there is neither latency nor seconds.
    """
    every = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    for name in every:
        one_of("an objective", name, OBJECTIVES)
    times = [name for name in every if name in ("latency", "seconds")]
    if len(times) != 1:
        raise InputError("W509", "one of the objectives has to be latency, or seconds instead",
                         help="for instance latency and dsp")  # fmt: skip
    return (times[0], *(n for n in every if n != times[0]))


def one_of(what: str, given: object, known: Sequence[str]) -> None:
    """That a word is known.

    Raises:
        InputError: W509 it is not.
    """
    if given not in known:
        near = did_you_mean(given, known) if isinstance(given, str) else None
        raise InputError("W509", f"{what} is {shown(given)}",
                         help=near or f"one of {', '.join(known)}")  # fmt: skip


def _in_front_of_tiles(program: Program) -> tuple[Step, ...]:
    """Tiles of a board are made of loops over whole ranges, not of tiles that the program is written in, and without dividers."""
    lean, divided = without_dividers(begun(program, ()), ())
    return (*divided, *in_whole_ranges(lean)[1])
