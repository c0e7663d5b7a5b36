"""A C++ program that runs a kernel behind AXI in Verilator, and its data files (see memory.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.rtl.axi.ports import Outside, Port
from backends.rtl.axi.wrapper import AxiDesign
from backends.rtl.design import BankPort
from backends.rtl.graph import Array, join_lanes, part_lanes, places
from backends.rtl.testbench import BANKS, bank_samples, bank_text
from mlir_passes.dialect.access import GARBAGE, SCRATCH

HEADER = Path(__file__).with_name("memory.h")
ORIGIN = 0x1_2345_0000
"""Where memory begins, unless an array is to be at 0: addresses are of more than 32 bits."""
GAP = 0x5C
"""What bytes hold that belong to no array."""


@dataclass(frozen=True, slots=True)
class Map:
    """Where arrays lie in the memory of a simulation: the address of each; the first byte, and how many."""

    addresses: Mapping[str, int]
    origin: int
    extent: int


def memory_map(design: AxiDesign) -> Map:
    """A place for each array: on a multiple of a beat that is none of 4 KiB, one beat from the next."""
    ports = {a.name: port for port, _ in design.ports for a in port.arrays}
    arrays = [a for port, _ in design.ports for a in port.arrays]
    at_zero = [a for a in arrays if a.offset == "off"]
    origin = 0 if at_zero else ORIGIN
    at, addresses = origin, {}
    for array in (*at_zero, *(a for a in arrays if a not in at_zero)):
        beat = ports[array.name].bytes
        at = -(-at // beat) * beat
        if array.offset != "off":
            at += beat
        addresses[array.name] = at
        at += array.bytes
        at = -(-at // beat) * beat + beat
    return Map(addresses, origin, at - origin)


def main_program(design: AxiDesign) -> str:
    """The C++ text of a main program for ``Vdesign`` (see memory.h for its arguments)."""
    where = memory_map(design)
    banks = [bank_text(port, 1) for port in design.banks]
    masters, drives, samples = [], [], []
    for n, (port, prefix) in enumerate(design.ports):
        masters.append(f'    Master("{prefix}", {port.bytes}, {port.burst}, {port.outstanding}),')
        drives += _drives(design, n, port, prefix)
        samples += _samples(design, n, port, prefix)
    for n, bank in enumerate(design.banks):
        drives += [f"  put(d.{bank.rdata}, banks[{n}].q);"] if bank.rdata else []
        samples += bank_samples(n, bank)
    for name, pin in design.direct.items():
        drives.append(f"  d.{pin} = {where.addresses[name]}ULL;")
    return "\n".join(
        [
            BANKS.read_text(encoding="utf-8"),
            HEADER.read_text(encoding="utf-8"),
            "namespace weft {",
            f"const std::uint64_t origin = {where.origin}ULL, extent = {where.extent}ULL;",
            "std::vector<std::uint8_t> memory;",
            "std::mt19937 chance;",
            "unsigned stall;",
            "std::uint64_t latency, now;",
            *("std::vector<Bank> banks = {", *banks, "};"),
            *("std::vector<Master> masters = {", *masters, "};"),
            *("void drive([[maybe_unused]] Vdesign &d) {", *drives, "}"),
            *("void sample([[maybe_unused]] Vdesign &d) {", *samples, "}"),
            "} // namespace weft",
            "int main(int argc, char **argv) { return weft::run(argc, argv); }\n",
        ]
    )


def _uses(design: AxiDesign, port: Port) -> tuple[bool, bool]:
    """Whether a port reads, and whether it writes."""
    own = {a.name for a in port.arrays}
    banks = [p for p in design.kernel.banks if p.array in own]
    return any(p.reads for p in banks), any(p.writes for p in banks)


def _drives(design: AxiDesign, number: int, port: Port, prefix: str) -> list[str]:
    m, pin = f"masters[{number}]", f"d.{prefix}"
    reads, writes = _uses(design, port)
    lines = []
    if reads:
        lines += [
            f"  {pin}_arready = {m}.ar.ready; {pin}_rvalid = {m}.rvalid; {pin}_rid = {m}.rid;"
        ]
        lines += [f"  {pin}_rlast = {m}.rlast; {pin}_rresp = 0; put({pin}_rdata, {m}.rdata);"]
    if writes:
        lines += [f"  {pin}_awready = {m}.aw.ready; {pin}_wready = {m}.wready;"]
        lines += [f"  {pin}_bvalid = {m}.bvalid; {pin}_bid = {m}.bid; {pin}_bresp = 0;"]
    return lines


def _samples(design: AxiDesign, number: int, port: Port, prefix: str) -> list[str]:
    m, pin = f"masters[{number}]", f"d.{prefix}"
    reads, writes = _uses(design, port)
    lines = []
    for way in (["ar"] if reads else []) + (["aw"] if writes else []):
        fields = {"valid": "valid", "address": "addr", "length": "len", "id": "id"}
        fields |= {"size": "size", "burst": "burst"}
        lines += [f"  {m}.{way}.{field} = {pin}_{way}{name};" for field, name in fields.items()]
    if reads:
        lines += [f"  {m}.rready = {pin}_rready;"]
    if writes:
        lines += [
            f"  {m}.bready = {pin}_bready; {m}.wvalid = {pin}_wvalid; {m}.wlast = {pin}_wlast;"
        ]
        lines += [f"  get({pin}_wdata, {m}.wdata); get({pin}_wstrb, {m}.wstrb);"]
    return lines


# -- data ------------------------------------------------------------------------------------------


def pack(
    design: AxiDesign, arrays: Mapping[str, Sequence[int]], scalars: Mapping[str, int]
) -> bytes:
    """One data set for the program: memory, banks on the chip, and what the host writes to registers.

    Args:
        design: What it runs.
        arrays: The raw bits of each argument's elements, row-major.
        scalars: The raw bits of each scalar.
    """
    parts = [bytes(image(design, arrays))]
    for bank in design.banks:
        size = 4 * -(-bank.width // 32)
        words = _banks(design, bank, arrays[bank.array])
        parts += [w.to_bytes(size, "little") for w in words[bank.bank]]
    writes = host_writes(design, scalars)
    parts.append(len(writes).to_bytes(4, "little"))
    parts += [n.to_bytes(4, "little") for pair in writes for n in pair]
    return b"".join(parts)


def host_writes(design: AxiDesign, scalars: Mapping[str, int]) -> list[tuple[int, int]]:
    """Offset and word of each register that a host writes before a run: addresses as `memory_map` has them."""
    values = {**memory_map(design).addresses, **scalars}
    return [
        (register.offset + 4 * n, values[register.name] >> (32 * n) & 0xFFFF_FFFF)
        for register in design.registers
        if register.kind in ("scalar", "address")
        for n in range(register.words)
    ]


def _banks(design: AxiDesign, bank: BankPort, values: Sequence[int]) -> list[list[int]]:
    array = design.kernel.graph.array(bank.array)
    banks = [[0] * array.depth for _ in range(array.banks)]
    for (number, offset), value in zip(places(array), values, strict=True):
        banks[number][offset] = value
    return join_lanes(array, banks)


def image(design: AxiDesign, arrays: Mapping[str, Sequence[int]]) -> bytearray:
    """All of memory before a run; arrays that are not given (scratch) hold garbage."""
    where = memory_map(design)
    memory = bytearray([GAP]) * where.extent
    for outside in _outside(design):
        start = where.addresses[outside.name] - where.origin
        if outside.access == SCRATCH:
            memory[start : start + outside.bytes] = bytes([GARBAGE]) * outside.bytes
            continue
        size = outside.bits // 8
        array = design.kernel.graph.array(outside.name)
        for at, value in zip(_offsets(outside, array), arrays[outside.name], strict=True):
            memory[start + at : start + at + size] = _stored(outside, value).to_bytes(
                size, "little"
            )
    return memory


def _outside(design: AxiDesign) -> list[Outside]:
    return [a for port, _ in design.ports for a in port.arrays]


def _offsets(outside: Outside, array: Array) -> list[int]:
    """The first byte of each element, row-major, within its array."""
    size = outside.bits // 8
    return [(offset * outside.lanes + bank) * size for bank, offset in places(array)]


def _stored(outside: Outside, value: int) -> int:
    """The bits in memory of the bits of an element."""
    negative = outside.signed and value >> (outside.width - 1) & 1
    return value | (((1 << outside.bits) - (1 << outside.width)) if negative else 0)


def unpack(
    design: AxiDesign, data: bytes, arrays: Mapping[str, Sequence[int]]
) -> tuple[dict[str, list[int]], list[str], bytes]:
    """What a data set left.

    Args:
        design: What was run.
        data: What the program wrote.
        arrays: Before the run.

    Returns:
        The raw bits of each argument; what was written that must not be: bytes of no array, or bits of an element
        in memory that are not its extension; what follows in the file.
    """
    where = memory_map(design)
    memory, before = bytearray(data[: where.extent]), image(design, arrays)
    results: dict[str, list[int]] = {}
    wrong: list[str] = []
    for outside in _outside(design):
        start = where.addresses[outside.name] - where.origin
        size = outside.bits // 8
        array = design.kernel.graph.array(outside.name)
        raws = []
        for at in _offsets(outside, array):
            raw = int.from_bytes(memory[start + at : start + at + size], "little")
            raws.append(raw & ((1 << outside.width) - 1))
            if outside.access != SCRATCH and raw != _stored(outside, raws[-1]):
                wrong.append(f"{outside.name} has {raw:#x} in memory")
        results[outside.name] = raws
        # Padding of rows may hold anything; the rest must be as it was.
        memory[start : start + outside.bytes] = before[start : start + outside.bytes]
    if memory != before:
        wrong.append("bytes of no array were written")
    at = where.extent
    on_chip: dict[str, list[list[int]]] = {}
    for bank in design.banks:
        if bank.array not in on_chip:
            on_chip[bank.array] = _banks(design, bank, arrays[bank.array])
        size = 4 * -(-bank.width // 32)
        words = [data[at + i * size : at + (i + 1) * size] for i in range(bank.depth)]
        on_chip[bank.array][bank.bank] = [int.from_bytes(w, "little") for w in words]
        at += bank.depth * size
    for name, ports in on_chip.items():
        array = design.kernel.graph.array(name)
        banks = part_lanes(array, ports)
        results[name] = [banks[b][o] for b, o in places(array)]
    for name, values in arrays.items():
        results.setdefault(name, list(values))
    return results, wrong, data[at:]
