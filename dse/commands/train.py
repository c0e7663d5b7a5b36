"""``weft train``: a predictor from labelled designs, or one brought to further labels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.labels.options import label_options, labelled
from dse.views import console
from dse.views.output import format_option, show
from dsl.errors.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qor_gnn.gnn.examples.example import Example
    from qor_gnn.gnn.training.ensemble import Model

COLUMNS = ("tool", "metric", "kernels", "designs", "white_box_error_pct", "error_pct", "trust")
TUNED = ("tool", "metric", "designs", "before_error_pct", "error_pct")

_OF_TRAINING = ("seed", "epochs", "region_epochs", "members", "hidden", "each")
_MOST_SEED = (1 << 64) - 1  # of PyTorch's generator


@click.command()
@label_options
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="The weights to write.")  # fmt: skip
@click.option("--finetune", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Bring this predictor to the labels, instead of training one.")  # fmt: skip
@click.option("--kernel-out", "left", multiple=True, metavar="NAME",
              help="Do not learn from this kernel; may be given several times.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, _MOST_SEED), default=0, show_default=True,
              metavar="N", help="Of the first weights, and of the order of designs.")  # fmt: skip
@click.option("--epochs", type=click.IntRange(1, 10_000), default=30, show_default=True,
              metavar="N", help="Passes over the designs.")  # fmt: skip
@click.option("--region-epochs", type=click.IntRange(0, 10_000), default=0, show_default=True,
              metavar="N", help="Passes over single nests alone, before those.")  # fmt: skip
@click.option("--members", type=click.IntRange(2, 16), default=5, show_default=True, metavar="N",
              help="Networks of the ensemble.")  # fmt: skip
@click.option("--hidden", type=click.IntRange(4, 256), default=24, show_default=True,
              metavar="N", help="Channels of each.")  # fmt: skip
@click.option("--each", type=click.IntRange(min=0), default=0, metavar="N",
              help="Designs of a kernel in a pass at most. Default: all.")  # fmt: skip
@format_option
def command(
    places: tuple[Path, ...],
    out: Path,
    finetune: Path | None,
    left: tuple[str, ...],
    seed: int,
    jobs: int,
    cache: Path | None,
    form: str,
    **settings: int,
) -> int:
    """Train a predictor on labelled designs; shows its errors on designs that were kept from it.

    \b
    weft train --data labels --out my.safetensors
    weft train --data my_reports --finetune my.safetensors --out mine.safetensors

    The same command goes on after an interruption, of whatever kind. The same data, options and
    seed give the same weights. --finetune takes seconds, and a handful of labels is enough; it shows
    the errors before, and of each label when it is left out.
    """
    _check_usage(finetune)
    _check_out(out, places)
    examples = _examples(places, left, jobs, cache)
    if finetune is not None:
        model = _finetuned(finetune, examples)
    else:
        model = _trained(examples, out, seed, settings)
    from qor_gnn.gnn.training.weights import save

    save(out, model)
    console.say(f"train: {out}: {out.stat().st_size:,} bytes")
    if finetune is not None:
        show("train", TUNED, _tuned(model, examples), form)
    else:
        _checkpoint(out).unlink(missing_ok=True)
        show("train", COLUMNS, list(model.card.get("measured", ())), form)
    return 0


def _check_usage(finetune: Path | None) -> None:
    """That no option is given which nothing is done with."""
    context = click.get_current_context()
    for name in _OF_TRAINING if finetune is not None else ():
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(
                f"{option} is for training: --finetune leaves the networks alone"
            )


def _check_out(out: Path, places: Sequence[Path]) -> None:
    """That what is written replaces nothing of the labelled designs.

    Raises:
        InputError: W508: it would.
    """
    written = [out, _checkpoint(out), out.with_name(out.name + ".partial")]
    for place in places:
        data = Path(os.path.realpath(place))
        for path in written:
            if Path(os.path.realpath(path)).is_relative_to(data):
                where = "is" if place.is_file() else "lies in"
                raise InputError(
                    "W508",
                    f"cannot write {path}: it {where} {place}, which holds the labelled designs",
                    help="write the weights elsewhere: --out",
                )


def _examples(
    places: Sequence[Path], left: Sequence[str], jobs: int, cache: Path | None
) -> list[Example]:
    from qor_gnn.gnn.examples.example import METRICS

    found = labelled(places, jobs, cache)
    kernels = {e.kernel for e in found}
    for name in left:
        if name not in kernels:
            raise InputError(
                "W503", f"no kernel '{name}' is labelled", help=did_you_mean(name, kernels)
            )
    kept = [e for e in found if e.kernel not in left]
    if not kept:
        raise InputError("W532", "there are no labelled designs to learn from")
    if not any(e.label.keys() & set(METRICS) for e in kept):
        raise InputError(
            "W532",
            f"none of the {len(kept):,} designs has a label to learn from",
            help=f"a label is what a tool said of one of {', '.join(METRICS)}",
        )
    console.say(f"train: {len(kept):,} designs of {len(kernels) - len(left)} kernels")
    return kept


def _trained(examples: Sequence[Example], out: Path, seed: int, settings: dict[str, int]) -> Model:
    from qor_gnn.gnn.nets.network import Shape
    from qor_gnn.gnn.training.predict import GnnPredictor
    from qor_gnn.gnn.training.train import Settings

    shape = Shape(members=settings["members"], hidden=settings["hidden"])
    how = Settings(shape, settings["epochs"], settings["region_epochs"], each=settings["each"])
    with console.progress("train") as update:

        def heard(done: int, total: int, loss: float) -> None:
            update(done, total, f"error {100 * loss:.2f}%")

        card = _card(examples, seed, settings)
        return GnnPredictor(how, _checkpoint(out), heard, card).fit(examples, (), seed)


def _checkpoint(out: Path) -> Path:
    return out.with_name(out.name + ".checkpoint")


def _finetuned(path: Path, examples: Sequence[Example]) -> Model:
    from dataclasses import replace

    from qor_gnn.gnn.examples.convert import merged
    from qor_gnn.gnn.training.weights import load

    model = load(path).adapted(merged(examples))
    told = [*model.card.get("finetuned", ()), _data_of(examples)]
    return replace(model, card={**model.card, "finetuned": told})


def _tuned(model: Model, examples: Sequence[Example]) -> list[dict[str, Any]]:
    """What the labels of each tool were worth; says where they are too few to be worth anything."""
    from qor_gnn.gnn.training.adapt import LEAST_SHOTS, worth

    rows = []
    for tool in sorted({e.target for e in examples}):
        mine = worth(model.adapters[tool])
        rows += [{"tool": tool, **row} for row in mine]
        few = [row["metric"] for row in mine if row["designs"] < LEAST_SHOTS]
        if few:
            console.say(
                f"train: one label of {', '.join(few)} of {tool} teaches nothing yet: "
                f"{LEAST_SHOTS} designs are the least"
            )
    return rows


def _card(examples: Sequence[Example], seed: int, settings: dict[str, int]) -> dict[str, Any]:
    """What people should know of the weights: the data and its licence, how they were trained."""
    from importlib import metadata

    versions = {name: metadata.version(name) for name in ("weft", "torch")}
    return {**_data_of(examples), "seed": seed, "settings": dict(settings), "versions": versions}


def _data_of(examples: Sequence[Example]) -> dict[str, Any]:
    from qor_gnn.fit.labels import SOURCES

    tools = sorted({e.target for e in examples})
    return {
        "tools": tools,
        "kernels": sorted({e.kernel for e in examples}),
        "designs": len(examples),
        "sources": {tool: SOURCES[tool] for tool in tools if tool in SOURCES},
    }
