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


def label_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--data``, ``--jobs`` and ``--cache``."""
    for option in (
        click.option("--cache", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
                     help="Keep scheduled designs here. Default: with the results of tools."),
        click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
                     metavar="N", help="Designs that are scheduled at once."),
        click.option("--data", "places", required=True, multiple=True,
                     type=click.Path(path_type=Path), metavar="PATH",
                     help="Labelled designs; may be given several times."),
    ):  # fmt: skip
        command = option(command)
    return command


def labelled(places: Sequence[Path], jobs: int, cache: Path | None) -> list[Example]:
    """The designs of all places, with progress.

    Raises:
        InputError: W528 a library is not installed; W532 a place holds none; W5xx it is damaged.
    """
    needs_libraries()
    from backends.rtl.synth import default_cache
    from dse.labels.examples import examples_of

    kept = default_cache() / "labels" if cache is None else cache
    found: list[Example] = []
    with console.progress("schedule") as update:
        for place in places:
            found += examples_of(
                place, kept, jobs, lambda n, of: update(n, of, ""), remark=console.say
            )
    return found
