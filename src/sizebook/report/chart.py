"""From an Altair chart to what a page needs: a specification of fixed width and a static SVG."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import vl_convert

from sizebook.model.plain_text import steers
from sizebook.report.theme import themed_spec

MIME = "application/vnd.vegalite.v5+json"  # the newest that JupyterLab 4.6 draws by itself
WIDTH_PX = 700
HEIGHT_PX = 260
_LINE_LETTERS = 90  # of 12 px, in a chart of WIDTH_PX

_COMPOSED = ("concat", "hconcat", "vconcat", "facet", "repeat")


def prepare_chart(chart: Any, doubts: Sequence[str] = ()) -> tuple[dict[str, Any], bool]:
    """Give the specification with a width in pixels, and whether the book may make it fluid.

    ``width="container"`` hangs JupyterLab's renderer, so the notebook always holds a fixed width.
    A chart whose author set a width, and a chart composed of several views, keep theirs. Doubts
    become the subtitle: they are in the picture itself, on paper too. Control characters in text
    from data become U+FFFD: one of them makes the library that draws the SVG abort the process,
    and an escape with a backslash would be undone by Vega's own expressions.
    """
    spec = _plain(themed_spec(chart))
    composed = any(part in spec for part in _COMPOSED)
    fluid = not composed and spec.get("width") in (None, "container")
    if fluid:
        spec["width"] = WIDTH_PX
        spec.setdefault("height", HEIGHT_PX)
        # with "pad" a container-wide chart grows beyond its container by the width of its axes
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    if doubts:
        spec["title"] = _with_doubts(spec.get("title"), doubts)
    return spec, fluid


def render_svg(spec: dict[str, Any]) -> str:
    """Give the chart as SVG, drawn without a browser and without network."""
    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def _plain(part: Any) -> Any:
    """Give a part of a specification whose texts, names of fields too, steer nothing."""
    if isinstance(part, str):
        if part.isprintable():
            return part
        return "".join("\ufffd" if steers(c) and c != "\n" else c for c in part)
    if isinstance(part, Mapping):
        return {_plain(name): _plain(value) for name, value in part.items()}
    return [_plain(each) for each in part] if isinstance(part, list) else part


def _with_doubts(title: Any, doubts: Sequence[str]) -> dict[str, Any]:
    full: dict[str, Any] = dict(title) if isinstance(title, dict) else {"text": title}
    if not full.get("text"):
        full |= {"text": " ", "fontSize": 1}  # Vega draws no subtitle below an empty title
    own = full.get("subtitle", [])
    lines = [own] if isinstance(own, str) else list(own)
    for doubt in doubts:
        lines += textwrap.wrap(f"\u26a0 {_plain(doubt)}", _LINE_LETTERS)
    full["subtitle"] = lines
    return full
