"""What the RTL backend refuses."""

from __future__ import annotations

from dsl.errors.errors import Span, ToolError


def unsupported(what: str, span: Span | None = None) -> ToolError:
    """W460: there is no hardware for it."""
    return ToolError(
        "W460",
        f"the RTL backend has no hardware for {what}",
        span=span,
        help="it has integers and fixed point of up to 256 bits, and f32 with + - * / sqrt exp abs",
    )


def no_words(array: str) -> ToolError:
    """W460: memories have one element a word."""
    return ToolError(
        "W460",
        f"the RTL backend has no memory whose words have several elements, as '{array}' is reshaped to",
        help=f'partition("{array}", …) in its place gives each lane a memory of its own',
    )


def one_pointer(array: str) -> ToolError:
    """W460: an array in memory outside has one port."""
    return ToolError(
        "W460",
        f"the RTL backend has one port for an array in memory outside, and '{array}' has several",
        help="leave also and spread out",
    )


def too_large(what: str, limit: int) -> ToolError:
    """W461: unrolled, it is too much."""
    return ToolError(
        "W461",
        f"{what} makes more than {limit} statements",
        help="unroll by a smaller factor, or pipeline a loop further inside",
    )


def too_many_ways(array: str, accesses: int, banks: int) -> ToolError:
    """W461: accesses whose banks are not known are too much together."""
    return ToolError(
        "W461",
        f"each of {accesses} accesses of {array} may go to any of its {banks} banks: "
        "too much for any device",
        help=f'unroll so that each access of {array} keeps to one bank (auto_partition("{array}") in '
        "the place of partitions by hand finds how many), or unroll and partition less",
    )
