"""Commands on a kernel or on a design of a run: what does not go together."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click


def no_run(kernel: str, spec: str | None, choices: str) -> None:
    """Refuse a run, and what is for designs of a run.

    Args:
        kernel: what the command line names as its kernel.
        spec: the file of ``--kernel``, if any.
        choices: the options that choose a design.

    Raises:
        click.UsageError: it is a run; ``--kernel`` goes with a run only.
    """
    if (Path(kernel) / "manifest.json").is_file():
        raise click.UsageError(f"{kernel} is a run of weft explore: add {choices}")
    if spec is not None:
        raise click.UsageError(f"--kernel is for a design of a run: {choices}")


def nothing_but_the_run(own: Collection[str]) -> None:
    """What a run says already cannot be said again.

    Args:
        own: parameters of the command that a run has its own of.

    Raises:
        click.UsageError: one of them is on the command line.
    """
    context = click.get_current_context()
    for name in own:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = next(p.opts[0] for p in context.command.params if p.name == name)
            raise click.UsageError(
                f"{option} does not go with a design of a run, which has its own"
            )
