"""The front end: a kernel's Python syntax tree read into a `Program`, never executed."""

from dsl.frontend.context import Request
from dsl.frontend.read import captured_names, read_kernel

__all__ = ["Request", "captured_names", "read_kernel"]
