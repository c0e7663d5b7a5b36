"""Templates of the page: Jinja2, which escapes whatever a template does not hold itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dse.libraries import need
from dse.report import numbers

# Asked for as this module is imported, so that a search fails before it begins, not at its report.
need("jinja2", "a report", "Jinja2", "dse")

from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: E402 (see above)

_TEMPLATES = Environment(
    loader=PackageLoader("dse.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {
    "label": numbers.label,
    "count": numbers.count,
    "cycles": numbers.cycles,
    "duration": numbers.duration,
    "times": numbers.times,
    "percent": numbers.percent,
}
# JSON.parse knows no NaN: better no page than one whose script stops.
_TEMPLATES.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}


def render(template: str, context: Mapping[str, Any]) -> str:
    """A template of `dse/report/templates`, filled in.

    A name that a template asks for and the context does not have is an error (`StrictUndefined`),
    never an empty place. Only what is marked as safe is not escaped: the script and the style sheet,
    which are files of this package.
    """
    return _TEMPLATES.get_template(template).render(context)
