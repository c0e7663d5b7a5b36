"""``weft doctor``: which tools and libraries are here, their versions, and who needs them."""

from __future__ import annotations

import platform
import shutil
import sys
from dataclasses import asdict, dataclass
from importlib import metadata

import click

from dse.views.output import format_option, show

COLUMNS = ("what", "status", "version", "needed_for", "detail")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: status is ``ok``, ``missing`` (optional) or ``broken`` (nothing works without)."""

    what: str
    status: str
    version: str
    needed_for: str
    detail: str = ""


def _package(name: str, needed_for: str, optional: bool = False) -> Finding:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, "missing" if optional else "broken", "", needed_for)
    return Finding(name, "ok", version, needed_for)


def _mlir() -> Finding:
    from dsl.errors.errors import WeftError
    from mlir_passes import provider

    needed = "compile, verify, export"
    try:
        package = provider.package()
    except WeftError as error:
        return Finding("MLIR", "broken", "", needed, error.message)
    distribution = {"torch_mlir": "torch-mlir", "mlir": "mlir-python-bindings"}[package]
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        version = ""
    return Finding("MLIR", "ok", version, needed, f"Python package {package}")


def _cxx() -> Finding:
    from backends.cxx import find_cxx
    from dsl.errors.errors import ToolError

    needed = "verify, export --csim"
    try:
        cxx = find_cxx()
    except ToolError as error:
        return Finding("g++", "missing", "", needed, error.message)
    if cxx is None:
        return Finding("g++", "missing", "", needed, "not on PATH")
    return Finding("g++", "ok", cxx.version, needed, str(cxx.path))


def _ap_types() -> Finding:
    from backends.ap_types import find_ap_types

    needed = "the same, of integers and fixed point"
    found = find_ap_types()
    if found is None:
        return Finding("ap_types", "missing", "", needed, "pip install 'weft[csim]'")
    return Finding("ap_types", "ok", found.origin, needed, str(found.folder))


def _tool(name: str, needed_for: str) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding(name, "missing", "", needed_for, "not on PATH")
    return Finding(name, "ok", "", needed_for, path)


def findings() -> tuple[Finding, ...]:
    """All of them, in the order in which they are shown. No tool is run but g++."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    fresh = sys.version_info >= (3, 11)
    return (
        Finding("Python", "ok" if fresh else "broken", python, "everything", sys.executable),
        _package("weft", "everything"),
        _package("numpy", "verify, export"),
        _package("islpy", "compile, verify, export"),
        _package("networkx", "compile, verify, export"),
        _package("optuna", "explore, worker, report", optional=True),
        _mlir(),
        _cxx(),
        _ap_types(),
        _tool("vitis_hls", "export --run (classic flow)"),
        _tool("v++", "export --run (unified flow)"),
        _tool("vitis-run", "export --run (unified flow)"),
    )


@click.command()
@format_option
def command(form: str) -> int:
    """Say which tools and libraries are here, and what each is needed for.

    Exits with 1 when something that Weft cannot do without is missing.
    """
    found = findings()
    show("doctor", COLUMNS, [asdict(f) for f in found], form)
    return int(any(f.status == "broken" for f in found))
