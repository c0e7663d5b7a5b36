"""The options of commands that read labelled designs, and the reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse import console
from dse.prediction import needs_libraries

if TYPE_CHECKING:
    from qor_gnn.gnn.examples import Example


_KERNELS = "kernel_specs"


def _kept(context: click.Context, _: click.Parameter, specs: tuple[str, ...]) -> None:
    context.meta[_KERNELS] = specs


def label_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--data``, ``--kernel``, ``--jobs`` and ``--cache``.

    ``--kernel`` is no argument of the command: `labelled` finds it, and nobody else needs it.
    """
    for option in (
        click.option("--cache", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
                     help="Keep scheduled designs here. Default: with the results of tools."),
        click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
                     metavar="N", help="Designs that are scheduled at once."),
        click.option("--kernel", _KERNELS, multiple=True, expose_value=False, callback=_kept,
                     metavar="FILE.py:KERNEL",
                     help="Where the kernel of exported projects is; may be given several times. "
                     "Default: where it was, from the working folder."),
        click.option("--data", "places", required=True, multiple=True,
                     type=click.Path(path_type=Path), metavar="PATH",
                     help="Labelled designs; may be given several times."),
    ):  # fmt: skip
        command = option(command)
    return command


def labelled(places: Sequence[Path], jobs: int, cache: Path | None) -> list[Example]:
    """The designs of all places, with progress; for commands with `label_options`.

    Raises:
        InputError: W528 a library is not installed; W501 to W504 a ``--kernel`` is not there; W532
            a place holds none; W5xx it is damaged.
    """
    needs_libraries()
    from backends.rtl.synth import default_cache
    from dse.labels.examples import examples_of
    from dse.labels.project_kernels import given

    kernels = given(click.get_current_context().meta[_KERNELS])
    kept = default_cache() / "labels" if cache is None else cache
    found: list[Example] = []
    with console.progress("schedule") as update:
        for place in places:
            found += examples_of(
                *(place, kept, jobs, lambda n, of: update(n, of, "")),
                kernels=kernels,
                remark=console.say,
            )
    return found
