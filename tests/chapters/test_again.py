"""``make book`` again: nothing is measured, and not a byte of the site changes."""


def read_site(project):
    """Return each file of the built site by its name."""
    site = project.root / "_build" / "html"
    files = (path for path in site.rglob("*") if path.is_file())
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in files}


def make_book(project, *arguments):
    """Do what the make target does."""
    project.sizebook("run", "--profile", "smoke", *arguments, check=0)
    project.sizebook("build", check=0)
    return read_site(project)


def test_the_book_made_again_is_the_same_book(project):
    """Chapters run again from their bundles: no trial is run, and the site has the same bytes."""
    bundles = sorted((project.root / "data" / "runs").glob("*/*"))
    first = make_book(project)
    measured = sorted(path.name for path in (project.root / "data" / "runs").iterdir())
    again = make_book(project, "--force", *measured)
    assert sorted(again) == sorted(first)
    assert [name for name in first if again[name] != first[name]] == []
    assert sorted((project.root / "data" / "runs").glob("*/*")) == bundles
