"""A C++ program that runs a design in Verilator on data files, and those files.

The program keeps the banks of all arguments, drives the ports that `RtlDesign` lists, and counts
cycles as `RtlDesign` says. What a kernel must not rely on reads as nonsense there: a word outside
of its bank, one that is written in the same cycle, one that nobody asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from backends.rtl.design import BankPort, RtlDesign
from backends.rtl.graph import Array, Memory, join_lanes, part_lanes, places
from backends.rtl.ir.names import legal

BANKS, HEADER = (Path(__file__).with_name(name) for name in ("banks.h", "testbench.h"))


def testbench(design: RtlDesign) -> str:
    """The C++ text of a main program for ``Vdesign`` (see testbench.h for its arguments)."""
    latency = design.read_latency
    banks = [bank_text(port, latency) for port in design.banks]
    scalars = [f"    Word({_parts(s.width)})," for s in design.scalars]
    drives, samples = [], []
    for n, port in enumerate(design.banks):
        drives += [f"  put(d.{port.rdata}, banks[{n}].q);"] if port.rdata else []
        samples += bank_samples(n, port)
    puts = [f"  put(d.{s.port}, scalars[{n}]);" for n, s in enumerate(design.scalars)]
    clocked = "d.clk = v;" if design.top.clocked else ""
    resets = "d.rst = v;" if design.top.resets else ""
    lines = [
        BANKS.read_text(encoding="utf-8"),
        HEADER.read_text(encoding="utf-8"),
        "namespace weft {",
        *("std::vector<Bank> banks = {", *banks, "};"),
        *("std::vector<Word> scalars = {", *scalars, "};"),
        *("void drive([[maybe_unused]] Vdesign &d) {", *drives, "}"),
        *("void sample([[maybe_unused]] Vdesign &d) {", *samples, "}"),
        *("void set_scalars([[maybe_unused]] Vdesign &d) {", *puts, "}"),
        f"void set_start(Vdesign &d, bool v) {{ d.{design.start} = v; }}",
        f"bool is_done(Vdesign &d) {{ return d.{design.done}; }}",
        f"void set_reset(Vdesign &d, bool v) {{ {resets} }}",
        f"void set_clock(Vdesign &d, bool v) {{ {clocked} }}",
        "} // namespace weft",
        "int main(int argc, char **argv) { return weft::run(argc, argv); }",
    ]
    return "\n".join(lines) + "\n"


def bank_text(port: BankPort, latency: int) -> str:
    """A bank as an entry of a list in C++."""
    registers = _bool(port.memory is Memory.REGISTERS)
    return f'    Bank("{legal(port.array)} {port.bank}", {port.depth}, {port.width}, {registers}, {latency}),'


def bank_samples(number: int, port: BankPort) -> list[str]:
    """Statements that look at what is asked of a bank."""
    lines = []
    bank = f"banks[{number}]"
    if port.re:
        lines.append(f"  {bank}.re = d.{port.re}; {bank}.raddr = d.{port.raddr};")
    if port.we:
        lines.append(f"  {bank}.we = d.{port.we}; get(d.{port.wdata}, {bank}.wdata);")
    if port.waddr:
        lines.append(f"  {bank}.waddr = d.{port.waddr};")
    return lines


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _parts(width: int) -> int:
    return -(-width // 32)


def pack(
    design: RtlDesign, arrays: Mapping[str, Sequence[int]], scalars: Mapping[str, int]
) -> bytes:
    """One data set for the program.

    Args:
        design: What it runs.
        arrays: The raw bits of each argument's elements, row-major.
        scalars: The raw bits of each scalar.
    """
    words: list[bytes] = []
    spread = {name: _spread(design.graph.array(name), values) for name, values in arrays.items()}
    for port in design.banks:
        size = 4 * _parts(port.width)
        words += [v.to_bytes(size, "little") for v in spread[port.array][port.bank]]
    words += [scalars[s.name].to_bytes(4 * _parts(s.width), "little") for s in design.scalars]
    return b"".join(words)


def _spread(array: Array, values: Sequence[int]) -> list[list[int]]:
    banks = [[0] * array.depth for _ in range(array.banks)]
    for (bank, offset), value in zip(places(array), values, strict=True):
        banks[bank][offset] = value
    return join_lanes(array, banks)


def unpack(
    design: RtlDesign, data: bytes, arrays: Mapping[str, Sequence[int]]
) -> tuple[dict[str, list[int]], bytes]:
    """The raw bits of each argument after a data set, and what follows in the file.

    Args:
        design: What was run.
        data: What the program wrote.
        arrays: Before the run: a bank without a port keeps its elements.
    """
    banks = {name: _spread(design.graph.array(name), values) for name, values in arrays.items()}
    at = 0
    for port in design.banks:
        size = 4 * _parts(port.width)
        words = [data[at + i * size : at + (i + 1) * size] for i in range(port.depth)]
        banks[port.array][port.bank] = [int.from_bytes(w, "little") for w in words]
        at += port.depth * size
    result = {}
    for name in arrays:
        array = design.graph.array(name)
        parts = part_lanes(array, banks[name])
        result[name] = [parts[b][o] for b, o in places(array)]
    return result, data[at:]
