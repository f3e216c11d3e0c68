"""One look for every chart: fonts, sizes, and the same colour for the same treatment.

The palette follows Okabe and Ito, "Color Universal Design" (2008), moved to middle lightness so
that each colour keeps a contrast of 3:1 against white paper and against the book's dark page
(WCAG 2.2, 1.4.11). Eight hues of like lightness are close for some readers, so a chart with more
than four treatments should use a shape or dash as well: :func:`treatment_dashes`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import altair as alt

from sizebook.hosts.kinds import KINDS

FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
INK = "#1f2933"
FAINT = "#667380"
DOUBT = "#a3480a"
PALETTE = (
    "#0072b2",  # blue
    "#d55e00",  # vermilion
    "#009473",  # green
    "#c0578f",  # reddish purple
    "#3b97d3",  # sky
    "#a87b00",  # amber
    "#7a5fb0",  # violet
    "#7c7c7c",  # grey
)
VERDICT_COLOURS = {
    "confirmed": "#007a56",
    "contradicted": "#c4372e",
    "undetermined": "#8f6400",
    "not run": "#667380",
    "no verdict": "#7a6a94",
}
"""A colour for each verdict of a claim, and for claims that get none, in the order of showing.

Each keeps 3:1 against white paper and the dark page, and 4.5:1 against the white number in it.
"""
DASHES: tuple[tuple[int, ...], ...] = (
    (1, 0),
    (6, 3),
    (2, 2),
    (8, 3, 2, 3),
    (4, 1),
    (10, 4),
    (1, 3),
    (6, 2, 2, 2, 2, 2),
)

# Treatments of one family stand in one chart together and so hold different slots.
_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("odata-json", "odata-atom", "rest-json", "rest-xml", "odata-atom-compat", "rest-xml-padded"),
    ("rpc", "soap", "logged", "jms", "http", "direct", "queue", "copy"),
    ("xslt", "actions", "xslt-jdk"),
    ("accepted", "stored"),
    ("1 node", "2 nodes", "4 nodes", "8 nodes"),
    ("serial", "parallel", "g1", "zgc", "shenandoah"),
    ("platform threads", "virtual threads"),
    ("two tiers", "three tiers"),
    ("measured", "reported", "published", "bound by threads", "bound by CPU"),
    ("app", "database", "backend", "generator", "balancer", "broker"),
    ("sender", "receiver"),
    ("local", "remote"),
    ("on", "off"),
    ("used", "total", "free"),
    (
        "young",
        "full",
        "concurrent cycle",
        "mixed",
        "concurrent young",
        "degenerated",
        "concurrent old",
        "cancelled cycle",
    ),
    # the reports' own products
    ("ES", "JCo", "JRA"),
    ("bare metal", "Xen PVM", "Xen HVM", "VMware ESX"),
)
_MODES = {kind.mode: kind.colour for kind in KINDS if kind.colour is not None}
_SLOTS = {name: slot for family in _FAMILIES for slot, name in enumerate(family)} | _MODES


def treatment_slots(names: Sequence[str]) -> dict[str, int]:
    """Give the palette slot of each treatment; a listed name has the same slot in every chart.

    A name that no family lists takes a slot from its hash, or the next free one when another
    treatment of this chart holds it. Raises ValueError for a repeated name or more than eight.
    """
    if len(set(names)) != len(names):
        raise ValueError(f"a treatment is named twice in {list(names)}")
    if len(names) > len(PALETTE):
        raise ValueError(f"{len(names)} treatments, but a chart can tell {len(PALETTE)} apart")
    taken: dict[int, str] = {}
    for name in sorted(names, key=lambda each: (each not in _SLOTS, each)):
        slot = _SLOTS.get(name, hashlib.sha256(name.encode()).digest()[0] % len(PALETTE))
        while slot in taken:
            slot = (slot + 1) % len(PALETTE)
        taken[slot] = name
    slot_of = {name: slot for slot, name in taken.items()}
    return {name: slot_of[name] for name in names}


def treatment_scale(names: Sequence[str]) -> alt.Scale:
    """Give the colour scale of these treatments, in the order given, for ``alt.Color(scale=…)``."""
    slots = treatment_slots(names)
    return alt.Scale(domain=list(names), range=[PALETTE[slots[name]] for name in names])


def treatment_dashes(names: Sequence[str]) -> alt.Scale:
    """Give the stroke-dash scale that goes with :func:`treatment_scale`."""
    slots = treatment_slots(names)
    return alt.Scale(domain=list(names), range=[list(DASHES[slots[name]]) for name in names])


def sizebook_theme() -> alt.theme.ThemeConfig:
    """Give the configuration that every chart of the book carries.

    The background is white, so that the static SVG and a dark JupyterLab stay legible; on the
    book's dark page the script of the site replaces background and ink.
    """
    axis: dict[str, Any] = {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": 600,
        "titlePadding": 10,
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "gridColor": FAINT,
        "gridOpacity": 0.25,
        "labelLimit": 260,
    }
    legend: dict[str, Any] = {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "labelColor": INK,
        "titleColor": INK,
        "orient": "top",
        "labelLimit": 320,
        "symbolStrokeWidth": 2.5,
    }
    title: dict[str, Any] = {
        "font": FONT,
        "subtitleFont": FONT,
        "anchor": "start",
        "fontSize": 14,
        "subtitleFontSize": 12,
        "color": INK,
        "subtitleColor": DOUBT,
        "offset": 12,
    }
    config: dict[str, Any] = {
        "background": "white",
        "font": FONT,
        "padding": 8,
        "axis": axis,
        "legend": legend,
        "title": title,
        "header": {"labelFont": FONT, "titleFont": FONT, "labelColor": INK, "titleColor": INK},
        "view": {"stroke": None},
        "range": {"category": list(PALETTE)},
        "mark": {"color": PALETTE[0]},
        "text": {"font": FONT, "color": INK},
        "rule": {"color": FAINT},
        "line": {"strokeWidth": 2.25},
        "point": {"filled": True, "size": 55},
        "circle": {"size": 55, "opacity": 0.75},
        "bar": {"cornerRadiusEnd": 2},
        "axisX": {"grid": False},
    }
    return alt.theme.ThemeConfig(config=config)  # type: ignore[typeddict-item]


def themed_spec(chart: Any) -> dict[str, Any]:
    """Give the Vega-Lite specification of an Altair chart with the book's theme in it."""
    # registered here, so that a notebook that is only planned loads no Altair
    alt.theme.register("sizebook", enable=False)(sizebook_theme)
    with alt.theme.enable("sizebook"):
        spec: dict[str, Any] = chart.to_dict(format="vega-lite")
    return spec
