"""Chapter 12 in its shortest form: what was worked on, and how its time is told apart."""

from sizebook.book.records import read_records
from sizebook.report.counter_increase import rises
from sizebook.report.reported import reported_claims
from sizebook.store import find_bundles, open_bundle

SCENARIOS = (
    *("sgen-load", "db-statistics", "financial-close-job", "fs10n"),
    *("simple-query", "se30-tips", "st03n-workload", "general"),
)


def measured(project):
    """Return the measured bundles of the chapter."""
    opened = [open_bundle(path) for path in find_bundles(project.runs("database-work"))]
    return [one for one in opened if one.record.trial.purpose == "measured"]


def risen(bundle, metric):
    """Return label and rise of a counter of the app node."""
    found = rises(bundle, metric, "server/app-")
    return dict(found.select("label", "rise").iter_rows())


def test_a_trial_does_its_work_and_no_other(project):
    """As many pieces as requests, all of the treatment's work, time in the database within all."""
    works = set()
    for bundle in measured(project):
        work = bundle.record.trial.treatment["work"]
        done = {name: n for name, n in risen(bundle, "work_done_total").items() if n}
        assert sum(done.values()) == bundle.columns.height > 0
        if work != "mix":
            assert set(done) == {work}
        total, database = risen(bundle, "work_s"), risen(bundle, "work_database_s")
        for kind, seconds in total.items():
            assert 0 <= database[kind] <= seconds
        works.add(work)
    assert len(works) == 18


def test_work_without_database_asks_it_nothing(project):
    """Tables in memory and generated programs cost the application alone, statistics nearly not."""
    for bundle in measured(project):
        work = bundle.record.trial.treatment["work"]
        database = sum(risen(bundle, "work_database_s").values())
        if work in ("tables-naive", "tables-better", "generation"):
            assert database == 0
        elif work in ("count", "statistics"):
            assert database > 0.5 * sum(risen(bundle, "work_s").values())


def test_every_transferable_claim_is_decided_or_says_why_not(project):
    """Each claim of the chapter's scenarios has a card; what is not run names what is missing."""
    cards = read_records(project.page("database-work"))
    claims = [
        name
        for name, claim in reported_claims(project).items()
        if claim.source == "itanium-2010"
        and claim.scenario in SCENARIOS
        and not claim.transferable.startswith("no")
    ]
    assert len(claims) == 43
    for name in claims:
        assert cards[name].fields["claim"]["reason"], name
