"""Run by cocotb: a host and memory by cocotbext-axi, which know nothing of how the testbench in C++ reads AXI."""

from __future__ import annotations

import itertools
import json
import mmap
import os
import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiRamRead,
    AxiRamWrite,
    AxiReadBus,
    AxiWriteBus,
)

SIZE = 1 << 24


def pauses(rng: random.Random, percent: int):
    """Of each cycle, whether a channel stalls."""
    return (rng.randrange(100) < percent for _ in itertools.count())


def stalled(channels, rng, percent):
    """Each of the channels at random."""
    if percent:
        for channel in channels:
            channel.set_pause_generator(pauses(rng, percent))


async def stays(dut, prefix):
    """VALID does not drop before READY, nor does an address change: the models do not look at that."""
    ways = [w for w in ("ar", "aw", "w") if hasattr(dut, f"{prefix}_{w}valid")]
    before = dict.fromkeys(ways)
    while True:
        await RisingEdge(dut.clk)
        for way in ways:
            valid, ready = (
                int(getattr(dut, f"{prefix}_{way}{s}").value) for s in ("valid", "ready")
            )
            fields = ("data", "strb", "last") if way == "w" else ("addr", "len", "id")
            payload = (
                [int(getattr(dut, f"{prefix}_{way}{f}").value) for f in fields] if valid else None
            )
            if before[way] is not None:
                assert payload == before[way], f"{prefix}_{way} changes before it is taken"
            before[way] = payload if valid and not ready else None


@cocotb.test()
async def runs(dut):
    plan = json.loads(Path(os.environ["WEFT_PLAN"]).read_text(encoding="utf-8"))
    rng = random.Random(plan["seed"])
    memory = mmap.mmap(-1, SIZE)
    image = Path(plan["image"]).read_bytes()
    at = plan["origin"] % SIZE
    memory[at : at + len(image)] = image
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    dut.rst.value = 1
    control = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi_control"), dut.clk, dut.rst)
    rams = []
    for prefix in plan["masters"]:
        if hasattr(dut, f"{prefix}_arvalid"):
            bus = AxiReadBus.from_prefix(dut, prefix)
            ram = AxiRamRead(bus, dut.clk, dut.rst, size=SIZE, mem=memory)
            stalled((ram.ar_channel, ram.r_channel), rng, plan["stall"])
            rams.append(ram)
        if hasattr(dut, f"{prefix}_awvalid"):
            bus = AxiWriteBus.from_prefix(dut, prefix)
            ram = AxiRamWrite(bus, dut.clk, dut.rst, size=SIZE, mem=memory)
            stalled((ram.aw_channel, ram.w_channel, ram.b_channel), rng, plan["stall"])
            rams.append(ram)
        cocotb.start_soon(stays(dut, prefix))
    for _ in range(4):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    for offset, value in plan["registers"]:
        await control.write_dword(offset, value)
    assert await control.read_dword(0) == 4
    await control.write_dword(0, 1)
    while not (await control.read_dword(0)) & 2:
        pass
    assert await control.read_dword(plan["status"]) == 0
    Path(plan["result"]).write_bytes(memory[at : at + len(image)])
