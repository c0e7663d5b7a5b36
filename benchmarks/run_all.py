"""Run every benchmark; rows, and the machine, versions and commit, go to benchmarks/results."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TIMEOUT_S = 4 * 3600
VERSIONS_OF = ("weft", "torch-mlir", "islpy", "numpy", "networkx", "click", "rich")


def benchmark_names() -> list[str]:
    """Modules of this folder that are benchmarks, in alphabetical order."""
    names = sorted(file.stem for file in HERE.glob("*.py"))
    return [name for name in names if not name.startswith("_") and name != "run_all"]


def output_of(*command: str) -> str | None:
    """First line that a command prints, or None where it cannot be run or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, cwd=HERE)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().partition("\n")[0] if done.returncode == 0 else None


def processor() -> str:
    """Model name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def version_of(package: str) -> str | None:
    """Installed version of a package, None where it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def circumstances() -> dict[str, Any]:
    """What the figures depend on: machine, versions, commit."""
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": output_of("git", "rev-parse", "HEAD"),
        "modified": bool(output_of("git", "status", "--porcelain", "--untracked-files=no")),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "compiler": output_of("g++", "--version"),
        "versions": {package: version_of(package) for package in VERSIONS_OF},
    }


def run_one(name: str, results: Path, arguments: list[str]) -> tuple[int, float]:
    """Exit status and wall time in seconds of one benchmark."""
    command = [sys.executable, "-m", f"benchmarks.{name}", "--out", str(results / f"{name}.jsonl")]
    start = time.perf_counter()
    try:
        status = subprocess.run([*command, *arguments], timeout=TIMEOUT_S, cwd=HERE.parent)
        code = status.returncode
    except subprocess.TimeoutExpired:
        code = 124
    return code, time.perf_counter() - start


def main() -> int:
    """Run what was asked for; 0 when every benchmark met its goals."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip())
    parser.add_argument("--only", action="append", choices=benchmark_names(), metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="each in less than a minute")
    parser.add_argument("--results", type=Path, default=HERE / "results", metavar="DIR")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    record = {**circumstances(), "quick": options.quick, "benchmarks": {}}
    for name in options.only or benchmark_names():
        print(f"== {name}", file=sys.stderr, flush=True)
        code, took = run_one(name, options.results, ["--quick"] if options.quick else [])
        record["benchmarks"][name] = {"exit": code, "seconds": round(took, 1)}
        text = json.dumps(record, indent=2) + "\n"
        (options.results / "run.json").write_text(text, encoding="utf-8")
    missed = [name for name, entry in record["benchmarks"].items() if entry["exit"] != 0]
    if missed:
        print(f"goals missed or not measured in: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
