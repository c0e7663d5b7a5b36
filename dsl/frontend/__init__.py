"""The front end: a kernel's Python syntax tree read into a `Program`, never executed."""

from dsl.frontend.context import Request
from dsl.frontend.read import read_kernel

__all__ = ["Request", "read_kernel"]
