"""``weft label``: a dataset of placed and routed designs."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dse.views import console
from dse.views.output import format_option, show
from dsl.errors.errors import InputError

if TYPE_CHECKING:
    from dse.labels.variants import Subject

COLUMNS = ("kernel", "outcome", "designs")


@click.command()
@click.argument("kernels", nargs=-1, required=True, metavar="FILE.py[:KERNEL]|FOLDER...")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True,
              metavar="DIR", help="The dataset; what is there already is kept.")  # fmt: skip
@click.option("--sizes", default="mini", show_default=True, metavar="NAME,...",
              help="Sizes of the kernels; those that a kernel does not have are passed over.")  # fmt: skip
@click.option("--types", default="f32", show_default=True, metavar="TYPE;...",
              help="What takes the place of f32 in the kernels: i16;i32;fixed[16,8];f32.")  # fmt: skip
@click.option("--designs", type=click.IntRange(1, 100_000), default=20, show_default=True,
              metavar="N", help="Designs of each kernel, size and type.")  # fmt: skip
@click.option("--copies", type=click.IntRange(1, 4096), default=16, show_default=True,
              metavar="N", help="Most copies of a statement.")  # fmt: skip
@click.option("--rare-above", type=click.IntRange(min=1), metavar="LUT",
              help="Take designs of more LUT, as estimated, the more rarely the larger they are.")  # fmt: skip
@click.option("--simulate", type=click.IntRange(min=0), default=1, show_default=True, metavar="N",
              help="Designs of each that are simulated; others keep predicted cycles.")  # fmt: skip
@click.option("--device", default="ecp5-85k", show_default=True, metavar="NAME",
              help="ecp5-25k, ecp5-45k, ecp5-85k or xc7.")  # fmt: skip
@click.option("--clock", type=click.FloatRange(min=0.5, max=1000), default=10.0,
              show_default=True, metavar="NS", help="The clock period to aim at.")  # fmt: skip
@click.option("--seeds", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N",
              help="Routings of each design.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
              help="Of the sample.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), metavar="N",
              help="Designs at once. Default: one for each core.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=1), default=900, show_default=True,
              metavar="S", help="Limit of each design.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="End after so many new designs.")  # fmt: skip
@click.option("--native", is_flag=True,
              help="Use the yosys, nextpnr-ecp5 and verilator on PATH.")  # fmt: skip
@format_option
def command(
    kernels: tuple[str, ...],
    out: Path,
    sizes: str,
    types: str,
    designs: int,
    copies: int,
    rare_above: int | None,
    simulate: int,
    device: str,
    clock: float,
    seeds: int,
    seed: int,
    jobs: int | None,
    timeout: float,
    limit: int | None,
    native: bool,
    form: str,
) -> int:
    """Sample schedules of kernels, take each through the open flow, and keep what came of it.

    \b
    weft label examples/polybench --types "i16;f32" --designs 20 --out build/labels
    weft label fir.py:fir --sizes mini,small --copies 8 --out build/labels

    The dataset is a folder with designs.csv and manifest.json. Interrupt it and give the same
    command again: it goes on. Designs that do not fit or run out of time are lines, too.
    """
    from backends.rtl.synth import SynthOptions, checked_device
    from dse.labels.dataset import Dataset
    from dse.labels.run import Plan, manifest_of, run, tasks

    options = SynthOptions(
        device, clock, seeds=tuple(range(1, seeds + 1)), native=native, seconds=timeout
    )
    checked_device(device)
    found = _subjects(kernels, sizes.split(","), types.split(";"))
    dataset = Dataset(out)
    known = set(dataset.open(manifest_of(options), shlex.join(["weft", *sys.argv[1:]])))
    dataset.keep_programs({(s.file, s.kernel, s.size, s.dtype): s.load().program for s in found})
    total = designs * len(found)
    counts: Counter[str] = Counter()
    console.say(f"label: {len(found)} kernels by size and type, {len(known)} designs known")
    planned = tasks(found, Plan(designs, copies, simulate, seed, rare_above), options)
    with console.progress("label") as progress:
        for ended in run(planned, dataset, known, jobs or os.cpu_count() or 1, timeout * 2, limit):
            row = ended.result or {}
            counts[str(row["outcome"])] += 1
            progress(sum(counts.values()), limit or total, f"{row['kernel']} {row['outcome']}")
    console.say(f"label: {sum(counts.values())} new designs, {len(known)} in {out}")
    rows = Counter((row["kernel"], row["outcome"]) for row in dataset.rows())
    listed = [
        {"kernel": name, "outcome": outcome, "designs": n}
        for (name, outcome), n in sorted(rows.items())
    ]
    show("label", COLUMNS, listed, form)
    return 0


def _subjects(kernels: Sequence[str], sizes: Sequence[str], types: Sequence[str]) -> list[Subject]:
    """What to label.

    Raises:
        InputError: W507, W506: nothing of that: no kernel, none of the sizes, or no program.
    """
    from dse.labels.variants import known_sizes, subjects

    found = list(subjects(kernels, sizes, types))
    if found:
        return found
    known = known_sizes(kernels)
    named = f"{', '.join(kernels[:3])}{', ..' if len(kernels) > 3 else ''}"
    if not known:
        raise InputError("W507", f"no kernel in {named} has a size", help="@weft.kernel(sizes=...)")
    if not set(known) & set(sizes):
        message = f"no kernel in {named} has a size '{', '.join(sizes)}'"
        raise InputError("W506", message, help=f"their sizes: {', '.join(known)}")
    raise InputError("W506", f"no kernel in {named} is a program with {' or '.join(types)} in it")
