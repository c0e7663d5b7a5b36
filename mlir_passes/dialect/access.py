"""How a kernel uses an argument, and memory that its caller provides without anything in it."""

from __future__ import annotations

from typing import Literal

Access = Literal["in", "out", "inout", "scratch"]
SCRATCH: Access = "scratch"
"""Of a local array in memory outside: the caller neither gives nor takes what is in it."""
GARBAGE = 0xA5
"""What its bytes hold before a run that is to find reads of what was not written."""
