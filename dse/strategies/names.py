"""What strategies are called: Optuna's own samplers, and those of this package."""

from __future__ import annotations

from typing import Literal

Sampler = Literal["tpe", "nsga2", "nsga3", "gp", "random"]
SAMPLERS: tuple[Sampler, ...] = ("tpe", "nsga2", "nsga3", "gp", "random")
STRATEGIES = ("auto", "pom", *SAMPLERS, "exhaustive")
