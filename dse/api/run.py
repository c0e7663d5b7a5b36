"""`weft.Run`: what an exploration has found, as values."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from dse.api.design import compiled, estimated, exported
from dse.evaluators.fidelities import RESOURCES
from dse.libraries import need
from dse.run.chosen import chosen
from dse.run.folder.calibrations import calibration_in
from dse.run.folder.directory import RunDirectory, open_run
from dse.run.folder.problem import Problem, problem_of
from dse.run.results.front import Design, best, designs, front
from dse.run.sweeps.sweep import run_in
from dse.views.explore import row_of, rows
from dsl.errors.errors import InputError
from dsl.errors.shown import shown
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule

if TYPE_CHECKING:
    from backends.vitis.project import Project
    from dse.accelerator.summary import OnBoard
    from dse.estimates.marks import Marks
    from qor_gnn.result.qor_estimate import QorEstimate

_SHOWN = 12  # digits of a key that people see
Frames = Literal["pandas", "polars"]


@dataclass(frozen=True, slots=True)
class RunDesign:
    """A design that a run has found.

    Attributes:
        run: that found it.
        found: its key and figures.
    """

    run: Run
    found: Design

    @property
    def key(self) -> str:
        """Its name in the run; the first six digits or more will do for `Run.design`."""
        return self.found.key

    @property
    def latency(self) -> float:
        """Cycles."""
        return self.found.result.latency or 0.0

    @property
    def resources(self) -> Mapping[str, int]:
        """DSP, LUT, FF and BRAM18, as far as the evaluator knows them."""
        return self.found.result.resources

    @property
    def provenance(self) -> str:
        """Where the figures are from: ``model``, ``gnn``."""
        return self.found.result.provenance

    @property
    def marks(self) -> Marks | None:
        """How far it leaves what labels of the tool show; None where its figures need no labels."""
        return self.found.result.marks

    @property
    def board(self) -> OnBoard | None:
        """Time to solution on the run's board, and emulation; None but of the fastest designs of runs that have one."""
        return self.found.result.board

    @property
    def schedule(self) -> Schedule:
        """The schedule that makes it."""
        return self.run.directory.schedule(self.key)

    @property
    def estimate(self) -> QorEstimate:
        """The white-box model's answer, loop by loop."""
        manifest = self.run.directory.manifest
        return estimated(
            self.run.kernel, self.schedule, None, manifest["device"], manifest["clock_ns"],
            manifest.get("tool"), calibration=calibration_in(manifest, "the run"),
        )  # fmt: skip

    @property
    def hls_cpp(self) -> str:
        """The HLS C++."""
        return compiled(self.run.kernel, self.schedule, None).hls_cpp

    def export(
        self, folder: str | Path, *, seed: int = 0, force: bool = False, deploy: str | None = None
    ) -> Project:
        """Write it as a Vitis HLS project; its loops are proven to do what the kernel says.

        Args:
            folder: Where to; it is made.
            seed: Of the testbench's inputs.
            force: Write into a folder that has other contents.
            deploy: A board to bring it to; see `weft.export`.

        Raises:
            WeftError: as `weft.export`.
        """
        manifest = self.run.directory.manifest
        return exported(
            self.run.kernel, folder, self.schedule, None, manifest["device"], manifest["clock_ns"],
            tool=manifest.get("tool"), seed=seed, force=force, deploy=deploy,
            calibration=calibration_in(manifest, "the run"),
        )  # fmt: skip

    def row(self) -> dict[str, Any]:
        """Its figures as a line of a table."""
        return row_of(self.run.directory, self.run.problem, self.found)

    def __repr__(self) -> str:
        used = ", ".join(f"{name} {n:,}" for name, n in self.resources.items())
        return f"<design {self.key[:_SHOWN]}: {self.latency:,.0f} cycles, {used}>"

    def _repr_html_(self) -> str:
        return _table([self.row()])


class Run:
    """What an exploration has found; from `weft.explore` or `weft.load_run`.

    Nothing of the folder is executed: kernels and schedules are data there.
    """

    def __init__(self, directory: RunDirectory, kernel: Kernel) -> None:
        """Of an open run.

        Args:
            directory: open to be read.
            kernel: it was begun with, at its size.
        """
        self.directory = directory
        self.kernel = kernel

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.directory.path

    @property
    def report(self) -> Path:
        """The page that shows all that was found; open it in a browser."""
        return self.path / "report.html"

    @property
    def problem(self) -> Problem | None:
        """What was searched: the space, and the bounds that no design can beat."""
        return problem_of(self.directory)

    @property
    def designs(self) -> tuple[RunDesign, ...]:
        """All designs within the limits, best first by the first objective."""
        return tuple(RunDesign(self, found) for found in designs(self.directory))

    @property
    def pareto(self) -> tuple[RunDesign, ...]:
        """The designs that no other is at least as good as in all objectives."""
        return tuple(RunDesign(self, found) for found in front(designs(self.directory)))

    def best(self, *, supported: bool = False) -> RunDesign:
        """The design that is best in the first objective.

        Args:
            supported: Of those that labels of the tool show.

        Raises:
            InputError: W526 there is none within the limits, or within the labels.
        """
        return RunDesign(self, best(self.directory, inside=supported))

    def design(self, key: str) -> RunDesign:
        """The design of a key, or of its first six digits or more.

        Raises:
            InputError: W526 there is none, or several.
        """
        name = chosen(self.path, str(key)).key
        every = (*designs(self.directory), *designs(self.directory, refuted=True))
        for found in every:
            if found.key == name:
                return RunDesign(self, found)
        raise InputError("W526", f"the point {name[:_SHOWN]} is no design within the limits")

    def front(self, frame: Frames = "pandas") -> Any:
        """The Pareto front as a table, fastest first.

        Args:
            frame: whose ``DataFrame`` it is.

        Raises:
            InputError: W509 it is neither of these; W528 the library is not installed.
        """
        _known("frame", frame, get_args(Frames))
        library = need(frame, "a table of designs", frame, "frames")
        return library.DataFrame(rows(self.directory, self.problem))

    def plot(self, resource: str | None = None) -> Any:
        """A figure of the designs: latency against a resource, the front as a line.

        Args:
            resource: one of dsp, lut, ff, bram18; None for the one that the search made small.

        Returns:
            A ``matplotlib.figure.Figure``.

        Raises:
            InputError: W528 matplotlib is not installed; W509 there is no such resource.
        """
        if resource is None:
            small = [name for name in self.directory.manifest["objectives"] if name in RESOURCES]
            resource = small[0] if small else "dsp"
        _known("resource", resource, RESOURCES)
        library = need("matplotlib.figure", "a plot", "matplotlib", "frames")
        figure = library.Figure(figsize=(6, 4))
        axes = figure.subplots()
        every = [d for d in self.designs if resource in d.resources]
        kept = sorted((d for d in self.pareto if resource in d.resources), key=lambda d: d.latency)
        axes.scatter([d.resources[resource] for d in every], [d.latency for d in every], s=12,
                     color="0.7", label="designs")  # fmt: skip
        axes.plot([d.resources[resource] for d in kept], [d.latency for d in kept], "o-", ms=4,
                  drawstyle="steps-post", label="Pareto front")  # fmt: skip
        axes.set(xlabel=resource.upper(), ylabel="cycles", yscale="log", title=self.kernel.name)
        axes.legend()
        return figure

    def __repr__(self) -> str:
        manifest = self.directory.manifest
        lines = [
            f"<run of {manifest['kernel']} for {manifest['device']}, {len(self.designs)} designs>"
        ]
        lines += [f"  {one!r}" for one in self.pareto[:8]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _table(rows(self.directory, self.problem))

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process opens the folder, which has to be there."""
        return load_run, (str(self.path.absolute()),)


def _table(found: Sequence[Mapping[str, Any]]) -> str:
    """Lines of a table as HTML."""
    if not found:
        return "<p>no design keeps to the limits</p>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in found[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(v))}</td>" for v in row.values()) + "</tr>"
        for row in found
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _known(what: str, given: object, known: Sequence[str]) -> None:
    if given not in known:
        raise InputError(
            "W509", f"{what} of a run is {shown(given)}", help=f"it is one of {', '.join(known)}"
        )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return (
        f"{value:,}" if isinstance(value, int) else str(value)[:_SHOWN] if value is not None else ""
    )


def load_run(folder: str | Path, kernel: Kernel | None = None) -> Run:
    """Open the folder of an exploration; of one over clocks the run with the fastest design in time.

    Args:
        folder: of the run.
        kernel: that it was begun with; None for what the folder holds as data.

    Raises:
        InputError: W521 no run is there; W536 it was begun with another kernel; W546, W547 the
            folder does not hold its kernel.
    """
    from dse.kernels.data import kept
    from dse.run.folder.codec import program_digest

    directory = open_run(run_in(Path(folder)), write=False)
    found = kept(directory.path) if kernel is None else kernel
    if program_digest(found.program) != directory.manifest["program"]:
        raise InputError("W536", f"{found.name} is not the kernel that the run was begun with",
                         help="explore it anew; or leave the kernel out")  # fmt: skip
    return Run(directory, found)
