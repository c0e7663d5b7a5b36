"""Weft's public API: what kernels, schedules and scripts import.

Names are loaded when they are first used, so ``import weft`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsl.kernel import Kernel
    from dsl.schedule import Schedule

_WHERE = {
    "dsl.kernel": ("kernel", "Kernel"),
    "dsl.intrinsics": ("grid", "stmt", "select", "sqrt", "exp", "log", "tanh"),
    "dsl.schedule": ("Schedule", "ScheduleBuilder"),
    "dsl.errors": (
        *("WeftError", "LanguageError", "ScheduleError", "IRError", "ToolError", "InputError"),
        "Span",
    ),
    "dsl.types": ("f16", "bf16", "f32", "f64", "fixed", "ufixed", "const", "index"),
    "dsl.loader": ("load",),
}
_NAMES = {name: (module, name) for module, names in _WHERE.items() for name in names}
# Words that Python, or another module of ours, has taken.
_NAMES |= {
    "Program": ("dsl.builder", "ProgramBuilder"),
    "min": ("dsl.intrinsics", "minimum"),
    "max": ("dsl.intrinsics", "maximum"),
    "abs": ("dsl.intrinsics", "absolute"),
}
__all__ = sorted([*_NAMES, "compile"])


def __getattr__(name: str) -> Any:
    """A public name, or an integer type of any width: ``weft.i7``, ``weft.u129``."""
    if name in _NAMES:
        module, attribute = _NAMES[name]
        value = getattr(import_module(module), attribute)
    else:
        from dsl.types import int_type_named

        value = int_type_named(name)
        if value is None:
            raise AttributeError(f"module 'weft' has no attribute '{name}'{_suggestion(name)}")
    globals()[name] = value
    return value


def _suggestion(name: str) -> str:
    from dsl.errors import did_you_mean

    near = did_you_mean(name, __all__)
    return f"; {near}" if near and near.startswith("did you mean") else ""


def __dir__() -> list[str]:
    return __all__


def compile(kernel: Kernel, schedule: Schedule | str | None = None, size: str | None = None) -> Any:
    """Compile a kernel under a schedule.

    Args:
        kernel: A kernel.
        schedule: A schedule, the name of one of the kernel's, or None for the program as it is.
        size: One of the kernel's named sizes; None for the sizes that it captured.

    Returns:
        An `mlir_passes.pipeline.Design`: the module, and what is emitted of it (``.hls_cpp``).

    Raises:
        WeftError: the kernel is no program, the schedule is not legal, …
    """
    from dsl.kernel import schedule_of
    from mlir_passes.pipeline import compile_design

    sized = kernel.at(size) if size is not None else kernel
    return compile_design(sized.program, schedule_of(sized, schedule))
