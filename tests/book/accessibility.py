"""What axe-core and a keyboard find wrong with a page: ``check_accessibility(browser, theme)``.

Run it by hand on a built site with ``python tests/book/accessibility.py _build/html [page...]``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from browser import Browser
from site_check import list_pages, wait_for_charts

PROJECT = Path(__file__).parents[2]
LOCK = PROJECT / "env" / "axe.lock"
FOLDER = PROJECT / ".sizebook" / "axe"
THEMES = ("light", "dark")
WIDTHS = (1400, 700, 400)
"""Window widths in CSS pixels: a desk, the same at 200 %, a phone."""

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_RUN = """axe.run(
  {{exclude: [[".sb-canvas svg *"]]}}, {{runOnly: {tags}, resultTypes: ["violations"]}}
).then(found => found.violations.flatMap(rule => rule.nodes.map(node =>
  `${{rule.id}}: ${{node.target.join(" ")}}: ${{node.failureSummary.replace(/\\s+/g, " ")}}`)))"""


def find_axe() -> str:
    """Give the script of axe-core, installed by its lock file if it is not there."""
    stamp, script = FOLDER / "installed.lock", FOLDER / "axe_playwright_python" / "axe.min.js"
    if not stamp.exists() or stamp.read_bytes() != LOCK.read_bytes():
        shutil.rmtree(FOLDER, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        wanted = ["--no-deps", "--require-hashes", "--target", FOLDER, "-r", LOCK]
        subprocess.run([*pip, *wanted], check=True)
        shutil.copyfile(LOCK, stamp)
    return script.read_text(encoding="utf-8")


_OPEN = """{
  const seen = new Set();
  for (const fold of document.querySelectorAll("details")) {
    const kind = `${fold.className} ${fold.parentElement.className}`;
    fold.open = !seen.has(kind);
    seen.add(kind);
  }
}"""


def open_in(browser: Browser, page: Path, theme: str, width: int = WIDTHS[0]) -> None:
    """Open a page in a theme with all its charts drawn and the first fold of each kind open."""
    browser.set_media("")
    browser.set_size(width)
    browser.open(f"{page.as_uri()}?charts=all")
    browser.run(
        "document.head.insertAdjacentHTML('beforeend',"
        "'<style>* { transition: none !important; animation: none !important }</style>');"
        f"document.documentElement.dataset.theme = '{theme}'"
    )
    wait_for_charts(browser, theme)
    browser.run(_OPEN)


def check_accessibility(browser: Browser) -> list[str]:
    """Give what axe-core finds wrong with the page as it stands, one line an element."""
    browser.run(f"{find_axe()};0")
    found: list[str] = browser.run(_RUN.format(tags=json.dumps(TAGS)))
    return found


def main() -> int:
    """Check the pages named, or all, in both themes; print what is wrong."""
    root = Path(sys.argv[1]).resolve()
    pages = [root / name for name in sys.argv[2:]] or list_pages(root)
    wrong = 0
    with Browser(answer_s=240) as browser:
        for page in pages:
            for theme in THEMES:
                open_in(browser, page, theme)
                found = check_accessibility(browser)
                wrong += len(found)
                for line in found:
                    print(f"{page.relative_to(root)} ({theme}): {line}")
    print(f"{wrong} problems on {len(pages)} pages")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
