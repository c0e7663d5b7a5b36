"""Hypothesis strategies: exact types of any width, and raws of them with the corners."""

from __future__ import annotations

from hypothesis import strategies as st

from dsl.expressions.numeric import Exact, bounds
from dsl.expressions.types import FixedType, IntType

widths = st.one_of(st.integers(1, 12), st.sampled_from([16, 31, 32, 33, 53, 62, 63, 64, 65, 100]))


@st.composite
def exact_types(draw: st.DrawFn, fixed: bool | None = None) -> Exact:
    """Integers and fixed point with the default modes."""
    width, signed = draw(widths), draw(st.booleans())
    if fixed is False or (fixed is None and draw(st.booleans())):
        return IntType(width, signed)
    return FixedType(width, draw(st.integers(-6, width + 6)), signed)


def raws(dtype: Exact) -> st.SearchStrategy[int]:
    """Any raw of the type, often an extreme or a small one."""
    low, high = bounds(dtype)
    corners = sorted({low, high, 0, min(1, high), max(-1, low)})
    small = st.integers(max(low, -9), min(high, 9))
    return st.one_of(st.sampled_from(corners), small, st.integers(low, high))
