"""Shared pytest configuration: Hypothesis profiles, and what is skipped where a tool is absent."""

from __future__ import annotations

import gc
import os
import shutil

import pytest
from hypothesis import HealthCheck, settings

# Machines that share their cores are slow at times: no deadline for a single example.
_CALM = [HealthCheck.too_slow]
settings.register_profile(
    "fast", max_examples=50, deadline=None, derandomize=True, suppress_health_check=_CALM
)
settings.register_profile("balanced", max_examples=300, deadline=None, suppress_health_check=_CALM)
settings.register_profile("long", max_examples=5000, deadline=None, suppress_health_check=_CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

# Explorations that are not about the predictor do without: it takes seconds to load for each `weft`.
os.environ.setdefault("WEFT_EVALUATOR", "model")

# Many containers set this: every `weft` that a test starts would compile the whole package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

NEEDS = {"vitis": ("vitis-run", "vitis_hls"), "gpu": ("nvidia-smi",)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for marker, commands in NEEDS.items():
        if any(shutil.which(command) for command in commands):
            continue
        skip = pytest.mark.skip(reason=f"needs {' or '.join(commands)} on PATH")
        for item in items:
            if item.get_closest_marker(marker) is not None:
                item.add_marker(skip)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep what thousands of collected tests hold out of each garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
