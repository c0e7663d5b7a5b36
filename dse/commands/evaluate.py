"""``weft evaluate``: how far predictors are from labels that were kept from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dse.estimates.prediction import needs_libraries
from dse.labels.options import label_options, labelled
from dse.views import console
from dse.views.output import format_option, show
from dsl.errors.errors import InputError

if TYPE_CHECKING:
    from qor_gnn.gnn.examples.example import Example, Predictor
    from qor_gnn.gnn.training.evaluate import EvalRow

PROTOCOLS = ("P0", "P1", "P2", "k16", "k64")
PREDICTORS = ("model", "trees", "flat", "gnn")
COLUMNS = (
    *("tool", "protocol", "split", "predictor", "seed", "metric", "mape", "median", "tau"),
    *("coverage", "adrs", "designs", "seconds"),
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
    are never on both sides of a split. Each tool has rows of its own. With --weights the protocol is
    "given", and the last rows are of all kernels.
    """
    if weights is not None and (protocols or names):
        raise click.UsageError("--weights trains nothing: leave --protocol and --predictor out")
    if weights is not None:
        asked = _judged(places, jobs, cache, weights)
    else:
        chosen, seen = protocols or ("P1",), names or ("model", "gnn")
        asked = _compared(_by_tool(labelled(places, jobs, cache)), chosen, seen, epochs, seeds)
    rows = [{"tool": tool, **_flat(row)} for tool, row in asked]
    if not rows:
        raise InputError("W532", "no design has a label of a metric that predictors know")
    show("evaluate", COLUMNS, rows, form)
    return 0


def _by_tool(examples: Sequence[Example]) -> dict[str, list[Example]]:
    """What is asked of each tool by itself: a kernel has other labels with each.

    Raises:
        InputError: W532: there are no designs, or of a tool none of whole kernels.
    """
    found: dict[str, list[Example]] = {}
    for one in examples:
        found.setdefault(one.target, []).append(one)
    if not found:
        raise InputError("W532", "there are no labelled designs to ask about")
    for tool, mine in found.items():
        if all(e.part for e in mine):
            raise InputError(
                "W532",
                f"the {len(mine):,} labelled designs of {tool} are single nests, and only whole "
                "kernels are asked about",
            )
    return found


def check_asked(tool: str, examples: Sequence[Example], protocol: str) -> None:
    """That a protocol has something to ask about, before anything is learned.

    Args:
        tool: for the message.
        examples: of it, some of whole kernels.
        protocol: one of `PROTOCOLS`.

    Raises:
        InputError: W532: it has not.
    """
    from qor_gnn.gnn.training.evaluate import splits

    if any(split.train and split.test for split in splits(examples, protocol, 0)):
        return
    whole = [e for e in examples if not e.part]
    kernels, groups = len({e.kernel for e in whole}), len({e.group for e in whole})
    match protocol:
        case "P0":
            why = f"a tenth of {groups} different designs is none"
        case "P1" | "P2":
            left = "kernel" if protocol == "P1" else "family of kernels"
            why = f"without one {left} there is nothing to learn from, as there is one only"
        case _:
            shots = protocol.removeprefix("k")
            why = f"of no kernel there are more than {shots} different designs"
    raise InputError(
        "W532",
        f"{protocol} has nothing to ask about {tool}: {why}",
        help=f"give it more designs, or another --protocol; there are {groups} of {kernels} "
        f"{'kernel' if kernels == 1 else 'kernels'}",
    )


def _remark(text: str) -> None:
    console.say(f"evaluate: {text}")


def _judged(
    places: Sequence[Path], jobs: int, cache: Path | None, weights: Path
) -> Iterator[tuple[str, EvalRow]]:
    """A predictor's errors on each kernel of a tool and on all."""
    needs_libraries()
    from qor_gnn.gnn.training.evaluate import judged
    from qor_gnn.gnn.training.weights import load

    fitted = load(weights)  # first: what cannot be read is known before designs are scheduled
    for tool, examples in _by_tool(labelled(places, jobs, cache)).items():
        for row in judged(examples, weights.name, fitted):
            yield tool, row


def _compared(
    tools: Mapping[str, Sequence[Example]],
    protocols: Sequence[str],
    names: Sequence[str],
    epochs: int,
    seeds: int,
) -> Iterator[tuple[str, EvalRow]]:
    """The errors of predictors on what was kept from them."""
    from qor_gnn.gnn.training.evaluate import rows

    for tool, examples in tools.items():
        for protocol in protocols:
            check_asked(tool, examples, protocol)
    predictors = _predictors(names, epochs)
    for tool, examples in tools.items():
        for row in rows(examples, predictors, protocols, tuple(range(seeds)), remark=_remark):
            yield tool, row


def _flat(row: EvalRow) -> dict[str, object]:
    about = asdict(row)
    errors = about.pop("errors")
    return {**about, **errors}


def _predictors(names: Sequence[str], epochs: int) -> list[Predictor]:
    from dataclasses import replace

    from qor_gnn.gnn.training.baselines import ResidualTrees, WhiteBox
    from qor_gnn.gnn.training.predict import FLAT, GnnPredictor
    from qor_gnn.gnn.training.train import Settings

    known: dict[str, Predictor] = {
        "model": WhiteBox(),
        "trees": ResidualTrees(),
        "flat": GnnPredictor(replace(FLAT, epochs=epochs)),
        "gnn": GnnPredictor(Settings(epochs=epochs)),
    }
    return [known[name] for name in names]
