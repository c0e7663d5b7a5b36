"""A limit of isl's work is told from an error, wherever isl is stopped."""

from __future__ import annotations

import islpy as isl
import pytest

from polyhedral.codegen.nest_ast import Style, TooLargeError, build_nest
from polyhedral.isl import text as isl_text
from polyhedral.isl.effort import TooMuchWork, limited
from polyhedral.schedule import apply
from tests.examples.discovery import FILES, load

TEXT = "{ [i, j] : 0 <= i < 10 and 0 <= j < i and (i + 2j) mod 7 = 3 }"


def test_isl_is_stopped_in_the_midst_of_a_text() -> None:
    stopped = 0
    for operations in (*range(1, 100), 10**6):
        try:
            with limited(operations):
                isl.Set(TEXT).is_empty()
        except TooMuchWork:
            stopped += 1
    assert 5 < stopped < 100
    assert not isl.Set(TEXT).is_empty()  # there is no limit any more


def test_an_error_of_the_text_is_one() -> None:
    with pytest.raises(isl.Error, match="syntax"), limited(10**6):
        isl.Set("{ [i] : nonsense")
    with limited(0):
        assert not isl.Set(TEXT).is_empty()


def test_wherever_isl_is_stopped_a_nest_is_too_large() -> None:
    kernel = load(next(path for path in FILES if path.stem == "seidel_2d")).kernel
    state = apply(kernel.at("mini").program, kernel.schedules["tiled"])
    for operations in (*range(1, 300, 3), *range(300, 6000, 317)):
        isl_text.set_of.cache_clear()
        isl_text.map_of.cache_clear()
        with pytest.raises(TooLargeError):
            build_nest(list(state.pieces), Style.EXACT, operations)
