"""What a user gets of a kernel behind AXI: Verilog, the registers as JSON, and a page that says how to use both."""

from __future__ import annotations

import json

from backends.rtl.axi.control import DONE, IDLE, READ_ERROR, START, UNALIGNED, WRITE_ERROR
from backends.rtl.axi.ports import Outside
from backends.rtl.axi.wrapper import AxiDesign

SCHEMA = 1


def files(design: AxiDesign) -> dict[str, str]:
    """The text of each file by its name."""
    top = design.module.name
    return {
        f"{top}.v": design.verilog,
        f"{top}.json": json.dumps(description(design), indent=2) + "\n",
        "README.md": readme(design),
    }


def description(design: AxiDesign) -> dict[str, object]:
    """Registers, ports and arrays, as a host program needs them."""
    return {
        "schema_version": SCHEMA,
        "top": design.module.name,
        "control": {"start": START, "done": DONE, "idle": IDLE},
        "status": {
            "read_error": READ_ERROR,
            "write_error": WRITE_ERROR,
            "unaligned": UNALIGNED,
        },
        "registers": [register.row() for register in design.registers],
        "ports": [
            {
                "bundle": port.bundle,
                "prefix": prefix,
                "data_bits": port.width,
                "burst": port.burst,
                "outstanding": port.outstanding,
                "arrays": [_array(design, array, port.bytes) for array in port.arrays],
            }
            for port, prefix in design.ports
        ],
    }


def _array(design: AxiDesign, array: Outside, align: int) -> dict[str, object]:
    shape = design.kernel.graph.array(array.name).shape
    order = design.orders.get(array.name)
    return {
        "name": array.name,
        "shape": list(shape),
        "row": -(-shape[-1] // array.lanes) * array.lanes,
        "element_bits": array.bits,
        "signed": array.signed,
        "access": array.access,
        "bytes": array.bytes,
        "align": align,
        "read": None if order is None else order.value,
    }


def readme(design: AxiDesign) -> str:
    """How the module is connected and run."""
    registers = [f"| {r.offset:#04x} | {r.bits} | {r.name} | {r.kind} |" for r in design.registers]
    arrays = [
        f"| {a.name} | `{prefix}` | {a.bytes} | {port.bytes} | {a.access} |"
        for port, prefix in design.ports
        for a in port.arrays
    ]
    masters = [
        f"| `{prefix}` | {port.width} | {port.burst} | {port.outstanding} |"
        for port, prefix in design.ports
    ]
    lines = [
        f"# {design.module.name}",
        "",
        f"`{design.module.name}.v` is the kernel with its arrays in memory outside. `clk` clocks everything; `rst` is",
        "synchronous and active high, for at least one cycle. `done` is high for a cycle at the end of a run.",
        "",
        "## Registers (`s_axi_control`, AXI4-Lite, 32 bits)",
        "",
        "| offset | bits | name | kind |",
        "|---|---|---|---|",
        *registers,
        "",
        f"Write addresses and scalars, then {1 << START} to the control register. Bit {DONE} is set when all that was",
        f"written is in memory, until the register is read; bit {IDLE} while nothing runs. Registers must not change",
        f"during a run. The status of the last run: bit {READ_ERROR} and {WRITE_ERROR}, memory answered a read or a write",
        f"with an error; bit {UNALIGNED}, an address is no multiple of a beat, and nothing was run.",
        "",
        "## Memory (AXI4)",
        "",
        "| master | data bits | longest burst | outstanding |",
        "|---|---|---|---|",
        *masters,
        "",
        "| array | master | bytes | aligned to | access |",
        "|---|---|---|---|---|",
        *arrays,
        "",
        "Elements lie row-major, each in the next power of two of bits (8 or more); rows of packed arrays are padded",
        f"to whole words (`row` in `{design.module.name}.json`). Arrays must not overlap. Bytes up to the end of the last",
        "beat are read, too. `scratch` is memory that a run neither expects filled nor leaves anything in.",
    ]
    if design.banks:
        names = sorted({bank.array for bank in design.banks})
        lines += [
            "",
            "## On the chip",
            "",
            f"{', '.join(names)}: banks at the ports `<array>_<bank>_raddr`, `_re`, `_rdata`, `_waddr`, `_we`,",
            "`_wdata`; a word is there one cycle after its address, and stays until the next one is asked for.",
        ]
    if design.direct:
        pins = ", ".join(f"`{pin}`" for pin in design.direct.values())
        lines += ["", f"Addresses at pins, 64 bits, still during a run: {pins}."]
    return "\n".join(lines) + "\n"
