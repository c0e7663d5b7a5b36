"""Which designs are learned from and which are asked about: splits, as functions of examples.

What is asked about are whole kernels; rows of single nests are only learned from, and never those
of a kernel that is left out. Equivalent designs (`Example.group`) are on one side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from qor_gnn.gnn.examples.example import Example, Split, distinct, where

VALID, TEST = 0.1, 0.1
SHOTS = (16, 64)


def random_split(examples: Sequence[Example], seed: int, name: str = "P0") -> Split:
    """80% to learn from, 10% to stop by, 10% to be asked about, by groups of equivalent designs."""
    whole = [e for e in examples if not e.part]
    groups = np.array(distinct(e.group for e in whole))
    order = np.random.default_rng(seed).permutation(len(groups))
    held = int(len(groups) * TEST), int(len(groups) * (TEST + VALID))
    test = set(groups[order[: held[0]]].tolist())
    valid = set(groups[order[held[0] : held[1]]].tolist())
    kept = test | valid
    return Split(
        name,
        where(examples, lambda e: e.group not in kept),
        where(examples, lambda e: e.group in valid),
        where(examples, lambda e: e.group in test),
    )


def leave_kernels_out(examples: Sequence[Example], name: str = "P1") -> Iterator[Split]:
    """One kernel after the other is asked about; split ``NAME/KERNEL``."""
    return _leave_out(examples, lambda e: e.kernel, name)


def leave_families_out(examples: Sequence[Example], name: str = "P2") -> Iterator[Split]:
    """One family of kernels after the other is asked about."""
    return _leave_out(examples, lambda e: e.family, name)


def _leave_out(
    examples: Sequence[Example], key: Callable[[Example], str], name: str
) -> Iterator[Split]:
    for value in distinct(key(e) for e in examples):
        yield Split(
            f"{name}/{value}",
            where(examples, lambda e, value=value: key(e) != value),  # type: ignore[misc]
            (),
            where(examples, lambda e, value=value: key(e) == value and not e.part),  # type: ignore[misc]
        )


def few_shots(examples: Sequence[Example], shots: int, seed: int) -> Iterator[Split]:
    """As `leave_kernels_out`, but so many different designs of the kernel are learned from.

    Splits ``kSHOTS/KERNEL``. The designs known are in ``train``; their equivalents are not asked
    about.
    """
    for left in leave_kernels_out(examples, f"k{shots}"):
        groups = np.array(distinct(examples[n].group for n in left.test))
        rng = np.random.default_rng((seed, shots))
        known = set(rng.permutation(groups)[:shots].tolist())
        given: dict[str, int] = {}
        for n in left.test:
            if examples[n].group in known:
                given.setdefault(examples[n].group, n)
        rest = tuple(n for n in left.test if examples[n].group not in known)
        yield Split(left.name, (*left.train, *sorted(given.values())), (), rest)


def check(examples: Sequence[Example], split: Split) -> None:
    """That no group is on two sides.

    Raises:
        ValueError: One is.
    """
    parts = [{examples[n].group for n in part} for part in (split.train, split.valid, split.test)]
    if parts[0] & parts[1] or parts[1] & parts[2] or parts[0] & parts[2]:
        raise ValueError(f"{split.name}: equivalent designs are on two sides")
