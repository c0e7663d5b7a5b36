"""Designs with made-up labels that follow laws, for the tests of the networks."""

from __future__ import annotations

import random
from functools import cache

from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.region import loops_in
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import zu9eg
from qor_gnn.gnn.examples.convert import Origin, example
from qor_gnn.gnn.examples.example import Example

TOOL = zu9eg.PERSONALITY
INNER = {
    "atax": ("lp2", "lp4"),
    "gemm": ("lp2", "lp5"),
    "gesummv": ("lp2",),
    "k2mm": ("lp3", "lp6"),
}


@cache
def designs(kernel: str, count: int, seed: int = 0) -> tuple[Example, ...]:
    """Different designs of a kernel. Pipelines take 20% more LUT than the white box says."""
    rng = random.Random(f"{kernel} {seed}")
    found: dict[Schedule, Example] = {}
    while len(found) < count:
        schedule = _schedule(kernel, rng)
        if schedule not in found:
            found[schedule] = _example(kernel, schedule)
    return tuple(found.values())


def _schedule(kernel: str, rng: random.Random) -> Schedule:
    steps: list[Step] = []
    for memory in zu9eg.structure(kernel).memories:
        factor = rng.choice((1, 2, 4))
        if memory.shape and factor > 1:
            steps.append(Partition(memory.name, len(memory.shape) - 1, "cyclic", factor))
    for loop in INNER[kernel]:
        if rng.random() < 0.5:
            steps.append(Pipeline(loop))
        if (factor := rng.choice((1, 2, 4, 8))) > 1:
            steps.append(Unroll(loop, factor))
    return Schedule(tuple(steps))


def _example(kernel: str, schedule: Schedule) -> Example:
    tree = with_directives(zu9eg.structure(kernel), schedule)
    answer = estimate(tree, TOOL)
    loops = [loop for f in tree.functions for loop in loops_in(f.body)]
    more = 1.2 if any(loop.ii is not None for loop in loops) else 1.0
    assert answer.lut is not None
    assert answer.ff is not None
    label = {
        "latency": float(answer.latency.maximum),
        "lut": more * answer.lut,
        "ff": float(answer.ff),
        "dsp": float(answer.dsp),
    }
    return example(tree, tree, answer, label, Origin(kernel, kernel, name=repr(schedule)))
