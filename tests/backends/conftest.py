"""What the tests of exported projects share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_make_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flags of a `make test` around us are not for the Makefiles that are tested."""
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        monkeypatch.delenv(name, raising=False)
