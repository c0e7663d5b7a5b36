"""``weft evaluate``: how far predictors are from labels that were kept from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dse import console
from dse.labels.options import label_options, labelled
from dse.output import format_option, show

if TYPE_CHECKING:
    from qor_gnn.gnn.examples import Example, Fitted, Predictor

PROTOCOLS = ("P0", "P1", "P2", "k16", "k64")
PREDICTORS = ("model", "trees", "flat", "gnn")
COLUMNS = (
    *("protocol", "split", "predictor", "seed", "metric", "mape", "median", "tau", "coverage"),
    *("adrs", "designs", "seconds"),
)


@click.command()
@label_options
@click.option("--weights", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Evaluate this predictor on all of them, instead of training any.")  # fmt: skip
@click.option("--protocol", "protocols", type=click.Choice(PROTOCOLS), multiple=True,
              help="P0: random designs are kept back; P1: one kernel; P2: its family; k16, k64: a "
              "kernel but for so many designs. Default: P1.")  # fmt: skip
@click.option("--predictor", "names", type=click.Choice(PREDICTORS), multiple=True,
              help="The white box, trees on its features, networks without and with hierarchy. "
              "Default: model and gnn.")  # fmt: skip
@click.option("--epochs", type=click.IntRange(1, 10_000), default=30, show_default=True,
              metavar="N", help="Passes of the networks over the designs.")  # fmt: skip
@click.option("--seeds", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N",
              help="Seeds to train with.")  # fmt: skip
@format_option
def command(
    places: tuple[Path, ...],
    weights: Path | None,
    protocols: tuple[str, ...],
    names: tuple[str, ...],
    epochs: int,
    seeds: int,
    jobs: int,
    cache: Path | None,
    form: str,
) -> int:
    """Compare predictors on labelled designs that were kept from them.

    \b
    weft evaluate --data labels --protocol P1 --predictor model --predictor gnn
    weft evaluate --data my_reports --weights my.safetensors

    Errors are in percent of the label; tau is Kendall's; coverage is the percentage of labels in
    their 90% intervals; adrs is how far the predicted front is from the true one. Equivalent designs
    are never on both sides of a split.
    """
    if weights is not None and (protocols or names):
        raise click.UsageError("--weights trains nothing: leave --protocol and --predictor out")
    examples = labelled(places, jobs, cache)
    if weights is not None:
        from qor_gnn.gnn.weights import load

        rows = list(_judged(examples, weights.name, load(weights)))
    else:
        from qor_gnn.gnn.evaluate import rows as evaluated

        chosen = _predictors(names or ("model", "gnn"), epochs)
        rows = []
        for row in evaluated(
            examples, chosen, protocols or ("P1",), tuple(range(seeds)), remark=_remark
        ):
            about = asdict(row)
            about |= about.pop("errors")
            rows.append(about)
    show("evaluate", COLUMNS, rows, form)
    return 0


def _remark(text: str) -> None:
    console.say(f"evaluate: {text}")


def _judged(examples: Sequence[Example], name: str, fitted: Fitted) -> Iterator[dict[str, object]]:
    """A predictor's errors on each kernel."""
    from qor_gnn.gnn.examples import METRICS
    from qor_gnn.gnn.metrics import errors

    for kernel in dict.fromkeys(e.kernel for e in examples):
        mine = [e for e in examples if e.kernel == kernel]
        found = fitted.predict(mine)
        for metric in METRICS:
            if any(metric in e.label for e in mine):
                told = {"split": kernel, "predictor": name, "metric": metric}
                yield {**told, **asdict(errors(mine, found, metric))}


def _predictors(names: Sequence[str], epochs: int) -> list[Predictor]:
    from dataclasses import replace

    from qor_gnn.gnn.baselines import ResidualTrees, WhiteBox
    from qor_gnn.gnn.predict import FLAT, GnnPredictor
    from qor_gnn.gnn.train import Settings

    known: dict[str, Predictor] = {
        "model": WhiteBox(),
        "trees": ResidualTrees(),
        "flat": GnnPredictor(replace(FLAT, epochs=epochs)),
        "gnn": GnnPredictor(Settings(epochs=epochs)),
    }
    return [known[name] for name in names]
