"""Arguments in memory outside: do the options of an ``m_axi`` port make sense, alone and in a bundle?

The options and their ranges are those of UG1399 (pragma HLS interface); bursts are bounded by AXI4: at
most 256 beats, and none crosses a boundary of 4 KiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.expressions.types import DType, FixedType, FloatType, IntType
from dsl.programs.program import Array
from dsl.schedules.steps import Interface

WIDTHS = (8, 1024)
"""Bits of a data bus, powers of two."""
MOST_BEATS = 256
BURST_BYTES = 4096
MOST_OUTSTANDING = 256
MOST_LATENCY = 1024
OFFSETS = ("slave", "direct", "off")
RETURN = "return"
"""What the control of the function is called, as in the tool's pragma."""
CONTROLS = ("s_axilite", "ap_ctrl_hs", "ap_ctrl_chain", "ap_ctrl_none")

_BANK = re.compile(r"(HBM|DDR)\[(\d{1,2})(?::(\d{1,2}))?\]")
_BANKS = {"HBM": 32, "DDR": 4}
_OPTIONS = ("width", "burst", "outstanding", "latency", "offset", "bank", "reads", "also")
_OF_AN_ARGUMENT = (
    "offset",
    "reads",
    "also",
)  # options that arguments of one port may have in two ways


def word_bits(dtype: DType) -> int:
    """Bits that an element takes in memory: the next power of two, at least 8."""
    match dtype:
        case IntType(width=width) | FixedType(width=width):
            return max(8, 1 << (width - 1).bit_length())
        case FloatType():
            return dtype.width
        case _:
            return 32


def check_outside(array: Array, step: Interface) -> None:
    """The options of one argument.

    Raises:
        ScheduleError: W207 a number out of range; W215 a word, or options that do not fit the mode.
    """
    given = _given(step)
    if step.mode != "m_axi":
        if given:
            raise ScheduleError(
                "W215",
                f"{given[0]} is an option of m_axi, not of {step.mode}",
                span=step.span,
                help=f"leave {' and '.join(given)} out",
            )
        return
    element = word_bits(array.dtype)
    if step.width:
        _check_width(array, element, step)
    bits = step.width or element
    if step.burst:
        _check_power("burst", step.burst, 2, MOST_BEATS, step)
        if step.burst * bits > BURST_BYTES * 8:
            most = BURST_BYTES * 8 // bits
            raise ScheduleError(
                "W207",
                f"{step.burst} beats of {bits} bits are more than {BURST_BYTES} bytes, which no "
                "burst has",
                span=step.span,
                help=f"a burst of {bits} bits has at most {most} beats",
            )
    if not 0 <= step.outstanding <= MOST_OUTSTANDING:
        raise _out_of_range("outstanding", step.outstanding, f"1 to {MOST_OUTSTANDING}", step)
    if not -1 <= step.latency <= MOST_LATENCY:
        raise _out_of_range("latency", step.latency, f"0 to {MOST_LATENCY}", step)
    if step.offset and step.offset not in OFFSETS:
        raise ScheduleError(
            "W215",
            f"no offset is called '{step.offset}'",
            span=step.span,
            help=did_you_mean(step.offset, OFFSETS) or f"it is {', '.join(OFFSETS)}",
        )
    if len(set(step.also) | {step.bundle}) <= len(step.also):
        raise ScheduleError(
            "W215",
            f"pointers to '{array.name}' share a port: {', '.join((step.bundle, *step.also))}",
            span=step.span,
            help="name another bundle for each of also",
        )
    _check_bank(step)


def _given(step: Interface) -> list[str]:
    """The options that are not as the tool has them."""
    defaults = {f.name: f.default for f in fields(step)}
    return [name for name in _OPTIONS if getattr(step, name) != defaults[name]]


def _check_width(array: Array, element: int, step: Interface) -> None:
    _check_power("width", step.width, *WIDTHS, step)
    if step.width % element:
        raise ScheduleError(
            "W207",
            f"a width of {step.width} bits is no multiple of an element of '{array.name}'",
            span=step.span,
            notes=[f"{array.name} is {array.type}: an element takes {element} bits in memory"],
            help=f"choose {element} or more",
        )


def _check_power(what: str, value: int, low: int, high: int, step: Interface) -> None:
    if not low <= value <= high or value & (value - 1):
        raise _out_of_range(what, value, f"a power of two from {low} to {high}", step)


def _out_of_range(what: str, value: int, range_: str, step: Interface) -> ScheduleError:
    return ScheduleError(
        "W207", f"{what} {value} does not fit", span=step.span, help=f"it is {range_}"
    )


def _check_bank(step: Interface) -> None:
    if not step.bank:
        return
    found = _BANK.fullmatch(step.bank)
    last = -1
    if found is not None:
        first = int(found[2])
        last = int(found[3] or first)
    if found is None or not first <= last < _BANKS[found[1]]:
        raise ScheduleError(
            "W215",
            f"no memory is called '{step.bank}'",
            span=step.span,
            help='it is "HBM[0]" to "HBM[31]", several as in "HBM[0:3]", or "DDR[0]" to "DDR[3]"',
        )


def channels_in(bank: str) -> tuple[str, ...]:
    """The channels that a bank has: one of ``HBM[0]``, four of ``HBM[0:3]``; () where nothing is said."""
    found = _BANK.fullmatch(bank)
    if found is None:
        return ()
    first = int(found[2])
    return tuple(f"{found[1]}[{n}]" for n in range(first, int(found[3] or first) + 1))


def check_control(step: Interface) -> None:
    """W215 unless the step asks for a control of the function that there is."""
    given = _given(step)
    if step.mode not in CONTROLS:
        raise ScheduleError(
            "W215",
            f"{step.mode} is no control of a function",
            span=step.span,
            help=did_you_mean(step.mode, CONTROLS) or f"it is {', '.join(CONTROLS)}",
        )
    if given or step.bundle:
        what = given[0] if given else "bundle"
        raise ScheduleError(
            "W215", f"the control of a function has no {what}", span=step.span, help="leave it out"
        )


def check_bundles(steps: Iterable[Interface]) -> None:
    """Arguments of one bundle are behind one port, which is of one kind.

    The tool takes its own defaults, without a word, where they differ (UG1448).

    Raises:
        ScheduleError: W223.
    """
    first: dict[str, Interface] = {}
    for step in steps:
        if step.mode != "m_axi":
            continue
        # Those without a bundle share the tool's own port.
        for bundle in dict.fromkeys((step.bundle, step.reads or step.bundle, *step.also)):
            _check_alike(first.setdefault(bundle, step), step, bundle)


def _check_alike(other: Interface, step: Interface, bundle: str) -> None:
    """W223 unless two arguments of a port have the same options of it."""
    for name in _OPTIONS:
        mine, its = getattr(step, name), getattr(other, name)
        if name not in _OF_AN_ARGUMENT and mine != its:
            port = f"bundle '{bundle}'" if bundle else "the port without a bundle"
            raise ScheduleError(
                "W223",
                f"'{other.argument}' and '{step.argument}' share {port}, but not its {name}",
                span=step.span,
                notes=[f"it is {its!r} for '{other.argument}' and {mine!r} here"],
                help="give both the same, or each a bundle of its own",
            )
