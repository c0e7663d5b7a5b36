"""Shared by the tests of exploration."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dse import commands


@pytest.fixture(autouse=True)
def _processes_end() -> Iterator[None]:
    """A test that fails leaves no process behind."""
    yield
    while commands.begun:
        process = commands.begun.pop()
        if process.poll() is None:
            process.kill()
            process.communicate()
