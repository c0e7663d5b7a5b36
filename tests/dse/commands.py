"""Running ``weft`` in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"
WEFT = [sys.executable, "-c", "from dse.cli import main; main()"]


begun: list[subprocess.Popen[str]] = []


def begin(*words: str | Path, **env: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*WEFT, *map(str, words)], cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1", **env},
    )  # fmt: skip
    begun.append(process)
    return process


def begin_exploring(folder: Path, *words: str | Path, **env: str) -> subprocess.Popen[str]:
    how = ("--size", "mini", "--evaluator", "model")
    return begin("explore", GEMM, *how, "--out", folder, *words, **env)


def end(process: subprocess.Popen[str], seconds: float = 300) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"no end in {seconds} s:\n{out}\n{err}") from None
    return process.returncode, out, err


def kept(folder: Path) -> set[str]:
    """Keys of the points with a result."""
    return {path.parent.name for path in folder.glob("points/*/result.json")}


def wait_for_points(folder: Path, process: subprocess.Popen[str], count: int) -> None:
    deadline = time.monotonic() + 120
    while len(kept(folder)) < count and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def statuses(folder: Path, event: str = "trial") -> dict[str, int]:
    found: dict[str, int] = {}
    for line in (folder / "events.jsonl").read_text().splitlines():
        data = json.loads(line)
        if data["event"] == event:
            found[data["status"]] = found.get(data["status"], 0) + 1
    return found
