"""Costs of memories against the reports that their rules were read from."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.devices import DEVICES
from dsl.errors.errors import ToolError
from dsl.expressions.types import f64
from polyhedral.banks.splits import Split
from qor_gnn.design.region import Memory
from qor_gnn.fit.labelled.u200 import designs, kernels
from qor_gnn.fit.labelled.u200_program import Converted, convert
from qor_gnn.memory.storage import (
    Kind,
    StorageCost,
    bank_cost,
    banks_of,
    fifo,
    memory_cost,
    ping_pong,
    storage,
    storage_rules,
)
from qor_gnn.tools.personality import personality
from qor_gnn.tools.storage.laws import StorageRules, law_on, laws
from tests.support.labelled import labelled

U280 = storage_rules("vitis-2023.2-u280-3.33ns")
U200 = storage_rules("vitis-2025.1-u200-4ns")
ZU9EG = storage_rules("vitis-2022.1-zu9eg-10ns")
SERIES7, ULTRASCALE, VIRTEX = (laws()[n] for n in ("series7", "ultrascale", "virtexuplus"))
DATA = labelled("hlsfactory-u200")


@pytest.mark.parametrize(
    ("words", "cost"),
    [
        (1, StorageCost(ff=32, kind=Kind.REGISTERS)),
        (8, StorageCost(33, 32, kind=Kind.LUTRAM)),
        (64, StorageCost(33, 32, kind=Kind.LUTRAM)),
        (65, StorageCost(65, 32, kind=Kind.LUTRAM)),
        (128, StorageCost(65, 32, kind=Kind.LUTRAM)),
        (160, StorageCost(bram18=1, kind=Kind.BRAM)),
        (512, StorageCost(bram18=1, kind=Kind.BRAM)),
        (1024, StorageCost(bram18=2, kind=Kind.BRAM)),
        (2048, StorageCost(bram18=4, kind=Kind.BRAM)),
        (2049, StorageCost(uram=1, kind=Kind.URAM)),
        (4096, StorageCost(uram=1, kind=Kind.URAM)),
        (5700, StorageCost(bram18=16, kind=Kind.BRAM)),
        (8192, StorageCost(bram18=16, kind=Kind.BRAM)),
        (11_000, StorageCost(bram18=21, kind=Kind.BRAM)),
        (159_900, StorageCost(bram18=312, kind=Kind.BRAM)),
    ],
)
def test_banks_of_32_bits_on_u280(words: int, cost: StorageCost) -> None:
    assert bank_cost(32, words, U280) == cost


@pytest.mark.parametrize(
    ("words", "bram18", "uram"),
    [
        *((64, 0, 0), (65, 2, 0), (512, 2, 0), (513, 4, 0), (1024, 4, 0)),
        *((1025, 0, 1), (4096, 0, 1), (4097, 32, 0), (8192, 32, 0), (159_900, 32, 0)),
    ],
)
def test_banks_of_64_bits_on_u200_saturate(words: int, bram18: int, uram: int) -> None:
    cost = bank_cost(64, words, U200)
    assert (cost.bram18, cost.uram) == (bram18, uram)


# Memories of public projects (docs/lab/storage.md): the law, bits, words, BRAM18 with one port and with both.
@pytest.mark.parametrize(
    ("law", "width", "words", "one", "both"),
    [
        *((SERIES7, 64, 430, 2, 4), (SERIES7, 320, 92, 9, 18), (SERIES7, 71, 1024, 4, 4)),
        *((SERIES7, 9, 3584, 2, 2), (SERIES7, 16, 2392, 4, 4), (SERIES7, 9, 10_000, 9, 9)),
        *((SERIES7, 32, 2704, 8, 8), (SERIES7, 16, 20_000, 32, 32), (SERIES7, 18, 4096, 4, 4)),
        *(
            (ULTRASCALE, 48, 256, 2, 3),
            (ULTRASCALE, 32, 1280, 4, 4),
            (ULTRASCALE, 32, 5000, 11, 11),
        ),
        *((ULTRASCALE, 33, 32_768, 60, 60), (ULTRASCALE, 32, 40_000, 73, 73)),
        *((ULTRASCALE, 17, 129_600, 128, 128), (ULTRASCALE, 1024, 1024, 57, 57)),
        *((VIRTEX, 64, 400, 2, 2), (VIRTEX, 12, 4096, 4, 4), (VIRTEX, 18, 1024, 2, 2)),
        *((VIRTEX, 154, 64, 8, 8), (VIRTEX, 3071, 64, 8, 8)),
    ],
)
def test_block_rams_of_the_silicon(
    law: StorageRules, width: int, words: int, one: int, both: int
) -> None:
    assert bank_cost(width, words, law).bram18 == one
    assert bank_cost(width, words, law, both=True).bram18 == both


@pytest.mark.parametrize(
    ("law", "width", "words", "lut", "ff", "of_both"),
    [
        *(
            (SERIES7, 32, 16, 8, 32, 64),
            (SERIES7, 15, 64, 15, 15, 30),
            (ULTRASCALE, 16, 49, 13, 16, 32),
        ),
        *((VIRTEX, 8, 3, 9, 8, 8), (VIRTEX, 32, 65, 65, 32, 32), (VIRTEX, 256, 10, 257, 256, 256)),
    ],
)
def test_lutram_of_the_silicon(
    law: StorageRules, width: int, words: int, lut: int, ff: int, of_both: int
) -> None:
    assert bank_cost(width, words, law) == StorageCost(lut, ff, kind=Kind.LUTRAM)
    assert bank_cost(width, words, law, both=True).ff == of_both


@pytest.mark.parametrize(
    ("law", "width", "words", "ff", "bram18"),
    [
        *((SERIES7, 32, 2, 99, 0), (SERIES7, 8, 128, 99, 0), (SERIES7, 32, 1000, 163, 2)),
        *((ULTRASCALE, 512, 48, 155, 29), (ULTRASCALE, 160, 32, 153, 9)),
        *((VIRTEX, 58, 2, 132, 0), (VIRTEX, 64, 32, 211, 0), (VIRTEX, 33, 73, 153, 2)),
        *((VIRTEX, 512, 1024, 1055, 15), (VIRTEX, 32, 34_200, 95, 1)),
    ],
)
def test_fifos_of_the_silicon(
    law: StorageRules, width: int, words: int, ff: int, bram18: int
) -> None:
    cost = fifo(width, words, law)
    assert (cost.ff, cost.bram18) == (ff, bram18)


@given(st.sampled_from(sorted(laws())), st.integers(1, 3000), st.integers(0, 100_000))
def test_no_memory_is_free_and_both_ports_never_cost_less(law: str, width: int, words: int) -> None:
    rules = laws()[law]
    one, both = bank_cost(width, words, rules), bank_cost(width, words, rules, both=True)
    assert all(a <= b for a, b in zip(amounts(one), amounts(both), strict=True))
    assert any(amounts(one)) == (words > 0)
    assert any(amounts(fifo(width, words + 1, rules)))


def amounts(cost: StorageCost) -> tuple[int, ...]:
    return cost.lut, cost.ff, cost.bram18, cost.uram


def test_every_device_has_the_law_of_its_silicon() -> None:
    chips = [chip for chip in DEVICES.values() if chip.vitis]
    assert {law_on(chip.timing_class) for chip in chips} == set(laws())
    assert law_on("zynq7-1") == law_on("artix7-3") == "series7"
    assert law_on("zynquplus-2") == law_on("virtexuplus-1") == law_on("kintexu-2") == "ultrascale"
    assert law_on("virtexuplus-2") == law_on("virtexuplus-3") == "virtexuplus"
    with pytest.raises(ToolError, match="no law for ecp5-6"):
        law_on("ecp5-6")


def test_a_version_takes_the_law_of_the_device_with_it() -> None:
    at = {
        name: personality(f"vitis-2025.1-{name}-10ns").memories.storage
        for name in ("xc7z020-1", "xcu200-2")
    }
    assert at["xc7z020-1"] == SERIES7  # what reports of U200 do with deep banks is not known of it
    assert (at["xcu200-2"].counted_to, at["xcu200-2"].uram) == (8192, VIRTEX.uram)


def test_a_family_without_uram_uses_block_memory() -> None:
    assert bank_cost(32, 4096, ZU9EG) == StorageCost(bram18=8, kind=Kind.BRAM)


@pytest.mark.parametrize(
    ("words", "ff", "lut", "bram18"),
    [
        *((2, 68, 40, 0), (16, 7, 30, 0), (32, 8, 50, 0), (64, 118, 100, 0), (128, 121, 179, 0)),
        *((160, 92, 70, 1), (256, 92, 70, 1), (257, 95, 78, 1), (100_000, 95, 78, 1)),
    ],
)
def test_fifos_of_32_bits(words: int, ff: int, lut: int, bram18: int) -> None:
    cost = fifo(32, words, U280)
    assert (cost.ff, cost.lut, cost.bram18, cost.uram) == (ff, lut, bram18, 0)


def test_ping_pong_buffers_with_one_port_are_one_memory() -> None:
    assert ping_pong(32, 512, 1, U280).bram18 == 2
    assert ping_pong(32, 512, 2, U280).bram18 == 2
    assert ping_pong(32, 1500, 1, U280) == StorageCost(uram=1, kind=Kind.URAM)
    assert ping_pong(32, 1500, 2, U280) == StorageCost(bram18=8, kind=Kind.BRAM)
    with pytest.raises(ValueError, match="one port or two"):
        ping_pong(32, 512, 3, U280)


def test_ping_pong_buffers_elsewhere_are_two_memories() -> None:
    assert ping_pong(32, 256, 1, SERIES7).bram18 == 2
    assert ping_pong(32, 36, 2, ULTRASCALE).bram18 == 4


def test_bindings_override_the_choice() -> None:
    assert bank_cost(64, 32, U200, "bram").bram18 == 2
    assert bank_cost(64, 100, U200, "lutram") == StorageCost(129, 64, kind=Kind.LUTRAM)
    assert bank_cost(64, 10_000, U200, "uram").uram == 3
    assert bank_cost(64, 4, U200, "register").ff == 256
    assert storage(64, ((512, 2),), U200, "auto", copies=3).bram18 == 12


def test_all_banks_are_as_deep_as_the_deepest() -> None:
    assert banks_of((10,), (Split("cyclic", 4),)) == ((3, 4),)
    assert banks_of((10,), (Split("block", 4),)) == ((3, 4),)
    assert banks_of((9,), (Split("block", 4),)) == ((3, 3),)
    assert banks_of((10, 6), (Split("cyclic", 4), Split("cyclic", 2))) == ((9, 8),)
    assert banks_of((10,), (Split("complete", 10),)) == ((1, 10),)
    assert banks_of((), ()) == ((1, 1),)
    # gemm-p of the U200 data: C is 60 x 70, split by 4 in its second dimension: 4 URAM.
    assert storage(64, banks_of((60, 70), (Split(), Split("cyclic", 4))), U200).uram == 4


def elements(extent: int, kind: str, factor: int) -> dict[int, int]:
    size = -(-extent // factor)
    found: dict[int, int] = {}
    for n in range(extent):
        bank = n // size if kind == "block" else n % factor
        found[bank] = found.get(bank, 0) + 1
    return found


@given(st.integers(1, 60), st.sampled_from(["cyclic", "block"]), st.integers(1, 70))
def test_banks_are_those_that_hold_elements(extent: int, kind: str, factor: int) -> None:
    sizes = elements(extent, kind, min(factor, extent)).values()
    assert banks_of((extent,), (Split(kind, factor),)) == ((max(sizes), len(sizes)),)


def test_the_cost_of_a_memory_of_the_region_tree() -> None:
    splits = (Split(), Split("cyclic", 41))
    memory = Memory("A", f64, (390, 410), splits, argument=False)
    assert memory_cost(memory, U200) == StorageCost(uram=41, kind=Kind.URAM)
    split = Memory("A", f64, (390, 410), (Split(), Split("cyclic", 64)), argument=False)
    assert memory_cost(split, U200).uram == 64


def test_unknown_personalities_are_errors() -> None:
    with pytest.raises(ToolError) as e:
        storage_rules("vitis-2023.2-u280-3.33s")
    assert e.value.render().splitlines() == [
        "error[W450]: no tool personality is called 'vitis-2023.2-u280-3.33s'",
        "help: did you mean 'vitis-2023.2-u280-3.33ns'?",
    ]


# Kernels whose arrays the tool partitions by itself even where nothing is asked.
REPARTITIONED = {"adi", "correlation", "doitgen", "heat-3d", "jacobi-1d", "seidel-2d", "stencil-3d"}


def test_designs_without_directives_are_exact_where_nothing_is_partitioned() -> None:
    facts = kernels(DATA)
    checked = set()
    for row in designs(DATA):
        found = convert(facts[row.kernel]) if row.directives == "none" else None
        if not isinstance(found, Converted):
            continue
        cost = StorageCost()
        for a in found.program.locals:
            if a.shape:
                words = min(prod(a.shape), prod(found.program.array(a.name[:-6]).shape))
                cost = cost.plus(storage(a.dtype.width, ((words, 1),), U200))
        exact = (cost.bram18, cost.uram) == (row.labels.bram18, row.labels.uram)
        assert exact == (row.kernel not in REPARTITIONED), row.kernel
        checked.add(row.kernel)
    assert len(checked) == 30
