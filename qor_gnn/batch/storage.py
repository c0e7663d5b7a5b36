"""The cost of an array under many partitions at once, equal to `qor_gnn.memory.storage` point by point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsl.schedules.steps import PartitionKind
from qor_gnn.memory.storage import Impl
from qor_gnn.tools.memories import StorageRules, UltraRam

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StorageCosts:
    """Costs of n designs: every field has the shape (n,)."""

    lut: Counts
    ff: Counts
    bram18: Counts
    uram: Counts


def storage_many(
    width: int,
    shape: tuple[int, ...],
    kinds: Sequence[PartitionKind],
    factors: Counts,
    rules: StorageRules,
    impl: Impl = "",
) -> StorageCosts:
    """What an array costs under many factor vectors.

    Args:
        width: bits an element.
        shape: the extents, d of them.
        kinds: how each dimension is split.
        factors: (n, d); a complete split has the extent as its factor.
        rules: of the tool and device family.
        impl: what the array was bound to.
    """
    words, count = np.ones(len(factors), np.int64), np.ones(len(factors), np.int64)
    for d, (extent, kind) in enumerate(zip(shape, kinds, strict=True)):
        factor = np.minimum(factors[:, d], extent)
        size = -(-extent // factor)
        words *= size
        count *= -(-extent // size) if kind == "block" else factor
    one = banks(width, words, rules, impl)
    return StorageCosts(one.lut * count, one.ff * count, one.bram18 * count, one.uram * count)


def banks(width: int, words: Counts, rules: StorageRules, impl: Impl = "") -> StorageCosts:
    """What banks of these sizes (at least one word each) cost; see `qor_gnn.memory.storage.bank_cost`."""
    zero = np.zeros_like(words)
    registers, lutram, uram, bram = _choice(width, words, rules, impl)
    block = rules.uram or UltraRam(0, 4096, 72)
    lut = width * -(-words // rules.lutram_words) + rules.lutram_extra
    blocks = -(-width // block.width) * -(-words // block.words)
    return StorageCosts(
        np.where(lutram, lut, zero),
        np.where(registers, width * words, np.where(lutram, width, zero)),
        np.where(bram, _bram18(width, words, rules), zero),
        np.where(uram, blocks, zero),
    )


def _choice(
    width: int, words: Counts, rules: StorageRules, impl: Impl
) -> tuple[NDArray[np.bool_], ...]:
    """Which banks are registers, LUTRAM, URAM, BRAM."""
    if impl not in ("", "auto"):
        order = ("register", "lutram", "uram", "bram")
        return tuple(np.full(words.shape, impl == name) for name in order)
    bits = width * words
    registers = words <= rules.register_depth
    lutram = ~registers & (bits <= rules.lutram_bits)
    uram = np.zeros(words.shape, np.bool_)
    if rules.uram is not None:
        large = (bits > rules.uram.above_bits) & (words <= rules.uram.words)
        uram = ~registers & ~lutram & large
    return registers, lutram, uram, ~registers & ~lutram & ~uram


def _bram18(width: int, words: Counts, rules: StorageRules) -> Counts:
    if rules.counted_to is not None:
        words = np.minimum(words, rules.counted_to)
    # Exact: a power of two below 2**53 has its exponent exactly.
    exponent = np.frexp((words - 1).astype(np.float64))[1].astype(np.int64)
    rounded = -(-width * (np.int64(1) << exponent) // rules.bram_bits)
    linear = (2 * width * words + rules.bram_bits) // (2 * rules.bram_bits)
    deep = np.where(words <= rules.rounded_to, rounded, linear)
    return np.where(words <= rules.bram_words, -(-width // rules.bram_width), deep)
