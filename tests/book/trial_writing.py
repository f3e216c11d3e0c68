"""Pages of trials written at once, as a build does it beside Sphinx."""

from pathlib import Path

from sizebook.book.cited import ProjectBundles
from sizebook.book.trial_pages.folder import plan_trial_pages


def write_trial_pages(root: Path, site: Path, pages: list[str], bundles: ProjectBundles) -> int:
    """Write ``trials/`` of a site and return how many files were made anew."""
    plan = plan_trial_pages(root, site, pages, bundles, [site / "_static"])
    plan.make()
    return plan.finish()
