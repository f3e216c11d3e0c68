"""A claim's effect as a small picture: estimate, interval, what the report printed, and one."""

from __future__ import annotations

import math

from sizebook.stats.decisions import ratio_words

WIDTH, HEIGHT = 132, 18
MOST = 20.0
"""The axis goes from 1/20 to 20 on the logarithm; what lies beyond ends in an arrow."""
_PAD = 8


def render_forest(
    effect: float | None, low: float | None, high: float | None, reported: float | None
) -> str:
    """Return an SVG without style or script; empty for an effect without an interval above zero."""
    if effect is None or low is None or high is None or min(effect, low) <= 0:
        return ""
    middle = HEIGHT / 2
    begin, end = _x(low), _x(high)
    parts = [
        f"<line class='sb-forest-one' x1='{_x(1):.1f}' x2='{_x(1):.1f}' y1='1' y2='{HEIGHT - 1}'/>",
        f"<line class='sb-forest-interval' x1='{begin:.1f}' x2='{end:.1f}' y1='{middle}' "
        f"y2='{middle}'/>",
    ]
    if low < 1 / MOST:
        parts.append(_arrow(_x(low), -1))
    if high > MOST:
        parts.append(_arrow(_x(high), 1))
    words = f"{ratio_words(effect)} times, {ratio_words(low)} to {ratio_words(high)}"
    if reported is not None and reported > 0:
        at = _x(reported)
        words += f"; the report has {ratio_words(reported)}"
        parts.append(
            f"<path class='sb-forest-reported' d='M{at:.1f} 2 l4 -2 h-8 z M{at:.1f} 2 V{HEIGHT}'/>"
        )
    parts.append(f"<circle class='sb-forest-effect' cx='{_x(effect):.1f}' cy='{middle}' r='3'/>")
    return (
        f"<svg class='sb-forest' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}' "
        f"role='img' aria-label='{words}'>{''.join(parts)}</svg>"
    )


def _x(ratio: float) -> float:
    """Return where a ratio is; the ends for what lies beyond them."""
    place = math.log(min(max(ratio, 1 / MOST), MOST)) / math.log(MOST)
    return WIDTH / 2 + place * (WIDTH / 2 - _PAD)


def _arrow(x: float, way: int) -> str:
    middle = HEIGHT / 2
    return f"<path class='sb-forest-beyond' d='M{x + way * 5:.1f} {middle} l{-way * 5} -3 v6 z'/>"
