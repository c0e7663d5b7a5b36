"""docs/reference/errors.md out of the table of codes: ``python -m tests.docs.errors_page``."""

from __future__ import annotations

from pathlib import Path

from dsl.errors.codes import CODES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "errors.md"

HEAD = """\
# Errors

<!-- Made by `python -m tests.docs.errors_page` from dsl/errors/codes.py. -->

Whatever a user can cause derives from `weft.WeftError` and has a code, a place where there is one,
notes, and a help line where something better is known:

```text
smooth.py:14:5: error[W203]: interchange(i, j) reverses a flow dependence
   14 |     s.interchange("i", "j")
      |     ^^^^^^^^^^^^^^^^^^^^^^^
  S0 -> S0 through A, distance (1, -1): S0[1, 2] must run before S0[2, 1]
help: skew("i", "j", 1) first makes the distance nonnegative
```

In Python they are fields: `error.code`, `error.message`, `error.span`, `error.notes`,
`error.help`; `str(error)` is the text above. The codes stay; the wording may become better.
"""

PARTS = {
    "1": ("The language", "`weft.LanguageError`: the kernel is not a program of the language."),
    "2": ("Schedules", "`weft.ScheduleError`: a step names what is not there, or is not legal."),
    "3": ("The IR", "`weft.IRError`: a module of level 3 is malformed, or has no meaning there."),
    "4": ("Tools", "`weft.ToolError`: export, compilation or an external tool failed."),
    "5": ("Files and inputs", "`weft.InputError`: a file, an option or an input does not fit."),
}


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for digit, (title, text) in PARTS.items():
        rows = [f"| {code} | {what} |" for code, what in CODES.items() if code[1] == digit]
        table = "\n".join(["| code | stands for |", "|---|---|", *rows])
        parts.append(f"## W{digit}xx: {title}\n\n{text}\n\n{table}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
