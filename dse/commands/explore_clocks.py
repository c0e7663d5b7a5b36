"""``weft explore --clock 3..10``: the fastest design in time over a range of clocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.commands.stopping import stop_once
from dse.views import console
from dse.views.output import show

if TYPE_CHECKING:
    from dse.kernels.target import Target
    from dse.run.folder.plan import Plan
    from dse.run.search.options import ExploreOptions

_ONE_RUN = {
    "storage": "--storage", "study": "--study", "dask": "--dask", "shared": "--open",
    "promote": "--promote", "rounds": "--learn",
}  # fmt: skip


def over_clocks(
    asked: Target,
    folder: Path,
    given: dict[str, Any],
    options: Callable[[float], ExploreOptions],
    plan: Callable[[ExploreOptions], Plan],
    *,
    resume: bool,
    form: str,
) -> bool | None:
    """Carry out a search over clocks, and show a line for each.

    Args:
        asked: the kernel.
        folder: of the search.
        given: what the command line says.
        options, plan: of the run at a period, and of a run.
        resume: go on with the search in the folder.
        form: of what is shown.

    Returns:
        Whether a design was found; None where the user stopped it.

    Raises:
        InputError: W405 the range is none; as `dse.run.sweeps.swept.swept`.
    """
    from dse.report.page import write_report
    from dse.run.sweeps.sweep import reached
    from dse.run.sweeps.swept import Hearing, swept
    from dse.views import clocks as view
    from dse.views import listening as shown

    if one := [name for key, name in _ONE_RUN.items() if given[key]]:
        raise click.UsageError(
            f"{one[0]} is of a run at one clock: leave it out, or give one --clock"
        )
    if not given["jobs"]:
        raise click.UsageError("--jobs 0 leaves nobody to evaluate")
    with stop_once() as stopping:
        hearing = Hearing(
            lambda chosen, problem, trials: shown.progress(chosen, problem, trials, stopping),
            lambda ns, trials, path: console.say(f"clock {ns:g} ns: {trials} trials in {path}"),
            write_report,
        )
        program = asked.kernel.program
        found = swept(folder, given["clock"], options, plan, program, hearing, resume=resume)
    best = reached(found.sweep)
    rows = view.rows(best)
    if form != "json":
        rows = [view.for_people(row) if form == "table" else view.flat(row) for row in rows]
    routed = any(one.routed is not None for one in best)
    show("explore", view.columns(form, routed=routed), rows, form)
    for line in view.summary(folder, best):
        console.say(line)
    if found.stopped:
        return None
    return bool(best) and best[0].design is not None
