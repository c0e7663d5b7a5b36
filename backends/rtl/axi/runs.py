"""Beats of memory, one after the other, as bursts: INCR, of consecutive beats, within 4 KiB."""

from __future__ import annotations

from dataclasses import dataclass

from backends.rtl.axi.ports import Port
from backends.rtl.ir import Expr, ModuleBuilder, Ref, concat, lit, mux
from polyhedral.requests.outside import BURST_BYTES


@dataclass(frozen=True, slots=True)
class Burst:
    """What is asked of a port.

    Attributes:
        valid: there is a burst; it stays until it is taken.
        address: of its first byte, 64 bits.
        length: beats less one, 8 bits.
        count: its beats, one bit more than `length` has.
        none: no beat is waiting to be part of one.
        ready: the next beat is taken in this cycle.
    """

    valid: Expr
    address: Expr
    length: Expr
    count: Expr
    none: Expr
    ready: Expr


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A beat that is to become part of a burst, and when it does."""

    valid: Ref
    beat: Ref
    takes: Ref


def runs(
    b: ModuleBuilder,
    port: Port,
    base: Expr,
    beats: tuple[Expr, Expr],
    close: Expr,
    may: tuple[Expr, Expr],
    move: Ref,
    patience: int,
) -> Burst:
    """Gather beats to bursts.

    Args:
        b: The module.
        port: Its width, and the longest burst.
        base: Address of the array, 64 bits, a multiple of a beat's bytes.
        beats: There is one; its number in the array. It is taken where `Burst.ready` is set.
        close: The burst that is being gathered is not to wait for more.
        may: The burst may go (looked at while `Burst.valid` is not set), and the one that is valid is taken.
        patience: Bits of the counter of cycles without a beat, after which a burst does not wait for more.
        move: A declared wire: a burst becomes valid with the next cycle, `Burst.count` in this one is its size.
    """
    size = (port.bytes - 1).bit_length()
    page = (BURST_BYTES // port.bytes - 1).bit_length()
    waiting, (push, beat) = b.reg("beat_is", 1, reset=0), beats
    takes = b.declare("beat_takes")
    ready = ~waiting | takes
    given = _Waiting(waiting, b.reg("beat", beat.width, next=beat, enable=push & ready), takes)
    b.drive(waiting, (push & ready) | (waiting & ~takes))
    width = beat.width
    held, full = b.reg("run", 1, reset=0), b.reg("run_full", 1)
    start, follows = b.reg("run_start", width), b.reg("run_follows", width)
    count = b.reg("run_count", port.burst.bit_length())
    slot = b.reg("slot", 1, reset=0)
    free = b.wire("slot_free", ~slot | move)
    joins = b.wire("joins", held & ~full & ~(close & free) & given.beat.eq(follows))
    b.drive(takes, given.valid & (joins | ~held | free))
    begins = b.wire("begins", takes & ~joins)
    still = b.reg("still", patience, reset=0)
    b.drive(still, mux(given.valid, lit(0, patience), still + (~still.all()).zext(patience)))
    ends = b.wire("ends", held & free & mux(given.valid, ~joins, close | full | still.all()))
    more = mux(begins, lit(1, count.width), count + lit(1, count.width))
    # The last beat before a boundary of 4 KiB ends a burst, and so does the last number, which none follows.
    low = given.beat.resize(page, False) + base.bits(size + page - 1, size)
    b.drive(held, takes | (held & ~ends))
    ended = low.all() | given.beat.all() | more.eq(lit(port.burst, count.width))
    b.drive(full, ended, takes)
    b.drive(start, given.beat, begins)
    b.drive(follows, given.beat + lit(1, width), takes)
    b.drive(count, more, takes)
    b.drive(slot, ends | (slot & ~move))
    slot_start = b.reg("slot_start", width, next=start, enable=ends)
    slot_count = b.reg("slot_count", count.width, next=count, enable=ends)
    go, taken = may
    valid = b.reg("burst", 1, reset=0)
    b.drive(move, slot & go & (~valid | taken))
    b.drive(valid, move | (valid & ~taken))
    offset = concat(slot_start, lit(0, size)).resize(64, False)
    address = b.reg("burst_address", 64, next=base + offset, enable=move)
    beats_less = slot_count - lit(1, count.width)
    length = b.reg("burst_length", 8, next=beats_less.resize(8, False), enable=move)
    none = ~waiting & ~held & ~slot & ~valid
    return Burst(valid, address, length, slot_count, none, ready)
