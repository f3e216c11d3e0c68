"""``make book`` again: nothing is measured, and not a byte of the site changes."""

from concurrent.futures import ThreadPoolExecutor


def render_again(project, chapters):
    """Run chapters again from their bundles, two at a time: there is nothing to measure."""
    halves = chapters[::2], chapters[1::2]
    with ThreadPoolExecutor(2) as pool:
        words = [("run", "--profile", "smoke", "--force", *half) for half in halves]
        list(pool.map(lambda each: project.sizebook(*each, check=0), words))


def test_the_book_made_again_is_the_same_book(project, site):
    """Chapters run again from their bundles: no trial is run, and the site has the same bytes."""
    bundles = sorted((project.root / "data" / "runs").glob("*/*"))
    first = site.read()
    measured = sorted(path.name for path in (project.root / "data" / "runs").iterdir())
    render_again(project, measured)
    project.sizebook("build", check=0)
    again = site.read()
    assert sorted(again) == sorted(first)
    assert [name for name in first if again[name] != first[name]] == []
    assert sorted((project.root / "data" / "runs").glob("*/*")) == bundles
