"""Every rule of the audit: what it compares, how bad it is, what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from sizebook.book.crate.rules import CRATE_RULES

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Worst first. An error says that something shown cannot be believed as it stands."""


@dataclass(frozen=True)
class AuditRule:
    """One rule of the audit. The first digit of its number says what it looks at."""

    id: str
    severity: Severity
    title: str
    meaning: str
    """What it compares, and what a difference means."""
    remedy: str
    """What to do about a finding."""


_MEASURE = "Get a fresh copy of the bundle, or remove it and measure the trial again."
_RUN = "Run the chapter again: sizebook run CHAPTER, with --source data/runs to measure nothing."
_BUILD = "Build the site again: sizebook build."

RULES: tuple[AuditRule, ...] = (
    AuditRule(
        "AU101-record",
        "error",
        "The bundle's record can be read",
        "trial.json is of a version known here, has all its fields and no other, and every file "
        "that it names is there with its size.",
        _MEASURE,
    ),
    AuditRule(
        "AU102-checksum",
        "error",
        "Every file has its recorded checksum",
        "The SHA-256 of each file of the bundle is the one in trial.json.",
        _MEASURE,
    ),
    AuditRule(
        "AU103-unnamed-file",
        "error",
        "The bundle holds no other file",
        "A file that the record does not name was put there later.",
        "Look at what it is and take it out.",
    ),
    AuditRule(
        "AU104-table",
        "error",
        "Tables have their columns and types",
        "Requests, counters and schedule are Parquet tables with exactly the columns and types "
        "that this version writes.",
        _MEASURE,
    ),
    AuditRule(
        "AU105-identity",
        "error",
        "The record agrees with itself",
        "The cache key is that of the specification and fingerprints, the machine's fingerprint "
        "is that of its facts, and the start in UTC is that of the clock.",
        _MEASURE,
    ),
    AuditRule(
        "AU106-accounting",
        "error",
        "The rows agree with the record",
        "Of a completed trial the rules SB101 (every request is accounted for) and SB102 (every "
        "row lies in its phase) hold, recomputed here.",
        _MEASURE,
    ),
    AuditRule(
        "AU107-histogram",
        "error",
        "The histogram log is that of the requests",
        "latency.hlog, written again from requests.parquet, is the same byte for byte.",
        _MEASURE,
    ),
    AuditRule(
        "AU108-missing-trial",
        "error",
        "No replicate is missing",
        "Every treatment of a design has a trial in every block, and trials that shared one "
        "start of the stack are numbered without a gap. A failed trial counts: it is a bundle, "
        "too. Left-overs that no page cites, such as those of an interrupted run with older "
        "sources, are warnings.",
        "Get the missing bundle, or run the chapter: what is missing is measured.",
    ),
    AuditRule(
        "AU109-same-trial",
        "error",
        "No trial counts twice",
        "Two bundles with the same record, or with the same key and the same start, are one "
        "trial under two names: together they would pass for two replicates.",
        "Remove the copy.",
    ),
    AuditRule(
        "AU110-measured-again",
        "warning",
        "No completed trial was measured again",
        "Sizebook measures a completed trial again only where the machine interfered (its verdict "
        "says so); else somebody chose. The newest counts, and what each found is stated.",
        "Compare the values. If the first was not noisy, ask why it was measured again.",
    ),
    AuditRule(
        "AU111-blocks",
        "warning",
        "A design has the blocks of its profile",
        "Fewer blocks than the profile prescribes: the design stopped when it was precise enough, "
        "or its last blocks were taken out. Replaying a page tells which.",
        "Audit the page that was made from these bundles, or ask for the rest.",
    ),
    AuditRule(
        "AU112-stale",
        "warning",
        "Trials were measured with the present sources, on this machine",
        "Stack, load profile, capture, JVM or machine differ from those here and now: what the "
        "bundles show is what they were then.",
        "Nothing, for bundles from elsewhere; else run the chapter again.",
    ),
    AuditRule(
        "AU200-page",
        "error",
        "The chapter has a readable executed notebook",
        "Every chapter in the table of contents has an executed notebook in Jupyter's format.",
        _RUN,
    ),
    AuditRule(
        "AU201-template",
        "error",
        "The template is the one that was executed",
        "The checksum over the template's cells is the one that was written into the page when "
        "it was executed: otherwise text or code changed since.",
        _RUN,
    ),
    AuditRule(
        "AU202-cells",
        "error",
        "The page has the template's cells",
        "Code, text and tags of the executed notebook are those of its template: what stands "
        "there is what was executed.",
        _RUN,
    ),
    AuditRule(
        "AU203-parameters",
        "error",
        "The page has one set of parameters",
        "The recorded parameters are known to the template, and are the ones in the cell that "
        "was executed with them.",
        _RUN,
    ),
    AuditRule(
        "AU204-content",
        "error",
        "What is shown has the recorded checksum",
        "The checksum of a chart's specification, a table's HTML, a value, a paragraph or a "
        "claim, computed again, is the one in its evidence.",
        _RUN,
    ),
    AuditRule(
        "AU205-words",
        "error",
        "Words say what the record says",
        "The text of a result (Markdown, plain text, the words of a number) follows from its "
        "values and formats.",
        _RUN,
    ),
    AuditRule(
        "AU206-picture",
        "error",
        "The picture is the drawing of its data",
        "The static SVG of a figure is what its specification draws.",
        _RUN,
    ),
    AuditRule(
        "AU207-cited-missing",
        "error",
        "Cited bundles are there",
        "Every bundle that a result names as evidence is among those audited.",
        "Get the bundle, or run the chapter again.",
    ),
    AuditRule(
        "AU208-cited-other",
        "error",
        "Cited bundles are the ones that were used",
        "The bundle has the checksum in the evidence, and nothing is wrong with it.",
        _RUN,
    ),
    AuditRule(
        "AU209-cited-verdict",
        "error",
        "Trials have the verdict that the page gives them",
        "The verdict in the evidence is what the checks say of the bundle now.",
        _RUN,
    ),
    AuditRule(
        "AU210-twice",
        "error",
        "A key names one result",
        "A page publishes no two different results under one key.",
        "Give one of them another key in the template and run the chapter again.",
    ),
    AuditRule(
        "AU211-commit",
        "warning",
        "The page was made by a commit",
        "A page made from a checkout with changes, or outside of one, cannot be made again from "
        "its commit alone.",
        "Commit, then run the chapter again.",
    ),
    AuditRule(
        "AU212-no-record",
        "warning",
        "Every output has a record",
        "An output without a record shows something that nobody can trace.",
        "Publish it through the page's figure, table, value, prose or claim, or hide it.",
    ),
    AuditRule(
        "AU213-up-to-date",
        "note",
        "The page is up to date",
        "Sources changed since the page was made. Whether it still shows what they make of the "
        "bundles is what the replay tells.",
        _RUN,
    ),
    AuditRule(
        "AU214-result",
        "error",
        "The result's record can be read",
        "A record has its kind, key and evidence, as this version writes them.",
        _RUN,
    ),
    AuditRule(
        "AU301-differs",
        "error",
        "The result follows from the bundles",
        "The template, executed again on the page's own bundles, makes the same figure, table, "
        "number, paragraph or claim with the same caption and evidence. A change whose checksum "
        "was mended, too, shows here.",
        _RUN,
    ),
    AuditRule(
        "AU302-missing",
        "error",
        "The replay makes every result of the page",
        "A result that the template does not make was put into the page.",
        _RUN,
    ),
    AuditRule(
        "AU303-new",
        "error",
        "The page shows every result of the replay",
        "A result that the template makes was taken out of the page.",
        _RUN,
    ),
    AuditRule(
        "AU304-moment",
        "note",
        "Results of the moment",
        "A cell with the tag of-the-moment shows the machine as it was when it ran, such as its "
        "free memory: it follows from no bundle and cannot be recomputed.",
        "Nothing: look at the page and believe it or not.",
    ),
    AuditRule(
        "AU305-no-replay",
        "error",
        "The template can be executed again",
        "Executing the template on the page's bundles ended with an error, so that none of its "
        "results could be recomputed.",
        "See the message; sizebook run CHAPTER --source FOLDER does the same.",
    ),
    AuditRule(
        "AU306-no-template",
        "error",
        "The page's template is known here",
        "Without the template none of the page's results can be recomputed. A notebook's own "
        "code is never executed.",
        "Use the release of Sizebook that made the page.",
    ),
    AuditRule(
        "AU401-page-differs",
        "error",
        "The site is what the notebooks make",
        "Built again, every file of the site is the same, byte for byte; of trials' pages the "
        "stamp may differ.",
        _BUILD,
    ),
    AuditRule(
        "AU402-page-missing",
        "error",
        "No file of the site is missing",
        "A file that the build makes is not in the site.",
        _BUILD,
    ),
    AuditRule(
        "AU403-page-added",
        "error",
        "No file was added to the site",
        "A file in the site is none that the build makes.",
        _BUILD,
    ),
    AuditRule(
        "AU404-no-build",
        "error",
        "The site can be built again",
        "The build ended with warnings or an error, so that the site could not be compared.",
        "See the message; sizebook build does the same.",
    ),
    AuditRule(
        "AU405-not-built",
        "note",
        "There is a site",
        "The site is not built, so that there is nothing to compare.",
        _BUILD,
    ),
    AuditRule(
        "AU501-reported",
        "error",
        "The reports' data are unchanged",
        "Every file in data/reported has its checksum in SHA256SUMS there, and none is missing.",
        "git checkout data/reported; after a wanted change: sha256sum *.csv > SHA256SUMS there.",
    ),
    AuditRule(
        "AU502-claim-unknown",
        "error",
        "Claims are claims of the reports",
        "Every claim that a page decides is one of data/reported/claims.csv, or one that the "
        "chapter makes itself (own-…), and is decided once.",
        "Correct the claim's id in the template and run the chapter again.",
    ),
    *(AuditRule(**asdict(rule)) for rule in CRATE_RULES),
    AuditRule(
        "AU701-pack",
        "error",
        "Every pack of a round is the one that was published",
        "round.json can be read, and each pack that it names is there with its bytes and SHA-256. "
        "What such a round holds is not looked at.",
        "Get a fresh copy of the book: git checkout data/published.",
    ),
    AuditRule(
        "AU702-signature",
        "error",
        "A round's signature is good",
        "ssh-keygen verifies the signature of round.json, which has the checksums of all packs. A "
        "round without a signature, or a machine without ssh-keygen, is a note.",
        "A bad one: get a fresh copy of the book. None: ask the publisher, or believe the bundles.",
    ),
    AuditRule(
        "AU703-size",
        "error",
        "What is published stays small",
        "All files in data/published together have at most 20 000 000 bytes.",
        "Take an old round out: git rm -r data/published/ROUND.",
    ),
    AuditRule(
        "AU704-private",
        "error",
        "Nothing published is private",
        "No file of a pack has the home folder, user or host name of this machine, a place on "
        "any, an address of mail or of a machine in the internet, a key, or a secret of the "
        "environment in it.",
        "Take it out where it comes from, run the chapter again and publish it again.",
    ),
    AuditRule(
        "AU705-replicates",
        "warning",
        "Published chapters have three replicates",
        "The publisher took fewer (--replicates): intervals are wide, or there are none.",
        "Measure more and publish again.",
    ),
    AuditRule(
        "AU706-renamed",
        "error",
        "A round's folder has the round's name",
        "Which round is the newest is told by the name and the times in round.json. A folder with "
        "another name is somebody's work after the publisher's.",
        "Get a fresh copy of the book: git checkout data/published.",
    ),
)

_BY_ID = {rule.id: rule for rule in RULES}


def get_rule(rule_id: str) -> AuditRule:
    """Return a rule by its id; KeyError for an unknown one."""
    return _BY_ID[rule_id]
