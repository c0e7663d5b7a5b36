"""Tool versions that differ from those of the package in one policy."""

from __future__ import annotations

from dataclasses import replace

from qor_gnn.tools.personality import Personality


def under(tool: Personality, policy: str, **values: object) -> Personality:
    """The tool with other values in a policy."""
    return replace(tool, **{policy: replace(getattr(tool, policy), **values)})
