"""The registers by which a host starts a kernel: AXI4-Lite, as of Vitis' ``s_axilite``.

Byte 0 is the control register, as of ``ap_ctrl_hs``: bit 0 start (write 1; it reads as 1 until the kernel is
done), bit 1 done and bit 3 ready (until they are read), bit 2 idle. From byte 16 on each scalar and each
address has its words, the lowest first, and a word that is left free. The last register is the status.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from backends.rtl.ir import Expr, ModuleBuilder, Ref, any_of, concat, lit, mux, repeat

CONTROL, FIRST, WORD = 0x00, 0x10, 32
START, DONE, IDLE, READY = 0, 1, 2, 3
"""Bits of the control register."""
READ_ERROR, WRITE_ERROR, UNALIGNED = 0, 1, 2
"""Bits of the status of the last run: memory answered with an error; an address is no multiple of a beat,
and nothing was run.
"""
STATUS = "status"


@dataclass(frozen=True, slots=True)
class Register:
    """``bits`` at byte ``offset`` and on; ``kind`` is ``control``, ``scalar``, ``address`` or ``status``."""

    name: str
    offset: int
    bits: int
    kind: str

    @property
    def words(self) -> int:
        """32-bit words."""
        return -(-self.bits // WORD)

    def row(self) -> dict[str, object]:
        """As a file of registers has it."""
        return asdict(self)


def layout(arguments: Sequence[tuple[str, int, str]]) -> tuple[Register, ...]:
    """The registers for arguments: name, bits, kind."""
    found = [Register("control", CONTROL, WORD, "control")]
    at = FIRST
    for name, bits, kind in (*arguments, (STATUS, WORD, STATUS)):
        found.append(Register(name, at, bits, kind))
        at += 4 * (found[-1].words + 1)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Host:
    """What the registers say: ``go`` for a cycle, and the value of each register by name."""

    go: Expr
    values: dict[str, Expr]


def control(
    b: ModuleBuilder, registers: Sequence[Register], busy: Expr, done: Expr, status: Expr
) -> Host:
    """The slave ``s_axi_control``.

    Args:
        b: The top module.
        registers: From `layout`.
        busy: The kernel runs.
        done: For a cycle: it is over.
        status: Of the last run.
    """
    bits = max(r.offset + 4 * r.words for r in registers).bit_length()
    write, address, data, strobe = _writes(b, bits)
    read_address, last, asked = _reads(b, bits)

    def chosen(where: Expr, offset: int) -> Expr:
        return where.bits(bits - 1, 2).eq(lit(offset // 4, bits - 2))

    values: dict[str, Expr] = {}
    words: list[Expr] = []
    for register in registers:
        if register.kind in ("control", STATUS):
            continue
        parts = []
        for n in range(register.words):
            enable = write & chosen(address, register.offset + 4 * n)
            part = b.reg(f"r_{register.name}_{n}", WORD, reset=0)
            b.drive(part, (data & strobe) | (part & ~strobe), enable)
            words.append(_where(chosen(read_address, register.offset + 4 * n), part))
            parts.append(part)
        whole = concat(*reversed(parts)) if len(parts) > 1 else parts[0]
        values[register.name] = whole.low(register.bits)
    last_register = registers[-1]
    words.append(_where(chosen(read_address, last_register.offset), status))
    start = write & chosen(address, CONTROL) & data[START] & strobe[START]
    go = b.wire("go", start & ~busy)
    seen = b.wire("control_read", asked & chosen(read_address, CONTROL))
    over, ready = b.reg("over", 1, reset=0), b.reg("was_ready", 1, reset=0)
    for flag in (over, ready):
        b.drive(flag, done | (flag & ~seen))
    state = concat(lit(0, WORD - 4), ready, ~busy, over, busy)
    words.append(_where(chosen(read_address, CONTROL), state))
    b.drive(last, any_of(words, WORD), asked)
    return Host(go, values)


def _where(bit: Expr, word: Expr) -> Expr:
    return repeat(bit, WORD) & word.resize(WORD, False)


def _writes(b: ModuleBuilder, bits: int) -> tuple[Expr, Expr, Expr, Expr]:
    """AW, W and B: a word is written; its address, its bits, and those that count.

    Address and word are taken on their own: no output follows an input within the cycle, as AXI wants it.
    """
    name = "s_axi_control"
    bready = b.input(f"{name}_bready")
    address, has_address = _taken(b, f"{name}_aw", {"addr": bits})
    word, has_word = _taken(b, f"{name}_w", {"data": WORD, "strb": 4})
    bvalid = b.reg("bvalid", 1, reset=0)
    write = b.wire("write", has_address & has_word & ~bvalid)
    b.drive(bvalid, write | (bvalid & ~bready))
    for held, way in ((has_address, "aw"), (has_word, "w")):
        valid = b.input(f"{name}_{way}valid")
        b.drive(held, mux(held, ~write, valid))
        b.output(f"{name}_{way}ready", ~held)
    b.output(f"{name}_bvalid", bvalid)
    b.output(f"{name}_bresp", lit(0, 2))
    strobe = concat(*reversed([repeat(word["strb"][n], 8) for n in range(4)]))
    return write, address["addr"], word["data"], strobe


def _taken(b: ModuleBuilder, prefix: str, fields: dict[str, int]) -> tuple[dict[str, Ref], Ref]:
    """What a channel has, in registers; and the bit, still to be driven, that they are full."""
    held = b.reg(f"held_{prefix}", 1, reset=0)
    found = {}
    for field, width in fields.items():
        pin = b.input(f"{prefix}{field}", width)
        found[field] = b.reg(f"held_{prefix}{field}", width, next=pin, enable=~held)
    return found, held


def _reads(b: ModuleBuilder, bits: int) -> tuple[Expr, Ref, Expr]:
    """AR and R: the address, the register of the answer, and when it takes it."""
    name = "s_axi_control"
    araddr, arvalid = b.input(f"{name}_araddr", bits), b.input(f"{name}_arvalid")
    rready = b.input(f"{name}_rready")
    rvalid = b.reg("rvalid", 1, reset=0)
    asked = b.wire("asked", arvalid & ~rvalid)
    b.drive(rvalid, asked | (rvalid & ~rready))
    answer = b.reg("answer", WORD)
    b.output(f"{name}_arready", ~rvalid)
    b.output(f"{name}_rvalid", rvalid)
    b.output(f"{name}_rdata", answer)
    b.output(f"{name}_rresp", lit(0, 2))
    return araddr, answer, asked
