"""``make book`` again: nothing is measured, and not a byte of the site changes."""

from concurrent.futures import ThreadPoolExecutor


def render_again(whole, chapters):
    """Run chapters again from their bundles, two at a time: there is nothing to measure."""
    halves = chapters[::2], chapters[1::2]
    with ThreadPoolExecutor(2) as pool:
        words = [("run", "--profile", "smoke", "--force", *half) for half in halves]
        list(pool.map(lambda each: whole.sizebook(*each, check=0), words))


def test_the_book_made_again_is_the_same_book(whole, site):
    """Chapters run again from their bundles: no trial is run, and the site has the same bytes."""
    bundles = sorted((whole.root / "data" / "runs").glob("*/*"))
    first = site.read()
    measured = sorted(path.name for path in (whole.root / "data" / "runs").iterdir())
    render_again(whole, measured)
    whole.sizebook("build", check=0)
    again = site.read()
    assert sorted(again) == sorted(first)
    assert [name for name in first if again[name] != first[name]] == []
    assert sorted((whole.root / "data" / "runs").glob("*/*")) == bundles
