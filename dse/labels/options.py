"""The options of commands that read labelled designs, and the reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.estimates.prediction import needs_libraries
from dse.views import console

if TYPE_CHECKING:
    from qor_gnn.gnn.examples.example import Example


_KERNELS, _FOLDERS = "kernel_specs", "trusted_folders"


def _kept(context: click.Context, option: click.Parameter, given: tuple[Any, ...]) -> None:
    context.meta[str(option.name)] = given


def label_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--data``, ``--kernel``, ``--trust``, ``--jobs`` and ``--cache``.

    ``--kernel`` and ``--trust`` are no arguments of the command: `labelled` finds them, and nobody
    else needs them.
    """
    for option in (
        click.option("--cache", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
                     help="Keep scheduled designs here. Default: with the results of tools."),
        click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
                     metavar="N", help="Designs that are scheduled at once."),
        click.option("--kernel", _KERNELS, multiple=True, expose_value=False, callback=_kept,
                     metavar="FILE.py:KERNEL",
                     help="Run this file for a kernel of the data; may be given several times. "
                     "Default: the data hold their kernels."),
        click.option("--trust", _FOLDERS, multiple=True, expose_value=False, callback=_kept,
                     type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
                     help="Run the Python files below DIR that the data name; may be given several "
                     "times. Default: none is run."),
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
    from dse.labels.trusted import given

    meta = click.get_current_context().meta
    trusted = given(meta[_KERNELS], meta[_FOLDERS])
    kept = default_cache() / "labels" if cache is None else cache
    found: list[Example] = []
    with console.progress("schedule") as update:
        for place in places:
            found += examples_of(
                *(place, kept, jobs, lambda n, of: update(n, of, "")),
                trusted=trusted,
                remark=console.say,
            )
    return found
