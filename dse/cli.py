"""``weft``: finds the command, runs it, and turns whatever comes out into an exit code.

Exit codes: 0 done; 1 an error in the user's program or input, or a mismatch found; 2 wrong usage;
3 nothing feasible; 70 a fault of Weft itself; 130 interrupted; 143 terminated by SIGTERM.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from dse.inside import FULL
from dse.termination import Terminated, end_when_asked
from dse.views import console
from dsl.errors.errors import InputError, WeftError, did_you_mean
from dsl.errors.shown import shown

# Name: the line in the list of commands. The command is `command` in dse/commands/<name>.py.
COMMANDS = {
    "compile": "Lower a kernel with a schedule; print its HLS C++, MLIR, ...",
    "verify": "Check that interpreter, JIT and compiled HLS C++ agree.",
    "estimate": "Estimate latency, intervals and resources, and say why.",
    "space": "Show the design space of a kernel: structures, legal loop orders, factors.",
    "calibrate": "Calibrate estimates to your own Vitis HLS projects, or a tool's coefficients to labels.",
    "explore": "Search the schedules of a kernel for the best designs.",
    "worker": "Evaluate points of an exploration that runs elsewhere.",
    "report": "Write the report of a run: one HTML file.",
    "compare": "Compare two runs of weft explore.",
    "export": "Write a Vitis HLS project with a self-checking testbench.",
    "synth": "Simulate, synthesise, place and route a kernel with open tools.",
    "label": "Make a dataset of placed and routed designs.",
    "train": "Train a predictor of LUT, FF, clock, ... on labelled designs.",
    "evaluate": "Compare predictors on labelled designs that were kept from them.",
    "graph": "Show and draw the graph of a kernel that predictors see.",
    "devices": "List the parts and boards that designs can be made for.",
    "doctor": "Say which tools and libraries are here, and what for.",
}

ERROR, USAGE, INTERNAL, INTERRUPTED = 1, 2, 70, 130


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run, not when they are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"dse.commands.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but with a suggestion for a misspelt command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS)
            ctx.fail(f"no command is called '{args[0]}'; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib import metadata

        click.echo(f"weft {metadata.version('weft')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
    help="Show the version and exit.",
)  # fmt: skip
def weft() -> None:
    """Weft: HLS kernels in Python, exact loop transforms, verified HLS C++.

    A kernel is named FILE.py:NAME. Results go to standard output, progress to standard error.

    \b
    weft compile FILE.py --list                            what is in a file
    weft compile FILE.py:NAME --schedule S                 its HLS C++
    weft verify  FILE.py:NAME --schedule S                 is it right?
    weft estimate FILE.py:NAME --schedule S --explain      how fast, how large, and why?
    weft explore FILE.py:NAME --device D --out RUN         find the schedule
    weft export  FILE.py:NAME --schedule S --out DIR       a Vitis HLS project
    weft export  RUN --best --out DIR                      that of the best design found
    """


_PLACES = (errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENOTDIR)
"""Links that lead to themselves, folders of others, and files in the place of folders."""


def _of_files(error: OSError) -> InputError | None:
    """What is wrong with a user's files or disk; None of all else."""
    if error.errno in _PLACES and error.filename is not None:
        message = f"cannot use {error.filename}: {error.strerror}"
        return InputError("W508", message, help="name another place, or make its links anew")
    if error.errno == errno.ENAMETOOLONG:
        message = f"no file has a name as long as {shown(error.filename)}"
        return InputError("W502", message, help="name a file by its path from here: FILE.py:KERNEL")
    where = error.filename or "a temporary file"
    if error.errno in (*FULL, errno.EROFS):
        message = f"cannot write {where}: {error.strerror}"
        return InputError("W508", message, help="make room there, and run the command again")
    if error.filename is None and "temporary directory" in str(error.strerror):  # of tempfile
        message = "no folder for temporary files can be written"
        return InputError(
            "W508", message, help="make room in one, and name it: TMPDIR=/folder weft ..."
        )
    return None


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing that a user does is a traceback."""
    try:
        code = weft.main(args=list(arguments), prog_name="weft", standalone_mode=False)
        sys.stdout.flush()
    except WeftError as error:
        console.show_error(error)
        return USAGE if isinstance(error, InputError) and error.code == "W501" else ERROR
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        error.show()
        return ERROR
    except (click.Abort, KeyboardInterrupt):
        console.say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone. Python's own flush at exit must not fail as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ERROR
    except MemoryError as error:
        console.show_error(_out_of_memory(error))
        return ERROR
    except OSError as error:
        found = _of_files(error)
        if found is None:
            console.show_internal_error(error)
            return INTERNAL
        console.show_error(found)
        return ERROR
    except RuntimeError as error:
        if not str(error).startswith("Symlink loop"):  # of pathlib, where it resolves a path
            console.show_internal_error(error)
            return INTERNAL
        instead = "name another place, or make its links anew"
        console.show_error(InputError("W508", str(error), help=instead))
        return ERROR
    except Exception as error:  # noqa: BLE001 - the outermost frame: the last place to be polite
        console.show_internal_error(error)
        return INTERNAL
    return code if isinstance(code, int) else 0


def _out_of_memory(error: MemoryError) -> WeftError:
    """Arrays that are as large as they are said to be are the user's: they may not fit here."""
    why = f": {error}" if str(error) else ""
    return InputError(
        "W116",
        f"this needs more memory than there is{why}",
        help="take a smaller size of the kernel, as with --size N=64",
    )


def main() -> None:
    """The console script."""
    _import_nothing_from_here()
    end_when_asked()
    try:
        code = run(sys.argv[1:])
    except Terminated:
        console.say("terminated")
        raise
    sys.exit(code)


def _import_nothing_from_here() -> None:
    """Keep the working folder, which may be a stranger's, out of the path of Python's processes.

    A command does not import from there, but each process that it starts would: Python puts the
    folder first for ``-c``. Where Python was told to do so for this one (``python -m weft``), it stays.
    """
    first = Path(sys.path[0] or ".") if sys.path else None
    if sys.flags.safe_path or first is None or first.resolve() != Path.cwd():
        os.environ["PYTHONSAFEPATH"] = "1"
