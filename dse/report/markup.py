"""HTML that is safe by construction: whatever is not `Html` already is escaped on its way in."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any


class Html(str):
    """Text that is markup. Only this module makes it from parts that are not."""

    __slots__ = ()


Child = str | int | float | None | Iterable["Child"]

_VOID = frozenset({"meta", "link", "br", "hr", "input", "rect"})


def el(tag: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Html:
    """An element.

    Args:
        tag: name of the element.
        children: text (escaped), `Html`, or lists of these; None is nothing.
        attributes: ``class_`` and ``for_`` for words that Python has taken, ``aria_label`` for
            ``aria-label``. None and False leave one out, True gives it no value.
    """
    head = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _VOID:
        return Html(f"<{tag}{head}>" if tag != "rect" else f"<{tag}{head}/>")
    return Html(f"<{tag}{head}>{joined(children)}</{tag}>")


def joined(children: Child) -> Html:
    """Children one after the other."""
    match children:
        case None:
            return Html()
        case Html():
            return children
        case str() | int() | float():
            return Html(escape(str(children)))
        case _:
            return Html("".join(joined(child) for child in children))


def raw_json(identity: str, data: Any) -> Html:
    """A data block for the page's script, in which no text can end the block or begin another."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Html(f'<script type="application/json" id="{escape(identity)}">{text}</script>')


def script(text: str) -> Html:
    """A script of ours, as it stands."""
    return Html(f"<script>{text}</script>")


def style(text: str) -> Html:
    """A style sheet of ours, as it stands."""
    return Html(f"<style>{text}</style>")


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    return f' {name}="{escape(str(value))}"'
