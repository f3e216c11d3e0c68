"""Take the README's picture of the landing page from a built site.

Run it by hand: ``python tests/book/take_screenshot.py _build/html book/_static/screenshot.png``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from browser import Browser
from site_check import wait_for_charts

WIDTH, HEIGHT = 1400, 1000


def main() -> None:
    """Open the landing page in light colours, as a reader's first screen, and store it."""
    site, picture = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    with Browser() as browser:
        browser.set_size(WIDTH, HEIGHT)
        browser.open(f"{(site / 'index.html').as_uri()}?charts=all")
        browser.run("document.documentElement.dataset.theme = 'light'")
        wait_for_charts(browser, "light")
        browser.take_picture(picture, whole=False)


if __name__ == "__main__":
    main()
